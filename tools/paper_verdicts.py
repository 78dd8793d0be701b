"""Write docs/papers.md, docs/paper-contents.md and docs/paper-rules.md from the studies: verdicts, contents and rules.

A rule or a verdict that is not the last one of docs/rule-history.csv gets a row there, with today's date. Its reason is
written by hand. Times are left out: they are of the machine that measured them. `--check` compares.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pages import markdown, settle, with_tables
from tauforge_papers.contents_table import CODED, CONTENTS, SOURCE_COLUMN
from tauforge_papers.policy import POLICIES
from tauforge_papers.registry import STUDIES, run
from tauforge_papers.report.progress import nothing
from tauforge_papers.report.study import Claim, Study
from tauforge_papers.report.texts import RULE_HEADS
from tauforge_papers.report.verdicts import MEANING

DOCS = Path(__file__).parent.parent / "docs"
PAGE, CONTENTS_PAGE, RULES_PAGE = (DOCS / f"{name}.md" for name in ("papers", "paper-contents", "paper-rules"))
HISTORY = DOCS / "rule-history.csv"


class Judged(NamedTuple):
    """A claim as it stands on the page, and in the report's CSV."""

    name: str
    where: str
    claim: str
    printed: str
    measured: str
    exact: str
    verdict: str
    reason: str
    rule: str
    thresholds: str
    timed: str


class Change(NamedTuple):
    """A row of the history of rules. before: the verdict until then; empty where the rule is the claim's first."""

    date: str
    paper: str
    name: str
    before: str
    verdict: str
    rule: str
    reason: str


def judged(claim: Claim) -> Judged:
    words = (claim.name, claim.where, claim.claim, claim.printed, claim.measured, claim.exact_words)
    return Judged(*words, claim.verdict, claim.reason, claim.rule.words, claim.threshold_words, claim.timed)


def meanings() -> str:
    return markdown(("verdict", "meaning"), MEANING.items())


def summary_table(studies: list[Study]) -> str:
    rows = []
    for study in studies:
        found = [claim.verdict for claim in study.claims]
        rows.append((f"[{study.name}](#{study.name})", *(found.count(verdict) for verdict in MEANING)))
    return markdown(("study", *MEANING), rows)


def claims_table(claims: Iterable[Judged]) -> str:
    """The column of the exact model is there where a claim of the paper has its numbers."""
    every = list(claims)
    columns = ["where", "claim", "printed", "measured", *["exact model"] * any(c.exact for c in every), "verdict"]
    rows = [
        (
            *(c.where, c.claim, c.printed, c.measured),
            *[c.exact] * ("exact model" in columns),
            f"{c.verdict}. {c.reason} {RULE_HEADS[c.verdict]}: {c.rule}",
        )
        for c in every
    ]
    return markdown(columns, rows)


def policies() -> str:
    return markdown(("case", "policy"), POLICIES.items())


def thresholds(studies: Iterable[Study]) -> str:
    rows = [
        (study.name, c.claim, c.verdict, one.name.replace("_", " "), f"{one.value:.3g}", one.at_half, one.at_twice)
        for study in studies
        for c in study.claims
        for one in c.beside_thresholds
    ]
    return markdown(("study", "claim", "verdict", "threshold", "value", "verdict at half", "verdict at twice"), rows)


def history() -> list[Change]:
    with HISTORY.open(newline="", encoding="utf-8") as file:
        return [Change(*row) for row in list(csv.reader(file))[1:]]


def missing(stored: Iterable[Change], today: Iterable[tuple[str, Judged]]) -> list[Change]:
    """Rows for claims whose rule or verdict is not the last one stored."""
    last = {(one.paper, one.name): one for one in stored}
    date = datetime.now(UTC).date().isoformat()
    found = []
    for paper, c in today:
        one = last.get((paper, c.name))
        if one is None or (one.verdict, one.rule) != (c.verdict, c.rule):
            found.append(Change(date, paper, c.name, one.verdict if one else "", c.verdict, c.rule, ""))
    return found


def history_csv(rows: Iterable[Change]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [("date", "paper", "claim", "before", "verdict", "rule", "reason"), *rows]
    )
    return text.getvalue()


def changes(rows: Iterable[Change]) -> str:
    """The rows that replace another rule or verdict, the latest first."""
    found = [one for one in rows if one.before]
    columns = ("date", "study", "claim", "verdict before", "verdict", "reason")
    return markdown(columns, [(*one[:5], one.reason) for one in sorted(found, key=lambda one: one.date, reverse=True)])


def section(study: Study) -> str:
    return f"## {study.name}\n\n{study.paper}\n\n{study.summary}\n\n{claims_table(map(judged, study.claims))}\n"


def contents_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The report's table of everything in a paper; paths and names of our source as code."""
    place = header.index(SOURCE_COLUMN)
    return markdown(
        header, ([_as_code(row[0], cell) if k == place else cell for k, cell in enumerate(row)] for row in rows)
    )


def _as_code(kind: object, places: object) -> str:
    """For equations and algorithms the places in our source; for figures and tables the title of ours, as it is."""
    text = str(places)
    if not text or kind not in CODED:
        return text
    return "; ".join(f"`{place}`" for place in text.split("; "))


def contents_section(study: Study) -> str:
    (table,) = (one for one in study.tables if one.name == CONTENTS)
    return f"## {study.name}\n\n{study.paper}\n\n{contents_rows(table.columns, table.rows)}\n"


def main() -> int:
    studies = [run(name, nothing) for name in STUDIES]
    tables = {"meanings": meanings(), "summary": summary_table(studies), "claims": joined(map(section, studies))}
    contents = {"contents": joined(map(contents_section, studies))}
    known = history()
    known += missing(known, [(study.name, judged(claim)) for study in studies for claim in study.claims])
    rules = {"policies": policies(), "thresholds": thresholds(studies), "changes": changes(known)}
    pages = {PAGE: tables, CONTENTS_PAGE: contents, RULES_PAGE: rules}
    made = {page: with_tables(page.read_text(encoding="utf-8"), made) for page, made in pages.items()}
    return settle(made | {HISTORY: history_csv(known)})


def joined(sections: Iterable[str]) -> str:
    return "\n" + "\n".join(sections)


if __name__ == "__main__":
    raise SystemExit(main())
