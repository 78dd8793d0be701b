"""The first page of a report: findings with pictures, the papers' table, and the claims that matter."""

from __future__ import annotations

import re

import pytest

from support.made_up_studies import DIGEST, NASTY, findings, study
from tauforge_papers.report.finding import NAMES, WIDTH, Bar, bars_svg
from tauforge_papers.report.page import page
from tauforge_papers.report.texts import escaped
from tauforge_papers.reproduce import FRONT


@pytest.fixture(scope="module")
def text() -> str:
    studies = [study("dasgupta1998"), study("turney1980")]
    return page(studies, FRONT, (), findings(), {"dasgupta1998": DIGEST})


def section(text: str, name: str) -> str:
    return text.split(f'id="{name}"')[1].split("</section>")[0]


def rectangles(svg: str) -> list[tuple[float, float]]:
    """Left end and width of each bar."""
    return [(float(x), float(width)) for x, width in re.findall(r'<rect x="([\d.]+)".*?width="([\d.]+)"', svg)]


def test_bars_are_as_long_as_their_values() -> None:
    svg = bars_svg([Bar("a", 120.0, "120 N"), Bar("b", 30.0, "30 N"), Bar("c", 0.0, "0 N")])
    (left, long), (_, short), (_, least) = rectangles(svg)
    assert left == NAMES
    assert long == pytest.approx(4 * short, abs=0.1)
    assert 0 < least < short / 10
    assert left + long < WIDTH - 60  # room for the value
    assert 'aria-label="a: 120 N; b: 30 N; c: 0 N"' in svg


def test_bars_of_negative_values_go_to_the_left() -> None:
    (left, long), (right, short) = rectangles(bars_svg([Bar("a", -0.8, "-0.80"), Bar("b", 0.2, "0.20")]))
    assert left + long == pytest.approx(right, abs=0.1)
    assert long == pytest.approx(4 * short, abs=0.2)
    assert left > NAMES


def test_every_finding_has_its_number_its_picture_and_its_claims(text: str) -> None:
    found = section(text, "findings").split('<article class="finding">')[1:]
    assert len(found) == len(findings())
    for part, one in zip(found, findings(), strict=True):
        assert escaped(one.title) in part
        assert escaped(one.number) in part
        assert escaped(one.use) in part
        assert part.count("<rect") == len(one.bars)
        links = re.findall(r'href="(.*?)"', part.split("</article>")[0])
        assert links == [f"everything.html#{study}-claim-{claim}" for study, claim in one.claims]


def test_a_paper_has_what_to_use_to_correct_and_to_pay(text: str) -> None:
    rows = section(text, "papers").split("<tbody>")[1].split("</tbody>")[0].strip().split("\n")
    assert len(rows) == 1  # of the paper that has a digest
    assert escaped(DIGEST.use) in rows[0]
    assert DIGEST.correct in rows[0]
    assert 'everything.html#dasgupta1998-claim-shift">27.7 N<' in rows[0]


def test_what_fails_or_is_mixed_stands_together_and_only_there(text: str) -> None:
    claims = {name: f"everything.html#{name}-claim-" for name in ("dasgupta1998", "turney1980")}
    for link in claims.values():
        assert re.findall(rf'href="{link}(.*?)"', section(text, "wrong")) == ["nasty", "speed"]
    assert "The forces rise, the fractions hardly." in section(text, "wrong")
    for name, shown in (("dasgupta1998", ["share", "shift", "cost"]), ("turney1980", ["share", "shift", "cost"])):
        assert re.findall(rf'href="{claims[name]}(.*?)"', section(text, name)) == shown


def test_a_digest_chooses_the_claims() -> None:
    text = page([study()], FRONT, digests={"dasgupta1998": DIGEST.__class__("", "", "", ("share",))})
    assert re.findall(r'claim-(\w+)"', section(text, "dasgupta1998")) == ["share"]


def test_without_findings_the_contents_stand_alone() -> None:
    text = page([study()], FRONT)
    assert "<article" not in text
    assert '<nav class="finding" aria-label="Contents">' in text
    assert NASTY not in text
