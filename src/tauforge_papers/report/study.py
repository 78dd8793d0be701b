"""What a study of a paper gives: figures, tables and verdicts, all of them data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tauforge.charts.figure import Figure
from tauforge_papers.report.table import Table
from tauforge_papers.report.verdicts import Evidence, Rule, Threshold, Verdict

Kind = Literal["equation", "algorithm", "figure", "table"]
Standing = Literal["", "definition", "reference"]


@dataclass(frozen=True)
class Item:
    """One numbered thing of a paper.

    number:    as printed: "16", "7.38d"
    what:      in words
    judged_by: names of the claims whose verdict covers it
    shown_as:  name of our figure or table that shows it, for figures and tables
    standing:  "definition" where nothing can be false, "reference" for what others are compared with; then it has no
               verdict
    remark:    why there is no citation, no claim or no figure, where that is so
    """

    kind: Kind
    number: str
    what: str
    judged_by: tuple[str, ...] = ()
    shown_as: str = ""
    remark: str = ""
    standing: Standing = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence or number of the paper, beside what we measured.

    name:     in lower case with dashes; no other claim of the paper has it
    where:    section, equation, figure or table of the paper
    claim:    what the paper says, in our words
    printed:  the paper's number, with its unit
    measured: ours, with its unit; of forces, those of the paper's model
    exact:    the same by the exact model, where forces are measured
    reason:   what explains the numbers; the correction, where there is one
    rule:     how the evidence decides
    equations: numbers of the equations that it evaluates one by one, with the difference of the sides of each, mended
               where it has a correction
    evidence: the measured numbers that the rule looks at, by name; of a claim that is not judged, those that are shown
    true:     those of `evidence` that are other numbers by the exact model
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
    equations: Mapping[str, float] = field(default_factory=dict)
    timed: str = ""
    exact: str = ""
    true: Evidence = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        return self.rule.decide(**self.evidence)

    @property
    def exact_verdict(self) -> Verdict | None:
        """The verdict by the exact model; None where no other number follows from it."""
        return self.rule.decide(**{**self.evidence, **self.true}) if self.true else None

    @property
    def beside_thresholds(self) -> list[Threshold]:
        """Each threshold of the rule, with the verdicts at half and at twice its value."""
        return [
            Threshold(
                name, value, *(self.rule.decide(**{**self.evidence, name: factor * value}) for factor in (0.5, 2.0))
            )
            for name, value in self.rule.thresholds.items()
        ]

    @property
    def exact_words(self) -> str:
        """The column of the exact model: its numbers, and its verdict where there is one."""
        return f"{self.exact} ({self.exact_verdict})" if self.exact_verdict else self.exact

    @property
    def threshold_words(self) -> str:
        """The column of thresholds: each with its value and the verdicts at half and at twice of it."""
        return "; ".join(
            f"{one.name.replace('_', ' ')} {one.value:.3g}: {one.at_half}, {one.at_twice}"
            for one in self.beside_thresholds
        )


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
