"""Mechanisms as TOML files, read strictly and written so that they read back equal; docs/model-file.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tauforge.errors import ModelError
from tauforge.robots.mechanism.closing import closed
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import (
    NO_INERTIA,
    Body,
    Cylinder,
    Free,
    Hinge,
    MechanismJoint,
    Planar,
    Slider,
    Spherical,
    Spring,
    Universal,
    Weld,
)
from tauforge.robots.readers.toml_format import Format
from tauforge.robots.readers.toml_table import Table
from tauforge.robots.readers.toml_text import (
    exceptions_of,
    list_text,
    provenance_lines,
    rows_text,
    sources_of,
    tensor_text,
    text,
    write_lines,
)
from tauforge.robots.validation import Floats, Rows, shown

FORMAT = "tauforge-mechanism-1"
MAX_PARTS = 256  # of a kind
KINDS: dict[str, type[MechanismJoint]] = {
    "hinge": Hinge,
    "slider": Slider,
    "cylinder": Cylinder,
    "universal": Universal,
    "spherical": Spherical,
    "planar": Planar,
    "free": Free,
    "weld": Weld,
}

# every key of every table, with an example for the messages
MECHANISM = {
    "format": f'format = "{FORMAT}"',
    "name": 'name = "my mechanism"',
    "gravity": "gravity = [0.0, 0.0, -9.81]",
    "coulomb_speed": "coulomb_speed = 0.01",
    "independent": 'independent = ["left", "right"], names of joints, or independent = "platform", a body',
    "tool": 'tool = "platform", the name of a body',
    "cut": 'cut = ["elbow"], names of joints',
    "start": "[start] and below it coordinates by name of the joint",
    "body": "[[body]] and below it the keys of one body",
    "joint": "[[joint]] and below it the keys of one joint",
    "spring": "[[spring]] and below it the keys of one spring",
    "known_exception": "[[known_exception]] and below it body and reason",
    "source": "[[source]] and below it fields and source",
}
BODY = {
    "name": 'name = "crank"',
    "mass": "mass = 2.5",
    "com": "com = [0.0, 0.0, 0.1]",
    "inertia": "inertia = [0.01, 0.02, 0.02], or three such rows",
    "origin": "origin = [0.0, 0.0, 0.1]",
    "frame": "frame = four rows of four numbers, the last of them [0.0, 0.0, 0.0, 1.0]",
}
JOINT = {
    "name": 'name = "elbow"',
    "kind": f"kind = one of {', '.join(KINDS)}, in quotes",
    "parent": 'parent = "ground", or the name of a body',
    "child": 'child = "crank", the name of a body',
    "at": "at = [0.0, 0.0, 0.1]",
    "axis": "axis = [0.0, 0.0, 1.0]",
    "axes": "axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]",
    "along": "along = [1.0, 0.0, 0.0]",
    "child_at": "child_at = [0.0, 0.0, 0.2]",
    "child_axis": "child_axis = [0.0, 0.0, 1.0]",
    "actuated": "actuated = true",
    "home": "home = 0.5, or a number for each coordinate",
    "limits": 'limits = ["-pi/2", 1.5], lower first, or such a pair for each coordinate',
    "viscous": "viscous = 0.001",
    "coulomb": "coulomb = [0.4, 0.4], the magnitudes for either direction",
    "motor_inertia": "motor_inertia = 2e-4",
    "gear_ratio": "gear_ratio = 100.0",
    "max_speed": "max_speed = 2.0",
    "max_force": "max_force = 80.0",
    "mimic": "mimic = { joint = 'left', factor = -1.0, offset = 0.0 }",
}
MIMIC = {"joint": 'joint = "left"', "factor": "factor = -1.0", "offset": "offset = 0.0"}
SPRING = {
    "body_a": 'body_a = "crank"',
    "point_a": "point_a = [0.0, 0.0, 0.1]",
    "body_b": 'body_b = "ground"',
    "point_b": "point_b = [0.0, 0.0, 0.3]",
    "stiffness": "stiffness = 800.0",
    "length": "length = 0.15",
    "damping": "damping = 2.0",
}
SCALARS = ("viscous", "motor_inertia", "gear_ratio", "max_speed", "max_force")
ONLY = {  # keys that only some kinds of joints have
    "axis": ("hinge", "slider", "cylinder", "planar"),
    "axes": ("universal",),
    "along": ("planar",),
    "child_axis": ("hinge",),
    "child_at": ("hinge", "spherical", "weld"),
}


# ------------------------------------------------------------------------------------------------------- reading


def mechanism_of(values: dict[str, Any]) -> Mechanism:
    """The mechanism of a file's values; a ModelError names the field, joint[1] being the first joint."""
    top = Table(values, "", MECHANISM)
    top.text("format")
    tables = {key: _limited(top, key, examples) for key, examples in PARTS.items()}
    for key in ("body", "joint"):
        if not tables[key]:
            raise top.fault(key, f"a mechanism needs at least one {key}")
    given: dict[str, Any] = {
        "name": top.text("name"),
        "bodies": tuple(_body(table) for table in tables["body"]),
        "springs": tuple(_spring(table) for table in tables["spring"]),
        "known_exceptions": exceptions_of(top),
        "sources": sources_of(top),
    }
    joints = [(_joint(table), table) for table in tables["joint"]]
    if "gravity" in top:
        given["gravity"] = top.numbers("gravity", 3)
    if "coulomb_speed" in top:
        given["coulomb_speed"] = top.number("coulomb_speed")
    if "tool" in top:
        given["tool"] = top.text("tool")
    if "cut" in top:
        given["cut"] = top.texts("cut")
    if "independent" in top:
        is_text = isinstance(top.value("independent"), str)
        given["independent"] = top.text("independent") if is_text else top.texts("independent")
    loops = [(joint, table) for joint, table in joints if "child_at" in table or "child_axis" in table]
    given["joints"] = tuple(joint for joint, table in joints if (joint, table) not in loops)
    places = {joint.name: table.path for joint, table in joints}
    places |= {body.name: table.path for body, table in zip(given["bodies"], tables["body"], strict=True)}
    try:
        return closed(given, [_loop(joint, table) for joint, table in loops], _start(top, places))
    except ModelError as error:
        raise _placed(error, places) from None


