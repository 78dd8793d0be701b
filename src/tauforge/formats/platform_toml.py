"""Stewart platforms as TOML files, read strictly and written so that they read back equal; docs/model-file.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tauforge.errors import ModelError
from tauforge.formats import toml_schema as schema
from tauforge.formats.model_files import write_toml
from tauforge.formats.toml_schema import Key, Table, TomlFormat, values_of
from tauforge.robots.stewart.field_checks import MASSES
from tauforge.robots.stewart.stewart_platform import StewartPlatform

PLATFORM_FORMAT = "tauforge-platform-1"
SIX_POINTS = "[[0.6, 0.2, 0.0], ...], six of them"
TENSOR_EXAMPLE = "three rows of three numbers, or six such tensors"
CONES_EXAMPLE = "cone_angles = [\"pi/4\", 0.6], of the base's and the platform's joints"
PLATFORM_KEYS = {  # numbers are checked by the platform itself
    "format": Key(f'format = "{PLATFORM_FORMAT}"', schema.text, needed=True),
    "name": Key('name = "my hexapod"', schema.text, needed=True),
    "gravity": Key("gravity = [0.0, 0.0, -9.81]"),
    "base_points": Key(f"base_points = {SIX_POINTS}", needed=True),
    "platform_points": Key(f"platform_points = {SIX_POINTS}", needed=True),
    "universal_axes": Key(f"universal_axes = {SIX_POINTS}"),
    "lower_mass": Key("lower_mass = 3.0, or six numbers"),
    "upper_mass": Key("upper_mass = 1.0, or six numbers"),
    "lower_com": Key("lower_com = [0.4, 0.0, 0.0], or six of them"),
    "upper_com": Key("upper_com = [-0.4, 0.0, 0.0], or six of them"),
    "lower_inertia": Key(f"lower_inertia = {TENSOR_EXAMPLE}"),
    "upper_inertia": Key(f"upper_inertia = {TENSOR_EXAMPLE}"),
    "platform_mass": Key("platform_mass = 40.0"),
    "platform_com": Key("platform_com = [0.0, 0.0, 0.1]"),
    "platform_inertia": Key("platform_inertia = [1.0, 1.0, 2.0], or three such rows"),
    "friction": Key("friction = [0.0001, 0.001, 0.0002], of base, prismatic and platform joints"),
    "stroke": Key("stroke = [0.5, 1.2], or six of them"),
    "force_limit": Key("force_limit = 2000.0, or six numbers"),
    "base_joint_axes": Key(f"base_joint_axes = {SIX_POINTS}"),
    "platform_joint_axes": Key(f"platform_joint_axes = {SIX_POINTS}"),
    "cone_angles": Key(CONES_EXAMPLE, schema.several(schema.angle, 2)),
    "leg_radius": Key("leg_radius = 0.03"),
    "reflected_mass": Key("reflected_mass = 12.0, or six numbers"),
    "base_joint": Key('base_joint = "universal", or "spherical"', schema.text),
    **schema.PROVENANCE_KEYS,
}
SYMMETRIC_LEGS = {  # values that are good with every kind of base joint
    "friction": [0.0, 0.0, 0.0],
    "lower_com": [0.0, 0.0, 0.0],
    "upper_com": [0.0, 0.0, 0.0],
    "lower_inertia": [1.0, 1.0, 1.0],
    "upper_inertia": [1.0, 1.0, 1.0],
}


def platform_of(values: dict[str, Any]) -> StewartPlatform:
    """The platform of a file's values; a ModelError names the field."""
    top = Table(values, "", PLATFORM_KEYS)
    given = top.given(but=schema.PROVENANCE_KEYS)
    del given["format"]
    try:
        return StewartPlatform(**given, **schema.provenance(top))
    except ModelError as error:
        if error.remedy is None and error.field in PLATFORM_KEYS:
            raise type(error)(error.problem, field=error.field, remedy=top.at(error.field).hint) from None
        raise


toml_format = TomlFormat(platform_of, example="motion-rig", suitable=SYMMETRIC_LEGS)


def write(platform: StewartPlatform, path: Path) -> None:
    """Write the platform so that `tauforge.load` gives it back equal."""
    values = values_of(platform, PLATFORM_KEYS)
    if not platform.has_masses:
        values |= dict.fromkeys(MASSES)
    write_toml(path, {"format": PLATFORM_FORMAT, **values, **schema.provenance_values(platform)})
