"""Where a robot is singular or nearly so: by the sign that it knows, or by its condition number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.pictures.animation_frames import AnimationFrames
from tauforge.robots.robot import Robot
from tauforge.viewer import colours

WARNING_CONDITION, RED_CONDITION = 1e2, 1e3  # where the bar turns amber and red
SINGULAR_CONDITION = 1e12  # above it double precision has no answer
LOOKED_AT = 129  # instants about a peak of the condition number
SINGULAR, NEAR = "singular", "near a singularity"


class SingularTimes(NamedTuple):
    """words: what the robot is then; times: (j,) s"""

    words: str
    times: Array


def is_singular(condition: float) -> bool:
    return condition >= SINGULAR_CONDITION


def told_condition(robot: Robot, position: Array) -> Array | None:
    """(...) what tells singular positions: the loops' condition, for they have forces where a tool loses a freedom;
    without loops the condition number. None where there is neither.
    """
    return robot.loop_condition(position) if robot.may_not_close else robot.condition(position)


def condition_words(condition: float) -> str:
    """What a condition number says: "singular", "near a singularity" in the red band, or nothing."""
    return SINGULAR if is_singular(condition) else NEAR if condition >= RED_CONDITION else ""


def condition_colour(condition: float) -> str:
    """The colour of the bar of the condition number."""
    if not condition < RED_CONDITION:
        return colours.OVER
    return colours.NEAR if condition > WARNING_CONDITION else colours.LOW


def singular_times(robot: Robot, frames: AnimationFrames) -> SingularTimes:
    """Where a motion crosses singular poses; for a robot that has no sign for them, where it comes near to them.

    Between frames it goes on straight lines.
    """
    values = robot.singularity(frames.position)
    if values is not None:
        return SingularTimes(SINGULAR, _zeros(frames.times, values))
    return SingularTimes(NEAR, _red_peaks(robot, frames))


def _zeros(times: Array, values: Array) -> Array:
    """(j,) s, where values (k,) change their sign."""
    crossed = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    before, after = values[crossed], values[crossed + 1]
    step = times[crossed + 1] - times[crossed]
    found = times[crossed] + step * before / (before - after)
    return np.sort(np.concatenate([found, times[values == 0.0]]))


def _red_peaks(robot: Robot, frames: AnimationFrames) -> Array:
    """(j,) s, the largest condition number of every stretch that reaches the red band.

    A robot may be through a singular pose between two frames, so a peak is looked at closely.
    """
    conditions = told_condition(robot, frames.position)
    if conditions is None:
        return np.zeros(0)
    high = np.flatnonzero(conditions >= WARNING_CONDITION)
    stretches = np.split(high, np.flatnonzero(np.diff(high) > 1) + 1) if len(high) else []
    found = []
    for stretch in stretches:
        peak = stretch[conditions[stretch].argmax()]
        first, last = frames.times[max(peak - 1, 0)], frames.times[min(peak + 1, len(frames.times) - 1)]
        times = np.linspace(first, last, LOOKED_AT)
        rows = np.column_stack([np.interp(times, frames.times, column) for column in frames.position.T])
        closed = robot.positions.at(rows, on_failure="nan")
        known = np.isfinite(closed).all(axis=-1)
        if known.any():
            close = np.asarray(told_condition(robot, closed[known]))
            if close.max() >= RED_CONDITION:
                found.append(times[known][close.argmax()])
    return np.array(found)
