"""A finding of a report: a sentence, its number, a small picture, and what to use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tauforge_papers.report.texts import escaped

WIDTH, ROW, THICK = 384, 19, 11  # of the picture, of a row in it, of a bar
NAMES, VALUES = 174, 82  # room for the names at the left, and for a value beside its bar
LEAST = 1.5  # of a bar that is to be seen
GAP = 5  # between a bar and its words


@dataclass(frozen=True)
class Bar:
    """value: its length, in the unit of the other bars; text: the value as it is read, with the unit."""

    name: str
    value: float
    text: str


@dataclass(frozen=True)
class Finding:
    """One sentence that a reader takes home.

    title:  the sentence
    number: what was measured, in words of a line
    use:    what to use instead, or what follows
    bars:   the picture
    claims: (study, claim), by names: where the numbers come from
    """

    title: str
    number: str
    use: str
    bars: tuple[Bar, ...]
    claims: tuple[tuple[str, str], ...]


def finding_html(finding: Finding, links: str) -> str:
    """links: to the claims."""
    return f"""<article class="finding">
<h3>{escaped(finding.title)}</h3>
<p class="outcome">{escaped(finding.number)}</p>
{bars_svg(finding.bars)}
<p class="use">{escaped(finding.use)} <span class="proof">{links}</span></p>
</article>"""


def bars_svg(bars: Sequence[Bar]) -> str:
    """Bars beside each other's names; those of negative values go to the left. The page gives the colours."""
    low, high = min(0.0, *(bar.value for bar in bars)), max(0.0, *(bar.value for bar in bars))
    left = NAMES + (VALUES if low < 0 else 0)
    scale = (WIDTH - VALUES - left) / ((high - low) or 1.0)
    zero = left - low * scale
    rows = "".join(_bar(bar, k * ROW, zero, bar.value * scale) for k, bar in enumerate(bars))
    words = escaped("; ".join(f"{bar.name}: {bar.text}" for bar in bars))
    height = len(bars) * ROW
    axis = f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{height}"/>'
    return f'<svg class="bars" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{words}">{axis}{rows}</svg>'


def _bar(bar: Bar, top: float, zero: float, length: float) -> str:
    size = max(abs(length), LEAST)
    start, end = (zero - size, zero - size - GAP) if length < 0 else (zero, zero + size + GAP)
    side = ' text-anchor="end"' if length < 0 else ""
    base = top + ROW - 6
    return (
        f'<text y="{base}">{escaped(bar.name)}</text>'
        f'<rect x="{start:.1f}" y="{top + (ROW - THICK) / 2}" width="{size:.1f}" height="{THICK}"/>'
        f'<text class="value" x="{end:.1f}" y="{base}"{side}>{escaped(bar.text)}</text>'
    )
