"""Motions through given points: smooth splines, and what was measured."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from tauforge.errors import ModelError, ShapeError
from tauforge.motion.motion import Motion, coordinates

Array = NDArray[Any]


class Waypoints(Motion):
    """Through points (k, n) at times (k,) that start at 0, twice differentiable, at rest at both ends."""

    def __init__(self, times: ArrayLike, points: ArrayLike) -> None:
        self.times, self.points = coordinates("times", times), coordinates("points", points, 2)
        _check_times(self.times, len(self.points))
        self.duration = float(self.times[-1])
        self._spline = CubicSpline(self.times, self.points, bc_type="clamped")

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        return self._spline(t), self._spline(t, 1), self._spline(t, 2)


class Sampled(Motion):
    """Measured positions (k, n) at times (k,), even or not; velocities (k, n) if they were measured too.

    Between the samples a cubic runs: with velocities Hermite's, without them a spline's. Times may start anywhere: the
    motion starts at the first.
    """

    def __init__(self, times: ArrayLike, positions: ArrayLike, velocities: ArrayLike | None = None) -> None:
        times_, positions_ = coordinates("times", times), coordinates("positions", positions, 2)
        times_ = times_ - times_[0]
        _check_times(times_, len(positions_))
        self.duration = float(times_[-1])
        if velocities is None:
            self._curve: Any = CubicSpline(times_, positions_)
        else:
            rates = coordinates("velocities", velocities, 2)
            if rates.shape != positions_.shape:
                raise ShapeError("velocities", expected=f"{positions_.shape}, as positions", got=str(rates.shape))
            self._curve = CubicHermiteSpline(times_, positions_, rates)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        return self._curve(t), self._curve(t, 1), self._curve(t, 2)

    @classmethod
    def from_csv(cls, path: str | Path, columns: Sequence[str], time: str = "t") -> Sampled:
        """From a file with a header: the named columns against the column of times (s).

        ModelError names the row (the header is row 1) and the column of what cannot be read.
        """
        rows = _read_csv(Path(path), [time, *columns])
        times = rows[:, 0]
        late = np.flatnonzero(np.diff(times) <= 0)
        if len(late):
            raise ModelError("times must increase", file=path, field=f"row {late[0] + 3}, column {time}")
        if len(rows) < 2:
            raise ModelError("expected at least two rows of numbers", file=path)
        return cls(times, rows[:, 1:])


def _check_times(times: Array, count: int) -> None:
    if len(times) != count or count < 2:
        raise ShapeError("times", expected=f"one for each of at least two points, {count} given", got=str(len(times)))
    if times[0] != 0 or (np.diff(times) <= 0).any():
        raise ShapeError("times", expected="0 first, then ever later", got=f"{times.tolist()!r}"[:80])


def _read_csv(path: Path, wanted: list[str]) -> Array:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"cannot be read: {error}", file=path) from None
    if not lines:
        raise ModelError("is empty", file=path)
    header = [name.strip() for name in lines[0]]
    missing = [name for name in wanted if name not in header]
    if missing:
        raise ModelError(
            f"no column {missing[0]!r}", file=path, field="row 1", remedy=f"There are: {', '.join(header)}"
        )
    places = [header.index(name) for name in wanted]
    numbers = np.empty((len(lines) - 1, len(wanted)))
    for row, line in enumerate(lines[1:], 2):
        for k, (name, place) in enumerate(zip(wanted, places, strict=True)):
            try:
                numbers[row - 2, k] = float(line[place])
            except (IndexError, ValueError):
                got = repr(line[place]) if place < len(line) else "nothing"
                problem = f"expected a number, got {got}"
                raise ModelError(problem, file=path, field=f"row {row}, column {name}") from None
            if not np.isfinite(numbers[row - 2, k]):
                raise ModelError("expected a finite number", file=path, field=f"row {row}, column {name}")
    return numbers
