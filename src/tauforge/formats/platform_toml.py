"""Stewart platforms as TOML files, read strictly and written so that they read back equal; docs/model-file.md."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tauforge.errors import ModelError
from tauforge.formats.toml_format import Format
from tauforge.formats.toml_table import Table
from tauforge.formats.toml_text import (
    exceptions_of,
    provenance_lines,
    sources_of,
    text,
    write_lines,
)
from tauforge.robots.stewart.description import MASSES
from tauforge.robots.stewart.stewart_platform import StewartPlatform

FORMAT = "tauforge-platform-1"
POINTS = "[[0.6, 0.2, 0.0], ...], six of them"
# every key, with an example for the messages
PLATFORM = {
    "format": f'format = "{FORMAT}"',
    "name": 'name = "my hexapod"',
    "gravity": "gravity = [0.0, 0.0, -9.81]",
    "base_points": f"base_points = {POINTS}",
    "platform_points": f"platform_points = {POINTS}",
    "universal_axes": f"universal_axes = {POINTS}",
    "lower_mass": "lower_mass = 3.0, or six numbers",
    "upper_mass": "upper_mass = 1.0, or six numbers",
    "lower_com": "lower_com = [0.4, 0.0, 0.0], or six of them",
    "upper_com": "upper_com = [-0.4, 0.0, 0.0], or six of them",
    "lower_inertia": "lower_inertia = three rows of three numbers, or six such tensors",
    "upper_inertia": "upper_inertia = three rows of three numbers, or six such tensors",
    "platform_mass": "platform_mass = 40.0",
    "platform_com": "platform_com = [0.0, 0.0, 0.1]",
    "platform_inertia": "platform_inertia = [1.0, 1.0, 2.0], or three such rows",
    "friction": "friction = [0.0001, 0.001, 0.0002], of base, prismatic and platform joints",
    "stroke": "stroke = [0.5, 1.2], or six of them",
    "force_limit": "force_limit = 2000.0, or six numbers",
    "base_joint_axes": f"base_joint_axes = {POINTS}",
    "platform_joint_axes": f"platform_joint_axes = {POINTS}",
    "cone_angles": "cone_angles = [\"pi/4\", 0.6], of the base's and the platform's joints",
    "leg_radius": "leg_radius = 0.03",
    "reflected_mass": "reflected_mass = 12.0, or six numbers",
    "base_joint": 'base_joint = "universal", or "spherical"',
    "known_exception": "[[known_exception]] and below it body and reason",
    "source": "[[source]] and below it fields and source",
}
TEXTS = ("format", "name", "base_joint")
OTHER = ("known_exception", "source", "cone_angles")
SYMMETRIC = {  # values that are good with every kind of base joint
    "friction": [0.0, 0.0, 0.0],
    "lower_com": [0.0, 0.0, 0.0],
    "upper_com": [0.0, 0.0, 0.0],
    "lower_inertia": [1.0, 1.0, 1.0],
    "upper_inertia": [1.0, 1.0, 1.0],
}
NUMBERS = tuple(key for key in PLATFORM if key not in (*TEXTS, *OTHER))


def platform_of(values: dict[str, Any]) -> StewartPlatform:
    """The platform of a file's values; a ModelError names the field."""
    top = Table(values, "", PLATFORM)
    top.text("format")
    given: dict[str, Any] = {"name": top.text("name")}
    for key in ("base_points", "platform_points"):
        top.value(key)
    given |= {key: top.value(key) for key in NUMBERS if key in top}
    if "cone_angles" in top:
        given["cone_angles"] = top.numbers("cone_angles", 2, angle=True)
    if "base_joint" in top:
        given["base_joint"] = top.text("base_joint")
    try:
        return StewartPlatform(**given, known_exceptions=exceptions_of(top), sources=sources_of(top))
    except ModelError as error:
        if error.remedy is None and error.field in PLATFORM:
            raise type(error)(error.problem, field=error.field, remedy=top.hint(error.field)) from None
        raise


READER = Format(platform_of, example="motion-rig", suitable=SYMMETRIC)


def write(platform: StewartPlatform, path: Path) -> None:
    """Write the platform so that `tauforge.load` gives it back equal."""
    write_lines(path, _lines(platform))


def _lines(platform: StewartPlatform) -> Iterable[str]:
    yield f'format = "{FORMAT}"'
    yield f"name = {text(platform.name, 'name')}"
    yield f"base_joint = {text(platform.base_joint, 'base_joint')}"
    for key in (*NUMBERS, "cone_angles"):
        value = getattr(platform, key)
        if value is not None and not (key in MASSES and not platform.has_masses):
            yield f"{key} = {_nested(value)}"
    yield from provenance_lines(platform.known_exceptions, platform.sources)


def _nested(value: Any) -> str:
    return f"[{', '.join(map(_nested, value))}]" if isinstance(value, tuple) else repr(value)
