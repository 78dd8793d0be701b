"""The comparison and complexity tables of an arm, for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from tauforge.analysis import published_counts as published
from tauforge.analysis.comparison import compare, random_states
from tauforge.analysis.complexity import general_cost, general_operation_count, operation_count
from tauforge.analysis.papers_beside import papers_beside, steps_beside
from tauforge.formulations.serial import FORMULATIONS
from tauforge.robots.serial_arm import SerialArm

STATES = 1000


def pair(numbers: tuple[int, int]) -> str:
    return f"{numbers[0]} / {numbers[1]}"


def comparison_table(arm: SerialArm) -> Table:
    result = compare(arm, *random_states(arm, STATES))
    table = Table(title=f"{arm.name}: six formulations, {STATES} random states", title_justify="left")
    table.add_column("formulation")
    table.add_column("largest disagreement", justify="right")
    for name, error in result.disagreement.items():
        table.add_row(name, f"{error:.1e}")
    return table


def count_table(arm: SerialArm) -> Table:
    table = Table(title="Inverse dynamics, multiplications / additions, rigid bodies", title_justify="left")
    table.add_column("formulation", no_wrap=True)
    for column in (f"{arm.name} traced", "sin + cos", "as written", "general 6R traced", "sin + cos", "as written"):
        table.add_column(column, justify="right")
    for name in FORMULATIONS:
        cells = [name]
        for cost in (operation_count(arm, name), general_operation_count(6, name)):
            cells += [pair(cost[:2]), str(cost.sincos), pair(cost.as_written[:2])]
        table.add_row(*cells)
    return table


def size_table() -> Table:
    table = Table(title="The general arm of n revolute joints, n >= 4", title_justify="left")
    for column in ("formulation", "traced", "as written"):
        table.add_column(column, no_wrap=column == "formulation")
    for name in FORMULATIONS:
        costs = (general_cost(name), general_cost(name, as_written=True))
        table.add_row(name, *(f"{multiplications} / {additions}" for multiplications, additions in costs))
    return table


def papers_table(n: int = 6) -> tuple[Table, list[str]]:
    """The table, and a line for each row on why the numbers differ."""
    table = Table(title=f"Beside the papers, n = {n}, multiplications / additions", title_justify="left")
    for column in ("", "printed in", "our text"):
        table.add_column(column)
    for column in ("printed", "as written", "traced"):
        table.add_column(column, justify="right")
    lines = []
    for k, row in enumerate(papers_beside(n), 1):
        numbers = (pair(row.printed), pair(row.as_written), pair(row.traced))
        table.add_row(str(k), row.source, row.formulation, *numbers)
        lines.append(f"{k}. {row.why}")
    steps = steps_beside(n)
    last = len(lines) + 1
    table.add_row(
        str(last), "Turney Table 5, steps", "modified-newton-euler", pair(steps.printed), "", pair(steps.critical_path)
    )
    return table, [*lines, f"{last}. {steps.why}"]


def sums_table() -> tuple[Table, list[str]]:
    """The table, and the errata of those that do not."""
    table = Table(title="Do the papers' tables add up?", title_justify="left")
    for column in ("table", "printed total", "sum of its rows"):
        table.add_column(column)
    lines = []
    for breakdown in published.BREAKDOWNS:
        sums, total = breakdown.sums(), breakdown.total
        table.add_row(
            breakdown.title,
            f"{total.multiplications} / {total.additions}",
            "the same" if breakdown.adds_up() else f"{sums.multiplications} / {sums.additions}",
        )
        if breakdown.erratum:
            lines.append(f"{breakdown.title}: {breakdown.erratum}")
    return table, [*lines, f"Angeles Table 7.4: {published.ANGELES_7_4_ERRATUM}"]


def print_report(arm: SerialArm, console: Console | None = None) -> None:
    screen = console or Console(width=max(Console().width, 100))
    for table in (comparison_table(arm), count_table(arm), size_table()):
        screen.print(table)
        screen.print()
    for table, lines in (papers_table(), sums_table()):
        screen.print(table)
        for line in lines:
            screen.print(line, highlight=False, markup=False)
        screen.print()
