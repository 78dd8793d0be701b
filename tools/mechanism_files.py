"""Writes the mechanisms of the catalogue, which `mechanism_library` builds, into files of the catalogue.

Their lengths and masses stand in the library with a source for each; the files hold what follows from them. A test
compares the files with the library.
"""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path

from mechanism_library.names import MODULES, built, module_of
from tauforge.formats.loading import CATALOGUE_FOLDER

WIDTH = 118


def text_of(name: str) -> str:
    """The file of a mechanism, with a comment that says what it is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.toml"
        built(name).save(path)
        lines = path.read_text(encoding="utf-8")
    words = f"{module_of(name).__doc__}\nWritten by tools/mechanism_files.py."
    return "".join(f"# {line}\n" for part in words.splitlines() for line in textwrap.wrap(part, WIDTH)) + lines


def main() -> None:
    for name in MODULES:
        (CATALOGUE_FOLDER / f"{name}.toml").write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
