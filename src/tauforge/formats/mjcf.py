"""MJCF: the mechanism of a MuJoCo file, with its equalities as loops and couplings.

Contacts, sensors and keyframes are passed over; what would change the motion and is not known is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tauforge import validation
from tauforge.algebra.vectors import IDENTITY, NO_DISPLACEMENT, Matrix, Transform, Vector
from tauforge.errors import ModelError, in_file
from tauforge.formats.mjcf_bodies import Found, read_inside
from tauforge.formats.mjcf_elements import ACTUATORS, Values, check_spelling, children, classes_of, with_includes
from tauforge.formats.mjcf_geoms import visuals_of
from tauforge.formats.urdf_mechanism import in_order
from tauforge.formats.urdf_tree import unknown_name
from tauforge.formats.xml_reader import Element, shown, warn
from tauforge.robots.mechanism.loop_closure import closed
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import GROUND_NAME, MechanismJoint, Spherical, Spring, Weld

IGNORED_SECTIONS = ("asset", "visual", "statistic", "size", "keyframe", "sensor", "custom", "contact")
READ_SECTIONS = ("compiler", "option", "default", "worldbody", "equality", "actuator", "tendon")
MEDIUM_OPTIONS = ("wind", "density", "viscosity")  # of the medium, where they are 0
SAME_FRAME = 1e-9
MAX_NAMED = 5


def robot_of(root: Element, *, tool: str | None = None, **options: Any) -> Mechanism:
    """The mechanism of a <mujoco> in the position where every joint is at its `ref`.

    tool: name of the body whose frame is the tool frame; by default the last
    """
    for name, value in options.items():
        if value is not None:
            raise ModelError(f"{name} applies to URDF files only, and {root.file} is MJCF", field=name)
    root = with_includes(root)
    for section in root.children:
        if section.tag not in (*IGNORED_SECTIONS, *READ_SECTIONS):
            raise section.unsupported(f"<{section.tag[:40]}> is not supported", field=section.tag[:40])
    found = Found(_compiled(root))
    with in_file(root.file):
        robot = _mechanism_of(root, found, tool)
    if found.left_out:
        warn(f"{root.file}: left out: {validation.listed(found.left_out, MAX_NAMED, '; ')}")
    return robot


def _mechanism_of(root: Element, found: Found, tool: str | None) -> Mechanism:
    for world in (section for section in root.children if section.tag == "worldbody"):
        read_inside(found, world, GROUND_NAME, NO_DISPLACEMENT, None)
    if not found.bodies:
        raise root.fault("there is no body")
    names = [body.name for body in found.bodies]
    if tool is not None and tool not in names:
        raise unknown_name("tool", "body", tool, names)
    joints = _actuated(root, found)
    loops = _equalities(root, found, joints)
    numbers = {name: k for k, name in enumerate(names, 1)} | {GROUND_NAME: 0}
    visuals, left_out = visuals_of(root, found.values, found.shown, numbers)
    found.left_out += left_out
    description = {
        "bodies": tuple(found.bodies),
        "joints": tuple(joints.values()),
        "springs": tuple(_springs(root, found)),
        "gravity": _gravity(root),
        "name": root.attributes.get("model") or "mechanism",
        "tool": tool,
        "visuals": visuals,
    }
    return closed(description, loops, {})


def _compiled(root: Element) -> Values:
    """The settings of the <compiler> and <default> sections."""
    degrees, sequence, autolimits, from_geoms = True, "xyz", True, "auto"
    groups: tuple[float, ...] = (0.0, 5.0)
    for element in (child for child in root.children if child.tag == "compiler"):
        check_spelling(element)
        for attribute in ("settotalmass", "boundmass", "boundinertia"):
            if element.number(attribute, 0.0) > 0:
                raise element.unsupported(f"{attribute} is not supported", field=f"compiler {attribute}")
        if element.is_true("balanceinertia", False):
            raise element.unsupported("balanceinertia is not supported", field="compiler balanceinertia")
        if element.attributes.get("coordinate", "local") != "local":
            raise element.unsupported("only local coordinates are supported", field="compiler coordinate")
        degrees = element.word("angle", ("degree", "radian"), "degree" if degrees else "radian") == "degree"
        sequence = element.attributes.get("eulerseq", sequence)
        if len(sequence) != 3 or set(sequence.lower()) - set("xyz"):
            raise element.fault(f"expected three of x, y, z, X, Y, Z, got {shown(sequence)}", field="compiler eulerseq")
        autolimits = element.is_true("autolimits", autolimits)
        from_geoms = element.word("inertiafromgeom", ("true", "false", "auto"), from_geoms)
        groups = element.numbers("inertiagrouprange", 2, groups)
    classes = classes_of([child for child in root.children if child.tag == "default"])
    return Values(classes, degrees, sequence, autolimits, from_geoms, groups)


def _gravity(root: Element) -> tuple[float, ...]:
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    for option in (child for child in root.children if child.tag == "option"):
        check_spelling(option)
        gravity = option.numbers("gravity", 3, gravity)
        for attribute in MEDIUM_OPTIONS:
            if any(option.up_to(attribute, 3)):
                raise option.unsupported(f"forces of the medium ({attribute}) are not supported", field="option")
        for flag in option.children:
            if flag.tag == "flag" and flag.attributes.get("gravity") == "disable":
                gravity = (0.0, 0.0, 0.0)
    return gravity


def _springs(root: Element, found: Found) -> Iterator[Spring]:
    """Spatial tendons between two sites; others must not have forces of their own."""
    for element in children(root, "tendon"):
        tendon = found.values.merged(replace(element, tag="tendon"), None)
        stiffness, damping = (tendon.up_to(attribute, 3) for attribute in ("stiffness", "damping"))
        other = [name for name in ("frictionloss", "armature") if any(tendon.up_to(name, 3))]
        if not any((*stiffness, *damping, *other)):
            continue
        ends = [child for child in element.children if child.tag == "site"]
        length = tendon.up_to("springlength", 2) or (-1.0,)
        simple = element.tag == "spatial" and len(ends) == len(element.children) == 2
        if other or not simple or any((*stiffness[1:], *damping[1:])) or len(set(length)) > 1:
            raise element.unsupported(
                f"only springs and dampers between two sites are supported, not this <{element.tag}>", field="tendon"
            )
        (a, here), (b, there) = (_site(found, end, "site") for end in ends)
        yield Spring(
            a,
            tuple(here.translation),
            b,
            tuple(there.translation),
            (stiffness or (0.0,))[0],
            length=None if length[0] < 0 else length[0],
            damping=(damping or (0.0,))[0],
        )


# ------------------------------------------------------------------------------------------------------ actuators


def _actuated(root: Element, found: Found) -> dict[str, MechanismJoint]:
    """The joints by name, those with actuators in the order of the file's actuators: a vector of forces has theirs."""
    joints = {joint.name: joint for joint in found.joints}
    order: list[str] = []
    for element in children(root, "actuator"):
        if element.tag not in ACTUATORS:
            raise element.unsupported(f"<{element.tag[:40]}> is not supported", field="actuator")
        actuator = found.values.merged(element, None)
        name = actuator.attributes.get("joint")
        if name is None or actuator.tag in ("muscle", "adhesion"):
            raise element.unsupported(
                f"only actuators that act on a joint are supported, not this <{element.tag}>", field="actuator"
            )
        if name not in joints:
            raise element.fault(f"there is no joint named {shown(name)}", field="actuator joint")
        joint = joints[name]
        if len(joint.letters) != 1:
            raise element.unsupported(f"actuators of a {type(joint).__name__} are not supported", field="actuator")
        if element.tag != "motor":
            found.left_out.append(f"the law of <{element.tag}> on joint {shown(name)}, line {element.line}")
        joints[name] = replace(joint, actuated=True, max_force=_largest_force(found.values, actuator, joint))
        order.append(name)
    return {joint.name: joint for joint in in_order(list(joints.values()), order)}


