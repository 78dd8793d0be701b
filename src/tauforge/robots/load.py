"""Robots by name or from a file."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tauforge.errors import ModelError
from tauforge.robots.numbers import shown
from tauforge.robots.readers import arm_toml, platform_toml
from tauforge.robots.readers.toml_guard import read_toml
from tauforge.robots.readers.urdf import read_urdf
from tauforge.robots.serial_arm import SerialArm
from tauforge.robots.stewart_platform import StewartPlatform

CATALOGUE = Path(__file__).with_name("catalogue")


def catalogue() -> list[str]:
    """Names of the robots that come with the package."""
    return sorted(path.stem for path in CATALOGUE.glob("*.toml"))


def load(
    name_or_path: str | os.PathLike[str], *, tip: str | None = None, lock: Mapping[str, float] | None = None
) -> Any:
    """A robot of the catalogue by its name, or one from a .toml or .urdf file: a SerialArm or a StewartPlatform.

    tip:  of a URDF, the link whose frame is the tool frame
    lock: of a URDF, joint names and the coordinates (rad or m) they are held at
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise ModelError(f"expected a catalogue name or a path, got {name_or_path!r}", field="load")
    path = Path(name_or_path)
    suffix = path.suffix.lower()
    if suffix == ".urdf":
        return read_urdf(path, tip=tip, lock=lock)
    for argument, value in (("tip", tip), ("lock", lock)):
        if value is not None:
            raise ModelError(
                f"{argument} is for URDF files, {str(name_or_path)!r} is none",
                field=argument,
                remedy="Leave it out, or load a path that ends in .urdf",
            )
    if suffix == ".toml":
        return read_robot(path)
    if suffix == "" and isinstance(name_or_path, str) and path.name == name_or_path:
        return read_robot(_catalogue_file(name_or_path))
    if path.is_dir():
        raise ModelError("is a folder, expected a file", file=path)
    raise ModelError(
        f"unknown suffix {path.suffix!r}",
        file=path,
        remedy=f"Give a file that ends in .toml or .urdf, or one of {', '.join(catalogue())}",
    )


def read_robot(path: Path) -> SerialArm | StewartPlatform:
    """The robot of a TOML file, an arm or a platform as its format says; a ModelError names the file."""
    values = read_toml(path)
    found = values.get("format", arm_toml.FORMAT)
    try:
        if found == arm_toml.FORMAT:
            return arm_toml.arm_of(values)
        if found == platform_toml.FORMAT:
            return platform_toml.platform_of(values)
        raise ModelError(
            f"unknown format {shown(found)}",
            field="format",
            remedy=f'This version reads "{arm_toml.FORMAT}" and "{platform_toml.FORMAT}"',
        )
    except ModelError as error:
        raise error.located(path) from None


def _catalogue_file(name: str) -> Path:
    names = catalogue()
    if name not in names:
        near = difflib.get_close_matches(name.lower(), names, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise ModelError(
            f"no robot named {name!r} in the catalogue",
            remedy=f"{hint}Known: {', '.join(names)}; files end in .toml or .urdf",
        )
    return CATALOGUE / f"{name}.toml"
