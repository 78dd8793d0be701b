"""URDF: a chain of moving joints becomes an arm, whatever else moves a mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tauforge import validation
from tauforge.errors import ModelError
from tauforge.formats.urdf_arm import arm_of_chain
from tauforge.formats.urdf_held import check_lock, leader_of, with_locked_joints
from tauforge.formats.urdf_seats import Seat, seats_of
from tauforge.formats.urdf_tree import LETTERS, Tree, UrdfJoint, listed, read_tree, unknown_name
from tauforge.formats.xml_lines import Element, read_xml, shown
from tauforge.robots.robot import Robot


def read_urdf(path: Path, **options: Any) -> Robot:
    """The robot of a URDF file; options as of `robot_of`."""
    return robot_of(read_xml(path), **options)


def robot_of(
    robot: Element,
    *,
    tip: str | None = None,
    lock: Mapping[str, float] | None = None,
    loops: Sequence[Any] | None = None,
    home: Mapping[str, float] | None = None,
    tool: str | None = None,
    actuated: Sequence[str] | None = None,
) -> Robot:
    """The arm of a <robot>, or its mechanism where moving joints branch, float, follow each other or close loops.

    tip:   name of the link whose frame is the tool frame. Without loops the chain leads from the root to it, and moving
           joints that hang on the fixed base beside the chain are left out
    lock:  joint names and the coordinates (rad or m) they are held at; joints that mimic them are held too
    loops: joints that close loops, see `tauforge.robots.mechanism.closing`
    home:  joint names and coordinates from which loops are closed
    tool:  name of the link whose frame is the tool frame; all branches stay
    actuated: names of the joints of a mechanism that have actuators
    Links that fixed or locked joints hold are merged into an arm's links; in a mechanism they are bodies, welded on.
    """
    for option, name in (("tip", tip), ("tool", tool)):
        if name is not None and not isinstance(name, str):
            raise ModelError(f"expected the name of a link, got {validation.shown(name)}", field=option)
    if tip is not None and tool is not None:
        raise ModelError("tip and tool are both given", field="tool", remedy="tip leads a chain to it, tool does not")
    check_lock(lock)
    try:
        return _robot_of(read_tree(robot), tip, lock or {}, loops, home, tool, actuated)
    except ModelError as error:  # of an argument: no line of the file is at fault
        raise error.located(robot.file) from None


def _robot_of(
    tree: Tree,
    tip: str | None,
    lock: Mapping[str, float],
    loops: Sequence[Any] | None,
    home: Mapping[str, float] | None,
    tool: str | None,
    actuated: Sequence[str] | None,
) -> Robot:
    tree = with_locked_joints(tree, lock)
    seats = seats_of(tree)
    for option, name in (("tip", tip), ("tool", tool)):
        if name is not None and name not in seats:
            raise unknown_name(option, "link", name, list(seats))
    if loops is not None or home is not None:
        from tauforge.formats.urdf_mechanism import closed_mechanism_of

        return closed_mechanism_of(tree, loops or (), home or {}, tool=tip or tool, actuated=actuated)
    chain = _chain(tree, seats, tip)
    if chain is not None and actuated is None and _is_arm(seats, chain, tool):
        return arm_of_chain(tree, seats, chain, tip or tool)
    from tauforge.formats.urdf_mechanism import mechanism_of  # slow to import, and arms do not need it

    whole = tree if chain is None else _trimmed(tree, seats, chain)
    return mechanism_of(whole, tool=tip or tool, actuated=actuated)


def _chain(tree: Tree, seats: dict[str, Seat], tip: str | None) -> list[UrdfJoint] | None:
    """The moving joints from the base to the tip, or to the end of the only chain there is; None if they branch."""
    carriers = {joint.name: seats[joint.parent].carrier for joint in tree.joints.values() if joint.moves}
    if tip is None:
        chain = _trunk(carriers)
        if len(chain) < len(carriers):
            return None
    else:
        chain = _way_up(carriers, seats[tip].carrier)
        # a branch that leaves from the world-fixed base neither moves with the arm nor loads it
        counted = [name for name in carriers if _way_up(carriers, name)[:1] == chain[:1]]
        _refuse_led_from_beyond(tree, chain, counted)
        _refuse_branches(tree, [name for name in counted if name not in chain])
    if not chain:
        if tip is None:
            raise tree.robot.fault("there is no moving joint")
        raise ModelError(f"there is no moving joint between {shown(tree.root)} and {shown(tip)}", field="tip")
    return [tree.joints[name] for name in chain]


def _is_arm(seats: dict[str, Seat], chain: Sequence[UrdfJoint], tool: str | None) -> bool:
    """Whether arms have all its joints, and the tool, where it is given, is on the last link."""
    at_end = tool is None or seats[tool].carrier == chain[-1].name
    return at_end and not any(joint.unsupported for joint in chain)


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


def _refuse_branches(tree: Tree, aside: Sequence[str]) -> None:
    if aside:
        first = tree.joints[aside[0]]
        raise first.element.unsupported(
            f"the moving joints are not one chain; these branch off: {listed(aside, 20)}",
            field=f"joint {shown(first.name)}",
            remedy=f"Hold them with {_lock_example(aside)}, or leave out tip= for a mechanism with all its branches",
        )


def _refuse_led_from_beyond(tree: Tree, chain: Sequence[str], counted: Sequence[str]) -> None:
    """Joints that follow one which is not in the chain."""
    refused = [joint for joint in map(tree.joints.__getitem__, counted) if joint.mimic is not None]
    refused = [joint for joint in refused if joint.name not in chain or leader_of(tree, joint) not in chain]
    if refused:
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


def _trimmed(tree: Tree, seats: dict[str, Seat], chain: Sequence[UrdfJoint]) -> Tree:
    """Without the links that other moving joints carry."""
    kept = {None, *(joint.name for joint in chain)}
    links = {link for link, seat in seats.items() if seat.carrier in kept}
    return Tree(
        tree.robot,
        tree.root,
        {link: body for link, body in tree.bodies.items() if link in links},
        {name: joint for name, joint in tree.joints.items() if joint.child in links},
    )
