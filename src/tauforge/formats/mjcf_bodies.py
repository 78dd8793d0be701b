"""The bodies of MJCF: a tree of frames with joints between them, in the position where every joint is at its ref."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tauforge.algebra.inertias import rotated
from tauforge.algebra.vectors import NO_DISPLACEMENT, Matrix, Transform, Vector
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.formats.mjcf_elements import Values, check_spelling, unit
from tauforge.formats.mjcf_geoms import BodyGeom, body_of_geoms
from tauforge.formats.xml_reader import NO_INERTIAL, Element, Inertial, shown, unused
from tauforge.robots.mechanism.parts import GROUND_NAME, Body, Free, Hinge, MechanismJoint, Slider, Spherical, Weld

IGNORED_IN_BODIES = ("camera", "light")
MJCF_JOINT_TYPES = ("hinge", "slide", "ball", "free")
MAX_BODIES = 500  # as links of a URDF


@dataclass
class Found:
    """The bodies of a file, as they are read.

    frames: world <- body; sites: body and place in the world, by name; joints: by name, with their elements
    shown: geoms with the bodies that they are on; still: bodies that no joint moves
    """

    values: Values
    bodies: list[Body] = field(default_factory=list)
    joints: list[MechanismJoint] = field(default_factory=list)
    frames: dict[str, Transform] = field(default_factory=lambda: {GROUND_NAME: NO_DISPLACEMENT})
    sites: dict[str, tuple[str, Transform]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    shown: list[BodyGeom] = field(default_factory=list)
    still: set[str] = field(default_factory=lambda: {GROUND_NAME})

    def new_name(self, element: Element, otherwise: str, taken: Any) -> str:
        name = element.attributes.get("name") or otherwise
        if "name" in element.attributes and name in taken:
            raise element.fault(f"there is a second {element.tag} named {shown(name)}", field=f"{element.tag} name")
        return unused(name, taken)


class Part(NamedTuple):
    """An element that stands in a body. outer: body <- the frame around it; childclass: of what is in a body"""

    element: Element
    outer: Transform
    childclass: str | None


Parts = dict[str, list[Part]]  # by tag, of a freejoint "joint"


def _parts_of(found: Found, owner: Element, outer: Transform, childclass: str | None) -> Iterator[Part]:
    """The elements directly in a body, those in its <frame> elements included."""
    for child in owner.children:
        match child.tag:
            case "joint" | "freejoint" | "geom" | "site":
                yield Part(found.values.merged(child, childclass), outer, childclass)
            case "inertial" | "body":
                check_spelling(child)
                yield Part(child, outer, childclass)
            case "frame":
                check_spelling(child)
                own = child.attributes.get("childclass", childclass)
                yield from _parts_of(found, child, outer.then(found.values.pose(child)), own)
            case tag if tag not in IGNORED_IN_BODIES:
                raise child.unsupported(f"<{tag[:40]}> in a body is not supported", field=tag[:40])


def read_inside(
    found: Found, owner: Element, name: str, frame: Transform, childclass: str | None, parent: str | None = None
) -> None:
    """A body that hangs from its parent, or the world, which has none; its sites; and the bodies in it."""
    parts: Parts = {tag: [] for tag in ("joint", "geom", "site", "inertial", "body")}
    for part in _parts_of(found, owner, NO_DISPLACEMENT, childclass):
        parts[part.element.tag.removeprefix("free")].append(part)
    if parent is None and (unfit := parts["joint"] or parts["inertial"]):
        element = unfit[0].element
        raise element.fault(f"<{element.tag}> cannot stand in the worldbody", field=element.tag)
    if parent is not None:
        _add_body(found, parent, name, frame, parts)
    found.shown += [BodyGeom(name, geom, outer) for geom, outer, _ in parts["geom"]]
    for site, outer, _ in parts["site"]:
        if site.attributes.get("name"):
            found.sites[site.text("name")] = (name, frame.then(outer).then(found.values.pose(site)))
    for child, outer, own_class in parts["body"]:
        _read_body(found, child, name, frame.then(outer), own_class)


def _read_body(found: Found, element: Element, parent: str, outer: Transform, childclass: str | None) -> None:
    name = found.new_name(element, f"body{len(found.frames)}", found.frames)
    if element.is_true("mocap", False):
        raise element.unsupported("mocap bodies are not supported", field=f"body {shown(name)}")
    if element.number("gravcomp", 0.0) != 0:
        raise element.unsupported("gravcomp is not supported", field=f"body {shown(name)}")
    if len(found.frames) > MAX_BODIES:
        raise element.unsupported(f"there are more than {MAX_BODIES} bodies")
    own_class = element.attributes.get("childclass", childclass)
    if own_class is not None and own_class not in found.values.classes:
        raise element.fault(f"there is no default class {shown(own_class)}", field="body childclass")
    found.frames[name] = outer.then(found.values.pose(element))
    read_inside(found, element, name, found.frames[name], own_class, parent)


def _add_body(found: Found, parent: str, name: str, frame: Transform, parts: Parts) -> None:
    """The body, its joints, and bodies without mass between several joints."""
    steps = list(_joints(found, name, frame, parts))
    if not steps and parent in found.still:
        found.still.add(name)
    for k, (make, joint_name, given) in enumerate(steps):
        last = k == len(steps) - 1
        child = name if last else f"{name} after {joint_name}"
        if not last:
            found.bodies.append(Body(child, origin=tuple(frame.translation)))
        try:
            found.joints.append(make(joint_name, parent, child, **given))
        except ModelError as error:
            raise parts["joint"][k].element.fault(error.problem, field=error.field, remedy=error.remedy) from None
        parent = child
    if not steps:
        joint = unused(f"{name} on {parent}", {joint.name for joint in found.joints})
        found.joints.append(Weld(joint, parent, name, tuple(frame.translation)))
    found.bodies.append(_mass(found, parts, name).as_body(name, frame))


Step = tuple[type[MechanismJoint], str, dict[str, Any]]  # of a body: the class of a joint, its name and fields


def _joints(found: Found, body: str, frame: Transform, parts: Parts) -> Iterator[Step]:
    taken = {joint.name for joint in found.joints}
    for element, outer, _ in parts["joint"]:
        kind = "free" if element.tag == "freejoint" else element.attributes.get("type", "hinge")
        name = found.new_name(element, f"{body} {kind}", taken)
        taken.add(name)
        if kind not in MJCF_JOINT_TYPES:
            raise element.fault(f"unknown joint type {shown(kind)}", field=f"joint {shown(name)}")
        if kind == "free" and len(parts["joint"]) > 1:
            raise element.fault("a free joint must be the only joint of its body", field=f"joint {shown(name)}")
        yield _joint(found, element, kind, name, frame.then(outer))


def _joint(found: Found, element: Element, kind: str, name: str, frame: Transform) -> Step:
    where = f"joint {shown(name)}"
    for attribute, most in (("stiffness", 3), ("springdamper", 2)):
        if any(element.up_to(attribute, most)):
            raise element.unsupported(f"{attribute} of joints is not supported", field=where)
    damping, armature, friction = (_one(element, name) for name in ("damping", "armature", "frictionloss"))
    given: dict[str, Any] = {"viscous": damping, "motor_inertia": armature, "coulomb": (friction, friction)}
    place = frame.rotation @ Vector(*element.numbers("pos", 3, (0.0, 0.0, 0.0))) + frame.translation
    if kind in ("ball", "free"):
        if friction:
            raise element.unsupported(f"frictionloss of a {kind} joint is not supported", field=where)
        if kind == "ball" and "range" in element.attributes:
            found.left_out.append(f"the limit of ball joint {shown(name)} on line {element.line}")
        return (Spherical if kind == "ball" else Free), name, {**given, "at": tuple(place)}
    turns = kind == "hinge"
    angle = found.values.angle if turns else float
    axis = unit(element, "axis", Vector(*element.numbers("axis", 3, (0.0, 0.0, 1.0))))
    given |= {"at": tuple(place), "axis": tuple(frame.rotation @ axis), "home": angle(element.number("ref", 0.0))}
    if found.values.is_limited(element):
        given["limits"] = tuple(map(angle, element.numbers("range", 2)))
    return (Hinge if turns else Slider), name, given


def _one(element: Element, attribute: str) -> float:
    """A number >= 0; newer files may give further coefficients, which must be 0."""
    numbers = element.up_to(attribute, 3) or (0.0,)
    if any(numbers[1:]):
        raise element.unsupported(f"{attribute} with several coefficients is not supported", field=element.tag)
    if numbers[0] < 0:
        raise element.fault(f"expected a number >= 0, got {numbers[0]:g}", field=f"{element.tag} {attribute}")
    return numbers[0]


def _mass(found: Found, parts: Parts, name: str) -> Inertial:
    """In the body's frame."""
    inertials = parts["inertial"]
    if len(inertials) > 1:
        raise inertials[1].element.fault("there is a second <inertial> in the same <body>", remedy="Keep one of them")
    mode = found.values.inertia_from_geoms
    if inertials and mode != "true":
        element, outer, _ = inertials[0]
        return _inertial(found.values, element).seen_from(outer)
    if mode == "false":
        return NO_INERTIAL
    low, high = found.values.geom_groups
    counted = [(geom, outer) for geom, outer, _ in parts["geom"] if low <= geom.number("group", 0.0) <= high]
    try:
        return body_of_geoms(found.values, counted)
    except UnsupportedFeatureError:
        if name not in found.still:
            raise
        found.left_out.append(f"the mass of {shown(name)}, which does not move")
        return NO_INERTIAL


def _inertial(values: Values, element: Element) -> Inertial:
    element.text("pos")
    mass = element.number("mass")
    if mass < 0:
        raise element.fault(f"expected a mass >= 0, got {mass:g}", field="inertial mass")
    if "fullinertia" in element.attributes:
        xx, yy, zz, xy, xz, yz = element.numbers("fullinertia", 6)
        full = Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    elif "diaginertia" in element.attributes:
        full = Matrix.diagonal(*element.numbers("diaginertia", 3))
    else:
        raise element.fault("diaginertia or fullinertia is missing", field="inertial")
    R, p = values.pose(element)
    return Inertial(mass, p, rotated(full, R))
