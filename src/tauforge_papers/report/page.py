"""The page of a report: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from string import Template

from tauforge.charts.figure import Figure
from tauforge_papers.report.environment import environment
from tauforge_papers.report.figure_html import figure_html
from tauforge_papers.report.files import CLAIMS_FILE, DATA, stem
from tauforge_papers.report.portrait import Portrait, portraits_html
from tauforge_papers.report.study import Claim, Study
from tauforge_papers.report.table import Table
from tauforge_papers.report.table_html import table_html
from tauforge_papers.report.texts import RULE_HEADS, anchor, badge, escaped, paragraphs, short
from tauforge_papers.report.verdicts import MEANING


@dataclass(frozen=True)
class Front:
    """What a page says about itself; blank lines part paragraphs.

    title:   its heading
    made_by: the command that writes such pages, "tauforge reproduce"
    sources: what was at hand
    origin:  where the numbers come from
    """

    title: str
    made_by: str
    sources: str
    origin: str

    @property
    def mark(self) -> str:
        """An element near the beginning of the page by which its own command recognises it."""
        return f'<meta name="generator" content="{escaped(self.made_by)}">'


def page(studies: Sequence[Study], front: Front, images: Path, portraits: Sequence[Portrait] = ()) -> str:
    """The whole text, portraits first. images: the folder with the figures' SVG, which the page carries for print."""
    from plotly.offline import get_plotlyjs

    here = files("tauforge_papers.report")
    return Template((here / "page.html").read_text(encoding="utf-8")).substitute(
        generator=front.mark,
        title=escaped(front.title),
        style=(here / "page.css").read_text(encoding="utf-8"),
        script=(here / "page.js").read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
        when=datetime.now().astimezone().strftime("%d %B %Y, %H:%M %Z").lstrip("0"),
        robots=portraits_html(portraits, studies),
        counts=_counts(studies, meanings=True),
        contents="\n".join(_contents(study) for study in studies),
        summary="\n".join(_summary(study) for study in studies),
        sources=paragraphs(front.sources),
        origin=paragraphs(front.origin),
        claims_file=f"{DATA}/{CLAIMS_FILE}",
        studies="\n".join(_study(study, images) for study in studies),
        environment="\n".join(
            f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in environment()
        ),
        command=escaped(" ".join([front.made_by, *(study.name for study in studies)])),
    )


def _counts(studies: Sequence[Study], *, meanings: bool) -> str:
    verdicts = [claim.verdict for study in studies for claim in study.claims]
    return "\n".join(
        f'<li class="count {anchor(one)}"><strong>{verdicts.count(one)}</strong> {badge(one)}'
        + (f'<span class="meaning">{escaped(meaning)}</span></li>' if meanings else "</li>")
        for one, meaning in MEANING.items()
    )


def _contents(study: Study) -> str:
    things: list[Figure | Table] = [*study.figures, *study.tables]
    inner = "".join(f'<li><a href="#{stem(study, one)}">{escaped(one.title)}</a></li>' for one in things)
    head = f'<a href="#{anchor(study.name)}">{escaped(short(study))}</a>'
    whole = f"<summary>{head}</summary><ul>{inner}</ul>"
    return f'<li><details name="paper" data-of="{anchor(study.name)}">{whole}</details></li>'


def _claim_anchor(study: Study, k: int) -> str:
    return anchor(study.name, "claim", str(k + 1))


def _summary(study: Study) -> str:
    name = f'<a href="#{anchor(study.name)}">{escaped(short(study))}</a>'
    head = f'<tr class="group"><th scope="rowgroup" colspan="5"><span class="unseen">Paper: </span>{name}</th></tr>'
    return "\n".join(["<tbody>", head, *(_summary_row(study, k) for k in range(len(study.claims))), "</tbody>"])


def _summary_row(study: Study, k: int) -> str:
    claim = study.claims[k]
    cells = [
        ("Where", escaped(claim.where)),
        ("Claim", f'<a href="#{_claim_anchor(study, k)}">{escaped(claim.claim)}</a>'),
        ("Printed", escaped(claim.printed)),
        ("Measured", escaped(_measured(claim))),
        ("Verdict", badge(claim.verdict)),
    ]
    return "<tr>" + "".join(f'<td data-label="{label}">{cell}</td>' for label, cell in cells) + "</tr>"


def _study(study: Study, images: Path) -> str:
    claims = "\n".join(_claim(study, k) for k in range(len(study.claims)))
    figures = "\n".join(figure_html(study, figure, images) for figure in study.figures)
    tables = "\n".join(table_html(study, table) for table in study.tables)
    parts = [
        f'<section class="study" id="{anchor(study.name)}">',
        f"<h2>{escaped(short(study))}</h2>",
        f'<p class="citation">{escaped(study.paper)}</p>',
        f'<div class="lead">{paragraphs(study.summary)}</div>',
        f'<ul class="tally" aria-label="Verdicts">\n{_counts([study], meanings=False)}\n</ul>' if claims else "",
        f'<h3>What the paper claims</h3>\n<ol class="claims">\n{claims}\n</ol>' if claims else "",
        f"<h3>Figures</h3>\n{figures}" if figures else "",
        f"<h3>Tables</h3>\n{tables}" if tables else "",
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _measured(claim: Claim) -> str:
    return f"{claim.measured}; on this machine {claim.timed}" if claim.timed else claim.measured


def _claim(study: Study, k: int) -> str:
    claim = study.claims[k]
    head = RULE_HEADS[claim.verdict]
    return (
        f'<li class="claim {anchor(claim.verdict)}" id="{_claim_anchor(study, k)}">\n'
        f'<p class="claim-head"><span class="where">{escaped(claim.where)}</span> {badge(claim.verdict)}</p>\n'
        f'<p class="claim-text">{escaped(claim.claim)}</p>\n'
        f"<dl><div><dt>Printed</dt><dd>{escaped(claim.printed)}</dd></div>"
        f"<div><dt>Measured</dt><dd>{escaped(_measured(claim))}</dd></div></dl>\n"
        f'<div class="reason">{paragraphs(claim.reason)}</div>\n'
        f'<p class="rule"><span class="rule-head">{head}:</span> {escaped(claim.rule.words)}</p>\n</li>'
    )
