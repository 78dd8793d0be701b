"""Registration with tauforge: other packages by entry points, and formats in which robots are written to files.

This module is imported by every import of tauforge, so it imports nothing of ours at its top.

Groups, and what an entry point of each is:
`tauforge.commands`:   a module with COMMANDS, pairs of a name and a function for typer. Its name heads them in help.
`tauforge.complexity`: a module with `papers_data()` and `papers_tables()`, published operation counts.
`tauforge.motions`:    a function that takes a robot and returns motions for it by name.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any


def plugins(group: str) -> dict[str, Any]:
    """The objects that installed packages offer under this group, by the names of their entry points."""
    from importlib.metadata import entry_points  # reads every installed package: only those pay who ask

    return {entry.name: entry.load() for entry in entry_points(group=group)}


# by name of a robot's class and suffix of a file, names of modules whose `write(robot, path)` writes it
WRITERS: dict[str, dict[str, str]] = {}


def save(robot: Any, path: Path) -> None:
    """Write a robot by the writer of the first of its classes that has writers."""
    from tauforge.errors import ModelError, UnsupportedFeatureError

    writers = next((WRITERS[cls.__name__] for cls in type(robot).__mro__ if cls.__name__ in WRITERS), None)
    if writers is None:
        raise UnsupportedFeatureError(f"{robot.name} has no file format", field="save")
    suffix = path.suffix.lower()
    if suffix not in writers:
        *most, last = writers
        given = f"{', '.join(most)} or {last}" if most else last
        raise ModelError(f"unknown suffix {path.suffix!r}", file=path, remedy=f"Give a file name that ends in {given}")
    import_module(writers[suffix]).write(robot, path)
