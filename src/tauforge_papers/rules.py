"""How a verdict follows from numbers: a rule for each claim, written on the page, that can give every outcome it names.

A rule is made from the words of the paper before the numbers are looked at. It takes its evidence by name, so that a
test can put other numbers in and see the verdict change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tauforge_papers.report.verdicts import CORRECTED, FAILS, HOLDS, MIXED, NOT_JUDGED, Rule, Verdict


def true_or_not(words: str, holds: Callable[..., bool]) -> Rule:
    """For a claim without parts, where no correction is in question."""
    return Rule(words, lambda **evidence: HOLDS if holds(**evidence) else FAILS, (HOLDS, FAILS))


def true_or_mended(words: str, holds: Callable[..., bool], corrected: Callable[..., bool]) -> Rule:
    """For a claim with a correction of its own. corrected: whether the corrected statement is true."""

    def decide(**evidence: object) -> Verdict:
        return HOLDS if holds(**evidence) else CORRECTED if corrected(**evidence) else FAILS

    return Rule(words, decide, (HOLDS, CORRECTED, FAILS))


def true_in_parts(words: str, parts: Callable[..., Sequence[bool]]) -> Rule:
    """For a claim of several parts or cases: all, some or none of them are true."""

    def decide(**evidence: object) -> Verdict:
        true = [bool(part) for part in parts(**evidence)]
        return HOLDS if all(true) else MIXED if any(true) else FAILS

    return Rule(words, decide, (HOLDS, MIXED, FAILS))


def not_judged(why: str) -> Rule:
    """For what is only reported. why: a sentence that the page shows in the place of the rule."""
    return Rule(why, lambda **_: NOT_JUDGED, (NOT_JUDGED,))
