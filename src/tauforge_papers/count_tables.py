"""The papers' tables of operation counts as tables of a study, with their sums and our own counts added."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauforge.analysis.complexity import general_cost
from tauforge.analysis.costs_by_line import line_costs
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge_papers import published_counts as published
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.rules import true_or_not

SIX = 6
COLUMNS = (
    "item",
    "multiplications",
    "additions",
    f"multiplications, n = {SIX}",
    f"additions, n = {SIX}",
)


def our_row(formulation: str, as_written: bool = False) -> published.Row:
    kind = "as written" if as_written else "traced"
    return published.Row(f"tauforge, {formulation}, {kind}", *general_cost(formulation, as_written=as_written))


def cells(row: published.Row, item: str | None = None) -> tuple[Cell, ...]:
    """The row's polynomials, and their values for six joints."""
    numbers = (row.multiplications, row.additions)
    return (row.item if item is None else item, *map(str, numbers), *(int(p(SIX)) for p in numbers))


def our_rows(formulation: str) -> list[published.Row]:
    """As written and traced."""
    return [our_row(formulation, as_written) for as_written in (True, False)]


def breakdown(name: str, table: published.Table, own: Sequence[published.Row] = ()) -> Table:
    """Rows as printed, the printed total, the sum of the rows, and our own counts."""
    rows = [cells(row) for row in table.rows]
    rows += [cells(table.total, "printed total"), cells(table.sums(), "sum of the rows")]
    rows += [cells(row) for row in own]
    caption = f"{table.erratum} Ours: the general arm of n >= 4 revolute joints."
    return Table(name, table.title, caption.strip(), COLUMNS, tuple(rows))


def lines_of(formulation: str) -> Table:
    """What every line of our code costs, as written."""
    rows = [cells(published.Row(cost.text, cost.multiplications, cost.additions)) for cost in line_costs(formulation)]
    return Table(
        f"lines-of-{formulation}",
        f"Our code of {formulation}, line by line",
        "Counted from the code that runs, every operation as it is written, for the general arm of n >= 4 joints.",
        COLUMNS,
        tuple(rows),
    )


ADDS_UP = true_or_not(
    "It holds if the printed total is the sum of the printed rows, for every n.",
    lambda differences: not any(differences),
)


def adds_up(name: str, where: str, table: published.Table) -> Claim:
    """That the printed total is the sum of the rows."""
    total, sums = table.total, table.sums()
    return Claim(
        name=name,
        where=where,
        claim="The rows add up to the total",
        printed=f"{total.multiplications} multiplications, {total.additions} additions",
        measured=f"{sums.multiplications} multiplications, {sums.additions} additions",
        reason="Summed exactly, as polynomials in n." if table.adds_up() else table.erratum,
        rule=ADDS_UP,
        evidence={
            "differences": [float(a(n) - b(n)) for a, b in zip(total[1:], sums[1:], strict=True) for n in range(1, 13)]
        },
    )


def against_joints(
    name: str, title: str, caption: str, printed: Sequence[published.Row], ours: Sequence[str]
) -> Figure:
    """Multiplications and additions against the number of joints, as printed and as our code is traced."""
    n = np.arange(4, 13)
    rows = [(row, False) for row in printed] + [(our_row(formulation), True) for formulation in ours]
    panels = []
    for kind in ("multiplications", "additions"):
        lines = tuple(
            Line(row.item, n, np.array([float(getattr(row, kind)(int(k))) for k in n]), "dashed" if own else "line")
            for row, own in rows
        )
        panels.append(ChartPanel(kind, "joints n", f"{kind} (-)", lines, log_y=True))
    return Figure(name, title, caption, tuple(panels), columns=2)
