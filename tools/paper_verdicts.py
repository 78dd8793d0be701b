"""Write the verdicts on the papers' claims into docs/papers.md, from the studies themselves.

Times are left out: they are of the machine that measured them. `--check` compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from generated_docs import markdown, with_tables
from pages import settle
from tauforge.studies.registry import STUDIES, run
from tauforge.studies.rules import MEANING
from tauforge.studies.study import Claim, Study, nothing

PAGE = Path(__file__).parent.parent / "docs" / "papers.md"


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


def summary_table(studies: list[Study]) -> str:
    rows = []
    for study in studies:
        found = [claim.verdict for claim in study.claims]
        rows.append((f"[{study.name}](#{study.name})", *(found.count(verdict) for verdict in MEANING)))
    return markdown(("study", *MEANING), rows)


def claims_table(claims: Iterable[Judged]) -> str:
    rows = [(c.where, c.claim, c.printed, c.measured, f"{c.verdict}. {c.reason} Rule: {c.rule}") for c in claims]
    return markdown(("where", "claim", "printed", "measured", "verdict"), rows)


def section(study: Study) -> str:
    return f"## {study.name}\n\n{study.paper}\n\n{study.summary}\n\n{claims_table(map(judged, study.claims))}\n"


def main() -> int:
    studies = [run(name, nothing) for name in STUDIES]
    tables = {"summary": summary_table(studies), "claims": "\n" + "\n".join(map(section, studies))}
    return settle({PAGE: with_tables(PAGE.read_text(encoding="utf-8"), tables)})


if __name__ == "__main__":
    raise SystemExit(main())
