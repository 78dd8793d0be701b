"""The five findings: their numbers are the evidence of the claims that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from support.made_up_studies import study
from tauforge_papers.digests import DIGESTS
from tauforge_papers.findings import FINDINGS, findings
from tauforge_papers.misprints import RULE
from tauforge_papers.registry import STUDIES
from tauforge_papers.report.finding import Finding
from tauforge_papers.report.study import Study
from tauforge_papers.report.verdicts import Evidence

MADE_UP: dict[tuple[str, str], Evidence] = {
    ("dasgupta1998", "all-effects"): {"published": [31.0, 107.0], "mended": [0.0, 0.0], "peak": 2000.0},
    ("pedrammehr2012", "all-effects"): {"published": [2.5, 60.0], "mended": [0.0, 0.0], "peak": 3000.0},
    ("dasgupta1998", "direct-relation"): {"ranks": [-0.25, 0.125, 0.99]},
    ("dasgupta1998", "near-singular"): {},
    ("turney1980", "equivalence"): {},
    ("turney1980", "misprint-k"): {"printed": 0.37, "mended": 1e-15},
    ("turney1980", "modified-cheaper"): {"lagrange": [500.0, 300.0], "newton_euler": [60.0, 40.0], "modified": [80.0]},
    ("turney1980", "recursion-most-efficient"): {"recursive": [90.0, 70.0, 80.0]},
    ("lee1982", "about-100"): {"factors": [140.0, 120.0]},
    ("lee1982", "compensation"): {"whole": 0.002, "without": [0.01, 0.3, 0.02]},
    ("lee1982", "same-law"): {},
    ("angeles", "inward-turn"): {"printed": 1.41, "mended": 1e-15},
}


def studies(found: Mapping[tuple[str, str], Evidence] = MADE_UP) -> list[Study]:
    """With these claims, whose rules are those of misprints where they have a printed line."""
    shape = study().claims[0]
    return [
        replace(
            study(name),
            claims=tuple(
                replace(shape, name=claim, evidence=numbers, rule=RULE if "printed" in numbers else shape.rule)
                for (paper, claim), numbers in found.items()
                if paper == name
            ),
        )
        for name in STUDIES
    ]


def test_every_number_is_evidence_of_a_claim() -> None:
    stewart, agree, costs, condition, compensation = findings(studies())
    assert stewart.number == "Off by up to 107 N of 2000 N (5.3 %) on the fast path"
    assert [bar.text for bar in stewart.bars] == ["31.0 N", "107.0 N", "2.5 N", "60.0 N", "0.0 N"]
    assert agree.number == "2 printed lines are wrong, by up to 141 % of the largest force; mended within 1e-12"
    assert [bar.value for bar in agree.bars] == [1.41, 0.37]  # the costliest first
    assert costs.number == "8.0 times the operations, six joints; 120 to 140 times by the tables of 1982"
    assert [bar.value for bar in costs.bars] == [800, 100, 80, 70]
    assert condition.number == "Rank correlation -0.25 and 0.12 on ordinary paths, 0.99 on the singular one"
    assert compensation.number == "2.0 mrad off the path with all terms, 300 mrad without velocity terms"
    assert [bar.value for bar in compensation.bars] == [0.002, 0.01, 0.3, 0.02]


@pytest.mark.parametrize("place", range(len(FINDINGS)))
def test_a_finding_is_told_where_its_claims_are_there(place: int) -> None:
    """It names them as its proofs."""
    needed, _ = FINDINGS[place]
    told = {one.title: one for one in findings(studies())}
    for lost in needed:
        rest = {one.title for one in findings(studies({key: MADE_UP[key] for key in MADE_UP if key != lost}))}
        assert list(told)[place] not in rest
    finding: Finding = list(told.values())[place]
    assert set(needed) <= {*finding.claims, ("turney1980", "misprint-k"), ("angeles", "inward-turn")}


def test_the_worst_error_is_of_its_own_largest_force() -> None:
    worse = {**MADE_UP, ("pedrammehr2012", "all-effects"): {"published": [2.5, 600.0], "mended": 0.0, "peak": 3000.0}}
    assert findings(studies(worse))[0].number == "Off by up to 600 N of 3000 N (20.0 %) on the fast path"
    assert np.isclose(findings(studies(worse))[0].bars[3].value, 600.0)


def test_every_paper_has_a_digest() -> None:
    assert set(DIGESTS) == set(STUDIES)
    for digest in DIGESTS.values():
        assert 10 <= len(digest.claims) <= 15
        assert len(set(digest.claims)) == len(digest.claims)
