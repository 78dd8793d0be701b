"""URDF: fixed and locked joints of the tree merged, and the one chain of moving joints made an arm."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tauforge.algebra.inertias import point_mass_inertia
from tauforge.algebra.scalars import cos_sin_of_constant
from tauforge.algebra.vectors import IDENTITY, NO_DISPLACEMENT, ZERO, Matrix, Transform, Vector, outer, skew
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.robots import validation
from tauforge.robots.physical import levels_to_the_caller
from tauforge.robots.provenance import Source
from tauforge.robots.readers.urdf_tree import LETTERS, NO_BODY, Body, Mimic, Tree, UrdfJoint, listed, near, read_tree
from tauforge.robots.readers.urdf_visuals import read_visuals
from tauforge.robots.readers.xml_lines import Element, read_xml, shown
from tauforge.robots.serial.joint import Joint
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.visuals import Visual

SAME = 1e-9  # of two coordinates of one joint, rad or m, and relative to them


class Seat(NamedTuple):
    """Where a link is held: the moving joint that carries it (None: the world) and that joint's link frame <- link."""

    carrier: str | None
    placement: Transform


def read_urdf(path: Path, *, tip: str | None = None, lock: Mapping[str, float] | None = None) -> SerialArm:
    """The serial arm of a URDF file."""
    return arm_of(read_xml(path), tip=tip, lock=lock)


def arm_of(robot: Element, *, tip: str | None = None, lock: Mapping[str, float] | None = None) -> SerialArm:
    """The serial arm of a <robot>; links that fixed or locked joints hold are merged into the link they hang on.

    tip:  name of the link whose frame is the tool frame; the chain leads from the root to it, and moving joints that
          hang on the fixed base beside the chain are left out
    lock: joint names and the coordinates (rad or m) they are held at; joints that mimic them are held too
    Without tip the moving joints must form one chain. The tool frame is then that of the only leaf link beyond the
    last moving joint, or of the last moving link if there are several leaves; `sources` of the arm says which.
    """
    if tip is not None and not isinstance(tip, str):
        raise ModelError(f"expected the name of a link, got {validation.shown(tip)}", field="tip")
    if lock is not None and not isinstance(lock, Mapping):
        raise ModelError(
            f"expected names of joints with their coordinates, got {validation.shown(lock)}",
            field="lock",
            remedy='Give the coordinates by name: lock={"finger_joint1": 0.02}',
        )
    tree = _with_locked_joints(read_tree(robot), lock or {})
    seats = _seats(tree)
    chain = _chain(tree, seats, tip)
    composites = [_composite(tree, seats, joint) for joint in chain]
    tool = _tool_link(tree, seats, chain[-1], tip)
    try:
        arm = SerialArm(
            joints=tuple(_arm_joint(joint, seats, body) for joint, body in zip(chain, composites, strict=True)),
            tool=validation.from_transform(seats[tool.link].placement),
            name=tree.robot.text("name"),
            sources=(Source(("tool",), f"the frame of link {shown(tool.link)} of the URDF", tool.reason),),
            visuals=_visuals(robot, seats, chain),
        )
    except ModelError as error:
        raise error.located(robot.file) from None
    if all(body.is_massless for body in composites):
        text = f"{robot.file}: no moving link has mass or inertia, so its dynamics are singular"
        warnings.warn(text, TauforgeWarning, stacklevel=levels_to_the_caller())
    return arm


def _with_locked_joints(tree: Tree, lock: Mapping[str, float]) -> Tree:
    joints = dict(tree.joints)
    for name, coordinate in _with_mimics(tree, _checked_lock(tree, lock)).items():
        joint = joints[name]
        origin = joint.origin.then(_displacement(joint, coordinate))
        joints[name] = replace(joint, type="fixed", origin=origin, mimic=None)
    return replace(tree, joints=joints)


