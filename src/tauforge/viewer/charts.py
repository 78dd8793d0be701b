"""Curves of what is played, and a cursor that moves along them, as arrays for uPlot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.robot import Robot
from tauforge.viewer import colours
from tauforge.viewer.playback import Clip

MOST_POINTS = 400
CURSOR = "#d3222a"


class Chart(NamedTuple):
    """Curves over time.

    title:  with the unit
    names:  of the curves
    times:  (k,) s
    curves: (c, k)
    """

    title: str
    names: tuple[str, ...]
    times: Array
    curves: Array

    def data(self, time: float) -> tuple[Array, ...]:
        """Times, the curves, and the cursor: a needle that stands on the bottom line. uPlot cannot skip a NaN."""
        low, high = float(self.curves.min()), float(self.curves.max())
        cursor = np.full(len(self.times), low)
        cursor[min(int(np.searchsorted(self.times, time)), len(self.times) - 1)] = high if high > low else low + 1.0
        return (self.times, *self.curves, cursor)

    def series(self) -> tuple[dict[str, Any], ...]:
        """uPlot's descriptions of what `data` gives."""
        lines = [
            {"label": name, "stroke": colours.LINES[k % len(colours.LINES)], "width": 1.5, "points": {"show": False}}
            for k, name in enumerate(self.names)
        ]
        cursor = {"label": "now", "stroke": CURSOR, "width": 1.5, "points": {"show": False}}
        return ({"label": "time (s)"}, *lines, cursor)


def charts_of(robot: Robot, clip: Clip) -> list[Chart]:
    """Forces, one chart for each unit; and errors of a recording that had a target."""
    frames = clip.frames
    if len(frames.times) < 2:
        return []
    step = max(1, -(-len(frames.times) // MOST_POINTS))
    rows = np.arange(0, len(frames.times), step)
    times = frames.times[rows]
    found = _by_unit("force", [(a.words, a.unit) for a in robot.actuators], times, frames.force[rows])
    if frames.target is not None:
        error = robot.position_error(frames.target[rows], frames.position[rows])
        found += _by_unit("error", [(c.name, c.unit) for c in robot.coordinates], times, error)
    return found


def _by_unit(what: str, columns: Sequence[tuple[str, str]], times: Array, values: Array) -> list[Chart]:
    charts = []
    for unit in dict.fromkeys(unit for _, unit in columns):
        chosen = [k for k, (_, own) in enumerate(columns) if own == unit]
        names = tuple(columns[k][0] for k in chosen)
        curves = np.array([_bridged(times, values[:, k]) for k in chosen])
        charts.append(Chart(f"{what} ({unit})", names, times, curves))
    return charts


def _bridged(times: Array, curve: Array) -> Array:
    """A curve with straight lines over what it lacks, such as forces at a singular pose; 0 where it has nothing."""
    known = np.isfinite(curve)
    return np.interp(times, times[known], curve[known]) if known.any() else np.zeros(len(times))
