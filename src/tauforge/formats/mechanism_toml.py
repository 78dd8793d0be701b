"""Mechanisms as TOML files, read strictly and written so that they read back equal; docs/model-file.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tauforge.errors import ModelError
from tauforge.formats import toml_schema as schema
from tauforge.formats.model_files import write_toml
from tauforge.formats.toml_schema import Entry, Key, Keys, Table, TomlFormat, values_of
from tauforge.robots.mechanism import parts
from tauforge.robots.mechanism.loop_closure import closed
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Body, MechanismJoint, Spring
from tauforge.robots.records import Source
from tauforge.validation import ZERO_INERTIA, shown

MECHANISM_FORMAT = "tauforge-mechanism-1"
MAX_PARTS = 256  # of a kind
JOINT_KINDS = ("hinge", "slider", "cylinder", "universal", "spherical", "planar", "free", "weld")
JOINT_CLASSES: dict[str, type[MechanismJoint]] = {name: getattr(parts, name.capitalize()) for name in JOINT_KINDS}


def _of_coordinates(letters: str, count: int) -> Callable[[Entry, Any], Any]:
    """So many numbers, the one or the several for every coordinate of a joint. letters: of the kind of joint"""

    def numbers(is_angle: bool) -> Callable[[Entry, Any], Any]:
        read = schema.angle if is_angle else schema.number
        return read if count == 1 else schema.several(read, count)

    def read(place: Entry, value: Any) -> Any:
        is_list = isinstance(value, list)
        if not is_list or (count > 1 and not (value and all(isinstance(item, list) for item in value))):
            return numbers("P" not in letters)(place, value)
        own = letters.ljust(len(value), "P")  # too many are refused by the joint
        return tuple(numbers(letter == "R")(place, item) for letter, item in zip(own, value, strict=False))

    return read


def _mimic(place: Entry, value: Any) -> tuple[str, float, float]:
    given = Table(value, place.field, MIMIC_KEYS).given()
    return given["joint"], given.get("factor", 1.0), given.get("offset", 0.0)


MIMIC_KEYS = {
    "joint": Key('joint = "left"', schema.text, needed=True),
    "factor": Key("factor = -1.0", schema.number),
    "offset": Key("offset = 0.0", schema.angle),
}
BODY_KEYS = {
    "name": Key('name = "crank"', schema.text, needed=True),
    "mass": Key("mass = 2.5", schema.number),
    "com": Key("com = [0.0, 0.0, 0.1]", schema.vector),
    "inertia": schema.INERTIA_KEY,
    "origin": Key("origin = [0.0, 0.0, 0.1]", schema.vector),
    "frame": Key("frame = four rows of four numbers, the last of them [0.0, 0.0, 0.0, 1.0]"),
}
ANY_JOINT_KEYS = {
    "name": Key('name = "elbow"', schema.text, needed=True),
    "kind": Key(f"kind = one of {', '.join(JOINT_CLASSES)}, in quotes", schema.text, needed=True),
    "parent": Key('parent = "ground", or the name of a body', schema.text, needed=True),
    "child": Key('child = "crank", the name of a body', schema.text, needed=True),
    "at": Key("at = [0.0, 0.0, 0.1]", schema.vector),
    "axis": Key("axis = [0.0, 0.0, 1.0]", schema.vector),
    "axes": Key("axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]"),
    "along": Key("along = [1.0, 0.0, 0.0]", schema.vector),
    "child_at": Key("child_at = [0.0, 0.0, 0.2]", schema.vector),
    "child_axis": Key("child_axis = [0.0, 0.0, 1.0]", schema.vector),
    "actuated": Key("actuated = true"),
    "home": Key("home = 0.5, or a number for each coordinate", written=lambda home: home if any(home) else None),
    "limits": Key('limits = ["-pi/2", 1.5], lower first, or such a pair for each coordinate'),
    **schema.DRIVE_KEYS,
    "mimic": Key(
        "mimic = { joint = 'left', factor = -1.0, offset = 0.0 }",
        _mimic,
        lambda mimic: mimic and dict(zip(MIMIC_KEYS, mimic, strict=True)),
    ),
}
JOINT_KEYS_BY_KIND = {
    name: ANY_JOINT_KEYS
    | {
        "home": ANY_JOINT_KEYS["home"]._replace(read=_of_coordinates(kind.letters, 1)),
        "limits": ANY_JOINT_KEYS["limits"]._replace(read=_of_coordinates(kind.letters, 2)),
    }
    for name, kind in JOINT_CLASSES.items()
}
KINDS_WITH_KEY = {  # keys that only some kinds of joints have
    "axis": ("hinge", "slider", "cylinder", "planar"),
    "axes": ("universal",),
    "along": ("planar",),
    "child_axis": ("hinge",),
    "child_at": ("hinge", "spherical", "weld"),
}
LOOP_KEYS = ("child_at", "child_axis")
SPRING_KEYS = {
    "body_a": Key('body_a = "crank"', schema.text, needed=True),
    "point_a": Key("point_a = [0.0, 0.0, 0.1]", schema.vector, needed=True),
    "body_b": Key('body_b = "ground"', schema.text, needed=True),
    "point_b": Key("point_b = [0.0, 0.0, 0.3]", schema.vector, needed=True),
    "stiffness": Key("stiffness = 800.0", schema.number, needed=True),
    "length": Key("length = 0.15", schema.number),
    "damping": Key("damping = 2.0", schema.number),
}
PART_KEYS: dict[str, Keys] = {"body": BODY_KEYS, "joint": ANY_JOINT_KEYS, "spring": SPRING_KEYS}
CHOICE_KEYS = {  # arguments of Mechanism
    "gravity": schema.GRAVITY_KEY,
    "coulomb_speed": schema.COULOMB_SPEED_KEY,
    "independent": Key(
        'independent = ["left", "right"], names of joints, or independent = "platform", a body', schema.text_or_texts
    ),
    "tool": Key('tool = "platform", the name of a body', schema.text),
    "cut": Key('cut = ["elbow"], names of joints', schema.texts),
}
URDF_KEYS = {  # keys that only files on top of a URDF have
    "lock": Key("[lock] and below it coordinates by name of the joint"),
    "actuated": Key('actuated = ["left", "right"], names of joints', schema.texts),
}
MECHANISM_KEYS = {
    "format": Key(f'format = "{MECHANISM_FORMAT}"', schema.text, needed=True),
    "name": Key('name = "my mechanism"', schema.text),
    **CHOICE_KEYS,
    "start": Key("[start] and below it coordinates by name of the joint"),
    "urdf": Key('urdf = "robot.urdf", a file in the folder of this one or below it'),
    **URDF_KEYS,
    **{
        key: Key(f"[[{key}]] and below it the keys of one {key}", schema.tables(keys, MAX_PARTS))
        for key, keys in PART_KEYS.items()
    },
    **schema.PROVENANCE_KEYS,
}


# ------------------------------------------------------------------------------------------------------- reading


def mechanism_of(values: dict[str, Any]) -> Mechanism:
    """The mechanism of a file's values; a ModelError names the field, joint[1] being the first joint."""
    top = Table(values, "", MECHANISM_KEYS)
    top.value("format")
    bodies, joints, springs = (top.get(key, []) for key in PART_KEYS)
    if "urdf" in top:
        return _on_urdf(top, bodies, joints, springs)
    for key in URDF_KEYS:
        if key in top:
            raise ModelError("it is only for files on top of a URDF", field=key, remedy=f"Leave out {key}")
    for key, tables in (("body", bodies), ("joint", joints)):
        if not tables:
            raise top.at(key).fault(f"a mechanism needs at least one {key}")
    given = {"bodies": tuple(table.made(Body, table.given()) for table in bodies)}
    made = [(_joint(table), table) for table in joints]
    given["joints"] = tuple(joint for joint, table in made if not _closes(table))
    given |= {"name": top.value("name"), **_choices(top, springs), **schema.provenance(top)}
    places = {joint.name: table.path for joint, table in made}
    start = _coordinates(top, "start", list(places))
    places |= {body.name: table.path for body, table in zip(given["bodies"], bodies, strict=True)}
    return _closed(given, [(joint, table) for joint, table in made if _closes(table)], start, places)


