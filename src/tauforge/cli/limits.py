"""Warnings about a motion that asks more of a robot than its limits allow; the results are still given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tauforge.cli.output import number, seconds, warn

if TYPE_CHECKING:
    from tauforge.arrays import Array
    from tauforge.motion.csv_motion import CsvMotion
    from tauforge.robots.parts import LimitedQuantity
    from tauforge.robots.robot import Robot

ROUNDING = 1e-9  # relative to the limit: a motion that ends on it, converted from another unit, is not beyond it


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
