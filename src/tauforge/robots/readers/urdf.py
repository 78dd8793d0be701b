"""URDF: a tree of links read strictly, its fixed joints merged, and the one chain of moving joints made an arm.

Visuals, collisions, materials, transmissions and simulator tags are passed over; no file but the URDF is opened.
"""

from __future__ import annotations

import difflib
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tauforge.algebra.inertias import point_mass_inertia, rotated
from tauforge.algebra.scalars import cos_sin_of_constant
from tauforge.algebra.vectors import (
    E_X,
    IDENTITY,
    NO_DISPLACEMENT,
    ZERO,
    Matrix,
    Transform,
    Vector,
    outer,
    skew,
)
from tauforge.errors import ModelError
from tauforge.robots import numbers
from tauforge.robots.joint import Joint
from tauforge.robots.readers.xml_lines import XACRO_REMEDY, Element, read_xml, shown
from tauforge.robots.serial_arm import SerialArm

LETTERS = {"revolute": "R", "continuous": "R", "prismatic": "P"}
TYPES = (*LETTERS, "fixed")
UNSUPPORTED_TYPES = ("floating", "planar")
MAX_LINKS = 500  # and joints; far above any robot, and read in a fraction of a second
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
# what the reader takes its numbers from
ATTRIBUTES = {
    "origin": ("xyz", "rpy"),
    "mass": ("value",),
    "inertia": MOMENTS,
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "parent": ("link",),
    "child": ("link",),
    "mimic": ("joint", "multiplier", "offset"),
}
CHILDREN = {
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"),
}


class Body(NamedTuple):
    """mass kg, com m, inertia kg m^2 about the centre of mass; in the axes of a named frame."""

    mass: float
    com: Vector
    inertia: Matrix

    def seen_from(self, placement: Transform) -> Body:
        """The same body in the outer frame of the placement."""
        R, p = placement
        return Body(self.mass, R @ self.com + p, rotated(self.inertia, R))

    @property
    def is_massless(self) -> bool:
        return self.mass == 0 and all(x == 0 for row in self.inertia.rows for x in row)


NO_BODY = Body(0.0, ZERO, Matrix((ZERO, ZERO, ZERO)))


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
    mimics: bool = False

    @property
    def moves(self) -> bool:
        return self.type != "fixed"

    @property
    def unsupported(self) -> str | None:
        """Why no arm can have this joint, in a word."""
        return self.type if self.type in UNSUPPORTED_TYPES else "mimic" if self.mimics else None


@dataclass(frozen=True)
class Tree:
    """Links and joints that hang together on one root; joints in order from the root outward."""

    robot: Element
    root: str
    bodies: dict[str, Body]
    joints: dict[str, UrdfJoint]


class Seat(NamedTuple):
    """Where a link is held: the moving joint that carries it (None: the world) and that joint's link frame <- link."""

    carrier: str | None
    placement: Transform


def read_urdf(path: Path, *, tip: str | None = None, lock: Mapping[str, float] | None = None) -> SerialArm:
    """The serial arm of a URDF file; links that fixed or locked joints hold are merged into the link they hang on.

    tip:  name of the link whose frame is the tool frame; the chain leads from the root to it, and moving joints that
          hang on the fixed base beside the chain are left out
    lock: joint names and the coordinates (rad or m) they are held at
    Without tip the moving joints must form one chain. The tool frame is then that of the only leaf link beyond the
    last moving joint, or of the last moving link if there are several leaves.
    """
    tree = _with_locked_joints(_read_tree(read_xml(path)), lock or {})
    seats = _seats(tree)
    chain = _chain(tree, seats, tip)
    composites = [_composite(tree, seats, joint) for joint in chain]
    try:
        arm = SerialArm(
            joints=tuple(_arm_joint(joint, seats, body) for joint, body in zip(chain, composites, strict=True)),
            tool=numbers.from_transform(_tool(tree, seats, chain[-1], tip)),
            name=tree.robot.text("name"),
        )
    except ModelError as error:
        raise error.located(path) from None
    if all(body.is_massless for body in composites):
        warnings.warn(f"{path}: no moving link has mass or inertia; its dynamics are singular", stacklevel=2)
    return arm


