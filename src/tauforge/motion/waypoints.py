"""Motions through given points: smooth splines, and measured samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError
from tauforge.motion.motion import Motion, coordinates
from tauforge.motion.smoothing import smoothing_spline
from tauforge.tables.reading import read_csv
from tauforge.tables.table import CsvColumn


class Waypoints(Motion):
    """Through points (k, n) at times (k,) that start at 0, twice differentiable, at rest at both ends."""

    def __init__(self, times: ArrayLike, points: ArrayLike) -> None:
        self.times, self.points = coordinates("times", times), coordinates("points", points, 2)
        _check_times(self.times, len(self.points))
        self.duration = float(self.times[-1])
        from scipy.interpolate import CubicSpline  # slow to import

        self._spline = CubicSpline(self.times, self.points, bc_type="clamped")

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        return self._spline(t), self._spline(t, 1), self._spline(t, 2)


class Sampled(Motion):
    """Measured positions (k, n) at times (k,), even or not; velocities (k, n) if they were measured too.

    Between the samples the motion is cubic: Hermite's with velocities, a spline without them. Times may start anywhere;
    the motion starts at the first.

    smooth: Hz; the positions are smoothed without delay, as `CsvMotion` does, instead of interpolated
    """

    def __init__(
        self,
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        *,
        smooth: float | None = None,
    ) -> None:
        times_, positions_ = coordinates("times", times), coordinates("positions", positions, 2)
        times_ = times_ - times_[0]
        _check_times(times_, len(positions_))
        self.duration = float(times_[-1])
        from scipy.interpolate import CubicHermiteSpline, CubicSpline

        if smooth is not None and velocities is not None:
            raise ShapeError("smooth", expected="None, because velocities are given", got=repr(smooth))
        if smooth is not None:
            self._curve: Any = smoothing_spline(times_, positions_, smooth)
        elif velocities is None:
            self._curve = CubicSpline(times_, positions_)
        else:
            rates = coordinates("velocities", velocities, 2)
            if rates.shape != positions_.shape:
                raise ShapeError(
                    "velocities", expected=f"{positions_.shape}, the shape of positions", got=str(rates.shape)
                )
            self._curve = CubicHermiteSpline(times_, positions_, rates)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        return self._curve(t), self._curve(t, 1), self._curve(t, 2)

    @classmethod
    def from_csv(
        cls, path: str | Path, columns: Sequence[str], time: str = "time", *, smooth: float | None = None
    ) -> Sampled:
        """From a file with a header of names and units: the named columns, in SI units, against the column of times.

        A ModelError names the row (the header is row 1) and the column of what cannot be read. `CsvMotion` knows the
        columns of a robot, and reads rates and accelerations too.
        """
        table = read_csv(path)
        times, positions = table.take_times(CsvColumn(time, "s")), table.take([CsvColumn(name) for name in columns])
        if len(times) < 2:
            raise ModelError("expected at least two rows of numbers", file=path)
        return cls(times, positions, smooth=smooth)


def _check_times(times: Array, count: int) -> None:
    if len(times) != count or count < 2:
        raise ShapeError(
            "times", expected=f"one time for each of at least two points; there are {count} points", got=str(len(times))
        )
    if times[0] != 0 or (np.diff(times) <= 0).any():
        raise ShapeError("times", expected="times that start at 0 and increase", got=f"{times.tolist()!r}"[:80])