def _choices(top: Table, springs: list[Table]) -> dict[str, Any]:
    """Arguments of Mechanism other than bodies, joints and provenance."""
    made = tuple(table.made(Spring, table.given()) for table in springs)
    return {"springs": made} | {key: top.value(key) for key in CHOICE_KEYS if key in top}


def _on_urdf(top: Table, bodies: list[Table], joints: list[Table], springs: list[Table]) -> Mechanism:
    """The mechanism of a URDF, with the joints of the file closing loops on top of it."""
    from tauforge.formats.urdf_locked_joints import with_locked_joints  # most files of mechanisms do not need it
    from tauforge.formats.urdf_mechanism import described, start_of
    from tauforge.formats.urdf_tree import LETTERS, read_tree
    from tauforge.formats.xml_reader import read_xml

    path = top.value("urdf")
    if not isinstance(path, Path):
        raise top.at("urdf").fault(f"a text has no folder in which {schema.text(top.at('urdf'), path)!r} could be")
    if bodies:
        raise ModelError("bodies are those of the URDF", field="body[1]", remedy="Add a link to the URDF")
    made = [(_joint(table), table) for table in joints]
    choices, own = _choices(top, springs), schema.provenance(top)
    actuated = top.get("actuated")
    tree = read_tree(read_xml(path))
    movable = [name for name, joint in tree.joints.items() if joint.type in LETTERS]
    lock, start = (_coordinates(top, key, movable) for key in ("lock", "start"))
    tree = with_locked_joints(tree, lock)
    tool = choices.get("tool")
    if tool is not None and tool not in tree.bodies:
        raise top.at("tool").fault(f"the URDF has no link {shown(tool)}")
    given = described(tree, tool, actuated)
    source = Source(("bodies", "joints"), path.name, "loops, springs and choices are those of the TOML file")
    own["sources"] = (source, *given["sources"], *own["sources"])
    given |= {**choices, **own, **({"name": top.value("name")} if "name" in top else {})}
    places = {joint.name: table.path for joint, table in made}
    return _closed(given, made, start_of(tree, start, "start"), places)


