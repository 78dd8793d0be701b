"""URDF: a chain of moving joints becomes an arm, whatever else moves a mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tauforge import validation
from tauforge.algebra.rotations import rotation_to
from tauforge.algebra.vectors import ZERO, Transform
from tauforge.errors import ModelError, in_file
from tauforge.formats.urdf_elements import read_visuals
from tauforge.formats.urdf_locked_joints import check_lock, leader_of, with_locked_joints
from tauforge.formats.urdf_tree import LETTERS, Attachment, UrdfJoint, UrdfTree, listed, read_tree, unknown_name
from tauforge.formats.xml_reader import Element, Inertial, shown, together, warn
from tauforge.robots.records import Source
from tauforge.robots.robot import Robot
from tauforge.robots.serial.joint import Joint
from tauforge.robots.serial.serial_arm import SerialArm

Links = Mapping[str, Attachment]


def robot_of(robot: Element, **options: Any) -> Robot:
    """The arm of a <robot>, or its mechanism where moving joints branch, float, follow each other or close loops.

    Options as of `tauforge.load`: with `tip` and without loops the chain leads from the root to it, and moving joints
    that hang on the fixed base beside the chain are left out. Links that fixed or locked joints hold are merged into an
    arm's links; in a mechanism they are bodies, welded on.
    """
    tip, lock, loops, home, tool, actuated = map(options.get, ("tip", "lock", "loops", "home", "tool", "actuated"))
    for option, name in (("tip", tip), ("tool", tool)):
        if name is not None and not isinstance(name, str):
            raise ModelError(f"expected the name of a link, got {validation.shown(name)}", field=option)
    if tip is not None and tool is not None:
        raise ModelError("tip and tool are both given", field="tool", remedy="tip leads a chain to it, tool does not")
    check_lock(lock)
    with in_file(robot.file):  # of an argument: no line of the file is at fault
        tree = with_locked_joints(read_tree(robot), lock or {})
        links = tree.attachments()
        for option, name in (("tip", tip), ("tool", tool)):
            if name is not None and name not in links:
                raise unknown_name(option, "link", name, list(links))
        if loops is None and home is None:
            chain = _chain(tree, links, tip)
            if chain is not None and actuated is None and _is_arm(links, chain, tool):
                return _arm_of_chain(tree, links, chain, tip or tool)
            tree = tree if chain is None else _trimmed(tree, links, chain)
        from tauforge.formats.urdf_mechanism import mechanism_of  # slow to import, and arms do not need it

        return mechanism_of(tree, loops, home, tip or tool, actuated)


def _chain(tree: UrdfTree, links: Links, tip: str | None) -> list[UrdfJoint] | None:
    """The moving joints from the base to the tip, or to the end of the only chain there is; None if they branch."""
    carriers = {joint.name: links[joint.parent].carrier for joint in tree.joints.values() if joint.moves}
    if tip is None:
        if len(set(carriers.values())) < len(carriers):
            return None
        chain = list(carriers)  # from the root outward
    else:
        chain = _way_up(carriers, links[tip].carrier)
        # a branch that leaves from the world-fixed base neither moves with the arm nor loads it
        counted = [name for name in carriers if _way_up(carriers, name)[:1] == chain[:1]]
        _refuse_led_from_beyond(tree, chain, counted)
        if aside := [name for name in counted if name not in chain]:
            held = _lock_example(aside)
            raise tree.joints[aside[0]].element.unsupported(
                f"the moving joints are not one chain; these branch off: {listed(aside, 20)}",
                field=f"joint {shown(aside[0])}",
                remedy=f"Hold them with {held}, or leave out tip= for a mechanism with all its branches",
            )
    if not chain:
        if tip is None:
            raise tree.robot.fault("there is no moving joint")
        raise ModelError(f"there is no moving joint between {shown(tree.root)} and {shown(tip)}", field="tip")
    return [tree.joints[name] for name in chain]


def _is_arm(links: Links, chain: Sequence[UrdfJoint], tool: str | None) -> bool:
    """True if an arm can have all joints of the chain, and a given tool is on the last link."""
    at_end = tool is None or links[tool].carrier == chain[-1].name
    return at_end and all(joint.type in LETTERS and joint.mimic is None for joint in chain)


def _way_up(carriers: dict[str, str | None], name: str | None) -> list[str]:
    """The moving joints from the base to this one."""
    way: list[str] = []
    while name is not None:
        way.append(name)
        name = carriers[name]
    return way[::-1]


def _refuse_led_from_beyond(tree: UrdfTree, chain: Sequence[str], counted: Sequence[str]) -> None:
    """Joints that follow one which is not in the chain."""
    followers = (tree.joints[name] for name in counted if tree.joints[name].mimic is not None)
    if refused := [joint for joint in followers if joint.name not in chain or leader_of(tree, joint) not in chain]:
        alone = [joint.name for joint in refused if joint.type in LETTERS]
        leaders = list(dict.fromkeys(leader_of(tree, tree.joints[name]) for name in alone))
        raise refused[0].element.unsupported(
            "not supported: " + ", ".join(f"mimic joint {shown(joint.name)}" for joint in refused[:8]),
            field=f"joint {shown(refused[0].name)}",
            remedy=f"Hold the joint that leads, and its mimics are held too: {_lock_example(leaders)}; or hold the "
            f"mimic and let the other move: {_lock_example(alone)}; or leave out tip= for a mechanism with all joints",
        )


def _lock_example(names: Sequence[str], most: int = 4) -> str:
    entries = [f"{shown(name)}: 0.0" for name in names[:most]] + (["..."] if len(names) > most else [])
    return "lock={" + ", ".join(entries) + "}"


def _trimmed(tree: UrdfTree, links: Links, chain: Sequence[UrdfJoint]) -> UrdfTree:
    """Without the links that other moving joints carry."""
    kept = {None, *(joint.name for joint in chain)}
    held = {link for link, attachment in links.items() if attachment.carrier in kept}
    return UrdfTree(
        tree.robot,
        tree.root,
        {link: body for link, body in tree.bodies.items() if link in held},
        {name: joint for name, joint in tree.joints.items() if joint.child in held},
    )


# ------------------------------------------------------------------------------------------------- arms


def _arm_of_chain(tree: UrdfTree, links: Links, chain: Sequence[UrdfJoint], tip: str | None) -> SerialArm:
    """tip: the link whose frame is the tool frame. Without it the tool frame is that of the only leaf link beyond the
    last moving joint, or of the last moving link if there are several leaves; `sources` of the arm says which.
    """
    robot = tree.robot
    composites = [_composite(tree, links, joint) for joint in chain]
    tool, reason = _tool_link(tree, links, chain[-1], tip)
    numbers: dict[str | None, int] = {None: 0} | {joint.name: i for i, joint in enumerate(chain, 1)}
    # a joint's link frame is that of the URDF's child link, see `_arm_joint`
    places = {link: (numbers[at.carrier], at.placement) for link, at in links.items() if at.carrier in numbers}
    with in_file(robot.file):
        arm = SerialArm(
            joints=tuple(_arm_joint(joint, links, body) for joint, body in zip(chain, composites, strict=True)),
            tool=validation.from_transform(links[tool].placement),
            name=robot.text("name"),
            sources=(Source(("tool",), f"the frame of link {shown(tool)} of the URDF", reason),),
            visuals=read_visuals(robot, places),
        )
    if all(body.is_massless for body in composites):
        warn(f"{robot.file}: no moving link has mass or inertia, so its dynamics are singular")
    return arm


def _tool_link(tree: UrdfTree, links: Links, last: UrdfJoint, tip: str | None) -> tuple[str, str]:
    """The link whose frame is the tool frame, and why it is."""
    if tip is not None:
        return tip, "chosen by name"
    parents = {joint.parent for joint in tree.joints.values()}
    leaves = [link for link, held in links.items() if held.carrier == last.name and link not in parents]
    if len(leaves) == 1:
        return leaves[0], "the only last link of the chain; tip chooses another"
    return last.child, "the last moving link, for several links end the chain; tip chooses one of them"


def _composite(tree: UrdfTree, links: Links, joint: UrdfJoint) -> Inertial:
    """Everything that the joint carries up to the next moving joint, as one body in its link frame."""
    carried = [(tree.bodies[link], held.placement) for link, held in links.items() if held.carrier == joint.name]
    return together(body.seen_from(placement) for body, placement in carried if not body.is_massless)


def _arm_joint(joint: UrdfJoint, links: Links, body: Inertial) -> Joint:
    turn = Transform(rotation_to(joint.axis), ZERO)
    return Joint(
        kind=LETTERS[joint.type],
        before=validation.from_transform(links[joint.parent].placement.then(joint.origin).then(turn)),
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
