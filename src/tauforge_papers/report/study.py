"""What a study of a paper gives: figures, tables and verdicts, all of them data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tauforge.charts.figure import Figure
from tauforge_papers.report.table import Table
from tauforge_papers.report.verdicts import Evidence, Rule, Verdict

Kind = Literal["equation", "algorithm", "figure", "table"]


@dataclass(frozen=True)
class Item:
    """One numbered thing of a paper.

    number:    as printed: "16", "7.38d"
    what:      in words
    judged_by: names of the claims whose verdict covers it
    shown_as:  name of our figure or table that shows it, for figures and tables
    remark:    why there is no citation, no claim or no figure, where that is so
    """

    kind: Kind
    number: str
    what: str
    judged_by: tuple[str, ...] = ()
    shown_as: str = ""
    remark: str = ""


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
