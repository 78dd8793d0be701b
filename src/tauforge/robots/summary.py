"""A robot in words and tables, as data: who prints it chooses the format of its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


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
        from tauforge.robots.summary_text import plain_text

        return plain_text(self)

    def _repr_html_(self) -> str:
        from tauforge.robots.summary_text import html

        return html(self)


PAIRS = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))
INERTIAS = "Inertias about the mass centre [kg m^2]"
PRODUCTS = tuple(name for name, _, _ in PAIRS)


def six_numbers(inertia: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """The moments and products of an inertia tensor in the order of `PRODUCTS`."""
    return tuple(inertia[i][j] for _, i, j in PAIRS)
