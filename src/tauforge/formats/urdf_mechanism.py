"""The mechanism of a URDF: every link a body with its own frame, every joint a joint, loops on top of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tauforge import validation
from tauforge.algebra.rotations import rotation_to
from tauforge.algebra.vectors import NO_DISPLACEMENT, Transform, Vector
from tauforge.errors import ModelError
from tauforge.formats.urdf_elements import read_visuals
from tauforge.formats.urdf_locked_joints import coordinates_at_zero, displaced, held_coordinate
from tauforge.formats.urdf_tree import LETTERS, UrdfJoint, UrdfTree, listed, unknown_name
from tauforge.formats.xml_reader import shown, unused
from tauforge.robots.mechanism.loop_closure import closed
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import GROUND_NAME, Body, Free, Hinge, MechanismJoint, Planar, Slider, Weld
from tauforge.robots.records import Source


def mechanism_of(
    tree: UrdfTree,
    loops: Sequence[Any] | None,
    home: Mapping[str, float] | None,
    tool: str | None,
    actuated: Sequence[str] | None,
) -> Mechanism:
    """Home is where every joint is at 0, and joints that mimic others at what follows from that, or where loops close.

    loops: joints between links, or (joint, point), given where every joint is at 0; see `mechanism.closing`
    home:  coordinates from which the loops are closed, by name of the joint
    """
    given = home or {}
    if not isinstance(given, Mapping):
        raise ModelError(f"expected names of joints with their coordinates, got {validation.shown(home)}", field="home")
    return closed(described(tree, tool, actuated), loops or (), start_of(tree, given, "home"))


def start_of(tree: UrdfTree, given: Mapping[str, float], option: str) -> dict[str, float]:
    """Checked coordinates from which loops are closed; a ModelError names the option that gave them."""
    return {name: held_coordinate(tree, name, value, option) for name, value in given.items()}


def described(tree: UrdfTree, tool: str | None, actuated: Sequence[str] | None) -> dict[str, Any]:
    """The arguments of Mechanism."""
    at_zero = coordinates_at_zero(tree)
    frames = {tree.root: NO_DISPLACEMENT}
    bodies: list[Body] = []
    joints: list[MechanismJoint] = []
    if tree.root != GROUND_NAME:  # the root link is a body on the ground, so that its name stays
        bodies.append(tree.bodies[tree.root].as_body(tree.root, NO_DISPLACEMENT))
        joints.append(Weld(unused(f"{tree.root} on {GROUND_NAME}", tree.joints), GROUND_NAME, tree.root))
    for joint in _by_branches(tree):
        local = displaced(joint, at_zero[joint.name]) if joint.type in LETTERS else joint.origin
        frames[joint.child] = frames[joint.parent].then(local)
        try:
            bodies.append(tree.bodies[joint.child].as_body(joint.child, frames[joint.child]))
            joints.append(_joint(tree, joint, frames[joint.parent].then(joint.origin), at_zero))
        except ModelError as error:
            raise joint.element.fault(error.problem, field=f"joint {shown(joint.name)}", remedy=error.remedy) from None
    names = [body.name for body in bodies]
    if tool == GROUND_NAME or (tool is not None and tool not in names):
        raise ModelError(f"{tool!r} is the ground", field="tool")
    last = tool or names[-1]
    places = {name: (k, NO_DISPLACEMENT) for k, name in enumerate(names, 1)} | {GROUND_NAME: (0, NO_DISPLACEMENT)}
    reason = "chosen by name" if tool else "the last link; tool= or replace(tool=...) chooses another"
    return {
        "bodies": tuple(bodies),
        "joints": tuple(joints if actuated is None else _actuated(tree, joints, actuated)),
        "tool": last,
        "name": tree.robot.text("name"),
        "sources": (Source(("tool",), f"link {shown(last)} of the URDF", reason),),
        "visuals": read_visuals(tree.robot, places),
    }


def in_order(joints: Sequence[MechanismJoint], names: Sequence[str]) -> list[MechanismJoint]:
    """The joints, those that are named in the order of their names: they change places among themselves."""
    by_name = {joint.name: joint for joint in joints}
    named = iter(dict.fromkeys(names))
    chosen = set(names)
    return [by_name[next(named)] if joint.name in chosen else joint for joint in joints]


def _actuated(tree: UrdfTree, joints: Sequence[MechanismJoint], names: Sequence[str]) -> list[MechanismJoint]:
    """The joints with actuators on those that are named, in the order of the names."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ModelError(f"expected a sequence of names of joints, got {validation.shown(names)}", field="actuated")
    movable = [joint.name for joint in joints if joint.letters and joint.mimic is None]
    for name in names:
        if not isinstance(name, str):
            raise ModelError(f"expected names of joints, got {validation.shown(name)}", field="actuated")
        if name not in tree.joints:
            raise unknown_name("actuated", "joint", name, movable)
        if name not in movable:
            problem = f"joint {validation.shown(name)} follows another or does not move"
            remedy = f"Joints that can have actuators: {listed(movable) or 'none'}"
            raise ModelError(problem, field="actuated", remedy=remedy)
    return in_order([replace(joint, actuated=joint.name in names) for joint in joints], names)


def _by_branches(tree: UrdfTree) -> Iterator[UrdfJoint]:
    """Joints from the root outward, one branch after another in the order of the file."""
    below: dict[str, list[UrdfJoint]] = {}
    order = {name: k for k, name in enumerate(child.attributes.get("name", "") for child in tree.robot.children)}
    for joint in sorted(tree.joints.values(), key=lambda joint: order.get(joint.name, 0)):
        below.setdefault(joint.parent, []).append(joint)
    left = below.get(tree.root, [])[::-1]
    while left:
        joint = left.pop()
        yield joint
        left += below.get(joint.child, [])[::-1]


def _joint(tree: UrdfTree, joint: UrdfJoint, frame: Transform, at_zero: Mapping[str, float]) -> MechanismJoint:
    """frame: world <- joint frame"""
    ends: tuple[str, str, str] = (joint.name, joint.parent, joint.child)
    at = tuple(frame.translation)
    axis: Vector = frame.rotation @ joint.axis
    follows = joint.mimic if joint.type in LETTERS else None
    if joint.type == "fixed" or (follows is not None and tree.joints[follows.joint].type == "fixed"):
        return Weld(*ends, at)
    if joint.type == "floating":
        return Free(*ends, at)
    if joint.type == "planar":
        along = frame.rotation.times(rotation_to(joint.axis)) @ Vector(1.0, 0.0, 0.0)
        return Planar(*ends, at, axis=tuple(axis), along=tuple(along))
    kind = Hinge if LETTERS[joint.type] == "R" else Slider
    mimic = follows and (follows.joint, follows.multiplier, follows.offset)
    own: dict[str, Any] = {"actuated": follows is None, "home": at_zero[joint.name], "mimic": mimic}
    return kind(joint.name, joint.parent, joint.child, at, axis=tuple(axis), **own, **joint.drive)