# ------------------------------------------------------------------------------------------------------- reading


def _read_tree(robot: Element) -> Tree:
    if robot.tag != "robot":
        raise robot.fault(f"expected the root element 'robot', got {shown(robot.tag)}")
    for element in robot.children:
        if element.tag.startswith("xacro:"):
            raise element.unsupported(f"{shown(element.tag)} is not URDF", remedy=XACRO_REMEDY)
    links = _by_name(robot, "link")
    elements = _by_name(robot, "joint")
    for element in (*links.values(), *elements.values()):
        _refuse_misspellings(element)
    bodies = {name: _read_body(link) for name, link in links.items()}
    joints = {name: _read_joint(element) for name, element in elements.items()}
    return _rooted(robot, links, bodies, joints)


def _refuse_misspellings(element: Element) -> None:
    """In what the numbers come from: tags and attributes that are nearly a known one, and rotations by quaternion.

    Other unknown ones are some tool's own and are passed over.
    """
    known = CHILDREN.get(element.tag, ())
    for child in element.children:
        if child.tag not in known:
            _refuse_near(child, "tag", child.tag, known, element.tag)
            continue
        if child.tag == "origin" and "rpy" not in child.attributes:
            for name in child.attributes:
                if name.startswith("quat"):
                    raise child.unsupported(f"{name} is not URDF", field="origin", remedy="Give the rotation as rpy")
        for name in child.attributes:
            if name not in ATTRIBUTES.get(child.tag, (name,)):
                _refuse_near(child, "attribute", name, ATTRIBUTES[child.tag], child.tag)
        if child.tag == "inertial":
            _refuse_misspellings(child)


def _refuse_near(element: Element, what: str, name: str, known: Sequence[str], where: str) -> None:
    near = difflib.get_close_matches(name.lower(), known, n=1)
    if near:
        raise element.fault(f"unknown {what} {shown(name)}", field=where, remedy=f"Did you mean {near[0]}?")


