"""Mechanisms as TOML files, read strictly; docs/model-file.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tauforge.errors import ModelError
from tauforge.formats.toml_format import Format
from tauforge.formats.toml_table import Table
from tauforge.formats.toml_text import exceptions_of, sources_of
from tauforge.robots.mechanism.closing import closed
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import (
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
from tauforge.robots.provenance import Source
from tauforge.validation import Floats, Rows, shown

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
    "urdf": 'urdf = "robot.urdf", a file in the folder of this one or below it',
    "lock": "[lock] and below it coordinates by name of the joint",
    "actuated": 'actuated = ["left", "right"], names of joints',
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
OF_URDF = ("lock", "actuated")  # keys that only files on top of a URDF have


def mechanism_of(values: dict[str, Any]) -> Mechanism:
    """The mechanism of a file's values; a ModelError names the field, joint[1] being the first joint."""
    top = Table(values, "", MECHANISM)
    top.text("format")
    tables = {key: _limited(top, key, examples) for key, examples in PARTS.items()}
    if "urdf" in top:
        return _on_urdf(top, tables)
    for key in OF_URDF:
        if key in top:
            raise ModelError("it is only for files on top of a URDF", field=key, remedy=f"Leave out {key}")
    for key in ("body", "joint"):
        if not tables[key]:
            raise top.fault(key, f"a mechanism needs at least one {key}")
    bodies = tuple(_body(table) for table in tables["body"])
    joints = [(_joint(table), table) for table in tables["joint"]]
    loops = [(joint, table) for joint, table in joints if "child_at" in table or "child_axis" in table]
    given: dict[str, Any] = {
        "name": top.text("name"),
        "bodies": bodies,
        "joints": tuple(joint for joint, table in joints if (joint, table) not in loops),
        "sources": sources_of(top),
        **_choices(top, tables),
    }
    places = {joint.name: table.path for joint, table in joints}
    start = _coordinates(top, "start", {name: f"{name} = 0.5" for name in places})
    places |= {body.name: table.path for body, table in zip(bodies, tables["body"], strict=True)}
    try:
        return closed(given, [_loop(joint, table) for joint, table in loops], start)
    except ModelError as error:
        raise _placed(error, places) from None


def _choices(top: Table, tables: Mapping[str, list[Table]]) -> dict[str, Any]:
    """Arguments of Mechanism other than bodies and joints."""
    given: dict[str, Any] = {
        "springs": tuple(_spring(table) for table in tables["spring"]),
        "known_exceptions": exceptions_of(top),
    }
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
    return given


def _on_urdf(top: Table, tables: Mapping[str, list[Table]]) -> Mechanism:
    """The mechanism of a URDF, with the joints of the file closing loops on top of it."""
    from tauforge.formats.urdf_held import with_locked_joints  # most files of mechanisms do not need it
    from tauforge.formats.urdf_mechanism import described, start_of
    from tauforge.formats.urdf_tree import LETTERS, read_tree
    from tauforge.formats.xml_lines import read_xml

    path = top.value("urdf")
    if not isinstance(path, Path):
        raise top.fault("urdf", f"a text has no folder in which {top.text('urdf')!r} could be")
    if tables["body"]:
        raise ModelError("bodies are those of the URDF", field="body[1]", remedy="Add a link to the URDF")
    joints = [(_joint(table), table) for table in tables["joint"]]
    places = {joint.name: table.path for joint, table in joints}
    choices, sources = _choices(top, tables), sources_of(top)
    actuated = top.texts("actuated") if "actuated" in top else None
    tree = read_tree(read_xml(path))
    movable = {name: f"{name} = 0.5" for name, joint in tree.joints.items() if joint.type in LETTERS}
    lock, start = (_coordinates(top, key, movable) for key in ("lock", "start"))
    tree = with_locked_joints(tree, lock)
    tool = top.text("tool") if "tool" in top else None
    if tool is not None and tool not in tree.bodies:
        raise top.fault("tool", f"the URDF has no link {shown(tool)}")
    given = described(tree, tool, actuated) | choices
    if "name" in top:
        given["name"] = top.text("name")
    own = Source(("bodies", "joints"), path.name, "loops, springs and choices are those of the TOML file")
    given["sources"] = (own, *given["sources"], *sources)
    try:
        return closed(given, [_loop(joint, table) for joint, table in joints], start_of(tree, start, "start"))
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


def _coordinates(top: Table, key: str, joints: Mapping[str, str]) -> dict[str, float]:
    """Names of joints with their coordinates, none if the table is absent. joints: those there are, with examples"""
    if key not in top:
        return {}
    table = Table(top.value(key), key, joints)
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


READER = Format(
    mechanism_of, "five-bar", files={"urdf": 'urdf = "robot.urdf", in the folder of the TOML file or below it'}
)
