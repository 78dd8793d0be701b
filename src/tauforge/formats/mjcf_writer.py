"""Mechanisms written as MJCF: joints of several coordinates become several joints, loops become equalities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tauforge.algebra.rotations import quaternion_of_rotation
from tauforge.algebra.vectors import NO_DISPLACEMENT, Matrix, Transform, Vector
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.formats import xml_writer as xml
from tauforge.formats.xml_reader import warn
from tauforge.formats.xml_writer import Held, opened, tag
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import GROUND_NAME, Body, Hinge, MechanismJoint, Spherical, Weld
from tauforge.validation import listed

WORLD = "world"
HINGE_SPAN = 0.1  # of the mechanism's size: distance of the two points that hold a hinge's axis
MUJOCO_MINVAL = 1e-15  # kg, kg m^2: MuJoCo's mjMINVAL
MAX_NAMED = 5
MJCF_TYPE_OF_STEP = {"R": "hinge", "P": "slide", "B": "ball", "F": "free"}


def write(m: Mechanism, path: Path) -> None:
    """Write the mechanism as MJCF; its position without displacement is our home position."""
    xml.write_xml(path, _lines(m), _lost(m), "MJCF")
    if refused := _refused_by_mujoco(m):
        told = f"{path}: MuJoCo refuses bodies without mass or with a principal moment of inertia of 0: "
        remedy = "Give them some: bars have a thickness. tauforge.load reads the file as it is"
        warn(told + listed(refused, MAX_NAMED), remedy)


def _refused_by_mujoco(m: Mechanism) -> list[str]:
    """Bodies with too little mass or inertia, unless one that is welded on has enough; with products of inertia all."""
    held = list(xml.held_bodies(m))
    enough = {GROUND_NAME: True}
    for one in reversed(held):  # from the tips inward
        least = min(one.body.mass, _least_moment(one.body))
        welded = [other.body.name for other in held if other.parent == one.body.name and not other.steps]
        enough[one.body.name] = least >= MUJOCO_MINVAL or any(enough[name] for name in welded)
    return [
        one.body.name
        for one in held
        if (one.steps and not enough[one.body.name])
        or (_has_products(xml.own_mass(one.body, one.body.home_frame)[1]) and _least_moment(one.body) < MUJOCO_MINVAL)
    ]


def _least_moment(body: Body) -> float:
    return float(np.linalg.eigvalsh(np.array(body.inertia, float))[0])


def _has_products(inertia: Matrix) -> bool:
    return any((inertia[0, 1], inertia[0, 2], inertia[1, 2]))


def _lost(m: Mechanism) -> Iterator[str]:
    yield from xml.lost_of_joints(m)
    if any(joint.max_speed is not None for joint in m.joints):
        yield "limits of speed"
    if any(joint.limits is not None for joint in m.joints if isinstance(joint, Spherical)):
        yield "limits of ball joints"
    if any(joint.motor_inertia and joint.gear_ratio != 1 for joint in m.joints):
        yield "gear ratios (rotors and friction are written as the joint feels them)"


def _lines(m: Mechanism) -> Iterator[str]:
    below: dict[str, list[Held]] = {}
    for held in xml.held_bodies(m):
        below.setdefault(held.parent, []).append(held)
    yield opened("mujoco", model=m.name)
    yield "  " + tag("compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    yield "  " + tag("option", gravity=m.gravity)
    yield "  <worldbody>"
    yield from _sites(m, GROUND_NAME, NO_DISPLACEMENT, "    ")
    for held in below.get(GROUND_NAME, []):
        yield from _body(m, held, NO_DISPLACEMENT, below, "    ")
    yield "  </worldbody>"
    yield from _section("equality", _equalities(m))
    yield from _section("tendon", _springs(m))
    yield from _section("actuator", _motors(m))
    yield "</mujoco>"


def _section(name: str, lines: Iterator[str]) -> Iterator[str]:
    if inside := list(lines):
        yield from (f"  <{name}>", *(f"    {line}" for line in inside), f"  </{name}>")


def _is_world(m: Mechanism, name: str) -> bool:
    """True for the ground, and for a body called "world" that stands as MuJoCo's ground does."""
    return name == GROUND_NAME or (name == WORLD and any(_is_the_world(held) for held in xml.held_bodies(m)))


def _is_the_world(held: Held) -> bool:
    on_ground = held.parent == GROUND_NAME and not held.steps
    return held.body.name == WORLD and on_ground and held.body.home_frame == NO_DISPLACEMENT


def _body(m: Mechanism, held: Held, outer: Transform, below: dict[str, list[Held]], indent: str) -> Iterator[str]:
    body, frame = held.body, held.body.home_frame
    if _is_the_world(held):
        for inner in below.get(body.name, []):
            yield from _body(m, inner, frame, below, indent)
        return
    if body.name == WORLD:
        raise ModelError("MJCF keeps the name 'world' for the ground", field="bodies", remedy="Rename the body")
    place, more = outer.inverse().then(frame), indent + "  "
    turn = quaternion_of_rotation(place.rotation)
    yield indent + opened("body", name=body.name, pos=place.translation, quat=turn)
    yield from (more + line for line in _joints(held, frame))
    if body.mass or any(x for row in body.inertia for x in row):
        com, inertia = xml.own_mass(body, frame)
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.rows
        # MuJoCo takes moments of zero only where no others are given
        full = _has_products(inertia)
        given = {"fullinertia": (xx, yy, zz, xy, xz, yz)} if full else {"diaginertia": (xx, yy, zz)}
        yield more + tag("inertial", pos=com, mass=body.mass, **given)
    yield from _sites(m, body.name, frame, more)
    for inner in below.get(body.name, []):
        yield from _body(m, inner, frame, below, more)
    yield f"{indent}</body>"


