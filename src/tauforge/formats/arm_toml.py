"""Serial arms as TOML files, read strictly and written so that they read back equal; docs/model-file.md."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from tauforge.errors import ModelError
from tauforge.formats import toml_schema as schema
from tauforge.formats.model_files import write_toml
from tauforge.formats.toml_schema import Key, Table, TomlFormat, values_of
from tauforge.robots.serial.joint import CONVENTIONS, Joint
from tauforge.robots.serial.model import DHRow
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.validation import shown

ARM_FORMAT = "tauforge-arm-1"
MAX_JOINTS = 64
DH_KEYS = {
    "alpha": Key('alpha = "pi/2"', schema.angle, needed=True),
    "a": Key("a = 0.43", schema.number, needed=True),
    "d": Key("d = 0.15", schema.number, needed=True),
    "theta": Key('theta = "-pi/2"', schema.angle, needed=True),
}
TRANSFORM_KEYS = {
    "before": Key("before = { translation = [0.0, 0.0, 0.1] }", schema.frame, schema.frame_parts),
    "after": Key("after = { translation = [0.0, 0.0, 0.1] }", schema.frame, schema.frame_parts),
    "offset": Key("offset = 0.5", schema.angle),
}
JOINT_KEYS = {  # of a revolute joint
    "name": Key('name = "elbow"', schema.text),
    "kind": Key('kind = "R" for revolute or "P" for prismatic', schema.text, needed=True),
    **DH_KEYS,
    **TRANSFORM_KEYS,
    "mass": Key("mass = 2.5", schema.number, needed=True),
    "com": Key("com = [0.0, 0.0, 0.1]", schema.vector, needed=True),
    "inertia": schema.INERTIA_KEY._replace(needed=True),
    "limits": Key('limits = ["-pi/2", 1.5], lower first', schema.several(schema.angle, 2)),
    **schema.DRIVE_KEYS,
}
PRISMATIC_JOINT_KEYS = JOINT_KEYS | {
    "offset": JOINT_KEYS["offset"]._replace(read=schema.number),
    "limits": JOINT_KEYS["limits"]._replace(read=schema.several(schema.number, 2)),
}
ARM_KEYS = {
    "format": Key(f'format = "{ARM_FORMAT}"', schema.text, needed=True),
    "name": Key('name = "my arm"', schema.text, needed=True),
    "convention": Key('convention = "standard", "modified" or "general"', schema.text, needed=True),
    "gravity": schema.GRAVITY_KEY,
    "coulomb_speed": schema.COULOMB_SPEED_KEY,
    "base": Key("[base] and below it translation = [0.0, 0.0, 0.5]", schema.frame, schema.frame_parts),
    "tool": Key("[tool] and below it translation = [0.0, 0.0, 0.1]", schema.frame, schema.frame_parts),
    "joint": Key("[[joint]] and below it the keys of one joint", schema.tables(JOINT_KEYS)),
    **schema.PROVENANCE_KEYS,
}


def arm_of(values: dict[str, Any]) -> SerialArm:
    """The arm of a file's values; a ModelError names the field, joint[1] being the first joint."""
    top = Table(values, "", ARM_KEYS)
    given = top.given(but=schema.PROVENANCE_KEYS)
    del given["format"]
    convention = given["convention"]
    if convention not in (*CONVENTIONS, "general"):
        raise top.at("convention").fault(f"unknown convention {shown(convention)}")
    joints = given.pop("joint", [])
    if not joints:
        raise top.at("joint").fault("an arm needs at least one joint")
    if len(joints) > MAX_JOINTS:
        raise ModelError(f"the arm has {len(joints)} joints; at most {MAX_JOINTS} are accepted", field="joint")
    return SerialArm(joints=tuple(_joint(table, convention) for table in joints), **given, **schema.provenance(top))


def _joint(table: Table, convention: str) -> Joint:
    if table.value("kind") == "P":
        table.keys = PRISMATIC_JOINT_KEYS
    if _has_dh_row(table, convention):
        given = table.given(but=("name", *TRANSFORM_KEYS)) | {"convention": convention}
        joint: Joint = table.made(Joint.from_dh, given)
    else:
        joint = table.made(Joint, table.given(but=("name", *DH_KEYS)))
    return dataclasses.replace(joint, name=table.get("name", ""))  # last: faults of a joint with a name would name it


def _has_dh_row(table: Table, convention: str) -> bool:
    """True if the joint is given by DH parameters, False if by transforms; both together are refused."""
    row, transforms = ([key for key in keys if key in table] for keys in (DH_KEYS, TRANSFORM_KEYS))
    if row and convention == "general":
        remedy = 'Set convention = "standard" or "modified", or give before, after and offset'
        raise ModelError("general joints have no DH parameters", field=table.at(row[0]).field, remedy=remedy)
    if row and transforms:
        problem = f"cannot be given together with the DH parameter {row[0]}"
        remedy = f"Give {', '.join(DH_KEYS)} or {', '.join(TRANSFORM_KEYS)}"
        raise ModelError(problem, field=table.at(transforms[0]).field, remedy=remedy)
    return convention != "general" and not transforms


toml_format = TomlFormat(arm_of, example="puma560")


def write(arm: SerialArm, path: Path) -> None:
    """Write the arm so that `tauforge.load` gives it back equal."""
    if arm.n > MAX_JOINTS:
        raise ModelError(f"the arm has {arm.n} joints; a file holds at most {MAX_JOINTS}", file=path, field="joints")
    joints = [_joint_values(joint, arm.convention) for joint in arm.joints]
    values = {"format": ARM_FORMAT, **values_of(arm, ARM_KEYS), "joint": joints}
    write_toml(path, values | schema.provenance_values(arm))


def _joint_values(joint: Joint, convention: str) -> dict[str, Any]:
    values = values_of(joint, JOINT_KEYS)
    if joint.dh is not None and _follows(joint, joint.dh, convention):
        return values | joint.dh._asdict() | dict.fromkeys(TRANSFORM_KEYS)
    return values


def _follows(joint: Joint, row: DHRow, convention: str) -> bool:
    """True if the DH row gives the joint's transforms in this convention; a row of another convention does not."""
    if convention not in CONVENTIONS:
        return False
    again = Joint.from_dh(joint.kind, convention=convention, **row._asdict())
    return (again.before, again.after, again.offset) == (joint.before, joint.after, joint.offset)
