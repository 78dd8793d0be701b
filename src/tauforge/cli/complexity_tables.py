"""The tables of `complexity`: what the formulations cost, beside the papers' own counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tauforge.analysis import published_counts as published
from tauforge.analysis.complexity import OperationCount, general_cost, general_operation_count, operation_count
from tauforge.analysis.published_comparison import count_comparisons, step_comparison
from tauforge.cli.output import table
from tauforge.formulations.serial import FORMULATIONS
from tauforge.robots.robot import Robot


def pair(numbers: tuple[int, int]) -> str:
    return f"{numbers[0]} / {numbers[1]}"


def terms(row: published.Row) -> str:
    """Polynomials in n."""
    return f"{row.multiplications} / {row.additions}"


def counts(robot: Robot) -> dict[str, OperationCount]:
    """By formulation; of a robot with only one, without a name, under the name of its function."""
    if not robot.formulations:
        return {"inverse-dynamics": operation_count(robot)}
    return {name: operation_count(robot, name) for name in robot.formulations}


def arm_table(robot: str, n: int, costs: dict[str, OperationCount]) -> Any:
    """Beside the general arm of n revolute joints."""
    rows = []
    for name, cost in costs.items():
        general = general_operation_count(n, name)
        rows.append((name, pair(cost[:2]), cost.sincos, pair(cost.as_written[:2]), pair(general[:2])))
    header = ("formulation", robot, "sin + cos", "as written", f"general {n}R")
    return table("Inverse dynamics: multiplications / additions, rigid bodies", header, rows)


def robot_table(robot: str, costs: dict[str, OperationCount]) -> Any:
    header = ("model", "mult.", "add.", "div.", "roots", "sin + cos", "flops", "as written")
    rows = []
    for name, cost in costs.items():
        written = cost.as_written
        total = written.multiplications + written.additions + written.divisions + written.roots
        rows.append(
            (name, cost.multiplications, cost.additions, cost.divisions, cost.roots, cost.sincos, cost.flops, total)
        )
    return table(f"{robot}: operations of one inverse dynamics, all included", header, rows)


def size_table() -> Any:
    rows = []
    for name in FORMULATIONS:
        costs = (general_cost(name), general_cost(name, as_written=True))
        rows.append((name, *(f"{multiplications} / {additions}" for multiplications, additions in costs)))
    return table("The general arm of n revolute joints, n >= 4", ("formulation", "traced", "as written"), rows, texts=3)


def papers_data(n: int = 6) -> dict[str, Any]:
    """What `papers_tables` shows, for machines."""
    tables = [
        {"title": b.title, "printed": terms(b.total), "sum": terms(b.sums()), "erratum": b.erratum}
        for b in published.BREAKDOWNS
    ]
    return {"n": n, "counts": count_comparisons(n), "steps": step_comparison(n), "tables": tables}


def papers_tables(n: int = 6) -> Iterable[Any]:
    """Our counts beside the printed ones with a line on why they differ, and whether the papers' tables add up."""
    rows: list[tuple[object, ...]] = []
    lines: list[str] = []
    for k, row in enumerate(count_comparisons(n), 1):
        rows.append((k, row.source, row.formulation, pair(row.printed), pair(row.as_written), pair(row.traced)))
        lines.append(f"{k}. {row.why}")
    steps, last = step_comparison(n), len(lines) + 1
    path = pair(steps.critical_path)
    rows.append((last, "Turney Table 5, steps", "modified-newton-euler", pair(steps.printed), "", path))
    lines.append(f"{last}. {steps.why}")
    header = ("", "printed in", "our source", "printed", "as written", "traced")
    yield table(f"Beside the papers, n = {n}: multiplications / additions", header, rows, texts=3)
    yield from lines
    yield ""
    rows, lines = [], []
    for breakdown in published.BREAKDOWNS:
        same = "the same" if breakdown.adds_up() else terms(breakdown.sums())
        rows.append((breakdown.title, terms(breakdown.total), same))
        if breakdown.erratum:
            lines.append(f"{breakdown.title}: {breakdown.erratum}")
    yield table("Do the papers' tables add up?", ("table", "printed total", "sum of its rows"), rows, texts=3)
    yield from lines
    yield f"Angeles Table 7.4: {published.ANGELES_7_4_ERRATUM}"
