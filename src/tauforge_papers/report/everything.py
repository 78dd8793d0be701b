"""The second page of a report: every claim, figure and table, with a search."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence

from tauforge.charts.figure import Figure
from tauforge_papers.report.claim_html import claim_card, counts
from tauforge_papers.report.figure_html import figure_html
from tauforge_papers.report.files import PAGE, stem
from tauforge_papers.report.frame import Front, framed, made, page_file
from tauforge_papers.report.study import Study
from tauforge_papers.report.table import Table
from tauforge_papers.report.table_html import table_html, verdicts_in
from tauforge_papers.report.texts import anchor, escaped, paragraphs, short
from tauforge_papers.report.verdicts import MEANING

KINDS = {"claim": "claims", "figure": "figures", "table": "tables"}  # classes of what is searched


def everything(studies: Sequence[Study], front: Front) -> str:
    """The whole text. It carries plotly, compressed, and shows the images beside it on paper and without scripts."""
    body = f"""<header>
<p><a href="{PAGE}">{escaped(front.title)}: what was found</a></p>
<h1>Every claim, figure and table</h1>
{made()}
</header>
<div class="sides">
<nav aria-label="Contents">
<details open>
<summary>Contents</summary>
<ul>
{"".join(map(_contents, studies))}
</ul>
</details>
</nav>
<main id="main">
{_search(studies)}
{"".join(map(_study, studies))}
</main>
</div>"""
    return framed(front, f"{front.title}: everything", body, _scripts())


def _scripts() -> str:
    from plotly.offline import get_plotlyjs

    packed = base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode()
    own = "".join(f"<script>\n{page_file(name)}</script>\n" for name in ("page.js", "page.search.js"))
    return f'<script type="application/gzip" id="plotly">{packed}</script>\n{own}'


def _search(studies: Sequence[Study]) -> str:
    """It is hidden where there are no scripts."""
    papers = {anchor(study.name): short(study) for study in studies}
    said = [*MEANING, *(verdict for study in studies for table in study.tables for verdict in verdicts_in(table))]
    verdicts = {anchor(verdict): str(verdict) for verdict in said}
    selects = _select("paper", papers) + _select("kind", KINDS) + _select("verdict", verdicts)
    return (
        '<form class="search" role="search" hidden>\n<label>Search <input type="search" name="text"></label>\n'
        f'{selects}<output aria-live="polite"></output>\n</form>'
    )


def _select(name: str, choices: dict[str, str]) -> str:
    options = "".join(f'<option value="{value}">{escaped(words)}</option>' for value, words in choices.items())
    return f'<label>{name.capitalize()} <select name="{name}"><option value="">all</option>{options}</select></label>\n'


def _contents(study: Study) -> str:
    things: list[Figure | Table] = [*study.figures, *study.tables]
    inner = "".join(f'<li><a href="#{stem(study, one)}">{escaped(one.title)}</a></li>' for one in things)
    head = f'<a href="#{anchor(study.name)}">{escaped(short(study))}</a>'
    whole = f"<summary>{head}</summary><ul>{inner}</ul>"
    return f'<li><details name="paper" data-of="{anchor(study.name)}">{whole}</details></li>\n'


def _study(study: Study) -> str:
    claims = "\n".join(claim_card(study, claim) for claim in study.claims)
    figures = "\n".join(figure_html(study, figure) for figure in study.figures)
    tables = "\n".join(table_html(study, table) for table in study.tables)
    parts = [
        f'<section class="study" id="{anchor(study.name)}">',
        f"<h2>{escaped(short(study))}</h2>",
        f'<p class="citation">{escaped(study.paper)}</p>',
        f'<div class="lead">{paragraphs(study.summary)}</div>',
        f'<ul class="tally" aria-label="Verdicts">\n{counts(study.claims, meanings=False)}\n</ul>' if claims else "",
        f'<div><h3>What the paper claims</h3>\n<ol class="claims">\n{claims}\n</ol></div>' if claims else "",
        f"<div><h3>Figures</h3>\n{figures}</div>" if figures else "",
        f"<div><h3>Tables</h3>\n{tables}</div>" if tables else "",
        "</section>\n",
    ]
    return "\n".join(part for part in parts if part)
