"""Write docs/papers.md, the verdicts, and docs/paper-contents.md, everything in the papers, from the studies.

Times are left out: they are of the machine that measured them. `--check` compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pages import markdown, settle, with_tables
from tauforge_papers.contents_table import CONTENTS, SOURCE_COLUMN
from tauforge_papers.registry import STUDIES, run
from tauforge_papers.report.progress import nothing
from tauforge_papers.report.study import Claim, Study
from tauforge_papers.report.texts import RULE_HEADS
from tauforge_papers.report.verdicts import MEANING

CODED = ("equation", "algorithm")  # kinds whose places are places in our source
DOCS = Path(__file__).parent.parent / "docs"
PAGE, CONTENTS_PAGE = DOCS / "papers.md", DOCS / "paper-contents.md"


class Judged(NamedTuple):
    """A claim as it stands on the page, and in the report's CSV."""

    where: str
    claim: str
    printed: str
    measured: str
    verdict: str
    reason: str
    rule: str
    timed: str


def judged(claim: Claim) -> Judged:
    words = (claim.where, claim.claim, claim.printed, claim.measured)
    return Judged(*words, claim.verdict, claim.reason, claim.rule.words, claim.timed)


def meanings() -> str:
    return markdown(("verdict", "meaning"), MEANING.items())


def summary_table(studies: list[Study]) -> str:
    rows = []
    for study in studies:
        found = [claim.verdict for claim in study.claims]
        rows.append((f"[{study.name}](#{study.name})", *(found.count(verdict) for verdict in MEANING)))
    return markdown(("study", *MEANING), rows)


def claims_table(claims: Iterable[Judged]) -> str:
    rows = [
        (c.where, c.claim, c.printed, c.measured, f"{c.verdict}. {c.reason} {RULE_HEADS[c.verdict]}: {c.rule}")
        for c in claims
    ]
    return markdown(("where", "claim", "printed", "measured", "verdict"), rows)


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
    pages = {PAGE: tables, CONTENTS_PAGE: contents}
    return settle({page: with_tables(page.read_text(encoding="utf-8"), made) for page, made in pages.items()})


def joined(sections: Iterable[str]) -> str:
    return "\n" + "\n".join(sections)


if __name__ == "__main__":
    raise SystemExit(main())
