"""Draws lines of src/tauforge at random, to see whether a stranger finds their folder: `python tools/blind_lines.py`.

A line is drawn among all that hold code and are no imports. It is shown without its path, marked by ">", with the lines
around it (`--context`, ten by default) as they stand in the file. `--answers` prints the folders instead. The same
seed draws the same lines of the same sources.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from house import code_line_numbers, import_line_numbers

SOURCES = Path(__file__).parents[1] / "src" / "tauforge"


def drawn(folder: Path, count: int, seed: int) -> list[tuple[Path, int]]:
    """Files and line numbers, from 1, of lines drawn without repetition."""
    lines = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text()
        lines += [(path, n) for n in sorted(code_line_numbers(text) - import_line_numbers(text))]
    return random.Random(seed).sample(lines, count)


def excerpt(path: Path, number: int, context: int) -> str:
    """The line with those around it, and a mark at the line."""
    lines = path.read_text().splitlines()
    first, last = max(number - context, 1), min(number + context, len(lines))
    return "\n".join(f"{'>' if n == number else ' '} {lines[n - 1]}" for n in range(first, last + 1))


def main() -> None:
    """Print the excerpts, or their folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, default=SOURCES)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--context", type=int, default=10)
    parser.add_argument("--answers", action="store_true")
    given = parser.parse_args()
    for place, (path, number) in enumerate(drawn(given.sources, given.count, given.seed), 1):
        told = path.relative_to(given.sources).parent if given.answers else excerpt(path, number, given.context)
        print(f"{place}: {told}" if given.answers else f"--- {place}\n{told}")


if __name__ == "__main__":
    main()
