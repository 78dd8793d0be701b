"""Rules of verdicts, and citations of equations in our source."""

from __future__ import annotations

import pytest

from tauforge.report.verdicts import MEANING
from tauforge.studies.citations import CITATION, numbers_of
from tauforge.studies.rules import not_judged, true_in_parts, true_or_mended, true_or_not


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
