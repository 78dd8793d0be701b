"""URDF and MJCF are written with this: the tree of a mechanism, XML lines, what a format cannot hold, and arms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from tauforge.algebra.inertias import rotated
from tauforge.algebra.vectors import Matrix, Transform, Vector
from tauforge.errors import ModelError, in_file
from tauforge.files import written_whole
from tauforge.formats.toml_schema import DRIVE_KEYS
from tauforge.formats.xml_reader import MAX_XML_BYTES, unused, warn
from tauforge.plugins import save
from tauforge.robots.mechanism.assembly import ElementaryJoint, elementary_joints
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import GROUND_NAME, Body, Free, Hinge, MechanismJoint, Slider, Spherical, Weld
from tauforge.validation import IDENTITY_ROWS, rows

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
Value = str | float | Iterable[float] | None  # of an attribute
TOOL_NAME = "tool"
SAME_PLACE = 1e-12  # m, of a frame or an axis: nearer is the same place


class Held(NamedTuple):
    """A body as it hangs in the tree: by a joint from its parent, in steps of one to six coordinates."""

    body: Body
    parent: str
    joint: MechanismJoint
    steps: tuple[ElementaryJoint, ...]


def held_bodies(m: Mechanism) -> Iterator[Held]:
    """From the ground outward; bodies that float hang by free joints."""
    bodies = {body.name: body for body in m.bodies}
    taken = {joint.name for joint in m.joints}
    for branch in m._analysis.tree.branches:
        if branch.copy_of is None:
            body = bodies[branch.outer]
            name = f"{branch.outer} floats" if branch.outer in taken else branch.outer
            joint = Free(name, GROUND_NAME, branch.outer) if branch.joint is None else m.joints[branch.joint]
            outward = joint.child == branch.outer
            yield Held(body, branch.inner, joint, tuple(elementary_joints(joint, outward, body.home_frame)))


def closing_joints(m: Mechanism) -> list[MechanismJoint]:
    """The joints that are not in the tree."""
    analysis = m._analysis
    through = [branch.joint for branch in analysis.tree.branches if branch.copy_of is not None]
    return [m.joints[k] for k in (*analysis.tree.cut, *through) if k is not None]


def _last_body(m: Mechanism) -> str:
    """The last in a file, where each body stands before those that hang on it."""
    last = {held.parent: held.body.name for held in held_bodies(m)}
    name = last[GROUND_NAME]
    while name in last:
        name = last[name]
    return name


def axis_of(step: ElementaryJoint) -> Vector:
    """The axis of a step that turns or slides, world frame, home position."""
    R = step.world.rotation
    return Vector(R[0, 2], R[1, 2], R[2, 2])


def own_mass(body: Body, frame: Transform) -> tuple[Vector, Matrix]:
    """Centre of mass and inertia about it, in a frame that is given in the home position."""
    R, p = frame
    inertia = rotated(Matrix.of(body.inertia), R.T)
    return R.T @ (Vector(*body.com) - p), (inertia + inertia.T) * 0.5


def tag(element: str, /, **attributes: Value) -> str:
    """An element without children."""
    return f"{opened(element, **attributes)[:-1]}/>"


def opened(element: str, /, **attributes: Value) -> str:
    """The start of an element with children. Attributes that are None are left out."""
    return f"<{' '.join([element, *(f'{key}={_quoted(x)}' for key, x in attributes.items() if x is not None)])}>"


def _quoted(value: str | float | Iterable[float]) -> str:
    if not isinstance(value, str):
        value = " ".join(repr(float(x)) for x in ((value,) if isinstance(value, int | float) else value))
    return quoteattr(value)


def write_xml(path: Path, lines: Iterable[str], lost: Iterable[str], what: str) -> None:
    """A reader of the file sees the old or the new one whole. One warning says what the format does not hold."""
    with in_file(path):
        text = "\n".join(lines) + "\n"
        if NOT_XML.search(text):
            raise ModelError("a name contains a character that no XML file can hold")
    data = text.encode()
    if len(data) > MAX_XML_BYTES:
        raise ModelError(f"the file would be larger than {MAX_XML_BYTES // 2**20} MiB", file=path)
    with written_whole(path) as file:
        file.write(data)
    if told := "; ".join(lost):
        warn(f"{path}: {what} does not hold: {told}", "A .toml file holds all")


def lost_of_joints(m: Mechanism) -> Iterator[str]:
    """Properties of joints and of the tool that neither URDF nor MJCF holds, for one warning."""
    if uneven := [joint.name for joint in m.joints if joint.coulomb[0] != joint.coulomb[1]]:
        yield f"Coulomb friction that differs by direction ({', '.join(uneven[:5])}; the larger is written)"
    inward = [
        held.joint.name
        for held in held_bodies(m)
        if isinstance(held.joint, Spherical) and held.joint.child != held.body.name
    ]
    if inward:
        yield f"balls whose child is nearer to the ground ({', '.join(inward[:5])}; angles of the parent are written)"
    if m.tool_body != _last_body(m):
        yield f"which body is the tool; tauforge.load(path, tool={m.tool_body!r}) chooses it again"
    if m.coulomb_speed:
        yield "coulomb_speed"
    for field in ("independent", "cut"):
        if getattr(m, field) is not None:
            yield field
    if m.known_exceptions or any(source.fields != ("tool",) for source in m.sources):
        yield "sources and known exceptions"


# --------------------------------------------------------------------------------------------------------------- arms


def write(arm: SerialArm, path: Path) -> None:
    """Write the arm as URDF or MJCF, as a mechanism whose home is where every coordinate is 0.

    Its bodies have the arm's link frames, and the tool is a body without mass.
    """
    frames = np.asarray(arm.link_frames(np.zeros(arm.n)))
    bodies: list[Body] = []
    joints: list[MechanismJoint] = []
    parent = GROUND_NAME
    for i, joint in enumerate(arm.joints):
        here, link = frames[i] @ np.array(joint.before), frames[i + 1]
        name = joint.link_name
        inertia = link[:3, :3] @ np.array(joint.inertia) @ link[:3, :3].T
        com = link[:3, :3] @ joint.com + link[:3, 3]
        bodies.append(Body(name, joint.mass, com.tolist(), rows((inertia + inertia.T) / 2), frame=rows(link)))
        kind = Hinge if joint.kind == "R" else Slider
        drive = {key: getattr(joint, key) for key in ("limits", *DRIVE_KEYS)}
        at, axis = here[:3, 3].tolist(), here[:3, 2].tolist()
        joints.append(kind(joint.name, parent, name, at, actuated=True, **drive, axis=axis))
        parent = name
    if arm.tool != IDENTITY_ROWS:
        tool = frames[-1] @ np.array(arm.tool)
        place, name = tool[:3, 3].tolist(), unused(TOOL_NAME, [body.name for body in bodies])
        bodies.append(Body(name, com=place, frame=rows(tool)))
        joints.append(Weld(unused(TOOL_NAME, [joint.name for joint in joints]), parent, name, place))
    same = {key: getattr(arm, key) for key in ("gravity", "coulomb_speed", "name", "known_exceptions", "sources")}
    save(Mechanism(bodies=tuple(bodies), joints=tuple(joints), **same), path)
