"""The docs' pages of the papers: what their generator writes of a study, and what is there without one."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from pages import difference, with_tables
from paper_verdicts import (
    CONTENTS_PAGE,
    PAGE,
    RULES_PAGE,
    Change,
    changes,
    claims_table,
    contents_rows,
    contents_section,
    history,
    judged,
    meanings,
    missing,
    policies,
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


@pytest.mark.parametrize("page", [PAGE, CONTENTS_PAGE, RULES_PAGE])
def test_the_pages_are_in_the_index(page: Path) -> None:
    assert f"\n{page.stem}\n" in (ROOT / "docs" / "articles.md").read_text(encoding="utf-8")


def test_each_change_of_a_rule_has_a_date_and_a_reason() -> None:
    rows = history()
    assert [one[:3] for one in rows if not (one.reason and datetime.fromisoformat(one.date))] == [], "write the reason"
    assert {one.verdict for one in rows} <= set(MEANING)
    known: dict[tuple[str, str], Change] = {}
    for one in rows:
        before = known.get((one.paper, one.name))
        assert one.before == (before.verdict if before else "")
        assert before is None or (before.verdict, before.rule) != (one.verdict, one.rule)
        assert before is None or before.date <= one.date
        known[one.paper, one.name] = one


def test_a_rule_that_changes_gets_a_row() -> None:
    one = study()
    first = missing([], [(one.name, judged(claim)) for claim in one.claims])
    assert [(row.name, row.before, row.reason) for row in first] == [(claim.name, "", "") for claim in one.claims]
    again = judged(one.claims[0])
    assert missing(first, [(one.name, again)]) == []
    (row,) = missing(first, [(one.name, again._replace(rule="Another."))])
    assert (row.before, row.verdict, row.rule) == (again.verdict, again.verdict, "Another.")
    assert "| Why. |" in changes([row._replace(reason="Why.")])
    assert changes(first).count("\n") == 2


def test_the_page_of_rules_has_the_policies_and_all_changes() -> None:
    text = RULES_PAGE.read_text(encoding="utf-8")
    made = {"policies": policies(), "changes": changes(history())}
    assert with_tables(text, made) == text, "run: make docs"
