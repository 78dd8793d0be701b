"""The arm of a URDF's chain: links that fixed joints hold are merged into the link they hang on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import NamedTuple

from tauforge import validation
from tauforge.algebra.inertias import point_mass_inertia
from tauforge.algebra.vectors import ZERO, Transform
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.formats.turns import rotation_to
from tauforge.formats.urdf_seats import Seat
from tauforge.formats.urdf_tree import LETTERS, NO_BODY, Body, Tree, UrdfJoint
from tauforge.formats.urdf_visuals import read_visuals
from tauforge.formats.xml_lines import Element, shown
from tauforge.robots.physical import levels_to_the_caller
from tauforge.robots.provenance import Source
from tauforge.robots.serial.joint import Joint
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.visuals import Visual


def arm_of_chain(tree: Tree, seats: dict[str, Seat], chain: Sequence[UrdfJoint], tip: str | None) -> SerialArm:
    """tip: the link whose frame is the tool frame. Without it the tool frame is that of the only leaf link beyond the
    last moving joint, or of the last moving link if there are several leaves; `sources` of the arm says which.
    """
    robot = tree.robot
    composites = [_composite(tree, seats, joint) for joint in chain]
    tool = _tool_link(tree, seats, chain[-1], tip)
    try:
        arm = SerialArm(
            joints=tuple(_arm_joint(joint, seats, body) for joint, body in zip(chain, composites, strict=True)),
            tool=validation.from_transform(seats[tool.link].placement),
            name=robot.text("name"),
            sources=(Source(("tool",), f"the frame of link {shown(tool.link)} of the URDF", tool.reason),),
            visuals=_visuals(robot, seats, chain),
        )
    except ModelError as error:
        raise error.located(robot.file) from None
    if all(body.is_massless for body in composites):
        text = f"{robot.file}: no moving link has mass or inertia, so its dynamics are singular"
        warnings.warn(text, TauforgeWarning, stacklevel=levels_to_the_caller())
    return arm


class ToolLink(NamedTuple):
    """The link whose frame is the tool frame, and why it is."""

    link: str
    reason: str


def _tool_link(tree: Tree, seats: dict[str, Seat], last: UrdfJoint, tip: str | None) -> ToolLink:
    if tip is not None:
        return ToolLink(tip, "chosen by name")
    parents = {joint.parent for joint in tree.joints.values()}
    leaves = [link for link, seat in seats.items() if seat.carrier == last.name and link not in parents]
    if len(leaves) == 1:
        return ToolLink(leaves[0], "the only last link of the chain; tip chooses another")
    return ToolLink(last.child, "the last moving link, for several links end the chain; tip chooses one of them")


def _composite(tree: Tree, seats: dict[str, Seat], joint: UrdfJoint) -> Body:
    """Everything that the joint carries up to the next moving joint, as one body in its link frame."""
    seated = [(tree.bodies[link], seat.placement) for link, seat in seats.items() if seat.carrier == joint.name]
    bodies = [body.seen_from(placement) for body, placement in seated if not body.is_massless]
    heavy = [body for body in bodies if body.mass > 0]
    mass = math.fsum(body.mass for body in heavy)
    if len(heavy) == 1:
        com = heavy[0].com  # as given, not rounded by a product and a quotient
    else:
        com = ZERO
        for body in heavy:
            com = com + body.com * (body.mass / mass)
    inertia = NO_BODY.inertia
    for body in bodies:
        inertia = inertia + body.inertia + point_mass_inertia(body.mass, body.com - com)
    return Body(mass, com, (inertia + inertia.T) * 0.5)


def _arm_joint(joint: UrdfJoint, seats: dict[str, Seat], body: Body) -> Joint:
    turn = Transform(rotation_to(joint.axis), ZERO)
    return Joint(
        kind=LETTERS[joint.type],
        before=validation.from_transform(seats[joint.parent].placement.then(joint.origin).then(turn)),
        after=validation.from_transform(turn.inverse()),
        mass=body.mass,
        com=tuple(body.com),
        inertia=tuple(tuple(row) for row in body.inertia.rows),
        viscous=joint.damping,
        coulomb=(joint.friction, joint.friction),
        limits=joint.limits,
        max_speed=joint.max_speed,
        max_force=joint.max_force,
        name=joint.name,
    )


def _visuals(robot: Element, seats: dict[str, Seat], chain: Sequence[UrdfJoint]) -> tuple[Visual, ...]:
    """The visuals of what the arm consists of; those on branches that are left out are left out with them.

    The link frame of a joint is that of the URDF's child link, see `_arm_joint`, so what fixed joints hold is placed in
    it by its seat.
    """
    frames: dict[str | None, int] = {None: 0} | {joint.name: i for i, joint in enumerate(chain, 1)}
    found = []
    for link, origin, shape, rgba in read_visuals(robot):
        carrier, placement = seats[link]
        if carrier in frames:
            rows = validation.from_transform(placement.then(origin))
            found.append(Visual(name=link, link=frames[carrier], placement=rows, shape=shape, rgba=rgba))
    return tuple(found)