def _checked_lock(tree: Tree, lock: Mapping[str, float]) -> dict[str, float]:
    coordinates: dict[str, float] = {}
    for name, value in lock.items():
        if name not in tree.joints:
            known = [joint.name for joint in tree.joints.values() if joint.type in LETTERS]
            raise tree.robot.fault(
                f"there is no joint named {shown(str(name))} to lock",
                field="lock",
                remedy=f"Joints that can be locked: {near(name, known) or 'none'}",
            )
        joint = tree.joints[name]
        if joint.type == "fixed":
            raise joint.element.fault(
                f"joint {shown(name)} is fixed and takes no coordinate", field="lock", remedy="Leave it out of lock="
            )
        if joint.type not in LETTERS:
            raise joint.element.unsupported(
                f"a {joint.type} joint cannot be locked by one number", field=f"joint {shown(name)}"
            )
        coordinates[name] = _coordinate(tree, name, value)
    return coordinates


def _coordinate(tree: Tree, name: str, value: float) -> float:
    try:
        return validation.real(value, f"lock[{name!r}]")
    except ModelError as error:
        raise error.located(tree.robot.file) from None


def _with_mimics(tree: Tree, held: dict[str, float]) -> dict[str, float]:
    """The coordinates of the held joints and of those that mimic them, directly or by way of others."""
    followers: dict[str, list[tuple[UrdfJoint, Mimic]]] = {}
    for joint in tree.joints.values():
        if joint.mimic is not None:
            followers.setdefault(joint.mimic.joint, []).append((joint, joint.mimic))
    coordinates, order = dict(held), list(held)
    for leader in order:  # grows while it is read
        for joint, mimic in followers.get(leader, []):
            followed = _coordinate(tree, joint.name, mimic.multiplier * coordinates[leader] + mimic.offset)
            if joint.name not in coordinates:
                coordinates[joint.name] = followed
                order.append(joint.name)
            elif not math.isclose(coordinates[joint.name], followed, rel_tol=SAME, abs_tol=SAME):
                raise joint.element.fault(
                    f"joint {shown(joint.name)} cannot be at {coordinates[joint.name]:.9g}: it mimics "
                    f"{shown(leader)}, which holds it at {followed:.9g}",
                    field="lock",
                    remedy=f"Leave {shown(joint.name)} out of lock=",
                )
    return coordinates


def _displacement(joint: UrdfJoint, q: float) -> Transform:
    if LETTERS[joint.type] == "P":
        return Transform(IDENTITY, joint.axis * q)
    c, s = cos_sin_of_constant(q)
    axis = joint.axis
    return Transform(IDENTITY * c + skew(axis) * s + outer(axis, axis) * (1.0 - c), ZERO)  # Rodrigues' formula


def _seats(tree: Tree) -> dict[str, Seat]:
    """Where every link is held."""
    seats = {tree.root: Seat(None, NO_DISPLACEMENT)}
    for joint in tree.joints.values():
        carrier, placement = seats[joint.parent]
        held = Seat(joint.name, NO_DISPLACEMENT) if joint.moves else Seat(carrier, placement.then(joint.origin))
        seats[joint.child] = held
    return seats


def _chain(tree: Tree, seats: dict[str, Seat], tip: str | None) -> list[UrdfJoint]:
    """The moving joints from the base to the tip, or to the end of the only chain there is."""
    carriers = {joint.name: seats[joint.parent].carrier for joint in tree.joints.values() if joint.moves}
    if tip is None:
        chain = _trunk(carriers)
        counted = list(carriers)
    else:
        if tip not in seats:
            raise tree.robot.fault(
                f"there is no link named {shown(str(tip))}", field="tip", remedy=f"Links: {near(tip, list(seats))}"
            )
        chain = _way_up(carriers, seats[tip].carrier)
        # a branch that leaves from the world-fixed base neither moves with the arm nor loads it
        counted = [name for name in carriers if _way_up(carriers, name)[:1] == chain[:1]]
    _refuse_unsupported(tree, [tree.joints[name] for name in counted])
    aside = [name for name in counted if name not in chain]
    if aside:
        first = tree.joints[aside[0]]
        raise first.element.unsupported(
            f"the moving joints are not one chain; these branch off: {listed(aside, 20)}",
            field=f"joint {shown(first.name)}",
            remedy="Choose the end of the chain with tip=, or hold all but one branch with lock="
            if tip is None
            else f"Hold them with {_lock_example(aside)}, or choose another tip=",
        )
    if not chain:
        between = "" if tip is None else f" between {shown(tree.root)} and {shown(tip)}"
        raise tree.robot.fault(f"there is no moving joint{between}", field=None if tip is None else "tip")
    return [tree.joints[name] for name in chain]


