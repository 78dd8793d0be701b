"""Verdicts on claims, and the rules that decide them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Verdict = Literal["holds", "holds with a correction", "mixed", "does not hold", "not judged"]
HOLDS: Verdict = "holds"
CORRECTED: Verdict = "holds with a correction"
MIXED: Verdict = "mixed"
FAILS: Verdict = "does not hold"
NOT_JUDGED: Verdict = "not judged"

MEANING: dict[Verdict, str] = {
    HOLDS: "It is true as printed, for the robot and the motion of the paper.",
    CORRECTED: "It is false as printed. The correction that is named makes it true, and the corrected statement is "
    "what was tested.",
    MIXED: "It has several parts or cases. Some are true and some are not.",
    FAILS: "It is false as printed, and no small correction makes it true.",
    NOT_JUDGED: "The measured value stands beside the printed one without a verdict, for the reason given.",
}

Evidence = Mapping[str, float | Sequence[float]]


@dataclass(frozen=True)
class Rule:
    """How evidence becomes a verdict.

    words:      the rule as the page has it
    decide:     the verdict of evidence given by name, and of thresholds where they are given too
    outcomes:   all it can give
    thresholds: what it compares the evidence with, by name
    """

    words: str
    decide: Callable[..., Verdict]
    outcomes: tuple[Verdict, ...]
    thresholds: Mapping[str, float] = field(default_factory=dict)


class Threshold(NamedTuple):
    """A threshold of a rule, and the verdicts at half and at twice its value."""

    name: str
    value: float
    at_half: Verdict
    at_twice: Verdict
