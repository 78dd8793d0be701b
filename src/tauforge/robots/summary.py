"""Summaries of robots and results: as data, as text for a terminal, and as HTML for a notebook."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tauforge.errors import printable
from tauforge.units import number


@dataclass(frozen=True)
class Span:
    """From one number to another, such as the stroke of a leg."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Each:
    """A value for each of several equal parts, such as legs; printed once if all are alike."""

    values: tuple[float | Span, ...]


Cell = str | float | int | None | Span | Each | tuple[float, ...]  # a tuple is a list of numbers, such as a point
Rows = tuple[tuple[Cell, ...], ...]
Words = str | tuple[str | float, ...]  # a sentence, in pieces where numbers stand in it


class SummaryTable(NamedTuple):
    """A table of a summary.

    title, header: texts; units stand in them, those of angles as "[rad]"
    rows:          texts and numbers in SI units; None where there is no value
    texts:         how many columns, from the first, hold texts
    """

    title: str
    header: tuple[str, ...]
    rows: Rows
    texts: int = 1


class Summary(NamedTuple):
    """headline: one line; parts: tables, and sentences between them. It prints as text, and as HTML in a notebook."""

    headline: Words
    parts: tuple[SummaryTable | Words, ...] = ()

    def __repr__(self) -> str:
        """For `print`: texts to the left, numbers to the right."""
        parts = [_text_table(x) if isinstance(x, SummaryTable) else printable(sentence(x)) for x in self.parts]
        return "\n\n".join([printable(sentence(self.headline)), *parts])

    def _repr_html_(self) -> str:
        parts = [_html_table(x) if isinstance(x, SummaryTable) else f"<p>{_safe(sentence(x))}</p>" for x in self.parts]
        return f"<div><p><b>{_safe(sentence(self.headline))}</b></p>{''.join(parts)}</div>"


PAIRS = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))
INERTIAS = "Inertias about the mass centre [kg m^2]"
PRODUCTS = tuple(name for name, _, _ in PAIRS)


def six_numbers(inertia: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """The moments and products of an inertia tensor in the order of `PRODUCTS`."""
    return tuple(inertia[i][j] for _, i, j in PAIRS)


RIGHT = ' style="text-align: right"'
QUARTERS = {0.5: "pi/2", 1.0: "pi", -0.5: "-pi/2", -1.0: "-pi"}


def sentence(words: Words) -> str:
    return words if isinstance(words, str) else "".join(w if isinstance(w, str) else number(w) for w in words)


def texts_of(part: SummaryTable) -> list[list[str]]:
    """The rows of a table."""
    angles = [name.endswith("[rad]") for name in part.header]
    return [[cell_text(cell, angle) for cell, angle in zip(row, angles, strict=True)] for row in part.rows]


def cell_text(cell: Cell, angle: bool = False) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Span):
        return f"{number(cell.lower)} to {number(cell.upper)}"
    if isinstance(cell, Each):
        values = [cell_text(value) for value in cell.values]
        return values[0] if len(set(values)) == 1 else "; ".join(values)
    if isinstance(cell, tuple):
        return ", ".join(number(x) for x in cell)
    return QUARTERS.get(cell / math.pi, number(cell)) if angle else number(cell)  # quarter turns by their name


def _text_table(part: SummaryTable) -> str:
    cells = [[printable(text) for text in row] for row in (part.header, *texts_of(part))]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if k < part.texts else text.rjust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([*([printable(part.title)] if part.title else []), *lines])


def _html_table(part: SummaryTable) -> str:
    head = "".join(f"<th>{_safe(name)}</th>" for name in part.header)
    rows = "".join(
        "<tr>"
        + "".join(f"<td{'' if k < part.texts else RIGHT}>{_safe(text)}</td>" for k, text in enumerate(row))
        + "</tr>"
        for row in texts_of(part)
    )
    caption = f"<caption>{_safe(part.title)}</caption>" if part.title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _safe(text: str) -> str:
    """Names come from files of other people."""
    return escape(printable(text))


Class = TypeVar("Class", bound=type)

MOST_ROWS = 12  # of a table with a row for each of many
FEW = 6  # numbers that are written out


def summarised(cls: Class) -> Class:
    """A class whose results are printed by their `summary()`; without one, by their fields.

    For tuples with names and for dataclasses. A dataclass needs repr=False if it inherits this.
    """
    shown: Any = cls
    shown.__repr__ = lambda result: repr(_summary(result))
    if not hasattr(cls, "_repr_html_"):
        shown._repr_html_ = lambda result: _summary(result)._repr_html_()
    return cls


def _summary(result: Any) -> Summary:
    summary: Summary = result.summary() if hasattr(result, "summary") else fields_summary(result)
    return summary


def fields_summary(result: Any) -> Summary:
    """Shape and values, or their range, of each field; of each entry where a field is a dict."""
    names = [field.name for field in dataclasses.fields(result)] if dataclasses.is_dataclass(result) else result._fields
    found: dict[str, Any] = {}
    for name in names:
        value = getattr(result, name)
        found |= {f"{name}[{key!r}]": x for key, x in value.items()} if isinstance(value, dict) else {name: value}
    rows: Rows = tuple((name, *array_cell(value)) for name, value in found.items())
    return Summary(type(result).__name__, (SummaryTable("", ("field", "shape", "values"), rows, texts=3),))


def array_cell(value: Any) -> tuple[str, str]:
    """The shape of an array, and its numbers if they are few, else from the smallest to the largest.

    Arrays of other libraries have their type in the place of the numbers: they may be on a GPU, or have none yet.
    """
    if value is None:
        return "-", "-"
    if not isinstance(value, np.ndarray | np.generic | float | int):
        return str(tuple(getattr(value, "shape", ()))), type(value).__name__
    array = np.asarray(value)
    return str(array.shape), _values(array)


def _values(array: np.ndarray[Any, Any]) -> str:
    if array.dtype == bool and array.size > 1:
        return f"{array.sum()} true, {(~array).sum()} false"
    if array.size <= FEW:
        return ", ".join(str(x) if isinstance(x, bool) else number(x) for x in array.ravel().tolist()) or "-"
    finite = array[np.isfinite(array)]
    lost = f"{array.size - finite.size} not finite" if finite.size < array.size else ""
    span = f"{number(float(finite.min()))} to {number(float(finite.max()))}" if finite.size else ""
    return "; ".join(filter(None, (span, lost)))


def some_of(count: int, most: int = MOST_ROWS) -> list[int]:
    """Row numbers for a table: all, or the first, the last and some between."""
    return list(range(count)) if count <= most else [round(k * (count - 1) / (most - 1)) for k in range(most)]