def _closed(
    given: dict[str, Any], made: list[tuple[MechanismJoint, Table]], start: Mapping[str, float], places: dict[str, str]
) -> Mechanism:
    """With loops at these joints. An error about `elbow.axis` is named as the file names it: joint[2].axis."""
    try:
        return closed(given, [_loop(joint, table) for joint, table in made], start)
    except ModelError as error:
        name, dot, key = (error.field or "").rpartition(".")
        if dot and name in places:
            field = f"{places[name]}.{key}"
            raise type(error)(error.problem, field=field, remedy=error.remedy) from None
        raise


def _coordinates(top: Table, key: str, joints: list[str]) -> Mapping[str, float]:
    """Names of joints with their coordinates, none if the table is absent. joints: those there are"""
    declared = {name: Key(f"{name} = 0.5", schema.angle) for name in joints}
    return Table(top.value(key), key, declared).given() if key in top else {}


def _joint(table: Table) -> MechanismJoint:
    kind = table.value("kind")
    if kind not in JOINT_CLASSES:
        raise table.at("kind").fault(f"unknown kind {shown(kind)}")
    for key, kinds in KINDS_WITH_KEY.items():
        if key in table and kind not in kinds:
            raise ModelError(f"a {kind} joint has no {key}", field=table.at(key).field, remedy=f"Leave out {key}")
    table.keys = JOINT_KEYS_BY_KIND[kind]
    joint: MechanismJoint = table.made(JOINT_CLASSES[kind], table.given(but=("kind", *LOOP_KEYS)))
    return joint


def _closes(table: Table) -> bool:
    return any(key in table for key in LOOP_KEYS)


def _loop(joint: MechanismJoint, table: Table) -> Any:
    at = table.get("child_at", joint.at)
    return (joint, at, table.value("child_axis")) if "child_axis" in table else (joint, at)


toml_format = TomlFormat(
    mechanism_of, "five-bar", files={"urdf": 'urdf = "robot.urdf", in the folder of the TOML file or below it'}
)


# ------------------------------------------------------------------------------------------------------- writing


def write(m: Mechanism, path: Path) -> None:
    """Write the mechanism so that `tauforge.load` gives it back equal."""
    tables = {
        "body": [_body_values(body) for body in m.bodies],
        "joint": [_joint_values(joint) for joint in m.joints],
        "spring": [values_of(spring, SPRING_KEYS) for spring in m.springs],
    }
    for key, own in tables.items():
        if len(own) > MAX_PARTS:
            problem = f"it has {len(own)} parts [[{key}]]; a file holds at most {MAX_PARTS}"
            raise ModelError(problem, file=path, field=key)
    choices = {"name": m.name, **values_of(m, CHOICE_KEYS)}
    write_toml(path, {"format": MECHANISM_FORMAT, **choices, **tables, **schema.provenance_values(m)})


def _body_values(body: Body) -> dict[str, Any]:
    values = values_of(body, BODY_KEYS, defaults={"inertia": tuple(ZERO_INERTIA[0])})
    if body.frame is not None or body.origin == body.com:
        del values["origin"]
    return values


def _joint_values(joint: MechanismJoint) -> dict[str, Any]:
    kind = next(name for name, known in JOINT_CLASSES.items() if type(joint) is known)
    fields = dataclasses.fields(joint)
    defaults = {field.name: field.default for field in fields if field.name not in ("at", *KINDS_WITH_KEY)}
    return {"kind": kind, **values_of(joint, ANY_JOINT_KEYS, defaults=defaults)}
