"""The tables of `tauforge complexity --papers`: our operation counts beside the papers' own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tauforge.cli.complexity import pair
from tauforge.cli.output import table
from tauforge_papers import published_counts as published
from tauforge_papers.published_comparison import count_comparisons, step_comparison


def terms(row: published.Row) -> str:
    """Polynomials in n."""
    return f"{row.multiplications} / {row.additions}"


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
