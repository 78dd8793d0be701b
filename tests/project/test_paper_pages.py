"""The docs' pages of the papers: what their generator writes of a study, and what is there without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import difference, with_tables
from paper_verdicts import (
    CONTENTS_PAGE,
    PAGE,
    claims_table,
    contents_rows,
    contents_section,
    judged,
    meanings,
    section,
    summary_table,
)
from support.made_up_studies import study
from tauforge_papers.report.verdicts import MEANING

ROOT = Path(__file__).parents[2]


def rows(text: str) -> list[list[str]]:
    """Cells of the first table, its head included."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in (lines[0], *lines[2:])]


def test_the_page_says_what_each_verdict_means() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text, {"meanings": meanings()}) == text, "run: make docs"
    assert rows(meanings())[1:] == [[verdict, meaning] for verdict, meaning in MEANING.items()]
    said = " ".join(text.split())
    assert "read by a machine (OCR)" in said
    assert "Only the captions of the papers' figures were at hand" in said


def test_all_five_verdicts_are_counted() -> None:
    head, row = rows(summary_table([study()]))
    assert head == ["study", *MEANING]
    assert row == ["[dasgupta1998](#dasgupta1998)", "1", "1", "1", "1", "1"]


def test_a_claim_has_its_rule_or_the_reason_for_none() -> None:
    one = study()
    for claim, row in zip(one.claims, rows(claims_table(map(judged, one.claims)))[1:], strict=True):
        head = "Why there is no verdict" if claim.verdict == "not judged" else "Rule"
        reason = claim.reason.replace("\n\n", " ")
        assert row[-1] == f"{claim.verdict}. {reason} {head}: {claim.rule.words}"
    assert section(one).startswith("## dasgupta1998\n\nSomebody, A. (1998).")


def test_everything_in_the_paper_has_a_row() -> None:
    one = study()
    text = contents_section(one)
    assert text.startswith("## dasgupta1998\n\nSomebody, A. (1998).")
    head, *body = rows(text)
    assert head == ["kind", "number", "what", "in our source", "verdict", "rule or remark"]
    assert len(body) == len(one.contents) + len(one.claims)
    assert body[0][:4] == ["equation", "1", one.contents[0].what, "`formulations/stewart/kinematics.py, LegVector`"]
    (drawn,) = [row for row in body if row[:2] == ["figure", "2"]]
    assert drawn[3:5] == ["Leg forces on two paths", "holds; mixed"]


def test_the_page_of_contents_is_compared() -> None:
    """As test_reproduction compares it with the report's CSV: a row that changes is found."""
    one = study()
    table = one.tables[-1]
    stored = contents_rows(table.columns, table.rows)
    assert difference(stored, contents_rows(list(table.columns), [list(row) for row in table.rows])) == ""
    other = [(*row[:4], "holds", row[5]) for row in table.rows]
    assert "stored: | equation | 4" in difference(stored, contents_rows(table.columns, other))


@pytest.mark.parametrize("name", ["papers", "paper-contents"])
def test_both_pages_are_in_the_index(name: str) -> None:
    assert f"\n{name}\n" in (ROOT / "docs" / "articles.md").read_text(encoding="utf-8")
    assert (PAGE if name == "papers" else CONTENTS_PAGE).name == f"{name}.md"
