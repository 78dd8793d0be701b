"""A Pareto front: the designs of a search that no other one surpasses in every objective."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.designs.measures import MEASURES
from tauforge.errors import ModelError, ShapeError
from tauforge.files import written_whole
from tauforge.robots.capabilities import design_parameters
from tauforge.robots.robot import Robot
from tauforge.robots.summary import Rows, Summary, SummaryTable, some_of, summarised
from tauforge.validation import real_array

if TYPE_CHECKING:
    from tauforge.designs.evaluation import States

MOST_SHOWN = 5000  # of all designs that were tried: more make a picture slow and no clearer


@summarised
@dataclass(frozen=True, eq=False, repr=False)
class Front:
    """Designs of which none is better than another in all objectives, sorted by the first objective, best first.

    base:             the robot whose parameters were varied
    states:           at which every design was judged
    parameters:       p names
    parameter_units:  SI
    designs:          (k, p) values of the parameters
    objective_names:  m names
    objective_units:  SI
    larger:           m, whether larger is better
    objectives:       (k, m) what the designs have, in SI units
    tried:            (e, m) objectives of all designs of the search that were within limits
    evaluations:      how many designs were judged
    seed:             of the search
    """

    base: Robot
    states: States
    parameters: tuple[str, ...]
    parameter_units: tuple[str, ...]
    designs: Array
    objective_names: tuple[str, ...]
    objective_units: tuple[str, ...]
    larger: tuple[bool, ...]
    objectives: Array
    tried: Array
    evaluations: int
    seed: int

    def __len__(self) -> int:
        return len(self.designs)

    def summary(self) -> Summary:
        """The front as a table, some designs with both ends where there are many."""
        count, chosen = len(self), some_of(len(self))
        rows: Rows = tuple((str(i), *self.designs[i].tolist(), *self.objectives[i].tolist()) for i in chosen)
        some = "" if len(rows) == count else f", {len(rows)} of {count:,}"
        return Summary(
            f"{self.base.name}: {count:,} of {self.evaluations:,} designs are surpassed by no other; "
            f"{len(self.tried):,} are within limits",
            (SummaryTable(f"Pareto front{some}", ("design", *self.columns), rows),),
        )

    def design(self, i: int) -> dict[str, float]:
        """The parameters of design i, by name."""
        return dict(zip(self.parameters, self.designs[i].tolist(), strict=True))

    def judged(self, i: int) -> dict[str, float]:
        """The objectives of design i, by name."""
        return dict(zip(self.objective_names, self.objectives[i].tolist(), strict=True))

    def robot(self, i: int) -> Robot:
        """The robot of design i. Coordinates of home and payloads are not part of a robot: see `design`."""
        own = {name: x for name, x in self.design(i).items() if name in design_parameters(self.base)}
        return self.base.designs.redesign(**own) if self.base.designs else self.base

    @property
    def columns(self) -> list[str]:
        """Names with units, of parameters and then of objectives."""
        names = zip(self.parameters + self.objective_names, self.parameter_units + self.objective_units, strict=True)
        return [f"{name} [{unit}]" if unit else name for name, unit in names]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a .csv: a line for every design, parameters and then objectives."""
        target = Path(path)
        if target.suffix.lower() != ".csv":
            raise ModelError(f"unknown suffix {target.suffix!r}", file=target, remedy="Use .csv")
        with written_whole(target) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            lines = csv.writer(text, lineterminator="\n")
            lines.writerow(self.columns)
            lines.writerows(np.hstack([self.designs, self.objectives]).tolist())
            text.detach()

    def figure(self) -> Figure:
        """The front as data of a figure: a panel for each pair of objectives."""
        labels = [_label(name, unit) for name, unit in zip(self.objective_names, self.objective_units, strict=True)]
        low, high = self.objectives.min(axis=0), self.objectives.max(axis=0)
        room = np.where(high > low, high - low, np.abs(high) + 1.0)  # around the front, which far designs would squeeze
        near = self.tried[((self.tried > low - room) & (self.tried < high + room)).all(axis=1)]
        shown = near[:: -(-len(near) // MOST_SHOWN)]
        clouds = {"designs tried": shown, "Pareto front": self.objectives}
        panels = [
            ChartPanel(
                "", labels[i], labels[j], tuple(Line(name, x[:, i], x[:, j], "points") for name, x in clouds.items())
            )
            for i, j in combinations(range(len(labels)), 2)
        ]
        title = f"{self.base.name}: {len(self):,} best of {self.evaluations:,} designs"
        return Figure("pareto-front", title, "Designs that no other one surpasses.", tuple(panels), min(len(panels), 2))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """A matplotlib figure with a panel for each pair of objectives, the front among all designs that were tried.

        path: where to write it, .png, .svg or .pdf
        """
        from tauforge.charts.with_matplotlib import check_ending, drawn, save_figure

        if path is not None:
            check_ending(Path(path))
        made = drawn(self.figure())
        if path is not None:
            save_figure(made, Path(path))
        return made


def non_dominated(objectives: Array, larger: Sequence[bool] | None = None) -> Array:
    """Mask (k,) of the rows of objectives (k, m) that no other row surpasses.

    One row surpasses another if it is better in one objective and not worse in any. Equal rows do not.
    larger: (m,) whether larger is better; default never
    """
    costs = real_array("objectives", objectives).astype(float, copy=False)
    if np.isnan(costs).any():
        raise ShapeError("objectives", expected="numbers", got="NaN", row=int(np.isnan(costs).any(axis=1).argmax()))
    if larger is not None:
        costs *= np.where(larger, -1.0, 1.0)
    # Rows of small sums surpass many others, which are then looked at no more.
    left = np.argsort(costs.sum(axis=1), kind="stable")
    best = np.zeros(len(costs), bool)
    while len(left):
        cost, best[left[0]] = costs[left[0]], True
        others = costs[left[1:]]
        left = left[1:][(others < cost).any(axis=1) | (others == cost).all(axis=1)]
    return best


def _label(name: str, unit: str) -> str:
    words = MEASURES[name].meaning if name in MEASURES else name.replace("_", " ")
    return f"{words} ({unit})" if unit else words