def _largest_force(values: Values, actuator: Element, joint: MechanismJoint) -> float | None:
    """By the ranges of force and control, on the joint: through the gear."""
    gear = abs((actuator.up_to("gear", 6) or (1.0,))[0])
    ranges = ["force"] + (["ctrl"] if actuator.tag == "motor" else [])
    found = [] if joint.max_force is None else [joint.max_force]
    for what in ranges:
        if values.is_limited(actuator, what):
            found.append(gear * max(map(abs, actuator.numbers(f"{what}range", 2))))
    return min(found, default=None)


# ------------------------------------------------------------------------------------------------------ equalities


def _equalities(root: Element, found: Found, joints: dict[str, MechanismJoint]) -> list[Any]:
    """The loops; among the joints those that follow others are replaced."""
    loops: list[Any] = []
    for number, element in enumerate(children(root, "equality"), 1):
        equality = found.values.merged(element, None)
        defaults = found.values.classes.get(element.attributes.get("class", "main"), {}).get("equality", {})
        equality = replace(equality, attributes={**defaults, **equality.attributes})
        if not equality.is_true("active", True):
            continue
        match element.tag:
            case "connect" | "weld":
                taken = {*joints, *(loop[0].name for loop in loops)}
                name = found.new_name(element, f"{element.tag}{number}", taken)
                loops.append(_loop(found, equality, name))
            case "joint":
                _couple(element, joints, equality)
            case tag:
                raise element.unsupported(f"equality <{tag[:40]}> is not supported", field="equality")
    return loops


