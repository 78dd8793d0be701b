"""Pages with generated parts: written anew, or compared with what would be written today.

Texts must be equal. A number with a decimal point or an exponent is rounded. Where the exact number lies at a rounding
boundary, its sixteenth digit decides the last digit that is printed, and that differs between processors: so the last
printed digit may differ by one. The check still fails for whole numbers (counts are exact), for more than one unit, and
for digits that a run does not hold: those must not be printed (see `held` in generated_docs.py).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

ROUNDED = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)(?!\w|\.\d)")
BLANKS = re.compile(r" +|-{3,}|─+|━+")  # columns are as wide as their widest number


def difference(stored: str, today: str) -> str:
    """The first line that differs, as it is stored and as it is today; empty where nothing does."""
    before, after = stored.splitlines(), today.splitlines()
    for old, new in zip(before, after, strict=False):
        if not alike(old, new):
            return f"stored: {old}\ntoday:  {new}"
    return "" if len(before) == len(after) else f"stored: {len(before)} lines\ntoday:  {len(after)} lines"


def alike(stored: str, today: str) -> bool:
    """Whether two lines are equal but for one unit in the last digit of rounded numbers."""
    texts = [BLANKS.sub(" ", ROUNDED.sub("#", line)) for line in (stored, today)]
    pairs = zip(ROUNDED.findall(stored), ROUNDED.findall(today), strict=False)
    return texts[0] == texts[1] and all(_within_a_unit(Decimal(old), Decimal(new)) for old, new in pairs)


def _within_a_unit(old: Decimal, new: Decimal) -> bool:
    """The finer unit of the two, or the coarser where one has fewer digits because fewer hold."""
    digits, exponents = zip(*(x.as_tuple()[1:] for x in (old, new)), strict=True)
    exponent = min(exponents) if len(digits[0]) == len(digits[1]) else max(exponents)
    return abs(old - new) <= Decimal(1).scaleb(int(exponent))


def markdown(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = list(header)
    lines = [names, ["---"] * len(names), *([_cell(str(cell)) for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    """A cell is one line."""
    return re.sub(r"\s*\n\s*", " ", text).replace("|", "\\|")


def with_tables(text: str, tables: dict[str, str]) -> str:
    """A page with these generated parts, each between two comments of its name."""
    for name, table in tables.items():
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        before, rest = text.split(start)
        text = before + start + table + end + rest.split(end)[1]
    return text


def settle(texts: Mapping[Path, str]) -> int:
    """Write the pages, or with --check say how they differ; the exit status."""
    if "--check" not in sys.argv:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = 0
    for path, text in texts.items():
        if found := difference(path.read_text(encoding="utf-8") if path.exists() else "", text):
            print(f"{path.name} is not today's\n{found}", file=sys.stderr)
            stale = 1
    return stale
