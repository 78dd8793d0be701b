"""Rules of verdicts, and citations of equations in our source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tauforge_papers.citations import CITATION, numbers_of
from tauforge_papers.dasgupta1998 import judged_forces
from tauforge_papers.dasgupta1998.measured import Measured
from tauforge_papers.policy import of_the_order
from tauforge_papers.report.study import Claim
from tauforge_papers.report.verdicts import MEANING
from tauforge_papers.rules import not_judged, true_in_parts, true_or_mended, true_or_not


def test_rules_give_every_outcome_they_name():
    plain = true_or_not("...", lambda x: x < 1)
    assert [plain.decide(x=x) for x in (0, 2)] == list(plain.outcomes)
    mended = true_or_mended("...", lambda printed, mended: printed < 1, lambda printed, mended: mended < 1)
    assert [mended.decide(printed=p, mended=m) for p, m in ((0, 9), (9, 0), (9, 9))] == list(mended.outcomes)
    parts = true_in_parts("...", lambda shares: [share < 1 for share in shares])
    assert [parts.decide(shares=s) for s in ((0, 0), (0, 9), (9, 9))] == list(parts.outcomes)
    assert not_judged("Why.").decide(anything=1) == "not judged"
    assert set(MEANING) == {*plain.outcomes, *mended.outcomes, *parts.outcomes, "not judged"}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("# D16", ["16"]),
        ("# P18-21: rates", ["18", "19", "20", "21"]),
        ("# T3.15-3.17.", ["3.15", "3.16", "3.17"]),
        ("(A7.38d)", ["7.38d"]),
        ("# L4.4", ["4.4"]),
        ("# UTF8, ID3, D16x, A7.3.x", []),
    ],
)
def test_citations(text, numbers):
    assert [n for found in CITATION.finditer(text) for n in numbers_of(found)] == numbers


def test_what_is_of_the_order():
    """9.6e5 N and 3.62 times a weight are nearer to the next power of ten."""
    assert [of_the_order(x, 1e5) for x in (3.1e4, 3.2e4, 3.1e5, 9.6e5)] == [False, True, True, False]
    assert not of_the_order(3.62, 1.0)


def test_thresholds_can_be_halved_and_doubled():
    """The column of thresholds: a share of 0.15 beside a threshold of 0.2."""
    rule = true_or_not("...", lambda share, most: share < most, most=0.2)
    claim = Claim(
        name="a", where="b", claim="c", printed="d", measured="e", reason="f", rule=rule, evidence={"share": 0.15}
    )
    assert claim.verdict == "holds"
    assert claim.beside_thresholds == [("most", 0.2, "does not hold", "holds")]
    assert claim.threshold_words == "most 0.2: does not hold, holds"
    assert claim.exact_words == ""
    exact = replace(claim, exact="0.3", true={"share": 0.3})
    assert exact.exact_verdict == "does not hold"
    assert exact.exact_words == "0.3 (does not hold)"


def test_a_heavy_platform_is_not_a_light_one():
    heavy = Measured(400.0)
    (claim,) = [c for c in judged_forces.claims(heavy) if c.name == "light-platform"]
    assert claim.verdict == "does not hold"
    assert "400 kg" in claim.reason