def _trunk(carriers: dict[str, str | None]) -> list[str]:
    """From the base outward for as long as there is one way to go."""
    onward: dict[str | None, list[str]] = {}
    for name, carrier in carriers.items():
        onward.setdefault(carrier, []).append(name)
    trunk: list[str] = []
    last: str | None = None
    while len(onward.get(last, [])) == 1:
        last = onward[last][0]
        trunk.append(last)
    return trunk


def _way_up(carriers: dict[str, str | None], name: str | None) -> list[str]:
    """The moving joints from the base to this one."""
    way: list[str] = []
    while name is not None:
        way.append(name)
        name = carriers[name]
    return way[::-1]


def _refuse_unsupported(tree: Tree, joints: Sequence[UrdfJoint]) -> None:
    refused = [joint for joint in joints if joint.unsupported]
    if not refused:
        return
    alone = [joint.name for joint in refused if joint.type in LETTERS]
    leaders = list(dict.fromkeys(_leader(tree, tree.joints[name]) for name in alone))
    remedy = None
    if alone:
        remedy = (
            f"Hold the joint that leads, and its mimics are held too: {_lock_example(leaders)}; or hold the mimic and "
            f"let the other move: {_lock_example(alone)}"
        )
    raise refused[0].element.unsupported(
        "not supported: " + ", ".join(f"{joint.unsupported} joint {shown(joint.name)}" for joint in refused[:8]),
        field=f"joint {shown(refused[0].name)}",
        remedy=remedy,
    )


def _leader(tree: Tree, joint: UrdfJoint) -> str:
    """The joint at the head of a chain of mimics."""
    met = {joint.name}
    while joint.mimic is not None and joint.mimic.joint in tree.joints and joint.mimic.joint not in met:
        joint = tree.joints[joint.mimic.joint]
        met.add(joint.name)
    return joint.name


def _lock_example(names: Sequence[str], most: int = 4) -> str:
    entries = [f"{shown(name)}: 0.0" for name in names[:most]] + (["..."] if len(names) > most else [])
    return "lock={" + ", ".join(entries) + "}"


class ToolLink(NamedTuple):
    """The link whose frame is the tool frame, and why it is."""

    link: str
    reason: str


def _tool_link(tree: Tree, seats: dict[str, Seat], last: UrdfJoint, tip: str | None) -> ToolLink:
    if tip is not None:
        return ToolLink(tip, "chosen by tip")
    parents = {joint.parent for joint in tree.joints.values()}
    leaves = [link for link, seat in seats.items() if seat.carrier == last.name and link not in parents]
    if len(leaves) == 1:
        return ToolLink(leaves[0], "the only last link of the chain; tip chooses another")
    return ToolLink(last.child, "the last moving link, for several links end the chain; tip chooses one of them")


# ------------------------------------------------------------------------------------------------- building the arm


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
    turn = Transform(_rotation_to(joint.axis), ZERO)
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


def _rotation_to(axis: Vector) -> Matrix:
    """A rotation that takes z to the axis, by the shortest way; exact for the coordinate axes."""
    if axis.z < 0:  # by way of -axis and half a turn about x, away from the formula's pole
        return _rotation_to(-axis).times(Matrix.diagonal(1.0, -1.0, -1.0))
    x, y, z = axis
    k = 1.0 / (1.0 + z)
    return Matrix.of(((1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z)))
