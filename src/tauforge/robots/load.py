"""Robots by name or from a file."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path

from tauforge.errors import ModelError
from tauforge.robots.readers.arm_toml import read_arm
from tauforge.robots.readers.urdf import read_urdf
from tauforge.robots.serial_arm import SerialArm

CATALOGUE = Path(__file__).with_name("catalogue")


def catalogue() -> list[str]:
    """Names of the robots that come with the package."""
    return sorted(path.stem for path in CATALOGUE.glob("*.toml"))


def load(
    name_or_path: str | os.PathLike[str], *, tip: str | None = None, lock: Mapping[str, float] | None = None
) -> SerialArm:
    """A robot of the catalogue by its name, or one from a .toml or .urdf file.

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
        return read_arm(path)
    if suffix == "" and isinstance(name_or_path, str) and path.name == name_or_path:
        return read_arm(_catalogue_file(name_or_path))
    if path.is_dir():
        raise ModelError("is a folder, expected a file", file=path)
    raise ModelError(
        f"unknown suffix {path.suffix!r}",
        file=path,
        remedy=f"Give a file that ends in .toml or .urdf, or one of {', '.join(catalogue())}",
    )


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
