"""Texts for HTML: everything from a study is escaped here and nowhere else."""

from __future__ import annotations

import html
import re

from tauforge_papers.report.study import Study
from tauforge_papers.report.verdicts import NOT_JUDGED, Verdict

SIGNS: dict[Verdict, str] = {
    "holds": "✓",
    "holds with a correction": "≈",
    "mixed": "±",
    "does not hold": "✗",
    "not judged": "\N{EN DASH}",
}
RULE_HEADS: dict[str, str] = {**{str(verdict): "Rule" for verdict in SIGNS}, NOT_JUDGED: "Why there is no verdict"}


def escaped(text: str) -> str:
    return html.escape(text, quote=True)


def paragraphs(text: str) -> str:
    """Blank lines part them."""
    return "".join(f"<p>{escaped(part.strip())}</p>" for part in re.split(r"\n\s*\n", text) if part.strip())


def anchor(*parts: str) -> str:
    """A name for links and classes."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)


def badge(verdict: Verdict) -> str:
    """Told by sign and words as well as by colour."""
    sign = f'<span aria-hidden="true">{SIGNS[verdict]}</span>'
    return f'<span class="badge {anchor(verdict)}">{sign} {escaped(verdict)}</span>'


def short(study: Study) -> str:
    """The study called dasgupta1998 as "Dasgupta 1998"."""
    return re.sub(r"(?<=[a-z])(?=\d)", " ", study.name).capitalize()
