"""A robot in words and tables, as data: who prints it chooses the format of its numbers."""

from __future__ import annotations

from typing import NamedTuple

Cell = str | float | int | None


class SummaryTable(NamedTuple):
    """A table of a summary.

    title, header: texts; units stand in them
    rows:          texts and numbers in SI units; None where there is no value
    texts:         how many columns, from the first, hold texts
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    texts: int = 1


class Summary(NamedTuple):
    """headline: one line; parts: tables, and sentences between them."""

    headline: str
    parts: tuple[SummaryTable | str, ...] = ()
