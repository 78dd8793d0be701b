"""The summary of a robot as texts: for a terminal, and as HTML for a notebook."""

from __future__ import annotations

import math
from html import escape

from tauforge.number_text import number
from tauforge.robots.summary import Cell, Each, Span, Summary, SummaryTable, Words
from tauforge.terminal import printable

RIGHT = ' style="text-align: right"'
QUARTERS = {0.5: "pi/2", 1.0: "pi", -0.5: "-pi/2", -1.0: "-pi"}


def sentence(words: Words) -> str:
    return words if isinstance(words, str) else "".join(w if isinstance(w, str) else number(w) for w in words)


def texts_of(part: SummaryTable) -> list[list[str]]:
    """The rows of a table."""
    angles = [name.endswith("[rad]") for name in part.header]
    return [[cell_text(cell, angle) for cell, angle in zip(row, angles, strict=True)] for row in part.rows]


def cell_text(cell: Cell, angle: bool = False) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Span):
        return f"{number(cell.lower)} to {number(cell.upper)}"
    if isinstance(cell, Each):
        values = [cell_text(value) for value in cell.values]
        return values[0] if len(set(values)) == 1 else "; ".join(values)
    if isinstance(cell, tuple):
        return ", ".join(number(x) for x in cell)
    return QUARTERS.get(cell / math.pi, number(cell)) if angle else number(cell)  # quarter turns by their name


def plain_text(summary: Summary) -> str:
    """Headline, sentences and tables, for `print`: texts to the left, numbers to the right."""
    parts = [
        _text_table(part) if isinstance(part, SummaryTable) else printable(sentence(part)) for part in summary.parts
    ]
    return "\n\n".join([printable(sentence(summary.headline)), *parts])


def _text_table(part: SummaryTable) -> str:
    cells = [[printable(text) for text in row] for row in (part.header, *texts_of(part))]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if k < part.texts else text.rjust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([*([printable(part.title)] if part.title else []), *lines])


def html(summary: Summary) -> str:
    """Headline, sentences and tables."""
    parts = [
        _html_table(part) if isinstance(part, SummaryTable) else f"<p>{_safe(sentence(part))}</p>"
        for part in summary.parts
    ]
    return f"<div><p><b>{_safe(sentence(summary.headline))}</b></p>{''.join(parts)}</div>"


def _html_table(part: SummaryTable) -> str:
    head = "".join(f"<th>{_safe(name)}</th>" for name in part.header)
    rows = "".join(
        "<tr>"
        + "".join(f"<td{'' if k < part.texts else RIGHT}>{_safe(text)}</td>" for k, text in enumerate(row))
        + "</tr>"
        for row in texts_of(part)
    )
    caption = f"<caption>{_safe(part.title)}</caption>" if part.title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _safe(text: str) -> str:
    """Names come from files of other people."""
    return escape(printable(text))
