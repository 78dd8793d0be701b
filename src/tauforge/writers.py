"""Robots written to files, in the format that the suffix asks for. `tauforge.formats` registers the writers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

_writers: dict[str, dict[str, str]] = {}


def register_writer(kind: str, suffix: str, module: str) -> None:
    """Files with this suffix are written by `write(robot, path)` of a module, for robots of a class with this name."""
    _writers.setdefault(kind, {})[suffix] = module


def save(robot: Any, path: Path) -> None:
    """Write a robot by the writer of the first of its classes that has writers."""
    from tauforge.errors import ModelError, UnsupportedFeatureError  # every import of tauforge imports this module

    writers = next((_writers[cls.__name__] for cls in type(robot).__mro__ if cls.__name__ in _writers), None)
    if writers is None:
        raise UnsupportedFeatureError(f"{robot.name} has no file format", field="save")
    suffix = path.suffix.lower()
    if suffix not in writers:
        *most, last = writers
        given = f"{', '.join(most)} or {last}" if most else last
        raise ModelError(f"unknown suffix {path.suffix!r}", file=path, remedy=f"Give a file name that ends in {given}")
    import_module(writers[suffix]).write(robot, path)
