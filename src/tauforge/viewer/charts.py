"""Curves of what is played, and a cursor that moves along them, as arrays for uPlot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.robot import Robot
from tauforge.simulation.recording import Recording
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
    """Forces, one chart for each unit; and errors of a recording that had a target.

    The curves of a recording are made from all its rows, not from the pictures of it.
    """
    shown, frames = clip.shown, clip.frames
    if len(frames.times) < 2:
        return []
    forces = [(actuator.words, actuator.unit) for actuator in robot.actuators]
    if not isinstance(shown, Recording):
        return _by_unit("force", forces, frames.times, frames.force)
    found = _by_unit("force", forces, shown.time, shown.force)
    if frames.target is not None:
        error = robot.positions.error(shown.target_position, shown.position)
        found += _by_unit("error", [(c.name, c.unit) for c in robot.coordinates], shown.time, error)
    return found


def _by_unit(what: str, columns: Sequence[tuple[str, str]], times: Array, values: Array) -> list[Chart]:
    charts = []
    for unit in dict.fromkeys(unit for _, unit in columns):
        chosen = [k for k, (_, own) in enumerate(columns) if own == unit]
        names = tuple(columns[k][0] for k in chosen)
        curves = np.array([_bridged(times, values[:, k]) for k in chosen])
        charts.append(Chart(f"{what} ({unit})", names, *with_peaks(times, curves, MOST_POINTS)))
    return charts


def with_peaks(times: Array, curves: Array, most: int) -> tuple[Array, Array]:
    """Fewer points that keep all peaks: the smallest and the largest value of every bin, in the order they came.

    times: (k,) s; curves: (c, k); returns at most `most` points of both. A peak moves by no more than its bin.
    """
    if len(times) <= most:
        return times, curves
    edges = np.linspace(0, len(times), most // 2 + 1).astype(int)
    starts, ends = edges[:-1], edges[1:]
    kept = np.empty((len(curves), 2 * len(starts)))
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        piece = curves[:, start:end]
        places = np.sort(np.column_stack([piece.argmin(axis=1), piece.argmax(axis=1)]), axis=1)
        kept[:, 2 * k : 2 * k + 2] = np.take_along_axis(piece, places, axis=1)
    # At the ends of the bins: a curve that only rises or falls in a bin then stays where it is.
    return np.column_stack([times[starts], times[ends - 1]]).ravel(), kept


def _bridged(times: Array, curve: Array) -> Array:
    """A curve with straight lines over what it lacks, such as forces at a singular pose; 0 where it has nothing."""
    known = np.isfinite(curve)
    return np.interp(times, times[known], curve[known]) if known.any() else np.zeros(len(times))
