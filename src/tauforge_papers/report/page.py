"""The first page of a report: what was found, paper by paper what to use, and the claims that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tauforge_papers.report.claim_html import claim_link, claims_table, counts
from tauforge_papers.report.environment import environment
from tauforge_papers.report.files import CLAIMS_FILE, DATA, EVERYTHING
from tauforge_papers.report.finding import Finding, finding_html
from tauforge_papers.report.frame import Front, framed, made
from tauforge_papers.report.portrait import Portrait, portraits_html
from tauforge_papers.report.study import Claim, Study
from tauforge_papers.report.texts import anchor, escaped, paragraphs, short
from tauforge_papers.report.verdicts import FAILS, MIXED

COLUMNS = ("What to use", "What to correct", "What it costs")


@dataclass(frozen=True)
class Digest:
    """What a reader takes from one paper: a row of the table, and the claims that are shown.

    use:     what to use of the package
    correct: what of the paper to correct, and where
    cost:    name of the claim that says what it costs
    claims:  names of the ten to fifteen claims that matter most
    """

    use: str
    correct: str
    cost: str
    claims: tuple[str, ...]


def page(
    studies: Sequence[Study],
    front: Front,
    portraits: Sequence[Portrait] = (),
    findings: Sequence[Finding] = (),
    digests: Mapping[str, Digest] | None = None,
) -> str:
    """The whole text. digests: by the names of studies; a study without one shows all its claims."""
    told = digests or {}
    parts = [
        f"<header>\n<h1>{escaped(front.title)}</h1>\n{made()}\n",
        f'<ul class="tally" aria-label="Verdicts">\n{counts(_claims(studies), meanings=False)}\n</ul>\n</header>',
        '<main id="main">',
        _findings(studies, findings),
        _papers(studies, portraits, told),
        _wrong(studies, front),
        *(_study(study, told.get(study.name)) for study in studies),
        _made_with(studies, front),
        "</main>",
    ]
    return framed(front, front.title, "\n".join(part for part in parts if part))


def _claims(studies: Sequence[Study]) -> list[Claim]:
    return [claim for study in studies for claim in study.claims]


def _findings(studies: Sequence[Study], findings: Sequence[Finding]) -> str:
    """Then where to read on."""
    items = "\n".join(finding_html(one, _proofs(studies, one.claims)) for one in findings)
    papers = ", ".join(f'<a href="#{anchor(study.name)}">{escaped(short(study))}</a>' for study in studies)
    return f"""<section id="findings">
<h2 class="unseen">What was found</h2>
<div class="findings">
{items}
<nav class="finding" aria-label="Contents">
<h3>Read on</h3>
<ul>
<li><a href="#papers">The papers: what to use, correct and expect to pay</a></li>
<li><a href="#wrong">Claims that fail or are mixed</a></li>
<li>The claims that matter of {papers}</li>
<li><a href="{EVERYTHING}">Every claim, figure and table, with a search</a></li>
</ul>
</nav>
</div>
</section>"""


def _proofs(studies: Sequence[Study], names: Sequence[tuple[str, str]]) -> str:
    """Links to the claims, paper by paper."""
    links = {
        short(study): [claim_link(study, one, one.where) for one in study.claims if (study.name, one.name) in names]
        for study in studies
    }
    return "; ".join(f"{escaped(paper)}: {', '.join(found)}" for paper, found in links.items() if found)


def _papers(studies: Sequence[Study], portraits: Sequence[Portrait], digests: Mapping[str, Digest]) -> str:
    rows = "\n".join(_paper(study, digests[study.name]) for study in studies if study.name in digests)
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("Paper", *COLUMNS))
    table = f'<table class="papers">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>'
    return f"""<section id="papers">
<h2>The papers: what to use</h2>
{portraits_html(portraits, studies)}
{f'<div class="scroll cards">{table}</div>' if rows else ""}
</section>"""


def _paper(study: Study, digest: Digest) -> str:
    costs = "; ".join(claim_link(study, claim, claim.measured) for claim in study.claims if claim.name == digest.cost)
    cells = zip(COLUMNS, (escaped(digest.use), escaped(digest.correct), costs), strict=True)
    name = f'<th scope="row"><a href="#{anchor(study.name)}">{escaped(short(study))}</a></th>'
    return f"<tr>{name}" + "".join(f'<td data-label="{head}"><div>{text}</div></td>' for head, text in cells) + "</tr>"


def _wrong(studies: Sequence[Study], front: Front) -> str:
    groups = [(study, [claim for claim in study.claims if _is_wrong(claim)]) for study in studies]
    return f"""<section id="wrong">
<h2>Claims that fail or are mixed</h2>
<p>A verdict follows from the measured numbers by a rule, which stands with the claim on the page of everything.</p>
<ul class="counts">
{counts(_claims(studies), meanings=True)}
</ul>
<div class="sources">
<h3>What was at hand</h3>
{paragraphs(front.sources)}
</div>
{claims_table(groups, reasons=True)}
<p class="files">Data: <a href="{DATA}/{CLAIMS_FILE}">CSV of all claims, with reasons</a></p>
</section>"""


def _is_wrong(claim: Claim) -> bool:
    return claim.verdict in (FAILS, MIXED)


def _study(study: Study, digest: Digest | None) -> str:
    chosen = [claim for claim in study.claims if not digest or claim.name in digest.claims]
    shown = [claim for claim in chosen if not _is_wrong(claim)]
    rest = f"All {len(study.claims)} claims, {len(study.figures)} figures and {len(study.tables)} tables of this paper"
    return f"""<section class="study" id="{anchor(study.name)}">
<h2>{escaped(short(study))}</h2>
<p class="citation">{escaped(study.paper)}</p>
<div class="lead">{paragraphs(study.summary)}</div>
<ul class="tally" aria-label="Verdicts">
{counts(study.claims, meanings=False)}
</ul>
{claims_table([(study, shown)], reasons=False) if shown else ""}
<p class="files"><a href="{EVERYTHING}#{anchor(study.name)}">{rest}</a></p>
</section>"""


def _made_with(studies: Sequence[Study], front: Front) -> str:
    made_with = "\n".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in environment()
    )
    command = escaped(" ".join([front.made_by, *(study.name for study in studies)]))
    return f"""<section id="made-with">
<h2>How this was made</h2>
{paragraphs(front.origin)}
<p>This command makes the report again:</p>
<pre><code>{command}</code></pre>
<dl class="environment">
{made_with}
</dl>
</section>"""
