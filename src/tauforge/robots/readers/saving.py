"""Mechanisms written to files, in the format that the name asks for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tauforge.errors import ModelError
from tauforge.robots.mechanism.mechanism import Mechanism

WRITERS = {  # modules with a function `write`, by the end of the file's name
    ".toml": "tauforge.robots.readers.mechanism_toml",
}


def save(mechanism: Mechanism, path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise ModelError(
            f"unknown suffix {path.suffix!r}",
            file=path,
            remedy=f"Give a file name that ends in {', '.join(WRITERS)}",
        )
    import_module(WRITERS[suffix]).write(mechanism, path)