def _ends(found: Found, equality: Element) -> Iterator[str]:
    for attribute in ("body1", "body2"):
        name = equality.attributes.get(attribute, "world") if attribute == "body2" else equality.text(attribute)
        name = GROUND_NAME if name == "world" else name
        if name not in found.frames:
            raise equality.fault(f"there is no body named {shown(name)}", field=f"{equality.tag} {attribute}")
        yield name


def _loop(found: Found, equality: Element, name: str) -> Any:
    kind = Spherical if equality.tag == "connect" else Weld
    if "site1" in equality.attributes:
        (a, here), (b, there) = (_site(found, equality, attribute) for attribute in ("site1", "site2"))
        if kind is Weld and _difference(here.rotation, there.rotation) > SAME_FRAME:
            raise equality.unsupported("a weld of sites that are turned at first is not supported", field="weld")
        return kind(name, a, b, tuple(here.translation)), tuple(there.translation)
    a, b = _ends(found, equality)
    anchor = equality.numbers("anchor", 3, None if kind is Spherical else (0.0, 0.0, 0.0))
    frame = found.frames[a if kind is Spherical else b]
    if kind is Weld:
        _check_relative_pose(found, equality, a, b)
    at = tuple(frame.rotation @ Vector(*anchor) + frame.translation)
    return kind(name, a, b, at), at


def _site(found: Found, equality: Element, attribute: str) -> Any:
    name = equality.text(attribute)
    if name not in found.sites:
        raise equality.fault(f"there is no site named {shown(name)}", field=f"{equality.tag} {attribute}")
    return found.sites[name]


def _difference(a: Matrix, b: Matrix) -> float:
    return float(max(abs(x - y) for p, q in zip(a.rows, b.rows, strict=True) for x, y in zip(p, q, strict=True)))


def _check_relative_pose(found: Found, equality: Element, a: str, b: str) -> None:
    """relpose, where it is given, must be that of the bodies as the file puts them.

    It is the pose of the second body in the first, and its place is that of the anchor on the second body.
    """
    given = equality.numbers("relpose", 7, (0.0,) * 7)
    if not any(given[3:]):
        return
    attributes = {"pos": " ".join(map(repr, given[:3])), "quat": " ".join(map(repr, given[3:]))}
    anchor = Vector(*equality.numbers("anchor", 3, (0.0, 0.0, 0.0)))
    wanted = found.values.pose(replace(equality, attributes=attributes)).then(Transform(IDENTITY, -anchor))
    there = found.frames[a].inverse().then(found.frames[b])
    gap = max(_difference(wanted.rotation, there.rotation), *map(abs, wanted.translation - there.translation))
    if gap > SAME_FRAME:
        raise equality.unsupported(
            f"relpose differs by {gap:.3g} from where the file puts the bodies",
            field="weld relpose",
            remedy="Place the bodies where the weld holds them, or leave out relpose",
        )


def _couple(element: Element, joints: dict[str, MechanismJoint], equality: Element) -> None:
    """y = y0 + a + b (x - x0) of joint1 and joint2, whose refs are y0 and x0."""
    names = [equality.text("joint1"), equality.attributes.get("joint2")]
    for attribute, name in zip(("joint1", "joint2"), names, strict=True):
        if name is None:
            raise element.unsupported("an equality that holds one joint is not supported", field="equality joint")
        if name not in joints or len(joints[name].letters) != 1:
            raise element.fault(f"there is no hinge or slide named {shown(name)}", field=f"equality {attribute}")
    follower, leader = (joints[str(name)] for name in names)
    a, b, *curved = (*equality.up_to("polycoef", 5), *(0.0, 1.0, 0.0, 0.0, 0.0)[len(equality.up_to("polycoef", 5)) :])
    if any(curved):
        raise element.unsupported("only linear couplings are supported", field="equality polycoef")
    y0, x0 = (float(np.ravel(joint.home)[0]) for joint in (follower, leader))
    offset = y0 + a - b * x0
    if follower.actuated and not leader.actuated and b != 0:
        follower, leader, b, offset = leader, follower, 1.0 / b, -offset / b
    if follower.mimic is not None:
        raise element.unsupported(f"joint {shown(follower.name)} follows two others", field="equality joint")
    joints[follower.name] = replace(follower, mimic=(leader.name, b, offset))
