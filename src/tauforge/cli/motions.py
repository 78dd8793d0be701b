"""Motions from files, with notes on what they do not say and warnings where they ask too much of a robot."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tauforge.cli.output import note, number, seconds, warn
from tauforge.errors import ModelError, Reported

if TYPE_CHECKING:
    from tauforge.arrays import Array
    from tauforge.motion.csv_motion import CsvMotion
    from tauforge.robots.records import LimitedQuantity
    from tauforge.robots.robot import Robot

ROUNDING = 1e-9  # relative to the limit: a motion that ends on it, converted from another unit, is not beyond it


def read_motion(path: Path, robot: Any, smooth: float | None = None) -> CsvMotion:
    """The motion of a file, with notes on what it does not say."""
    from tauforge.motion.csv_motion import CsvMotion

    motion = CsvMotion(path, robot, smooth=smooth)
    if motion.derived:
        spline = "a spline" if smooth is None else f"a spline that smooths above {smooth:g} Hz"
        note(f"{path}: no columns give {' and '.join(motion.derived)}; they are derived from {spline}")
    if motion.turned:
        note(f"{path}: jumps by a full turn between rows were removed from {', '.join(motion.turned)}")
    noisy = [name for name in motion.rough if name not in motion.coarse]  # of the others a warning says more
    if noisy:
        warn(
            f"{path}: the accelerations of {', '.join(noisy)} jump from sample to sample, because the positions are "
            "rounded or noisy, and so do the forces. Give accelerations or more digits, or use --smooth HZ"
        )
    if not motion.even:
        least, most = motion.steps
        note(f"{path}: the time steps are uneven, {seconds(least)} to {seconds(most)} s")
    if motion.unused:
        note(f"{path}: these columns are not used: {', '.join(motion.unused)}")
    return motion


@contextmanager
def rows_of(path: Path, rows: Any, times: Any = None) -> Iterator[None]:
    """Errors and warnings about a row of an array name that of the file. A ModelError names its row itself.

    rows: (k,) of the file, for each row of the arrays; times: (k,) s, named too where there are any
    """

    def name_row(said: object) -> None:
        if isinstance(said, Reported) and isinstance(said.row, int) and not isinstance(said, ModelError):
            time = "" if times is None else f", t = {seconds(times[said.row])} s"
            said.row_name = f"row {rows[said.row]} of {path}{time}"

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except Reported as error:
            name_row(error)
            raise
    for warning in caught:
        name_row(warning.message)
        warnings.warn(warning.message, warning.category, stacklevel=3)


def warn_of_forces(robot: Robot, peaks: Sequence[float]) -> None:
    """One warning for each actuator that is asked for more than it can give."""
    for actuator, peak in zip(robot.actuators, peaks, strict=True):
        if abs(peak) > actuator.max_force:
            asked, limit = (f"{number(x)} {actuator.unit}" for x in (abs(peak), actuator.max_force))
            warn(f"{actuator.words} needs {asked}, more than its limit of {limit}")


def warn_of_motion(robot: Robot, motion: CsvMotion) -> None:
    """One warning for each limit that the motion goes beyond: how far, and when first."""
    for quantity in robot.bounds.quantities(motion.positions, motion.samples.velocity):
        _warn_outside(quantity, motion.times)


def _warn_outside(quantity: LimitedQuantity, times: Array) -> None:
    """A warning for each end of the limits that the values pass."""
    values, unit = quantity.values, quantity.unit
    ends = ((quantity.lower, quantity.lower - values), (quantity.upper, values - quantity.upper))
    size = max((abs(limit) for limit, _ in ends if math.isfinite(limit)), default=0.0)
    for limit, beyond in ends:
        outside = beyond > ROUNDING * size
        if outside.any():
            furthest = int(beyond.argmax())
            warn(
                f"{quantity.phrase(furthest)} {number(values[furthest])} {unit}, {number(beyond[furthest])} {unit} "
                f"beyond its limit of {number(limit)} {unit}; first beyond it at {seconds(times[outside.argmax()])} s"
            )
