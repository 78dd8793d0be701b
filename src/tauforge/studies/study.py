"""What a study of a paper gives: figures, tables and verdicts, all of them data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tauforge.plots.figure import Figure

Verdict = Literal["holds", "holds with a correction", "does not hold"]
Cell = str | float | int | None
Progress = Callable[[str], None]  # told what is being computed now
ROUNDING = 1e-12  # of the largest value: the most that rounding may leave, on any processor


@dataclass(frozen=True)
class Table:
    """Rows of cells. name: for files, in lower case with dashes; units stand in the column names."""

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Claim:
    """A sentence or number of the paper, beside what we measured.

    where:    section, equation, figure or table of the paper
    claim:    what the paper says, in our words
    printed:  the paper's number, with its unit
    measured: ours, with its unit
    reason:   why the verdict is what it is; the correction, where there is one
    timed:    what the clock of this machine said, where it was asked; no other text depends on the machine
    """

    where: str
    claim: str
    printed: str
    measured: str
    verdict: Verdict
    reason: str
    timed: str = ""


@dataclass(frozen=True)
class Study:
    """One paper. name: as on the command line, "dasgupta1998"."""

    name: str
    paper: str  # full citation
    summary: str  # what became of it, in two or three sentences
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def nothing(_: str) -> None:
    """The progress of those who do not ask."""


def within(error: float, bound: float = ROUNDING) -> str:
    """An error of rounding in words: the bound that it keeps, since the error itself changes with the processor."""
    return f"within {bound:g}" if error < bound else f"{error:.1e} off"


def less_or_more(value: float, bound: float, unit: str) -> str:
    """A time in words that hold on every machine of some age."""
    return f"{'less' if value < bound else 'more'} than {bound:g} {unit}"


def holds_if(condition: bool) -> Verdict:
    """The verdict on a claim that is true or not."""
    return "holds" if condition else "does not hold"


def corrected_unless(condition: bool) -> Verdict:
    """The verdict on a claim that is true as printed, or else with a correction."""
    return "holds" if condition else "holds with a correction"


def judged(as_printed: bool, corrected: bool) -> Verdict:
    """The verdict on a claim that is true as printed, or else true in part or once corrected, or else not."""
    return "holds" if as_printed else "holds with a correction" if corrected else "does not hold"
