"""How far the sliders go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import TauforgeError
from tauforge.robots.robot import Robot

TRIED = 256  # random states that tell where a robot without limits usually is
WIDER = 1.5  # than these states
FASTEST = {"rad": 3.0, "m": 1.0}  # rad/s and m/s without a limit
QUICKEST = {"rad": 10.0, "m": 10.0}  # rad/s^2 and m/s^2
STEPS = 1000
MOST_GRAVITY = 25.0  # m/s^2, a little more than Jupiter's
STANDARD_GRAVITY = 9.81


class Range(NamedTuple):
    """lower, upper and step of a slider."""

    lower: float
    upper: float
    step: float

    def within(self, value: float) -> float:
        return min(max(value, self.lower), self.upper)

    def stepped(self, value: float) -> float:
        """The slider's place for a value: a whole number of steps, so that it has few digits."""
        return self.within(round(value, -math.floor(math.log10(self.step) + 0.5)))


def range_of(lower: float, upper: float) -> Range:
    """With a decimal step, at least a thousand of them."""
    width = upper - lower if upper > lower else 1.0
    digits = -math.floor(math.log10(width / STEPS))
    return Range(round(lower, digits), round(lower + width, digits), 10.0**-digits)


def position_ranges(robot: Robot, visited: Sequence[Array]) -> list[Range]:
    """The limits of the coordinates; without them a turn, or where random states and motions bring the robot.

    visited: (k, N) positions each, that must be within
    """
    home = robot.positions.coordinates(np.asarray(robot.positions.default, float))
    try:
        tried = home + WIDER * (robot.positions.coordinates(robot.random_states(TRIED)[0]) - home)
    except TauforgeError:  # a robot that hardly stands anywhere
        tried = home + np.array([[-0.5], [0.5]])
    rows, seen = np.concatenate([tried, home[None]]), [robot.positions.coordinates(np.asarray(v)) for v in visited]
    found = []
    for k, coordinate in enumerate(robot.coordinates):
        inside = np.concatenate([home[None, k], *(v[:, k] for v in seen)])
        low, high = rows[:, k].min(), rows[:, k].max()
        if coordinate.turns:  # a pose is hardly anywhere with a half turn, a crank is
            whole = not robot.positions_are_poses
            low, high = (-math.pi, math.pi) if whole else (max(low, -math.pi), min(high, math.pi))
        lower = coordinate.lower if math.isfinite(coordinate.lower) else low
        upper = coordinate.upper if math.isfinite(coordinate.upper) else high
        found.append(range_of(float(min(lower, inside.min())), float(max(upper, inside.max()))))
    return found


def velocity_ranges(robot: Robot) -> list[Range]:
    speeds = [c.max_speed if math.isfinite(c.max_speed) else FASTEST[c.unit] for c in robot.coordinates]
    return [range_of(-speed, speed) for speed in speeds]


def acceleration_ranges(robot: Robot) -> list[Range]:
    return [range_of(-QUICKEST[c.unit], QUICKEST[c.unit]) for c in robot.coordinates]


def payload_range(forces: Array) -> Range:
    """Up to a mass whose weight is about the largest of the holding forces, as 1, 2 or 5 times a power of ten."""
    largest = float(np.nan_to_num(np.abs(forces)).max(initial=0.0)) / STANDARD_GRAVITY
    if not largest > 0:
        return range_of(0.0, 10.0)
    power = 10.0 ** math.floor(math.log10(largest))
    return range_of(0.0, next(power * m for m in (1, 2, 5, 10) if power * m >= largest))


def gravity_range(gravity: float) -> Range:
    return range_of(0.0, max(MOST_GRAVITY, gravity))
