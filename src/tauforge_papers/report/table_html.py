"""A table of a study in HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from tauforge_papers.report.files import DATA, stem
from tauforge_papers.report.study import Study
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.report.texts import anchor, badge, escaped
from tauforge_papers.report.verdicts import MEANING

MANY = 10  # columns that need smaller print
PROSE = 70  # characters of a cell that is to be read as text
LONG = 40  # rows that scroll on the screen, under a head that stays
GROWTH = 0.85  # of a column's width with the mean length of its texts, in a table of prose: a power
PADDING_SHARE, LETTER_SHARE = 1.2, 0.88  # of the width, per cent
LONGEST_WORD = 11  # letters that are not broken where there are many columns
MAY_BREAK = r"[/_]|\.(?=py\b)"  # paths and names may go on in a new line after these
BRIEF = 18  # characters that stay on one line
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
VERDICT_COLUMN = "verdict"
BADGES: dict[str, str] = {verdict: badge(verdict) for verdict in MEANING}
SHORT = 14  # rows that stay on one sheet
FIGURES_SHOWN = 5  # significant; the CSV has all


def table_html(study: Study, table: Table) -> str:
    """Numbers to the right in columns that have nothing else; the first column names its row."""
    kinds = [_kind([row[k] for row in table.rows]) for k in range(len(table.columns))]
    heads = "".join(
        f'<th scope="col" class="{kind}">{escaped(name)}</th>' for name, kind in zip(table.columns, kinds, strict=True)
    )
    body = "\n".join(
        _row(row, said, kinds, table.columns) for row, said in zip(table.rows, _said_before(table), strict=True)
    )
    length = " short" if len(table.rows) <= SHORT else " long" if len(table.rows) > LONG else ""
    prose = len(table.columns) <= MANY and any(len(cell_text(cell)) > PROSE for row in table.rows for cell in row)
    look = ' class="wide"' if len(table.columns) > MANY else ' class="prose"' if prose else ""
    columns = _columns(table) if prose else ""
    name = stem(study, table)
    return f"""<section class="table{length}" id="{name}" aria-labelledby="{name}-title">
<h4 id="{name}-title">{escaped(table.title)}</h4>
<div class="scroll" tabindex="0" role="region" aria-label="{escaped(table.title)}">
<table{look}>
{columns}<thead><tr>{heads}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>
<p class="caption">{escaped(table.caption)}</p>
<p class="files">Data: <a href="{DATA}/{name}.csv">CSV</a></p>
</section>"""


def verdicts_in(table: Table) -> list[str]:
    """What its column of verdicts says, which has one or several in a cell, parted by semicolons."""
    if VERDICT_COLUMN not in table.columns:
        return []
    place = table.columns.index(VERDICT_COLUMN)
    return list(dict.fromkeys(one for row in table.rows for one in cell_text(row[place]).split("; ")))


def _kind(cells: list[Cell]) -> str:
    if not any(isinstance(cell, str) for cell in cells):
        return "number"
    return "brief" if all(len(cell_text(cell)) <= BRIEF for cell in cells) else "text"


def _columns(table: Table) -> str:
    """Widths: enough for a column's longest word, and the rest by what it has to say, less than in proportion."""
    texts = [[name, *(cell_text(row[k]) for row in table.rows)] for k, name in enumerate(table.columns)]
    words = [max(len(word) for text in some for word in re.split(r"[\s/_]", text)) for some in texts]
    least = [PADDING_SHARE + LETTER_SHARE * min(word, LONGEST_WORD) for word in words]
    weights = [(sum(map(len, some)) / len(some)) ** GROWTH for some in texts]
    room = 100.0 - sum(least)
    shares = [low + room * weight / sum(weights) for low, weight in zip(least, weights, strict=True)]
    return "<colgroup>" + "".join(f'<col style="width: {share:.1f}%">' for share in shares) + "</colgroup>\n"


def _said_before(table: Table) -> list[list[str]]:
    """For every cell where a long text stands already: "as above", or "as for" the row that says it; else empty."""
    named = 1 if len({row[0] for row in table.rows}) == len(table.rows) else 2  # columns that name a row
    names = [" ".join(cell_text(cell) for cell in row[:named]) for row in table.rows]
    said: dict[tuple[int, Cell], str] = {}
    above: Sequence[Cell] = (None,) * len(table.columns)
    answers = []
    for row, name in zip(table.rows, names, strict=True):
        answer = [
            "" if len(cell_text(cell)) <= PROSE else "as above" if cell == above[k] else said.get((k, cell), "")
            for k, cell in enumerate(row)
        ]
        if names.count(name) == 1:
            said = dict.fromkeys(enumerate(row), f"as for {name}") | said
        answers.append(answer)
        above = row
    return answers


def _row(row: Sequence[Cell], said: list[str], kinds: list[str], columns: Sequence[str]) -> str:
    """said: what stands in the place of a cell that was said before."""
    cells = []
    for k, (cell, kind) in enumerate(zip(row, kinds, strict=True)):
        text = _text(cell, verdicts=columns[k] == VERDICT_COLUMN)
        if said[k]:
            text = f'<span class="again" title="{escaped(cell_text(cell))}">{escaped(said[k])}</span>'
        tag = 'th scope="row"' if k == 0 else "td"
        cells.append(f'<{tag} class="{kind}">{text}</{tag[:2]}>')
    return f"<tr>{''.join(cells)}</tr>"


def _text(cell: Cell, *, verdicts: bool) -> str:
    """verdicts: the cell has one or several, parted by semicolons."""
    if verdicts and isinstance(cell, str):
        return " ".join(
            BADGES.get(one) or f'<span class="badge {anchor(one)}">{escaped(one)}</span>' for one in cell.split("; ")
        )
    return re.sub(MAY_BREAK, r"\g<0><wbr>", escaped(cell_text(cell)))


def cell_text(cell: Cell) -> str:
    """For reading: a few digits, thousands apart, powers of ten raised."""
    if cell is None:
        return "\N{EN DASH}"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or not math.isfinite(cell):
        return f"{cell:,}" if abs(cell) >= 10_000 else f"{cell}"
    mantissa, power = f"{cell:.{FIGURES_SHOWN - 1}e}".split("e")
    places = FIGURES_SHOWN - 1 - int(power)
    if cell == 0 or -4 < int(power) < 7:
        text = f"{cell:,.{max(places, 0)}f}" if abs(cell) >= 10_000 else f"{cell:.{max(places, 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    shown = mantissa.rstrip("0").rstrip(".")
    return f"{shown} \N{MULTIPLICATION SIGN} 10{str(int(power)).translate(RAISED)}"
