"""Mechanisms written as URDF: the tree alone. Joints of several coordinates become several joints in a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tauforge.algebra.rotations import angles_of, rotation_about
from tauforge.algebra.vectors import E_Z, IDENTITY, NO_DISPLACEMENT, Matrix, Transform, Vector, cross
from tauforge.formats import xml_writer as xml
from tauforge.formats.urdf_elements import MOMENTS
from tauforge.formats.urdf_tree import UNLIMITED
from tauforge.formats.xml_reader import unused
from tauforge.formats.xml_writer import SAME_PLACE, Held, opened, tag
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import GROUND_NAME, Body, MechanismJoint, Planar, Spherical

URDF_GRAVITY = (0.0, 0.0, -9.81)


Zeros = Mapping[str, tuple[float, ...]]  # by joint, its coordinates where those of the file are 0


class Moved(NamedTuple):
    """A joint of the file: its child's frame, home position, and where the joint's coordinate is 0."""

    name: str
    kind: str
    home: Transform
    at_zero: Transform
    axis: Vector | None = None
    coordinate: int = 0


def write(m: Mechanism, path: Path) -> None:
    """Write the tree of the mechanism as URDF.

    Coordinates of hinges and sliders are the mechanism's, unless it has loops: then they are counted from the home
    position. Loops on top of a URDF are given where its coordinates are 0, so that the mechanism's own joints fit.
    """
    zeros = _zeros(m)
    xml.write_xml(path, _lines(m, zeros), _lost(m, zeros), "URDF")


def _zeros(m: Mechanism) -> Zeros:
    closing = xml.closing_joints(m)
    home = {joint.name: tuple(np.ravel(joint.home).tolist()) for joint in m.joints}
    return {name: own if closing else (0.0,) * len(own) for name, own in home.items()}


def _lost(m: Mechanism, zeros: Zeros) -> Iterator[str]:
    if loops := [joint.name for joint in xml.closing_joints(m)]:
        yield f"the loops at {', '.join(loops)}; tauforge.load(path, loops=[...]) with these joints closes them again"
    if moved := [name for name, zero in zeros.items() if any(zero) and name not in loops]:
        yield (
            f"home positions ({', '.join(moved[:5])}{' ...' * (len(moved) > 5)}; coordinates of the file, and their "
            "limits, are counted from the home position, so that the joints of the loops fit)"
        )
    if m.springs:
        yield f"{len(m.springs)} spring{'s' * (len(m.springs) > 1)}"
    if idle := [joint.name for joint in m.joints if joint.letters and not joint.actuated and joint.mimic is None]:
        yield f"that joints have no actuators ({', '.join(idle[:5])}{' ...' * (len(idle) > 5)})"
    if any(joint.motor_inertia for joint in m.joints):
        yield "inertias of rotors"
    if tuple(m.gravity) != URDF_GRAVITY:
        yield "gravity"
    if several := [joint.name for joint in m.joints if isinstance(joint, Spherical) and joint.name not in loops]:
        yield f"ball joints ({', '.join(several[:5])}; each is written as three revolute joints)"
    if in_row := [joint.name for joint in m.joints if isinstance(joint, Planar) and any(_home(joint, zeros))]:
        yield f"planar joints that are not at 0 at home ({', '.join(in_row[:5])}; written as joints in a row)"
    yield from xml.lost_of_joints(m)


def _home(joint: MechanismJoint, zeros: Zeros) -> list[float]:
    """The file's coordinates in the home position; none of a joint that only says that a body floats."""
    home = np.ravel(joint.home).tolist()
    return [own - zero for own, zero in zip(home, zeros.get(joint.name, home), strict=True)]


def _lines(m: Mechanism, zeros: Zeros) -> Iterator[str]:
    held = list(xml.held_bodies(m))
    root = _root(held)
    frames = {GROUND_NAME: NO_DISPLACEMENT}
    names = {body.name for body in m.bodies}
    yield '<?xml version="1.0"?>'
    yield opened("robot", name=m.name)
    yield from _indented([tag("link", name=GROUND_NAME)] if root is None else _link(root, root.home_frame))
    for one in held:
        frames[one.body.name] = one.body.home_frame
        if one.body is not root:
            parent = root.name if root is not None and one.parent == GROUND_NAME else one.parent
            yield from _indented(_hung(one, parent, frames[one.parent], names, zeros))
    yield "</robot>"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _root(held: list[Held]) -> Body | None:
    """A body that is fixed to the ground where the world is takes the place of the ground."""
    fixed = (one.body for one in held if one.parent == GROUND_NAME and not one.steps)
    return next((body for body in fixed if body.home_frame == NO_DISPLACEMENT), None)


def _hung(held: Held, parent: str, parent_frame: Transform, names: set[str], zeros: Zeros) -> Iterator[str]:
    """The joints and links from a body's parent to it."""
    body, frame = held.body, held.body.home_frame
    moved = list(_moved(held, frame, _home(held.joint, zeros)))
    outer = parent_frame
    for k, step in enumerate(moved):
        last = k == len(moved) - 1
        child = body.name if last else unused(f"{body.name} after {step.name}", names)
        names.add(child)
        yield from _joint(held, step, parent, child, outer, zeros)
        yield from _link(body, frame) if last else [tag("link", name=child)]
        parent, outer = child, step.home


