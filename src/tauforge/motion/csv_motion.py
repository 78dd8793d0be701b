"""A motion from a CSV file: positions against time, rates and accelerations where they are given."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ModelError, RoundedMotionWarning, ShapeError
from tauforge.motion.derivatives import FEWEST_SPLINE_SAMPLES, derivatives
from tauforge.motion.motion import Motion, MotionSample
from tauforge.robots.robot import Robot
from tauforge.tables.reading import read_csv
from tauforge.tables.robot_columns import TIME, Columns, columns_of, joint_names, state_columns
from tauforge.tables.table import CsvColumn, CsvTable
from tauforge.validation import counted

ROUGH_JUMPS = 0.7  # jumps of an acceleration over its magnitude: white noise has 1.4 and more, ten samples a period 0.6
EXACT_POSITIONS = 1e-9  # second differences, relative to the range, that are rounding of exact positions
EVEN_STEPS = 1e-6  # relative: steps that differ by less are the same
REST_TRAVEL = 1e-14  # relative: a coordinate that moves by less is at rest
QUARTER_TURN_COSINE = 1e-6  # cosine of theta_y below which twists do not determine the angles' rates
WHOLE_TURN = 2 * np.pi
DOUBTFUL_SHARE = 0.05  # share of the largest acceleration: a larger error from rounding gives a warning


class CsvMotion(Motion):
    """The samples of a file at its times, and between them quintics that join position, rate and acceleration.

    Rates that the file does not give come from a spline of fifth degree through the positions. Accelerations that it
    does not give come from such a spline through the rates if these are given, else through the positions. Given
    accelerations are used as they are. A rate so small that the samples do not determine its sign is set to zero,
    because friction would act on the sign. A RoundedMotionWarning is given where the digits of the file, or noise in
    it, leave more than 5 per cent of a coordinate's largest acceleration uncertain.

    smooth:    Hz; the samples are smoothed before they are differentiated, without delay: a sine of this frequency
               keeps 0.71 of its amplitude, one of a quarter of it all but 6e-6. Four to five times the highest
               frequency of the motion is a good choice; the largest errors remain at the two ends
    rows:      (k,) of the file, whose header is row 1
    times:     (k,) s, as in the file; the motion itself starts at 0
    samples:   position, velocity, acceleration at the times, (k, n); of a platform pose, twist and acceleration
    derived:   which of "velocity", "acceleration" come from a spline
    turned:    columns of angles that jumped by a turn between two rows: the same position, but not the same motion
    rough:     columns whose accelerations, from a spline, jump from sample to sample: rounded or noisy positions
    coarse:    columns with too few digits or too much noise for the accelerations, the worst first
    uncertain: (n,) error that rounding and noise may cause in the second derivatives of the coordinates; 0 where
               accelerations are given
    unused:    columns of the file that were not read

    A file may have the further columns of a mechanism's positions, as recordings do. They say how it is assembled.
    """

    def __init__(self, path: str | os.PathLike[str], robot: Robot, *, smooth: float | None = None) -> None:
        self.smooth = smooth
        self.of_poses, self.in_rates, self._robot = bool(robot.positions.pose), False, robot
        table, columns = read_csv(path, joint_names(robot)), columns_of(robot)
        self.rows, self.times = table.rows, table.take_times(TIME)
        position = table.take(columns.position)
        found = {name: _all_or_none(table, getattr(columns, name)) for name in ("velocity", "acceleration")}
        self.derived = tuple(name for name, values in found.items() if values is None)
        if smooth is not None and not self.derived:
            expected = "None, because the file gives velocity and acceleration"
            raise ShapeError("smooth", expected=expected, got=repr(smooth))
        fewest = FEWEST_SPLINE_SAMPLES if self.derived else 2
        if len(self.times) < fewest:
            others = f", or {' and '.join(self.derived)} too" if self.derived else ""
            problem = f"the file has only {counted(len(self.times), 'row')}"
            raise ModelError(problem, file=table.path, remedy=f"Give at least {fewest}{others}")
        angles = [k for k, column in enumerate(columns.position) if column.unit == "rad"]
        rates_of_angles = None if self.of_poses or found["velocity"] is None else found["velocity"][:, angles]
        turns = _turns(self.times, position[:, angles], rates_of_angles)
        position[:, angles] += turns
        self.turned = tuple(columns.position[k].name for k, turn in zip(angles, turns.T, strict=True) if turn.any())
        if self.of_poses and len(self.derived) < 2:
            steep = np.abs(np.cos(position[:, 4])) < QUARTER_TURN_COSINE
            if steep.any():
                row, remedy = int(table.rows[steep.argmax()]), "Leave out twists and accelerations"
                table.fail("at a quarter turn the angles have no rates", remedy, "theta_y", row)
        position, rates, seconds = self._completed(table, columns, position, found)
        self.duration = float(self.times[-1] - self.times[0])
        self._numbers = position, rates, seconds
        self._curve: Any = None
        self.samples = self._sample_of(position, rates, seconds)
        self.coarse = self._warn_of_doubt(table, columns, seconds)
        jumps = _jumps(position, seconds) if "acceleration" in self.derived else np.zeros(position.shape[1], bool)
        self.rough = tuple(column.name for column, jump in zip(columns.position, jumps, strict=True) if jump)
        self._whole = _whole(table, columns, robot, position)
        known = columns.names if self._whole is None else state_columns(robot).names
        targets = {column.name for column in (*columns.target_position, *columns.target_velocity)}
        self.unused = tuple(table.unread({TIME.name} | known | targets))

    def _completed(
        self, table: CsvTable, columns: Columns, position: Array, found: dict[str, Array | None]
    ) -> tuple[Array, Array, Array]:
        """Position and its first and second time derivatives, (k, n) each."""
        velocity, acceleration = found["velocity"], found["acceleration"]
        time_steps = np.zeros(len(self.times)) if self.even else table.steps([TIME])[:, 0]
        if velocity is None:
            order = 2 if acceleration is None else 1
            own = derivatives(self.times, position, table.steps(columns.position), time_steps, self.smooth, order)
            position, rates, seconds = own.values, own.first, own.second
            rates[np.abs(rates) <= own.unsure] = 0.0
            still = np.ptp(position, axis=0) <= REST_TRAVEL * np.abs(position).max(axis=0)
            rates[:, still] = seconds[:, still] = 0.0
            self.uncertain, self._noise = np.where(still, 0.0, own.uncertain[1]), own.noise
        else:
            rates = self._robot.positions.rates(position, velocity)[0]
            if acceleration is None:
                own = derivatives(self.times, rates, table.steps(columns.velocity), time_steps, self.smooth, order=1)
                rates, seconds, self.uncertain, self._noise = own.values, own.first, own.uncertain[0], own.noise
        if acceleration is not None:
            self.uncertain = np.zeros(position.shape[1])
            velocity = self._robot.positions.from_rates(position, rates, np.zeros_like(rates))[0]
            seconds = self._robot.positions.rates(position, velocity, acceleration)[1]
        return position, rates, seconds

    def _warn_of_doubt(self, table: CsvTable, columns: Columns, seconds: Array) -> tuple[str, ...]:
        """One warning for all columns with too few digits or too much noise; returns their names, the worst first."""
        share = self.uncertain / np.maximum(np.abs(seconds).max(axis=0), np.finfo(float).tiny)
        coarse = [int(k) for k in np.argsort(-share, kind="stable") if share[k] > DOUBTFUL_SHARE]
        if not coarse:
            return ()
        differentiated = columns.position if "velocity" in self.derived else columns.velocity
        names = [differentiated[k].name for k in coarse]
        k = coarse[0]
        if self._noise[k] > 0:
            cause, remedy = f"has noise of {self._noise[k]:.2g} {differentiated[k].unit}", "Give accelerations"
        else:
            cause = f"is written in steps of {table.step_as_written(differentiated[k])}"
            cause += "" if self.even else f" and the times in steps of {table.step_as_written(TIME)}"
            remedy = "Give accelerations or more digits"
        unit = f"{columns.position[k].unit}/s^2"
        doubtful = RoundedMotionWarning(
            f"{table.path}: {names[0]} {cause}, so accelerations derived from it may be off by "
            f"{self.uncertain[k]:.2g} {unit} where the largest is {np.abs(seconds[:, k]).max():.2g} {unit}"
            + (f"; likewise {', '.join(names[1:])}" if names[1:] else ""),
            remedy=f"{remedy}, or smooth the motion"
            + (f" below {self.smooth:g} Hz" if self.smooth else " (smooth=, --smooth HZ)"),
        )
        warnings.warn(doubtful, stacklevel=3)
        return tuple(names)

    def _sample_of(self, position: Array, rates: Array, seconds: Array) -> MotionSample:
        return MotionSample(position, *self._robot.positions.from_rates(position, rates, seconds))

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        if self._curve is None:
            from scipy.interpolate import BPoly

            through = np.stack(self._numbers, axis=1)
            curve = BPoly.from_derivatives(self.times - self.times[0], through)
            self._curve = (curve, curve.derivative(), curve.derivative(2))
        position, rates, seconds = (curve(t) for curve in self._curve)
        return self._sample_of(position, rates, seconds)

    def near(self, t: ArrayLike) -> Array | None:
        """The position (..., N) of the row that is nearest in time; None where the file has the coordinates alone."""
        if self._whole is None:
            return None
        middles = (self.times[1:] + self.times[:-1]) / 2 - self.times[0]
        found: Array = self._whole[np.searchsorted(middles, np.asarray(t, float))]
        return found

    @computed_once
    def positions(self) -> Array:
        """(k, N) at the times: of a mechanism those of all joints, with loops closed."""
        return self._robot.positions.at(self.samples.position, self._whole)

    @property
    def steps(self) -> tuple[float, float]:
        """The shortest and the longest step between two times, s."""
        steps = np.diff(self.times)
        return float(steps.min()), float(steps.max())

    @property
    def even(self) -> bool:
        """True if all steps are equal to a millionth."""
        least, most = self.steps
        return most - least <= EVEN_STEPS * most


def _whole(table: CsvTable, columns: Columns, robot: Robot, coordinates: Array) -> Array | None:
    """(k, N) positions of a file that has columns for all entries, with these coordinates (k, n) among them."""
    own = state_columns(robot).position
    if len(own) == len(columns.position) or not all(table.has([column]) for column in own):
        return None
    found = table.take(own)
    found[:, [own.index(column) for column in columns.position]] = coordinates
    return found


def _all_or_none(table: CsvTable, columns: Sequence[CsvColumn]) -> Array | None:
    missing = [column for column in columns if not table.has([column])]
    if len(missing) == len(columns):
        return None
    if missing:
        there = next(column for column in columns if column not in missing)
        remedy = f"Give all of {columns[0].name} to {columns[-1].name} or none of them"
        table.fail(f"there is no column '{missing[0]}' beside {there.name}", remedy)
    return table.take(columns)


def _turns(times: Array, angles: Array, rates: Array | None) -> Array:
    """The turns to add to angles (k, m) so that none jumps; where rates are given, they show which steps are real."""
    steps = np.diff(angles, axis=0)
    if rates is not None:
        steps = steps - np.diff(times)[:, None] * (rates[1:] + rates[:-1]) / 2
    return np.concatenate([np.zeros_like(angles[:1]), -WHOLE_TURN * np.cumsum(np.round(steps / WHOLE_TURN), axis=0)])


def _jumps(position: Array, acceleration: Array) -> Array:
    """Mask (n,) of accelerations that jump from sample to sample by as much as their own magnitude."""
    size, jump = (np.sqrt((x**2).mean(axis=0)) for x in (acceleration, np.diff(acceleration, axis=0)))
    difference = np.sqrt((np.diff(position, n=2, axis=0) ** 2).mean(axis=0))
    return np.asarray((jump > ROUGH_JUMPS * size) & (difference > EXACT_POSITIONS * np.ptp(position, axis=0)))