def _by_name(robot: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.children:
        if element.tag == tag:
            name = element.text("name")
            if name in found:
                raise element.fault(f"a second {tag} named {shown(name)}, the first is on line {found[name].line}")
            found[name] = element
            if len(found) > MAX_LINKS:
                raise element.unsupported(f"more than {MAX_LINKS} {tag}s")
    if not found:
        raise robot.fault(f"the robot has no {tag}")
    return found


def _read_body(link: Element) -> Body:
    inertial = link.optional_child("inertial")
    if inertial is None:
        return NO_BODY
    mass_element, inertia_element = inertial.child("mass"), inertial.child("inertia")
    mass = mass_element.number("value")
    if mass < 0:
        raise mass_element.fault(f"expected a mass >= 0, got {mass}", field="mass value")
    xx, xy, xz, yy, yz, zz = (inertia_element.number(moment) for moment in MOMENTS)
    inertia = Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return Body(mass, ZERO, inertia).seen_from(_read_origin(inertial))


def _read_origin(owner: Element) -> Transform:
    origin = owner.optional_child("origin")
    if origin is None:
        return NO_DISPLACEMENT
    rpy, xyz = (origin.numbers(attribute, 3, (0.0, 0.0, 0.0)) for attribute in ("rpy", "xyz"))
    return Transform(numbers.rotation_from_rpy(*rpy), Vector(*xyz))


def _read_joint(joint: Element) -> UrdfJoint:
    name, kind = joint.text("name"), joint.text("type")
    if kind not in (*TYPES, *UNSUPPORTED_TYPES):
        raise joint.unsupported(
            f"unknown joint type {shown(kind)}", field=f"joint {name}", remedy=f"Use one of {', '.join(TYPES)}"
        )
    common = UrdfJoint(
        element=joint,
        name=name,
        type=kind,
        parent=joint.child("parent").text("link"),
        child=joint.child("child").text("link"),
        origin=_read_origin(joint),
    )
    if kind not in LETTERS:
        return common
    limits, max_force, max_speed = _read_limit(joint, kind)
    dynamics = joint.optional_child("dynamics")
    return replace(
        common,
        axis=_read_axis(joint),
        limits=limits,
        max_force=max_force,
        max_speed=max_speed,
        damping=0.0 if dynamics is None else _non_negative(dynamics, "damping", 0.0),
        friction=0.0 if dynamics is None else _non_negative(dynamics, "friction", 0.0),
        mimics=joint.optional_child("mimic") is not None,
    )


def _read_axis(joint: Element) -> Vector:
    element = joint.optional_child("axis")
    if element is None:
        return E_X
    xyz = element.numbers("xyz", 3)
    largest = max(map(abs, xyz))
    if largest == 0:
        raise element.fault("the axis is zero", field="axis xyz", remedy="Give it a direction, such as 0 0 1")
    scaled = [x / largest for x in xyz]  # first, so that the length can neither overflow nor vanish
    length = math.hypot(*scaled)
    return Vector(*(x / length for x in scaled))


def _read_limit(joint: Element, kind: str) -> tuple[tuple[float, float] | None, float | None, float | None]:
    """Position limits, effort and velocity; lower and upper default to 0, as the URDF specification has it."""
    limit = joint.optional_child("limit")
    if limit is None:
        if kind == "continuous":
            return None, None, None
        raise joint.fault(
            f"a {kind} joint needs a <limit>", field="limit", remedy="Add <limit lower= upper= effort= velocity=/>"
        )
    # 0 is the placeholder of many files for "not known": no joint is meant to be without force or speed
    effort, velocity = (_non_negative(limit, attribute, 0.0) or None for attribute in ("effort", "velocity"))
    if kind == "continuous":
        return None, effort, velocity
    lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    if lower > upper:
        raise limit.fault(f"lower limit {lower} above upper limit {upper}", field="limit", remedy="Swap them")
    return (lower, upper), effort, velocity


def _non_negative(element: Element, attribute: str, default: float | None = None) -> float:
    value = element.number(attribute, default)
    if value < 0:
        raise element.fault(f"expected a number >= 0, got {value}", field=f"{element.tag} {attribute}")
    return value


def _rooted(robot: Element, links: dict[str, Element], bodies: dict[str, Body], joints: dict[str, UrdfJoint]) -> Tree:
    """The tree with its joints in order from the root, or the reason why it is none."""
    held_by: dict[str, UrdfJoint] = {}
    below: dict[str, list[UrdfJoint]] = {name: [] for name in links}
    for joint in joints.values():
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                raise joint.element.child(end).fault(
                    f"there is no link named {shown(link)}",
                    field=f"joint {shown(joint.name)} {end}",
                    remedy=f'Add <link name="..."/> or correct the name; there is {_listed(links)}',
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
            f"several root links, which no joint holds: {_listed(roots)}",
            field="link",
            remedy="Join all links into one tree",
        )
    ordered: list[UrdfJoint] = []
    reached = list(roots)
    for link in reached:  # grows while it is read
        ordered += below[link]
        reached += [joint.child for joint in below[link]]
    if len(reached) < len(links):
        looped = [name for name in links if name not in set(reached)]
        raise held_by[looped[0]].element.fault(
            f"joints form a loop through links {_listed(looped)}", field=f"joint {shown(held_by[looped[0]].name)}"
        )
    return Tree(robot, roots[0], bodies, {joint.name: joint for joint in ordered})


def _listed(names: Iterable[str], most: int = 8) -> str:
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(map(shown, every[:most])) + more


def _near(wrong: str, names: Sequence[str]) -> str:
    return _listed(difflib.get_close_matches(str(wrong), names, n=5, cutoff=0.5) or names)


# ------------------------------------------------------------------------------------------------- choosing the chain


def _with_locked_joints(tree: Tree, lock: Mapping[str, float]) -> Tree:
    joints = dict(tree.joints)
    for name, value in lock.items():
        if name not in joints:
            known = [joint.name for joint in joints.values() if joint.type in LETTERS]
            raise tree.robot.fault(
                f"there is no joint named {shown(str(name))} to lock",
                field="lock",
                remedy=f"Joints that can be locked: {_near(name, known) or 'none'}",
            )
        joint = joints[name]
        if joint.type == "fixed":
            raise joint.element.fault(
                f"joint {shown(name)} is fixed and takes no coordinate", field="lock", remedy="Leave it out of lock="
            )
        if joint.type not in LETTERS:
            raise joint.element.unsupported(
                f"a {joint.type} joint cannot be locked by one number", field=f"joint {shown(name)}"
            )
        try:
            coordinate = numbers.real(value, f"lock[{name!r}]")
        except ModelError as error:
            raise error.located(tree.robot.file) from None
        origin = joint.origin.then(_displacement(joint, coordinate))
        joints[name] = replace(joint, type="fixed", origin=origin, mimics=False)
    return replace(tree, joints=joints)


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
                f"there is no link named {shown(str(tip))}", field="tip", remedy=f"Links: {_near(tip, list(seats))}"
            )
        chain = _way_up(carriers, seats[tip].carrier)
        # a branch that leaves from the world-fixed base neither moves with the arm nor loads it
        counted = [name for name in carriers if _way_up(carriers, name)[:1] == chain[:1]]
    _refuse_unsupported([tree.joints[name] for name in counted])
    aside = [name for name in counted if name not in chain]
    if aside:
        first = tree.joints[aside[0]]
        raise first.element.unsupported(
            f"the moving joints are not one chain, these branch off: {_listed(aside, 20)}",
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


def _refuse_unsupported(joints: Sequence[UrdfJoint]) -> None:
    refused = [joint for joint in joints if joint.unsupported]
    if refused:
        held = [joint.name for joint in refused if joint.type in LETTERS]
        raise refused[0].element.unsupported(
            "not supported: " + ", ".join(f"{joint.unsupported} joint {shown(joint.name)}" for joint in refused[:8]),
            field=f"joint {shown(refused[0].name)}",
            remedy=f"Hold it at a value: {_lock_example(held)}" if held else None,
        )


def _lock_example(names: Sequence[str], most: int = 4) -> str:
    entries = [f"{shown(name)}: 0.0" for name in names[:most]] + (["..."] if len(names) > most else [])
    return "lock={" + ", ".join(entries) + "}"


def _tool(tree: Tree, seats: dict[str, Seat], last: UrdfJoint, tip: str | None) -> Transform:
    if tip is not None:
        return seats[tip].placement
    parents = {joint.parent for joint in tree.joints.values()}
    leaves = [seat.placement for link, seat in seats.items() if seat.carrier == last.name and link not in parents]
    return leaves[0] if len(leaves) == 1 else NO_DISPLACEMENT


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
        before=numbers.from_transform(seats[joint.parent].placement.then(joint.origin).then(turn)),
        after=numbers.from_transform(turn.inverse()),
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


def _rotation_to(axis: Vector) -> Matrix:
    """A rotation that takes z to the axis, by the shortest way; exact for the coordinate axes."""
    if axis.z < 0:  # by way of -axis and half a turn about x, away from the formula's pole
        return _rotation_to(-axis).times(Matrix.diagonal(1.0, -1.0, -1.0))
    x, y, z = axis
    k = 1.0 / (1.0 + z)
    return Matrix.of(((1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z)))
