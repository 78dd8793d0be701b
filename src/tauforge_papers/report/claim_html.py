"""A claim in HTML: a row of a table on the first page, a card with its reason and rule on the second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tauforge_papers.report.files import EVERYTHING
from tauforge_papers.report.study import Claim, Study
from tauforge_papers.report.texts import RULE_HEADS, anchor, badge, escaped, paragraphs, short
from tauforge_papers.report.verdicts import MEANING


def claim_anchor(study: Study, claim: Claim) -> str:
    """Its place on the second page."""
    return anchor(study.name, "claim", claim.name)


def claim_link(study: Study, claim: Claim, words: str) -> str:
    """From the first page to its place on the second."""
    return f'<a href="{EVERYTHING}#{claim_anchor(study, claim)}">{escaped(words)}</a>'


def claims_table(groups: Iterable[tuple[Study, Sequence[Claim]]], *, reasons: bool) -> str:
    """A row for each claim, below the name of its paper. The exact model has a column where a claim has its numbers.

    reasons: a second row says what explains the numbers
    """
    shown = [(study, claims) for study, claims in groups if claims]
    exact = any(claim.exact_words for _, claims in shown for claim in claims)
    columns = ("Where", "Claim", "Printed", "Measured", *["Exact model"] * exact, "Verdict")
    heads = "".join(f'<th scope="col" class="of-{anchor(name)}">{name}</th>' for name in columns)
    body = "\n".join(_group(study, claims, columns, reasons) for study, claims in shown)
    table = f'<table class="verdicts">\n<thead><tr>{heads}</tr></thead>\n{body}\n</table>'
    return f'<div class="scroll cards">\n{table}\n</div>'


def counts(claims: Sequence[Claim], *, meanings: bool) -> str:
    """How often each verdict was given, as items of a list."""
    verdicts = [claim.verdict for claim in claims]
    return "\n".join(
        f'<li class="count {anchor(one)}"><strong>{verdicts.count(one)}</strong> {badge(one)}'
        + (f'<span class="meaning">{escaped(meaning)}</span></li>' if meanings else "</li>")
        for one, meaning in MEANING.items()
    )


def claim_card(study: Study, claim: Claim) -> str:
    """Everything about it."""
    head = RULE_HEADS[claim.verdict]
    exact = f"<div><dt>Exact model</dt><dd>{escaped(claim.exact_words)}</dd></div>" if claim.exact_words else ""
    beside = f" At half and at twice the threshold: {claim.threshold_words}." if claim.threshold_words else ""
    return (
        f'<li class="claim {anchor(claim.verdict)}" id="{claim_anchor(study, claim)}">\n'
        f'<p class="claim-head"><span class="where">{escaped(claim.where)}</span> {badge(claim.verdict)}</p>\n'
        f'<p class="claim-text">{escaped(claim.claim)}</p>\n'
        f"<dl><div><dt>Printed</dt><dd>{escaped(claim.printed)}</dd></div>"
        f"<div><dt>Measured</dt><dd>{escaped(_measured(claim))}</dd></div>{exact}</dl>\n"
        f'<div class="reason">{paragraphs(claim.reason)}</div>\n'
        f'<p class="rule"><span class="rule-head">{head}:</span> {escaped(claim.rule.words + beside)}</p>\n</li>'
    )


def _measured(claim: Claim) -> str:
    return f"{claim.measured}; on this machine {claim.timed}" if claim.timed else claim.measured


def _group(study: Study, claims: Sequence[Claim], columns: Sequence[str], reasons: bool) -> str:
    name = f'<a href="#{anchor(study.name)}">{escaped(short(study))}</a>'
    paper = f'<th scope="rowgroup" colspan="{len(columns)}"><span class="unseen">Paper: </span>{name}</th>'
    rows = (_row(study, claim, columns, reasons) for claim in claims)
    return "\n".join(["<tbody>", f'<tr class="group">{paper}</tr>', *rows, "</tbody>"])


def _row(study: Study, claim: Claim, columns: Sequence[str], reasons: bool) -> str:
    cells = {
        "Where": escaped(claim.where),
        "Claim": claim_link(study, claim, claim.claim),
        "Printed": escaped(claim.printed),
        "Measured": escaped(_measured(claim)),
        "Exact model": escaped(claim.exact_words),
        "Verdict": badge(claim.verdict),
    }
    row = "".join(f'<td data-label="{name}">{cells[name]}</td>' for name in columns)
    why = f'<td></td><td colspan="{len(columns) - 1}" data-label="Why"><div>{paragraphs(claim.reason)}</div></td>'
    return f"<tr>{row}</tr>" + (f'<tr class="why">{why}</tr>' if reasons else "")
