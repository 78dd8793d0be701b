"""Robots written to files, in the format that the end of the file's name asks for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from tauforge.errors import ModelError

# modules with a function `write`, by suffix; by name, for they import the robots that they write
MECHANISM_WRITERS = {
    ".toml": "tauforge.robots.readers.mechanism_toml_text",
    ".urdf": "tauforge.robots.readers.urdf_text",
    ".xml": "tauforge.robots.readers.mjcf_text",
}
ARM_WRITERS = {
    ".toml": "tauforge.robots.readers.arm_toml",
    ".urdf": "tauforge.robots.readers.arm_as_mechanism",
    ".xml": "tauforge.robots.readers.arm_as_mechanism",
}


def save(robot: Any, path: Path, writers: Mapping[str, str]) -> None:
    suffix = path.suffix.lower()
    if suffix not in writers:
        *most, last = writers
        raise ModelError(
            f"unknown suffix {path.suffix!r}",
            file=path,
            remedy=f"Give a file name that ends in {', '.join(most)} or {last}",
        )
    import_module(writers[suffix]).write(robot, path)
