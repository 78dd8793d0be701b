"""A table of a study in HTML."""

from __future__ import annotations

import math

from tauforge.studies.report.files import DATA, stem
from tauforge.studies.report.texts import escaped
from tauforge.studies.study import Cell, Study, Table

MANY = 10  # columns that need smaller print
BRIEF = 18  # characters that stay on one line
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SHORT = 14  # rows that stay on one sheet
FIGURES_SHOWN = 5  # significant; the CSV has all


def table_html(study: Study, table: Table) -> str:
    """Numbers to the right in columns that have nothing else; the first column names its row."""
    kinds = [_kind([row[k] for row in table.rows]) for k in range(len(table.columns))]
    heads = "".join(
        f'<th scope="col" class="{kind}">{escaped(name)}</th>' for name, kind in zip(table.columns, kinds, strict=True)
    )
    body = "\n".join(
        "<tr>" + "".join(_cell(k, row[k], kinds[k]) for k in range(len(row))) + "</tr>" for row in table.rows
    )
    short = " short" if len(table.rows) <= SHORT else ""
    wide = ' class="wide"' if len(table.columns) > MANY else ""
    name = stem(study, table)
    return f"""<section class="table{short}" id="{name}" aria-labelledby="{name}-title">
<h4 id="{name}-title">{escaped(table.title)}</h4>
<div class="scroll" tabindex="0" role="region" aria-label="{escaped(table.title)}">
<table{wide}>
<thead><tr>{heads}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>
<p class="caption">{escaped(table.caption)}</p>
<p class="files">Data: <a href="{DATA}/{name}.csv">CSV</a></p>
</section>"""


def _kind(cells: list[Cell]) -> str:
    if not any(isinstance(cell, str) for cell in cells):
        return "number"
    return "brief" if all(len(cell_text(cell)) <= BRIEF for cell in cells) else "text"


def _cell(column: int, cell: Cell, kind: str) -> str:
    text = escaped(cell_text(cell))
    return f'<th scope="row" class="{kind}">{text}</th>' if column == 0 else f'<td class="{kind}">{text}</td>'


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
