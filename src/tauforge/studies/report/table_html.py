"""A table of a study in HTML."""

from __future__ import annotations

from tauforge.studies.report.files import DATA, stem
from tauforge.studies.report.texts import anchor, escaped
from tauforge.studies.study import Cell, Study, Table

MANY = 10  # columns that need smaller print


def table_html(study: Study, table: Table) -> str:
    """Numbers to the right in columns that have nothing else; the first column names its row."""
    numeric = [all(not isinstance(row[k], str) for row in table.rows) for k in range(len(table.columns))]
    heads = "".join(
        f'<th scope="col"{_class(right)}>{escaped(name)}</th>'
        for name, right in zip(table.columns, numeric, strict=True)
    )
    body = "\n".join(
        "<tr>" + "".join(_cell(k, row[k], numeric[k]) for k in range(len(row))) + "</tr>" for row in table.rows
    )
    wide = ' class="wide"' if len(table.columns) > MANY else ""
    name = stem(study, table)
    place = anchor(study.name, table.name)
    return f"""<section class="table" id="{place}" aria-labelledby="{place}-title">
<h4 id="{place}-title">{escaped(table.title)}</h4>
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


def _class(right: bool) -> str:
    return ' class="number"' if right else ""


def _cell(column: int, cell: Cell, right: bool) -> str:
    text = escaped(cell_text(cell))
    return f'<th scope="row"{_class(right)}>{text}</th>' if column == 0 else f"<td{_class(right)}>{text}</td>"


def cell_text(cell: Cell) -> str:
    """For reading: six digits; the CSV has all of them."""
    if cell is None:
        return "n/a"
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.6g}"
