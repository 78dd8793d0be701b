"""The tree of a URDF file: links and joints, read strictly.

Collisions, transmissions and simulator tags are passed over, visuals are read by `urdf_elements`; no file but the URDF
is opened.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tauforge import validation
from tauforge.algebra.vectors import E_X, NO_DISPLACEMENT, ZERO, Matrix, Transform, Vector
from tauforge.errors import ModelError
from tauforge.formats.urdf_elements import MOMENTS, read_origin, unknown_names, value, values
from tauforge.formats.xml_reader import NO_INERTIAL, XACRO_REMEDY, Element, Inertial, shown, warn

LETTERS = {"revolute": "R", "continuous": "R", "prismatic": "P"}
ARM_JOINT_TYPES = (*LETTERS, "fixed")
MECHANISM_JOINT_TYPES = ("floating", "planar")
UNLIMITED = 1e9  # rad, m, N m, N and their rates: a limit as large as this is none, and is written where there is none
MAX_LINKS = 500  # and joints; far above any robot, and read in a fraction of a second


class Mimic(NamedTuple):
    """The coordinate is multiplier * q + offset, q being that of the other joint."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, kw_only=True)
class UrdfJoint:
    """A <joint> as read; `origin` is parent link <- joint frame, `axis` a unit vector of the joint frame."""

    element: Element
    name: str
    type: str
    parent: str
    child: str
    origin: Transform
    axis: Vector = E_X
    limits: tuple[float, float] | None = None
    max_force: float | None = None
    max_speed: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None

    @property
    def moves(self) -> bool:
        return self.type != "fixed"


@dataclass(frozen=True)
class UrdfTree:
    """Links and joints that hang together on one root; joints in order from the root outward."""

    robot: Element
    root: str
    bodies: dict[str, Inertial]
    joints: dict[str, UrdfJoint]

    def attachments(self) -> dict[str, Attachment]:
        """The attachment of every link, by name."""
        found = {self.root: Attachment(None, NO_DISPLACEMENT)}
        for joint in self.joints.values():
            carrier, placement = found[joint.parent]
            held = (joint.name, NO_DISPLACEMENT) if joint.moves else (carrier, placement.then(joint.origin))
            found[joint.child] = Attachment(*held)
        return found


class Attachment(NamedTuple):
    """The moving joint that carries a link (None: the world), and that joint's link frame <- the link's."""

    carrier: str | None
    placement: Transform


def read_tree(robot: Element) -> UrdfTree:
    if robot.tag != "robot":
        raise robot.fault(f"expected the root element 'robot', got {shown(robot.tag)}")
    for element in robot.children:
        if element.tag.startswith("xacro:"):
            raise element.unsupported(f"{shown(element.tag)} is not URDF", remedy=XACRO_REMEDY)
    links = _by_name(robot, "link")
    elements = _by_name(robot, "joint")
    unknown = unknown_names((*links.values(), *elements.values()))
    bodies = {name: _read_inertial(link) for name, link in links.items()}
    joints = {name: _read_joint(element) for name, element in elements.items()}
    tree = _rooted(robot, links, bodies, joints)
    if unknown:
        warn(f"{robot.file}: unknown names are ignored: {unknown}")
    return tree