def _joints(held: Held, frame: Transform) -> Iterator[str]:
    joint = held.joint
    names, home = joint.coordinate_names, np.ravel(joint.home).tolist()
    back = frame.inverse()
    gear = joint.gear_ratio
    drive = {
        "damping": joint.viscous * gear * gear or None,
        "frictionloss": max(joint.coulomb) * abs(gear) or None,
        "armature": joint.motor_inertia * gear * gear or None,
    }
    for step in held.steps:
        kind = MJCF_TYPE_OF_STEP[step.kind]
        if kind == "free":
            if held.parent != GROUND_NAME:
                raise UnsupportedFeatureError("MJCF has free joints on the ground only", field=joint.name)
            yield tag("joint", name=joint.name, type=kind, damping=drive["damping"], armature=drive["armature"])
            continue
        pos = back.rotation @ step.world.translation + back.translation
        if kind == "ball":
            yield tag("joint", name=joint.name, type=kind, pos=pos, **drive)
            continue
        (k,) = step.coordinates
        limits = None if joint.limits is None else joint.limits[k if len(joint.limits) > 1 else 0]
        yield tag(
            "joint",
            name=names[k],
            type=kind,
            pos=pos,
            axis=back.rotation @ xml.axis_of(step),
            range=limits,
            ref=home[k] or None,
            **drive,
        )


def _sites(m: Mechanism, body: str, frame: Transform, indent: str) -> Iterator[str]:
    """The ends of springs."""
    back = frame.inverse()
    for k, spring in enumerate(m.springs, 1):
        for end, name, point in (("a", spring.body_a, spring.point_a), ("b", spring.body_b, spring.point_b)):
            if name == body:
                place = back.rotation @ Vector(*point) + back.translation
                yield indent + tag("site", name=f"spring {k} {end}", pos=place)


def _springs(m: Mechanism) -> Iterator[str]:
    for k, spring in enumerate(m.springs, 1):
        yield opened(
            "spatial",
            name=f"spring {k}",
            stiffness=spring.stiffness,
            springlength=spring.length,
            damping=spring.damping or None,
        )
        yield from ("  " + tag("site", site=f"spring {k} {end}") for end in "ab")
        yield "</spatial>"


def _equalities(m: Mechanism) -> Iterator[str]:
    frames = {body.name: body.home_frame for body in m.bodies} | {GROUND_NAME: NO_DISPLACEMENT}
    for joint in xml.closing_joints(m):
        names = (WORLD if _is_world(m, name) else name for name in (joint.parent, joint.child))
        ends = dict(zip(("body1", "body2"), names, strict=True))
        back = frames[joint.parent].inverse()
        if isinstance(joint, Weld):
            yield tag("weld", name=joint.name, **ends)
            continue
        for k, point in enumerate(_points(m, joint)):
            anchor = back.rotation @ point + back.translation
            yield tag("connect", name=joint.name + (" again" if k else ""), **ends, anchor=anchor)
    home = {joint.name: float(np.ravel(joint.home)[0]) for joint in m.joints if len(joint.letters) == 1}
    for joint in m.joints:
        if joint.mimic is not None:
            leader, factor, offset = joint.mimic
            constant = offset + factor * home[leader] - home[joint.name]
            coefficients = (constant, factor, 0.0, 0.0, 0.0)
            yield tag("joint", name=f"{joint.name} follows", joint1=joint.name, joint2=leader, polycoef=coefficients)


def _points(m: Mechanism, joint: MechanismJoint) -> list[Vector]:
    """Points that hold the joint together: one of a ball, two on the axis of a hinge."""
    at = Vector(*joint.at)
    if isinstance(joint, Spherical):
        return [at]
    if isinstance(joint, Hinge):
        return [at, at + Vector(*joint.axis) * (HINGE_SPAN * m._analysis.size)]
    raise UnsupportedFeatureError(
        f"MJCF closes loops at balls, hinges and welds, not at a {type(joint).__name__}",
        field=joint.name,
        remedy="Choose by cut= where loops are closed",
    )


def _motors(m: Mechanism) -> Iterator[str]:
    for joint in m.joints:
        if joint.actuated:
            if joint in xml.closing_joints(m):  # cut through a body, and written as an equality
                raise UnsupportedFeatureError("MJCF has no motor for a joint that closes a loop", field=joint.name)
            if "B" in {step.kind for held in xml.held_bodies(m) if held.joint is joint for step in held.steps}:
                raise UnsupportedFeatureError("MJCF has no motor for a ball joint", field=joint.name)
            force = None if joint.max_force is None else (-joint.max_force, joint.max_force)
            for name in joint.coordinate_names:
                yield tag("motor", name=f"{name} motor", joint=name, ctrlrange=force)
