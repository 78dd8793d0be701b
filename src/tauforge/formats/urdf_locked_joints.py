"""Joints of a URDF that are held at coordinates, and joints that follow others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from tauforge import validation
from tauforge.algebra.rotations import rotation_about
from tauforge.algebra.vectors import IDENTITY, ZERO, Transform
from tauforge.errors import ModelError, in_file
from tauforge.formats.urdf_tree import LETTERS, Mimic, UrdfJoint, UrdfTree, unknown_name
from tauforge.formats.xml_reader import shown
from tauforge.robots.plausibility import warn_of_coordinate

SAME_COORDINATE = 1e-9  # of two coordinates of one joint, rad or m, and relative to them


def check_lock(lock: Mapping[str, float] | None) -> None:
    if lock is not None and not isinstance(lock, Mapping):
        raise ModelError(
            f"expected names of joints with their coordinates, got {validation.shown(lock)}",
            field="lock",
            remedy='Give the coordinates by name: lock={"finger_joint1": 0.02}',
        )


def with_locked_joints(tree: UrdfTree, lock: Mapping[str, float]) -> UrdfTree:
    joints = dict(tree.joints)
    held = {name: held_coordinate(tree, name, value, "lock") for name, value in lock.items()}
    for name, coordinate in _with_mimics(tree, held).items():
        joint = joints[name]
        if name in lock:
            where = f"{tree.robot.file}: lock[{name!r}]"
            warn_of_coordinate(where, coordinate, LETTERS[joint.type] == "R", joint.limits)
        joints[name] = replace(joint, type="fixed", origin=displaced(joint, coordinate), mimic=None)
    return replace(tree, joints=joints)


def held_coordinate(tree: UrdfTree, name: str, value: float, option: str) -> float:
    """The coordinate of a joint that has one; a ModelError names the option that gave it."""
    if name not in tree.joints:
        known = [joint.name for joint in tree.joints.values() if joint.type in LETTERS]
        raise unknown_name(option, "joint", name, known)
    joint = tree.joints[name]
    if joint.type == "fixed":
        problem = f"joint {shown(name)} is fixed and takes no coordinate"
        raise joint.element.fault(problem, field=option, remedy=f"Leave it out of {option}=")
    if joint.type not in LETTERS:
        problem = f"a {joint.type} joint cannot be locked by one number"
        raise joint.element.unsupported(problem, field=f"joint {shown(name)}")
    return validation.real(value, f"{option}[{name!r}]")


def _coordinate(tree: UrdfTree, name: str, value: float, option: str = "lock") -> float:
    """A checked coordinate that a mimic of the file gives."""
    with in_file(tree.robot.file):
        return validation.real(value, f"{option}[{name!r}]")


def _with_mimics(tree: UrdfTree, held: dict[str, float]) -> dict[str, float]:
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
            elif not math.isclose(coordinates[joint.name], followed, rel_tol=SAME_COORDINATE, abs_tol=SAME_COORDINATE):
                held_at = f"joint {shown(joint.name)} cannot be at {coordinates[joint.name]:.9g}"
                problem = f"{held_at}: it mimics {shown(leader)}, which holds it at {followed:.9g}"
                raise joint.element.fault(problem, field="lock", remedy=f"Leave {shown(joint.name)} out of lock=")
    return coordinates


def displaced(joint: UrdfJoint, q: float) -> Transform:
    """Parent link <- child link at a coordinate of the joint."""
    if LETTERS[joint.type] == "P":
        return joint.origin.then(Transform(IDENTITY, joint.axis * q))
    return joint.origin.then(Transform(rotation_about(joint.axis, q), ZERO))


def leader_of(tree: UrdfTree, joint: UrdfJoint) -> str:
    """The joint at the head of a chain of mimics; one of them where they go in a circle."""
    met = {joint.name}
    while joint.mimic is not None and joint.mimic.joint in tree.joints and joint.mimic.joint not in met:
        joint = tree.joints[joint.mimic.joint]
        met.add(joint.name)
    return joint.name


def coordinates_at_zero(tree: UrdfTree) -> dict[str, float]:
    """Coordinates of revolute and prismatic joints where every joint that leads is at 0 and the others follow."""
    found = {joint.name: 0.0 for joint in tree.joints.values() if joint.type in LETTERS and joint.mimic is None}
    for joint in tree.joints.values():
        way: dict[str, Mimic] = {}
        here = joint
        while here.mimic is not None and here.name not in found:
            if here.name in way:
                problem = f"joints mimic each other in a circle: {', '.join(map(shown, list(way)[:8]))}"
                raise here.element.fault(problem, field=f"joint {shown(here.name)} mimic")
            way[here.name] = here.mimic
            here = _led_by(tree, here, here.mimic)
        for name, mimic in reversed(way.items()):
            led = found.get(mimic.joint, 0.0)  # 0 of a fixed joint
            found[name] = _coordinate(tree, name, mimic.multiplier * led + mimic.offset, "mimic")
    return found


def _led_by(tree: UrdfTree, joint: UrdfJoint, mimic: Mimic) -> UrdfJoint:
    where = f"joint {shown(joint.name)} mimic"
    if mimic.joint not in tree.joints:
        remedy = validation.known_names(mimic.joint, tree.joints, shown)
        raise joint.element.fault(f"there is no joint named {shown(mimic.joint)}", field=where, remedy=remedy)
    leader = tree.joints[mimic.joint]
    if leader.type not in (*LETTERS, "fixed"):
        raise joint.element.unsupported(f"it follows {shown(leader.name)}, a {leader.type} joint", field=where)
    return leader