def _by_name(robot: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.children:
        if element.tag == tag:
            name = element.text("name")
            if name in found:
                raise element.fault(
                    f"there is a second {tag} named {shown(name)}; the first is on line {found[name].line}"
                )
            found[name] = element
            if len(found) > MAX_LINKS:
                raise element.unsupported(f"the robot has more than {MAX_LINKS} {tag}s")
    if not found:
        raise robot.fault(f"the robot has no {tag}")
    return found


def _read_inertial(link: Element) -> Inertial:
    inertial = link.optional_child("inertial")
    if inertial is None:
        return NO_INERTIAL
    (mass,) = values(inertial, "mass", "value")
    xx, xy, xz, yy, yz, zz = values(inertial, "inertia", *MOMENTS)
    inertia = Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return Inertial(mass, ZERO, inertia).seen_from(read_origin(inertial))


def _read_joint(joint: Element) -> UrdfJoint:
    name, kind = joint.text("name"), joint.text("type")
    if kind not in (*ARM_JOINT_TYPES, *MECHANISM_JOINT_TYPES):
        remedy = f"Use one of {', '.join(ARM_JOINT_TYPES)}"
        raise joint.unsupported(f"unknown joint type {shown(kind)}", field=f"joint {name}", remedy=remedy)
    (parent,), (child,) = (values(joint, end, "link") for end in ("parent", "child"))
    given: dict[str, Any] = {"parent": parent, "child": child, "origin": read_origin(joint)}
    if kind in LETTERS:
        given |= _read_limit(joint, kind)
        given["damping"], given["friction"] = values(joint, "dynamics", "damping", "friction")
    if kind in (*LETTERS, "planar"):
        given["axis"] = _read_axis(joint)
    if kind in LETTERS and (mimic := joint.optional_child("mimic")):
        given["mimic"] = Mimic(*(value(mimic, name) for name in Mimic._fields))
    return UrdfJoint(element=joint, name=name, type=kind, **given)


def _read_axis(joint: Element) -> Vector:
    element = joint.optional_child("axis")
    if element is None:
        return E_X
    xyz = value(element, "xyz")
    largest = max(map(abs, xyz))
    if largest == 0:
        raise element.fault("the axis is zero", field="axis xyz", remedy="Give it a direction, such as 0 0 1")
    scaled = [x / largest for x in xyz]  # first, so that the length can neither overflow nor vanish
    length = math.hypot(*scaled)
    return Vector(*(x / length for x in scaled))


def _read_limit(joint: Element, kind: str) -> dict[str, Any]:
    """Those there are. Lower and upper default to 0, as the URDF specification has it."""
    limit = joint.optional_child("limit")
    if limit is None:
        if kind == "continuous":
            return {}
        raise joint.fault(
            f"a {kind} joint needs a <limit>", field="limit", remedy="Add <limit lower= upper= effort= velocity=/>"
        )
    found = {"max_force": value(limit, "effort"), "max_speed": value(limit, "velocity")}
    # 0 is the placeholder of many files for "not known": no joint is meant to be without force or speed
    found = {name: most for name, most in found.items() if 0 < most < UNLIMITED}
    if kind == "continuous":
        return found
    lower, upper = value(limit, "lower"), value(limit, "upper")
    if lower > upper:
        raise limit.fault(
            f"the lower limit {lower} is above the upper limit {upper}", field="limit", remedy="Swap them"
        )
    return found if min(-lower, upper) >= UNLIMITED else {**found, "limits": (lower, upper)}


def _rooted(
    robot: Element, links: dict[str, Element], bodies: dict[str, Inertial], joints: dict[str, UrdfJoint]
) -> UrdfTree:
    """The tree with its joints in order from the root, or the reason why it is none."""
    held_by: dict[str, UrdfJoint] = {}
    below: dict[str, list[UrdfJoint]] = {name: [] for name in links}
    for joint in joints.values():
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                raise joint.element.child(end).fault(
                    f"there is no link named {shown(link)}",
                    field=f"joint {shown(joint.name)} {end}",
                    remedy=f'Add <link name="..."/> or correct the name; there is {listed(links)}',
                )
        if joint.child in held_by:
            raise joint.element.fault(
                f"link {shown(joint.child)} has two parents: joints {shown(held_by[joint.child].name)} "
                f"and {shown(joint.name)}",
                field=f"joint {shown(joint.name)} child",
            )
        held_by[joint.child] = joint
        below[joint.parent].append(joint)
    roots = [name for name in links if name not in held_by]
    if len(roots) > 1:
        raise links[roots[1]].fault(
            f"the robot has several root links: {listed(roots)}", field="link", remedy="Join all links into one tree"
        )
    ordered: list[UrdfJoint] = []
    reached = list(roots)
    for link in reached:  # grows while it is read
        ordered += below[link]
        reached += [joint.child for joint in below[link]]
    if len(reached) < len(links):
        looped = [name for name in links if name not in set(reached)]
        raise held_by[looped[0]].element.fault(
            f"joints form a loop through links {listed(looped)}", field=f"joint {shown(held_by[looped[0]].name)}"
        )
    return UrdfTree(robot, roots[0], bodies, {joint.name: joint for joint in ordered})


def listed(names: Iterable[str], most: int = 8) -> str:
    return validation.listed(map(shown, names), most)


def unknown_name(option: str, what: str, wrong: object, names: Sequence[str]) -> ModelError:
    """A name that an argument gives, and the file has not: no line of the file is at fault."""
    return ModelError(
        f"there is no {what} named {shown(str(wrong))}",
        field=option,
        remedy=validation.known_names(wrong, names, shown),
    )
