"""How a verdict follows from numbers: a rule for each claim, written on the page, that can give every outcome it names.

A rule takes its evidence and its thresholds by name, so that other numbers can be put in: `Claim.beside_thresholds`
has the verdicts at half and at twice each threshold. Most rules were written when the numbers were known.
`rule_history.csv` has each rule with its date, and every change with the old verdict, the new one and the reason.
`policy` has what holds for like cases of all papers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tauforge_papers.report.verdicts import CORRECTED, FAILS, HOLDS, MIXED, NOT_JUDGED, Rule, Verdict


def true_or_not(words: str, holds: Callable[..., bool], **thresholds: float) -> Rule:
    """For a claim without parts, where no correction is in question. thresholds: further arguments of `holds`."""

    def decide(**evidence: object) -> Verdict:
        return HOLDS if holds(**{**thresholds, **evidence}) else FAILS

    return Rule(words, decide, (HOLDS, FAILS), thresholds)


def true_or_mended(words: str, holds: Callable[..., bool], corrected: Callable[..., bool], **thresholds: float) -> Rule:
    """For a claim with a correction of its own. corrected: whether the corrected statement is true."""

    def decide(**evidence: object) -> Verdict:
        given = {**thresholds, **evidence}
        return HOLDS if holds(**given) else CORRECTED if corrected(**given) else FAILS

    return Rule(words, decide, (HOLDS, CORRECTED, FAILS), thresholds)


def true_in_parts(words: str, parts: Callable[..., Sequence[bool]], **thresholds: float) -> Rule:
    """For a claim of several parts or cases: all, some or none of them are true."""

    def decide(**evidence: object) -> Verdict:
        true = [bool(part) for part in parts(**{**thresholds, **evidence})]
        return HOLDS if all(true) else MIXED if any(true) else FAILS

    return Rule(words, decide, (HOLDS, MIXED, FAILS), thresholds)


def not_judged(why: str) -> Rule:
    """For what is only reported. why: a sentence that the page shows in the place of the rule."""
    return Rule(why, lambda **_: NOT_JUDGED, (NOT_JUDGED,))
