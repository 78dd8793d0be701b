"""Motions through given points: smooth splines, and measured samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError
from tauforge.motion.derivatives import smoothing_spline
from tauforge.motion.motion import Motion, coordinates, positive
from tauforge.tables.reading import read_csv
from tauforge.tables.table import CsvColumn
from tauforge.validation import did_you_mean

BLEND = 1 / 3  # of the time, for each of the two blends of the trapezoidal profile
JERK, LEVEL = 1 / 12, 1 / 6  # of the time, for each change of acceleration of an s-curve, and what lies between two
REST = 1 - 4 * JERK - 2 * LEVEL
POLYNOMIALS = {"cubic": (-2.0, 3.0, 0.0, 0.0), "quintic": (6.0, -15.0, 10.0, 0.0, 0.0, 0.0)}
# a derivative that is constant in pieces, of which order, and how long the pieces are
PIECEWISE = {
    "trapezoidal": (2, (1.0, 0.0, -1.0), (BLEND, 1 - 2 * BLEND, BLEND)),
    "s-curve": (3, (1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0), (JERK, LEVEL, JERK, REST, JERK, LEVEL, JERK)),
}
PROFILES = (*POLYNOMIALS, *PIECEWISE)


class JointMove(Motion):
    """All coordinates move from start to end (n,) by the same profile, at rest at both ends.

    profile: "cubic", "quintic" (no jump of the acceleration), "trapezoidal" or "s-curve" (bounded jerk)
    """

    def __init__(self, start: ArrayLike, end: ArrayLike, duration: float, profile: str = "quintic") -> None:
        self.start, self.end = coordinates("start", start), coordinates("end", end)
        if self.start.shape != self.end.shape:
            raise ShapeError("end", expected=f"{len(self.start)} numbers, as many as in start", got=str(len(self.end)))
        self.duration, self.profile = positive("duration", duration), profile
        self._fraction = unit_profile(profile)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        share, way = t / self.duration, self.end - self.start
        s, v, a = (np.multiply.outer(self._fraction(share, k) / self.duration**k, way) for k in range(3))
        return self.start + s, v, a

    def __repr__(self) -> str:
        return f"JointMove({self.start.tolist()}, {self.end.tolist()}, {self.duration}, {self.profile!r})"


def unit_profile(name: str) -> Any:
    """The fraction of the way against the fraction of time, from 0 to 1, as a PPoly."""
    from scipy.interpolate import PPoly  # slow to import

    if name in POLYNOMIALS:
        return PPoly(np.array(POLYNOMIALS[name])[:, None], [0, 1])
    if name not in PIECEWISE:
        hint = did_you_mean(name, PROFILES).strip() or None
        raise ShapeError("profile", expected=f"one of {', '.join(PROFILES)}", got=repr(name), hint=hint)
    order, values, lengths = PIECEWISE[name]
    breaks = np.concatenate([[0.0], np.cumsum(lengths)])
    breaks[-1] = 1.0
    whole = PPoly(np.array([values]), breaks).antiderivative(order)
    return PPoly(whole.c / whole(1.0), breaks)


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
                expected = f"{positions_.shape}, the shape of positions"
                raise ShapeError("velocities", expected=expected, got=str(rates.shape))
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
        expected = f"one time for each of at least two points; there are {count} points"
        raise ShapeError("times", expected=expected, got=str(len(times)))
    if times[0] != 0 or (np.diff(times) <= 0).any():
        raise ShapeError("times", expected="times that start at 0 and increase", got=f"{times.tolist()!r}"[:80])
