"""Tables 7.1 to 7.4 of the chapter, with their sums, and counts of our code beside them."""

from __future__ import annotations

from tauforge.analysis.complexity import general_operation_count
from tauforge.formulations.serial import INVERSE_DYNAMICS
from tauforge_papers import published_counts as published
from tauforge_papers.angeles.algorithm_counts import NAME, as_row, inward_cost, outward_cost, outward_rows
from tauforge_papers.count_tables import COLUMNS, SIX, breakdown, cells, lines_of, our_row
from tauforge_papers.report.table import Cell, Table


def count_tables() -> list[Table]:
    outward = as_row("our code of algorithm 7.4.1, as written, base in motion", outward_cost)
    inward = as_row("our code of algorithm 7.4.2, as written, mended", inward_cost)
    printed = as_row("the same, turned before adding as printed", lambda n: inward_cost(n, True))
    return [
        breakdown("table-7-1", published.ANGELES_7_1, [outward]),
        one_joint(),
        breakdown("table-7-2", published.ANGELES_7_2, [inward, printed]),
        table_7_3(),
        table_7_4(),
        lines_of(NAME),
        lines_of("orthogonal-complement"),
    ]


def one_joint() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kind, listed in (("R", published.ANGELES_REVOLUTE), ("P", published.ANGELES_PRISMATIC)):
        own = outward_rows(kind)
        rows += [
            (kind, row.item, int(row.multiplications(1)), int(row.additions(1)), *own[row.item][:2]) for row in listed
        ]
    return Table(
        "one-joint",
        "Algorithm 7.4.1: what one joint takes",
        "As listed after the algorithm, and our code of it, as written, with the prismatic branch mended.",
        ("joint", "item", "multiplications, printed", "additions, printed", "multiplications", "additions"),
        tuple(rows),
    )


def table_7_3() -> Table:
    rows = [cells(row) for row in published.ANGELES_7_3]
    rows.append(cells(published.ANGELES_7_43, "this chapter, eq. 7.43"))
    rows += [cells(our_row(name)) for name in INVERSE_DYNAMICS]
    title = "Table 7.3: complexity of different algorithms for inverse dynamics"
    caption = f"As printed, and our {len(INVERSE_DYNAMICS)} formulations for the general arm."
    return Table("table-7-3", title, caption, COLUMNS, tuple(rows))


def table_7_4() -> Table:
    formulas = {row.item: row for row in published.ANGELES_7_3}
    rows: list[tuple[Cell, ...]] = []
    for item, numbers in published.ANGELES_7_4.items():
        row = formulas.get(item)
        by_formula = (None, None) if row is None else (int(row.multiplications(SIX)), int(row.additions(SIX)))
        rows.append((item, *numbers, *by_formula))
    for name in INVERSE_DYNAMICS:
        cost = general_operation_count(SIX, name)
        rows.append((f"tauforge, {name}, traced", None, None, cost.multiplications, cost.additions))
    return Table(
        "table-7-4",
        f"Table 7.4: complexity of different algorithms for inverse dynamics, n = {SIX}",
        f"{published.ANGELES_7_4_ERRATUM} Two entries have no formula in Table 7.3. Ours are counted.",
        (
            "author(s), method",
            "multiplications, printed",
            "additions, printed",
            "multiplications, by formula or counted",
            "additions, by formula or counted",
        ),
        tuple(rows),
    )