PARTS = {"body": BODY, "joint": JOINT, "spring": SPRING}


def _limited(top: Table, key: str, examples: dict[str, str]) -> list[Table]:
    tables = top.tables(key, examples)
    if len(tables) > MAX_PARTS:
        raise ModelError(f"there are {len(tables)} tables [[{key}]]; at most {MAX_PARTS} are accepted", field=key)
    return tables


def _placed(error: ModelError, places: dict[str, str]) -> ModelError:
    """An error about `elbow.axis` named as the file names it: joint[2].axis."""
    field = error.field or ""
    name, dot, key = field.rpartition(".")
    if dot and name in places:
        return type(error)(error.problem, field=f"{places[name]}.{key}", remedy=error.remedy)
    return error


def _start(top: Table, places: dict[str, str]) -> dict[str, float]:
    """Coordinates from which loops are closed."""
    if "start" not in top:
        return {}
    values = top.value("start")
    names = {name: f"{name} = 0.5" for name, path in places.items() if path.startswith("joint")}
    table = Table(values, "start", names)
    return {name: table.number(name, angle=True) for name in table.values}


def _made(table: Table, kind: type[Any], given: dict[str, Any]) -> Any:
    """A part; an error names the key in its table."""
    try:
        return kind(**given)
    except ModelError as error:
        field = error.field or ""
        key = field.rpartition(".")[2]
        remedy = error.remedy or (table.hint(key) if key in table.examples else None)
        raise ModelError(error.problem, field=table.field(key), remedy=remedy) from None


def _body(table: Table) -> Body:
    given: dict[str, Any] = {"name": table.text("name")}
    if "mass" in table:
        given["mass"] = table.number("mass")
    if "com" in table:
        given["com"] = table.numbers("com", 3)
    if "inertia" in table:
        given["inertia"] = _inertia(table)
    if "origin" in table:
        given["origin"] = table.numbers("origin", 3)
    if "frame" in table:
        given["frame"] = table.value("frame")
    body: Body = _made(table, Body, given)
    return body


def _inertia(table: Table) -> Floats | Rows:
    value = table.value("inertia")
    is_matrix = isinstance(value, list) and any(isinstance(row, list) for row in value)
    return table.matrix("inertia") if is_matrix else table.numbers("inertia", 3)


def _joint(table: Table) -> MechanismJoint:
    kind = table.text("kind")
    if kind not in KINDS:
        raise table.fault("kind", f"unknown kind {shown(kind)}")
    for key, kinds in ONLY.items():
        if key in table and kind not in kinds:
            raise ModelError(f"a {kind} joint has no {key}", field=table.field(key), remedy=f"Leave out {key}")
    given: dict[str, Any] = {key: table.text(key) for key in ("name", "parent", "child")}
    given |= {key: table.numbers(key, 3) for key in ("at", "axis", "along") if key in table}
    given |= {key: table.number(key) for key in SCALARS if key in table}
    given |= {key: table.value(key) for key in ("actuated", "axes") if key in table}
    if "coulomb" in table:
        given["coulomb"] = table.numbers("coulomb", 2)
    letters = KINDS[kind].letters
    if "home" in table:
        given["home"] = _angles(table, "home", letters)
    if "limits" in table:
        given["limits"] = _limits(table, letters)
    if "mimic" in table:
        inner = table.table("mimic", MIMIC)
        offset = inner.number("offset", angle=True) if "offset" in inner else 0.0
        given["mimic"] = (inner.text("joint"), inner.number("factor") if "factor" in inner else 1.0, offset)
    joint: MechanismJoint = _made(table, KINDS[kind], given)
    return joint


def _angles(table: Table, key: str, letters: str) -> float | Floats:
    value = table.value(key)
    if not isinstance(value, list):
        return table.number(key, angle="P" not in letters)
    return tuple(
        Table({key: item}, table.path, table.examples).number(key, angle=letter == "R")
        for item, letter in zip(value, letters, strict=False)
    ) + (() if len(value) <= len(letters) else (0.0,) * (len(value) - len(letters)))


def _limits(table: Table, letters: str) -> Any:
    value = table.value("limits")
    if not (isinstance(value, list) and value and all(isinstance(pair, list) for pair in value)):
        return table.numbers("limits", 2, angle="P" not in letters)
    return tuple(
        Table({"limits": pair}, table.path, table.examples).numbers("limits", 2, angle=letter == "R")
        for pair, letter in zip(value, letters + "P" * len(value), strict=False)
    )


def _loop(joint: MechanismJoint, table: Table) -> Any:
    at = table.numbers("child_at", 3) if "child_at" in table else joint.at
    return (joint, at, table.numbers("child_axis", 3)) if "child_axis" in table else (joint, at)


def _spring(table: Table) -> Spring:
    given: dict[str, Any] = {key: table.text(key) for key in ("body_a", "body_b")}
    given |= {key: table.numbers(key, 3) for key in ("point_a", "point_b")}
    given["stiffness"] = table.number("stiffness")
    given |= {key: table.number(key) for key in ("length", "damping") if key in table}
    spring: Spring = _made(table, Spring, given)
    return spring


READER = Format(mechanism_of)


# ------------------------------------------------------------------------------------------------------- writing


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