def _moved(held: Held, frame: Transform, home: Sequence[float]) -> Iterator[Moved]:
    """The joints of the file. A hinge's child frame must lie on its axis: where the body's does not, a fixed joint
    follows.

    home: coordinates of the file in the home position
    """
    joint = held.joint
    if not held.steps:
        yield Moved(joint.name, "fixed", frame, frame)
        return
    if isinstance(joint, Planar) and held.parent == joint.parent and not any(home):
        assert joint.along is not None
        x, z = Vector(*joint.along), Vector(*joint.axis)
        plane = Transform(Matrix((x, cross(z, x), z)).T, Vector(*joint.at))
        yield Moved(joint.name, "planar", plane, plane, E_Z)
        yield Moved(f"{joint.name} frame", "fixed", frame, frame)
        return
    for step in held.steps:
        if step.kind == "F":
            yield Moved(joint.name, "floating", frame, frame)
        elif step.kind == "B":
            yield from _ball(joint.name, joint.at)
        else:
            (k,) = step.coordinates
            axis, place = xml.axis_of(step), step.world.translation
            name = joint.coordinate_names[k]
            on_axis = all(abs(x) <= SAME_PLACE for x in cross(frame.translation - place, axis))
            if step is held.steps[-1] and (step.kind == "P" or on_axis):
                yield Moved(name, step.kind, frame, _back(step.kind, axis, place, home[k], frame), axis, k)
                return
            here = Transform(IDENTITY, place)
            yield Moved(name, step.kind, here, _back(step.kind, axis, place, home[k], here), axis, k)
    if held.steps[-1].kind != "F":
        yield Moved(f"{held.body.name} on {joint.name}", "fixed", frame, frame)


def _ball(name: str, at: tuple[float, ...]) -> Iterator[Moved]:
    """R = Rz Ry Rx: about z first."""
    here = Transform(IDENTITY, Vector(*at))
    for k, letter in ((2, "z"), (1, "y"), (0, "x")):
        axis = Vector(*(1.0 if i == k else 0.0 for i in range(3)))
        yield Moved(f"{name}.theta_{letter}", "R", here, here, axis, k)


def _back(kind: str, axis: Vector, at: Vector, home: float, frame: Transform) -> Transform:
    """A frame of the home position where the coordinate is 0."""
    if kind == "P":
        return Transform(IDENTITY, axis * -home).then(frame)
    turn = rotation_about(axis, -home)
    return Transform(turn, at - turn @ at).then(frame)


def _joint(held: Held, step: Moved, parent: str, child: str, outer: Transform, zeros: Zeros) -> Iterator[str]:
    joint = held.joint
    limits = None if joint.limits is None else joint.limits[step.coordinate if len(joint.limits) > 1 else 0]
    kinds = {"R": "continuous" if limits is None else "revolute", "P": "prismatic"}
    yield opened("joint", name=step.name, type=kinds.get(step.kind, step.kind))
    place = outer.inverse().then(step.at_zero)
    rpy = angles_of(place.rotation) if place.rotation != IDENTITY else None
    yield "  " + tag("origin", xyz=place.translation, rpy=rpy)
    yield "  " + tag("parent", link=parent)
    yield "  " + tag("child", link=child)
    if step.axis is not None:
        axis = step.axis if step.kind == "planar" else step.home.rotation.T @ step.axis
        yield "  " + tag("axis", xyz=axis)
    if step.kind in "RP":
        zero = zeros[joint.name][step.coordinate]
        ends = (None, None) if limits is None else (limits[0] - zero, limits[1] - zero)
        yield from _limit(joint, step.kind, *ends)
        gear = joint.gear_ratio
        damping, friction = joint.viscous * gear * gear, max(joint.coulomb) * abs(gear)
        if damping or friction:
            yield "  " + tag("dynamics", damping=damping, friction=friction)
        if joint.mimic is not None:
            leader, factor, offset = joint.mimic
            offset += factor * zeros[leader][0] - zero
            offset = 0.0 if abs(offset) <= SAME_PLACE else offset  # home fits the mimic but for rounding
            yield "  " + tag("mimic", joint=leader, multiplier=factor, offset=offset)
    yield "</joint>"


def _limit(joint: MechanismJoint, kind: str, lower: float | None, upper: float | None) -> Iterator[str]:
    """Only a continuous joint may be without. Others need all four: numbers that the reader takes as none."""
    if kind == "P" and lower is None:
        lower, upper = -UNLIMITED, UNLIMITED
    if lower is None and joint.max_force is None and joint.max_speed is None:
        return
    effort, speed = (UNLIMITED if most is None else most for most in (joint.max_force, joint.max_speed))
    yield "  " + tag("limit", lower=lower, upper=upper, effort=effort, velocity=speed)


def _link(body: Body, frame: Transform) -> Iterator[str]:
    if not body.mass and not any(x for row in body.inertia for x in row):
        yield tag("link", name=body.name)
        return
    com, inertia = xml.own_mass(body, frame)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.rows
    yield opened("link", name=body.name)
    yield "  <inertial>"
    yield "    " + tag("origin", xyz=com)
    yield "    " + tag("mass", value=body.mass)
    yield "    " + tag("inertia", **dict(zip(MOMENTS, (xx, xy, xz, yy, yz, zz), strict=True)))
    yield "  </inertial>"
    yield "</link>"
