"""What a study of a paper gives: figures, tables and verdicts, all of them data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tauforge.plots.figure import Figure
from tauforge.studies.contents import Item
from tauforge.studies.rules import Evidence, Rule, Verdict

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


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence or number of the paper, beside what we measured.

    name:     in lower case with dashes; no other claim of the paper has it
    where:    section, equation, figure or table of the paper
    claim:    what the paper says, in our words
    printed:  the paper's number, with its unit
    measured: ours, with its unit
    reason:   what explains the numbers; the correction, where there is one
    rule:     how the evidence decides
    evidence: the measured numbers that the rule looks at, by name
    timed:    what the clock of this machine said, where it was asked; no other text depends on the machine
    """

    name: str
    where: str
    claim: str
    printed: str
    measured: str
    reason: str
    rule: Rule
    evidence: Evidence = field(default_factory=dict)
    timed: str = ""

    @property
    def verdict(self) -> Verdict:
        return self.rule.decide(**self.evidence)


@dataclass(frozen=True)
class Study:
    """One paper. name: as on the command line, "dasgupta1998"."""

    name: str
    paper: str  # full citation
    summary: str  # what became of it, in two or three sentences
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    contents: tuple[Item, ...]  # every numbered equation, figure and table of the paper


def nothing(_: str) -> None:
    """The progress of those who do not ask."""


def within(error: float, bound: float = ROUNDING) -> str:
    """An error of rounding in words: the bound that it keeps, since the error itself changes with the processor."""
    return f"within {bound:g}" if error < bound else f"{error:.1e} off"


def less_or_more(value: float, bound: float, unit: str) -> str:
    """A time in words that hold on every machine of some age."""
    return f"{'less' if value < bound else 'more'} than {bound:g} {unit}"
