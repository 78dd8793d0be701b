"""A table of everything in a paper: where it lives in our source, its verdict, and the rule of the verdict."""

from __future__ import annotations

from tauforge_papers.citations import places
from tauforge_papers.report.study import Claim, Item, Study
from tauforge_papers.report.table import Table
from tauforge_papers.report.verdicts import NOT_JUDGED

CONTENTS = "contents"  # name of the table
SOURCE_COLUMN = "in our source"
NOT_EVALUATED = "not evaluated"  # an equation that no claim covers
CODED = ("equation", "algorithm")  # kinds whose places are places in our source
COLUMNS = ("kind", "number", "what", SOURCE_COLUMN, "verdict", "rule or remark")


def contents_table(study: Study) -> Table:
    """A row for every numbered equation, algorithm, figure and table of the paper, then one for every claim."""
    where = places(study.name)
    claims = {claim.name: claim for claim in study.claims}
    shown = {figure.name: figure.title for figure in study.figures}
    shown |= {table.name: table.title for table in study.tables}
    rows = [_row(item, where.get(item.number, []), claims, shown) for item in study.contents]
    rows += [("claim", claim.where, claim.claim, "", claim.verdict, claim.rule.words) for claim in study.claims]
    return Table(
        CONTENTS,
        "Everything in the paper",
        "Every numbered equation, algorithm, figure and table, then every claim. The verdict on an equation is that of "
        "the claims that cover it.",
        COLUMNS,
        tuple(rows),
    )


def _row(item: Item, where: list[str], claims: dict[str, Claim], shown: dict[str, str]) -> tuple[str, ...]:
    judges = [claims[name] for name in item.judged_by]
    source = _by_file(where) if item.kind in CODED else shown.get(item.shown_as, "")
    verdicts = "; ".join(dict.fromkeys(claim.verdict for claim in judges)) or item.standing or _without_a_claim(item)
    rules = dict.fromkeys(f"{claim.claim}: {claim.rule.words}" for claim in judges)
    return (
        item.kind,
        item.number,
        item.what,
        source,
        verdicts,
        " ".join(part for part in (*rules, item.remark) if part),
    )


def _without_a_claim(item: Item) -> str:
    return NOT_EVALUATED if item.kind in CODED else NOT_JUDGED


def _by_file(where: list[str]) -> str:
    """Each file once, with all names in it."""
    files: dict[str, list[str]] = {}
    for place in where:
        path, *names = place.split(", ")
        files.setdefault(path, []).extend(names)
    return "; ".join(", ".join((path, *names)) for path, names in files.items())
