"""Serial arms as TOML files, read strictly and written so that they read back equal; docs/model-file.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tauforge import validation
from tauforge.algebra.vectors import Matrix, Transform, Vector
from tauforge.errors import ModelError
from tauforge.formats.toml_format import Format
from tauforge.formats.toml_table import Table
from tauforge.formats.toml_text import (
    exceptions_of,
    list_text,
    provenance_lines,
    rows_text,
    sources_of,
    tensor_text,
    text,
    write_lines,
)
from tauforge.robots.serial.joint import CONVENTIONS, Joint
from tauforge.robots.serial.model import DHRow
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.validation import Floats, Rows, shown

FORMAT = "tauforge-arm-1"
MAX_JOINTS = 64
NO_ROTATION = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
DH_KEYS = DHRow._fields
GENERAL_KEYS = ("before", "after", "offset")

# every key of every table, with an example for the messages
ARM = {
    "format": f'format = "{FORMAT}"',
    "name": 'name = "my arm"',
    "convention": 'convention = "standard", "modified" or "general"',
    "gravity": "gravity = [0.0, 0.0, -9.81]",
    "coulomb_speed": "coulomb_speed = 0.01",
    "base": "[base] and below it translation = [0.0, 0.0, 0.5]",
    "tool": "[tool] and below it translation = [0.0, 0.0, 0.1]",
    "joint": "[[joint]] and below it the keys of one joint",
    "known_exception": "[[known_exception]] and below it body and reason",
    "source": "[[source]] and below it fields and source",
}
DISPLACEMENT = {
    "translation": "translation = [0.0, 0.0, 0.1]",
    "rpy": 'rpy = [0.0, "pi/2", 0.0]',
    "rotation": "rotation = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]",
}
JOINT = {
    "name": 'name = "elbow"',
    "kind": 'kind = "R" for revolute or "P" for prismatic',
    "alpha": 'alpha = "pi/2"',
    "a": "a = 0.43",
    "d": "d = 0.15",
    "theta": 'theta = "-pi/2"',
    "before": "before = { translation = [0.0, 0.0, 0.1] }",
    "after": "after = { translation = [0.0, 0.0, 0.1] }",
    "offset": "offset = 0.5",
    "mass": "mass = 2.5",
    "com": "com = [0.0, 0.0, 0.1]",
    "inertia": "inertia = [0.01, 0.02, 0.02], or three such rows",
    "viscous": "viscous = 0.001",
    "coulomb": "coulomb = [0.4, 0.4], the magnitudes for either direction",
    "motor_inertia": "motor_inertia = 2e-4",
    "gear_ratio": "gear_ratio = 100.0",
    "limits": 'limits = ["-pi/2", 1.5], lower first',
    "max_speed": "max_speed = 2.0",
    "max_force": "max_force = 80.0",
}
SCALARS = ("viscous", "motor_inertia", "gear_ratio", "max_speed", "max_force")


# ------------------------------------------------------------------------------------------------------- reading


def arm_of(values: dict[str, Any]) -> SerialArm:
    """The arm of a file's values; a ModelError names the field, joint[1] being the first joint."""
    top = Table(values, "", ARM)
    top.text("format")
    convention = top.text("convention")
    if convention not in (*CONVENTIONS, "general"):
        raise top.fault("convention", f"unknown convention {shown(convention)}")
    tables = top.tables("joint", JOINT)
    if not tables:
        raise top.fault("joint", "an arm needs at least one joint")
    if len(tables) > MAX_JOINTS:
        raise ModelError(f"the arm has {len(tables)} joints; at most {MAX_JOINTS} are accepted", field="joint")
    given: dict[str, Any] = {}
    if "gravity" in top:
        given["gravity"] = top.numbers("gravity", 3)
    if "coulomb_speed" in top:
        given["coulomb_speed"] = top.number("coulomb_speed")
    return SerialArm(
        name=top.text("name"),
        convention=convention,
        base=_displacement(top, "base"),
        tool=_displacement(top, "tool"),
        joints=tuple(_joint(table, convention) for table in tables),
        known_exceptions=exceptions_of(top),
        sources=sources_of(top),
        **given,
    )


def _displacement(owner: Table, key: str) -> Rows:
    """A 4 x 4 transform from translation and rpy or rotation; the identity if absent."""
    if key not in owner:
        return validation.transform(None, key)
    table = owner.table(key, DISPLACEMENT)
    if "rpy" in table and "rotation" in table:
        raise ModelError("both rpy and rotation are given", field=owner.field(key), remedy="Keep one of them")
    translation = table.numbers("translation", 3) if "translation" in table else (0.0, 0.0, 0.0)
    if "rpy" in table:
        rotation = validation.rotation_from_rpy(*table.numbers("rpy", 3, angle=True))
    else:
        given = table.matrix("rotation") if "rotation" in table else NO_ROTATION
        R = validation.rotation(given, table.field("rotation"), "rpy = [roll, pitch, yaw]")
        rotation = Matrix.of(validation.rows(R))
    return validation.from_transform(Transform(rotation, Vector(*translation)))


