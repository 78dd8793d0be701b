"""Mechanisms written as TOML files, so that they read back equal; docs/model-file.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tauforge.errors import ModelError
from tauforge.formats.mechanism_toml import FORMAT, KINDS, MAX_PARTS, ONLY, SCALARS
from tauforge.formats.toml_text import list_text, provenance_lines, rows_text, tensor_text, text, write_lines
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import NO_INERTIA, Body, MechanismJoint, Spring


def write(mechanism: Mechanism, path: Path) -> None:
    """Write the mechanism so that `tauforge.load` gives it back equal."""
    write_lines(path, _lines(mechanism))


def _lines(m: Mechanism) -> Iterable[str]:
    for key, parts in (("body", m.bodies), ("joint", m.joints), ("spring", m.springs)):
        if len(parts) > MAX_PARTS:
            raise ModelError(f"it has {len(parts)} parts [[{key}]]; a file holds at most {MAX_PARTS}", field=key)
    yield f'format = "{FORMAT}"'
    yield f"name = {text(m.name, 'name')}"
    yield f"gravity = {list_text(m.gravity)}"
    yield f"coulomb_speed = {m.coulomb_speed!r}"
    if isinstance(m.independent, str):
        yield f"independent = {text(m.independent, 'independent')}"
    elif m.independent is not None:
        yield f"independent = {_texts(m.independent, 'independent')}"
    if m.tool is not None:
        yield f"tool = {text(m.tool, 'tool')}"
    if m.cut is not None:
        yield f"cut = {_texts(m.cut, 'cut')}"
    for body in m.bodies:
        yield from ("", "[[body]]", *_body_lines(body))
    for joint in m.joints:
        yield from ("", "[[joint]]", *_joint_lines(joint))
    for spring in m.springs:
        yield from ("", "[[spring]]", *_spring_lines(spring))
    yield from provenance_lines(m.known_exceptions, m.sources)


def _texts(values: Iterable[str], field: str) -> str:
    return f"[{', '.join(text(value, field) for value in values)}]"


def _body_lines(body: Body) -> Iterable[str]:
    yield f"name = {text(body.name, 'bodies')}"
    yield f"mass = {body.mass!r}"
    yield f"com = {list_text(body.com)}"
    if body.inertia != NO_INERTIA:
        yield f"inertia = {tensor_text(body.inertia)}"
    if body.frame is not None:
        yield f"frame = {rows_text(body.frame)}"
    elif body.origin is not None and body.origin != body.com:
        yield f"origin = {list_text(body.origin)}"


def _joint_lines(joint: MechanismJoint) -> Iterable[str]:
    kind = next(name for name, known in KINDS.items() if type(joint) is known)
    yield f"name = {text(joint.name, 'joints')}"
    yield f'kind = "{kind}"'
    yield f"parent = {text(joint.parent, 'joints')}"
    yield f"child = {text(joint.child, 'joints')}"
    yield f"at = {list_text(joint.at)}"
    for key in ("axis", "along"):
        if kind in ONLY[key]:
            yield f"{key} = {list_text(getattr(joint, key))}"
    if kind in ONLY["axes"]:
        yield f"axes = {rows_text(getattr(joint, 'axes'))}"  # noqa: B009 - only a Universal has them
    if joint.actuated:
        yield "actuated = true"
    home = np.ravel(joint.home).tolist()
    if any(home):
        yield f"home = {list_text(home)}"
    if any(joint.coulomb):
        yield f"coulomb = {list_text(joint.coulomb)}"
    if joint.limits is not None:
        yield f"limits = {rows_text(joint.limits)}"
    defaults = {field.name: field.default for field in dataclasses.fields(joint)}
    yield from (f"{key} = {getattr(joint, key)!r}" for key in SCALARS if getattr(joint, key) != defaults[key])
    if joint.mimic is not None:
        leader, factor, offset = joint.mimic
        yield f"mimic = {{ joint = {text(leader, 'mimic')}, factor = {factor!r}, offset = {offset!r} }}"


def _spring_lines(spring: Spring) -> Iterable[str]:
    for end in "ab":
        yield f"body_{end} = {text(getattr(spring, f'body_{end}'), 'springs')}"
        yield f"point_{end} = {list_text(getattr(spring, f'point_{end}'))}"
    yield f"stiffness = {spring.stiffness!r}"
    yield f"length = {spring.length!r}"
    yield f"damping = {spring.damping!r}"
