"""A claim in HTML: a row of a table on the first page, a card with its reason and rule on the second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tauforge_papers.report.files import EVERYTHING
from tauforge_papers.report.study import Claim, Study
from tauforge_papers.report.texts import RULE_HEADS, anchor, badge, escaped, paragraphs, short
from tauforge_papers.report.verdicts import MEANING

COLUMNS = ("Where", "Claim", "Printed", "Measured", "Verdict")


def claim_anchor(study: Study, claim: Claim) -> str:
    """Its place on the second page."""
    return anchor(study.name, "claim", claim.name)


def claim_link(study: Study, claim: Claim, words: str) -> str:
    """From the first page to its place on the second."""
    return f'<a href="{EVERYTHING}#{claim_anchor(study, claim)}">{escaped(words)}</a>'


def claims_table(groups: Iterable[tuple[Study, Sequence[Claim]]], *, reasons: bool) -> str:
    """A row for each claim, below the name of its paper; reasons: a second row says what explains it."""
    heads = "".join(f'<th scope="col" class="of-{anchor(name)}">{name}</th>' for name in COLUMNS)
    body = "\n".join(_group(study, claims, reasons) for study, claims in groups if claims)
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
    return (
        f'<li class="claim {anchor(claim.verdict)}" id="{claim_anchor(study, claim)}">\n'
        f'<p class="claim-head"><span class="where">{escaped(claim.where)}</span> {badge(claim.verdict)}</p>\n'
        f'<p class="claim-text">{escaped(claim.claim)}</p>\n'
        f"<dl><div><dt>Printed</dt><dd>{escaped(claim.printed)}</dd></div>"
        f"<div><dt>Measured</dt><dd>{escaped(_measured(claim))}</dd></div></dl>\n"
        f'<div class="reason">{paragraphs(claim.reason)}</div>\n'
        f'<p class="rule"><span class="rule-head">{head}:</span> {escaped(claim.rule.words)}</p>\n</li>'
    )


def _measured(claim: Claim) -> str:
    return f"{claim.measured}; on this machine {claim.timed}" if claim.timed else claim.measured


def _group(study: Study, claims: Sequence[Claim], reasons: bool) -> str:
    name = f'<a href="#{anchor(study.name)}">{escaped(short(study))}</a>'
    head = f'<tr class="group"><th scope="rowgroup" colspan="5"><span class="unseen">Paper: </span>{name}</th></tr>'
    return "\n".join(["<tbody>", head, *(_row(study, claim, reasons) for claim in claims), "</tbody>"])


def _row(study: Study, claim: Claim, reasons: bool) -> str:
    cells = (
        escaped(claim.where),
        claim_link(study, claim, claim.claim),
        escaped(claim.printed),
        escaped(_measured(claim)),
        badge(claim.verdict),
    )
    row = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in zip(COLUMNS, cells, strict=True))
    why = f'<tr class="why"><td></td><td colspan="4" data-label="Why"><div>{paragraphs(claim.reason)}</div></td></tr>'
    return f"<tr>{row}</tr>{why if reasons else ''}"
