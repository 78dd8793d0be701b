"""Draws the layers of the package from its import graph into docs/images/layers.svg.

`--check` compares. The order of the packages is that of import-linter's contract in pyproject.toml; a square in row A
under column B says that modules of A import modules of B.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "images" / "layers.svg"
LEFT, TOP, CELL, LETTER = 30, 120, 26, 7.2
INK, PALE, BLUE = "#22303c", "#dfe6ec", "#2f6fa8"


def layers() -> list[str]:
    """Packages from the top down; the modules at the bottom count as one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    names = next(c for c in contracts if c["type"] == "layers")["layers"]
    packages = [name for entry in names for name in entry.split(" | ") if name.startswith("tauforge.")]
    return [name.removeprefix("tauforge.") for name in packages if is_package(name)]


def is_package(name: str) -> bool:
    return hasattr(importlib.import_module(name), "__path__")


def imports(packages: list[str]) -> dict[str, set[str]]:
    graph = grimp.build_graph("tauforge")
    found: dict[str, set[str]] = {package: set() for package in packages}
    for package in packages:
        below = {f"tauforge.{package}", *graph.find_descendants(f"tauforge.{package}")}
        for module in below:
            for imported in graph.find_modules_directly_imported_by(module):
                parts = imported.split(".")
                if len(parts) > 1 and parts[1] in found and parts[1] != package:
                    found[package].add(parts[1])
    return found


def sentence(package: str) -> str:
    """The first sentence of the package's docstring."""
    doc = " ".join((importlib.import_module(f"tauforge.{package}").__doc__ or "").split())
    return doc.split(". ")[0].rstrip(".").replace("`", "")


def picture() -> str:
    packages = layers()
    found = imports(packages)
    columns = packages[1:]  # nothing imports the topmost
    right = LEFT + 110 + CELL * len(columns)
    height = TOP + CELL * len(packages) + 20
    width = right + 30 + LETTER * max(len(sentence(name)) for name in packages)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        "<title>The packages of tauforge and what each imports: only packages below it</title>",
        f'<rect width="100%" height="100%" fill="white"/><g fill="{INK}">',
    ]
    for k, name in enumerate(columns):
        x = LEFT + 110 + CELL * k + CELL / 2
        lines.append(f'<text transform="translate({x + 4:g} {TOP - 8}) rotate(-60)">{escape(name)}</text>')
    for row, name in enumerate(packages):
        y = TOP + CELL * row
        lines.append(f'<text x="{LEFT + 100}" y="{y + 17}" text-anchor="end" font-weight="bold">{escape(name)}</text>')
        lines.append(f'<text x="{right + 14}" y="{y + 17}">{escape(sentence(name))}</text>')
        for k, other in enumerate(columns):
            x = LEFT + 110 + CELL * k
            colour = BLUE if other in found[name] else PALE if k >= row else "none"
            lines.append(
                f'<rect x="{x + 2}" y="{y + 2}" width="{CELL - 4}" height="{CELL - 4}" rx="3" fill="{colour}"/>'
            )
    return "\n".join([*lines, "</g></svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    made = picture()
    if not parser.parse_args().check:
        PICTURE.write_text(made, encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != made:
        sys.exit(f"{PICTURE.relative_to(ROOT)} is not what the imports say: run python tools/layer_picture.py")


if __name__ == "__main__":
    main()