def _joint(table: Table, convention: str) -> Joint:
    kind = table.text("kind")
    turns = kind != "P"
    name = table.text("name") if "name" in table else ""
    given: dict[str, Any] = {"mass": table.number("mass"), "com": table.numbers("com", 3), "inertia": _inertia(table)}
    given |= {key: table.number(key) for key in SCALARS if key in table}
    if "coulomb" in table:
        given["coulomb"] = table.numbers("coulomb", 2)
    if "limits" in table:
        given["limits"] = table.numbers("limits", 2, angle=turns)
    has_dh_row = _has_dh_row(table, convention)
    if has_dh_row:
        given |= {key: table.number(key, angle=key in ("alpha", "theta")) for key in DH_KEYS}
    else:
        given |= {key: _displacement(table, key) for key in ("before", "after")}
        given["offset"] = table.number("offset", angle=turns) if "offset" in table else 0.0
    try:
        joint = Joint.from_dh(kind, convention=convention, **given) if has_dh_row else Joint(kind=kind, **given)
    except ModelError as error:  # a joint without a name gives the bare field
        key = str(error.field)
        raise ModelError(error.problem, field=table.field(key), remedy=error.remedy or table.hint(key)) from None
    return dataclasses.replace(joint, name=name)


def _has_dh_row(table: Table, convention: str) -> bool:
    """Whether the joint is given by DH parameters rather than by transforms; never by both."""
    row = [key for key in DH_KEYS if key in table]
    transforms = [key for key in GENERAL_KEYS if key in table]
    if row and convention == "general":
        raise ModelError(
            "general joints have no DH parameters",
            field=table.field(row[0]),
            remedy='Set convention = "standard" or "modified", or give before, after and offset',
        )
    if row and transforms:
        raise ModelError(
            f"cannot be given together with the DH parameter {row[0]}",
            field=table.field(transforms[0]),
            remedy=f"Give {', '.join(DH_KEYS)} or {', '.join(GENERAL_KEYS)}",
        )
    return convention != "general" and not transforms


def _inertia(table: Table) -> Floats | Rows:
    value = table.value("inertia")
    is_matrix = isinstance(value, list) and any(isinstance(row, list) for row in value)
    return table.matrix("inertia") if is_matrix else table.numbers("inertia", 3)


READER = Format(arm_of, example="puma560")


# ------------------------------------------------------------------------------------------------------- writing


def write(arm: SerialArm, path: Path) -> None:
    """Write the arm so that `tauforge.load` gives it back equal."""
    write_lines(path, _lines(arm))


def _lines(arm: SerialArm) -> Iterable[str]:
    if arm.n > MAX_JOINTS:
        raise ModelError(f"the arm has {arm.n} joints; a file holds at most {MAX_JOINTS}", field="joints")
    yield f'format = "{FORMAT}"'
    yield f"name = {text(arm.name, 'name')}"
    yield f'convention = "{arm.convention}"'
    yield f"gravity = {list_text(arm.gravity)}"
    yield f"coulomb_speed = {arm.coulomb_speed!r}"
    yield f"base = {_inline(arm.base)}"
    yield f"tool = {_inline(arm.tool)}"
    for joint in arm.joints:
        yield from ("", "[[joint]]", *_joint_lines(joint, arm.convention))
    yield from provenance_lines(arm.known_exceptions, arm.sources)


def _joint_lines(joint: Joint, convention: str) -> Iterable[str]:
    yield f"name = {text(joint.name, 'names')}"
    yield f'kind = "{joint.kind}"'
    if joint.dh is not None and _follows(joint, joint.dh, convention):
        yield from (f"{key} = {value!r}" for key, value in joint.dh._asdict().items())
    else:
        yield f"before = {_inline(joint.before)}"
        yield f"after = {_inline(joint.after)}"
        yield f"offset = {joint.offset!r}"
    yield f"mass = {joint.mass!r}"
    yield f"com = {list_text(joint.com)}"
    yield f"inertia = {tensor_text(joint.inertia)}"
    yield f"coulomb = {list_text(joint.coulomb)}"
    if joint.limits is not None:
        yield f"limits = {list_text(joint.limits)}"
    yield from (f"{key} = {getattr(joint, key)!r}" for key in SCALARS if getattr(joint, key) is not None)


def _follows(joint: Joint, row: DHRow, convention: str) -> bool:
    """Whether the DH row, read in this convention, gives the joint's transforms; a row of another would not."""
    if convention not in CONVENTIONS:
        return False
    again = Joint.from_dh(joint.kind, convention=convention, **row._asdict())
    return (again.before, again.after, again.offset) == (joint.before, joint.after, joint.offset)


def _inline(transform: Rows) -> str:
    rotation = rows_text([row[:3] for row in transform[:3]])
    return f"{{ rotation = {rotation}, translation = {list_text([row[3] for row in transform[:3]])} }}"
