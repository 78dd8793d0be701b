"""Names of files inside a model file: relative, with slashes, and never out of the model's folder.

Whoever loads a model that somebody else wrote must not have other files opened by it. Nothing is opened here.
"""

from __future__ import annotations

import os
from pathlib import Path

from tauforge.errors import ModelError
from tauforge.validation import shown

PACKAGE = "package://"
MANIFEST = "package.xml"  # of a package of ROS


def relative_parts(given: str, path: str) -> list[str]:
    """The names of folders and the file, with . and .. resolved. given: the name as messages quote it"""
    if "://" in path or path.startswith("file:"):
        raise ModelError(f"{shown(given)} is an address, and only files are read")
    # a colon begins a drive or a stream on Windows, a backslash is a separator there
    if path.startswith("/") or any(c in "\\:" or not c.isprintable() for c in path):
        raise ModelError(f"{shown(given)} is not a relative path with slashes")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise ModelError(f"{shown(given)} leads out of the model's folder")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts or path.endswith("/"):
        raise ModelError(f"{shown(given)} names no file")
    return parts


def file_beside(model: Path, name: str) -> Path:
    """The file of this name in the folder of a model file, or below it."""
    folder = model.absolute().parent
    found = folder.joinpath(*relative_parts(name, name))
    if Path(os.path.realpath(folder)) not in Path(os.path.realpath(found)).parents:
        raise ModelError(f"{shown(name)} is a link out of the model's folder, and is not opened")
    if not os.path.lexists(found):  # False, too, for names that no file can have
        raise ModelError(f"there is no file {shown(name)} beside it")
    return model.parent.joinpath(*relative_parts(name, name))
