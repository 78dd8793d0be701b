"""Tables of the Stewart platform that both papers' studies and the documentation share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.analysis.comparison import assess
from tauforge.analysis.complexity import operation_count
from tauforge.formulations.stewart import STEWART_MODELS
from tauforge.robots.formulations import Simplification
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.stewart_paths import Path

DASGUPTA_FLOPS = 4889  # 6 x 694 + 273 + 452, the paper's own count of its simplified model (sec. 4.5)


class AssumptionCosts(NamedTuple):
    """Newtons, one for each path: the largest exact force, and the largest error of each published assumption."""

    platform: str
    paths: tuple[str, ...]
    peaks: tuple[float, ...]
    errors: dict[Simplification, tuple[float, ...]]

    def of(self, name: str) -> tuple[float, ...]:
        return next(errors for chosen, errors in self.errors.items() if chosen.name == name)

    def table(self) -> Table:
        rows: list[tuple[Cell, ...]] = [("largest exact force", "", *self.peaks)]
        rows += [(chosen.name, chosen.source, *errors) for chosen, errors in self.errors.items()]
        return Table(
            "assumptions",
            "What each published assumption costs",
            f"Largest error of any leg force against the exact model, everything else exact; robot {self.platform}.",
            ("assumption", "source", *(f"{path} (N)" for path in self.paths)),
            tuple(rows),
        )


def assumption_costs(platform: StewartPlatform, paths: Sequence[Path]) -> AssumptionCosts:
    columns = [assess(platform, *path.states) for path in paths]
    return AssumptionCosts(
        platform.name,
        tuple(path.name for path in paths),
        tuple(float(np.abs(path.forces(platform)).max()) for path in paths),
        {row[0].simplification: tuple(cost.worst for cost in row) for row in zip(*columns, strict=True)},
    )


def flops_table(platform: StewartPlatform) -> Table:
    """Operations of every model, and of Dasgupta's program as printed."""
    rows: list[tuple[Cell, ...]] = []
    for name in STEWART_MODELS:
        c = operation_count(platform, name)
        rows.append((name, c.multiplications, c.additions, c.divisions, c.roots, c.flops))
    rows.append(("the paper's own count of its model, friction left out", None, None, None, None, DASGUPTA_FLOPS))
    return Table(
        "operations",
        "Operations of one inverse dynamics",
        f"Traced from our code for the numbers of {platform.name}, the six equations solved; common subexpressions "
        "once, sines and cosines apart.",
        ("model", "multiplications", "additions", "divisions", "roots", "flops"),
        tuple(rows),
    )
