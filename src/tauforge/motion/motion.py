"""The base class of motions: position, velocity and acceleration as functions of time, at rest beyond both ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_number, real_numbers
from tauforge.class_tools import with_field_docs
from tauforge.errors import ShapeError
from tauforge.robots.poses import twists
from tauforge.robots.summary import summarised

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot

TIME_ROUNDING = 1e-12  # relative, of times


@summarised
@with_field_docs
class MotionSample(NamedTuple):
    """The state at every time, each (..., n).

    position:     rad or m; poses for a platform
    velocity:     rad/s or m/s; twists for a platform: velocity and angular velocity
    acceleration: rad/s^2 or m/s^2; acceleration and angular acceleration for a platform
    """

    position: Array
    velocity: Array
    acceleration: Array


class Motion(ABC):
    """Coordinates of a robot as functions of time from 0 to `duration` (s); outside, the motion rests at its ends."""

    duration: float
    of_poses = False  # whether velocities are twists, as a platform needs them
    in_rates = True  # whether velocities are the time derivatives of the coordinates, where these are no poses

    @abstractmethod
    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        """Position and its first two time derivatives, (..., n), for times within the duration."""

    def sample(self, t: ArrayLike) -> MotionSample:
        """At times (...): position, velocity, acceleration, each (..., n)."""
        time = _times(t)
        inside = np.minimum(np.maximum(time, 0.0), self.duration)  # NaN stays NaN; quicker than np.clip for one time
        position, velocity, acceleration = self._within(inside)
        rounding = TIME_ROUNDING * self.duration  # steps that add up to the duration may miss it by their rounding
        outside = (time < -rounding) | (time > self.duration + rounding)
        if outside.any():
            rest = outside[..., None]
            velocity, acceleration = np.where(rest, 0.0, velocity), np.where(rest, 0.0, acceleration)
        return MotionSample(position, velocity, acceleration)

    def near(self, t: ArrayLike) -> Array | None:
        """Positions (..., N) near those at times (...); None where the motion does not say how a robot is assembled."""
        return None


class PoseMotion(Motion):
    """A motion of the six coordinates of a pose (x, y, z, theta_x, theta_y, theta_z), with twists, for a platform."""

    of_poses = True

    def __init__(self, numbers: Motion) -> None:
        if not isinstance(numbers, Motion) or numbers.sample(0.0).position.shape != (6,):
            raise ShapeError("numbers", expected="a motion of six coordinates", got=repr(numbers))
        if numbers.of_poses:
            got = f"{numbers!r}, which has twists already"
            raise ShapeError("numbers", expected="rates of the six coordinates", got=got)
        self.numbers, self.duration = numbers, numbers.duration

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        pose, rates, accelerations = self.numbers._within(t)
        return (pose, *twists(pose, rates, accelerations))

    def __repr__(self) -> str:
        return f"PoseMotion({self.numbers!r})"


class MotionOfRobot(Motion):
    """A motion of coordinates with the velocities of a robot: where an angle is a ball's, its angular velocity."""

    in_rates = False

    def __init__(self, robot: Robot, motion: Motion) -> None:
        self.robot, self.motion, self.duration = robot, motion, motion.duration

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        position, rates, seconds = self.motion._within(t)
        return (position, *self.robot.positions.from_rates(position, rates, seconds))

    def near(self, t: ArrayLike) -> Array | None:
        return self.motion.near(t)

    def __repr__(self) -> str:
        return repr(self.motion)


def in_velocities_of(robot: Robot, motion: Motion) -> Motion:
    """The motion as the robot's laws and methods take it."""
    if motion.of_poses or not motion.in_rates or not robot.positions.turning:
        return motion
    return MotionOfRobot(robot, motion)


def _times(t: ArrayLike) -> Array:
    try:
        return real_numbers(t).astype(float, copy=False)
    except ValueError:
        raise ShapeError("t", expected="times in s", got=repr(t)) from None


def coordinates(name: str, value: ArrayLike, ndim: int = 1) -> Array:
    """Finite numbers of a motion, as an array with this many dimensions."""
    try:
        array = real_numbers(value).astype(float)
    except ValueError:
        array = np.array(np.nan)
    if array.ndim != ndim or not array.size or not np.isfinite(array).all():
        raise ShapeError(name, expected=f"finite numbers in {ndim} dimension{'s' * (ndim > 1)}", got=f"{value!r}")
    return array


def one_pose(name: str, value: ArrayLike) -> Array:
    """(6,) finite numbers."""
    pose = coordinates(name, value)
    if pose.shape != (6,):
        raise ShapeError(name, expected="6 numbers: x, y, z, theta_x, theta_y, theta_z", got=f"{value!r}")
    return pose


def positive(name: str, value: float) -> float:
    if not 0 < real_number(value) < np.inf:
        raise ShapeError(name, expected="a number > 0", got=repr(value))
    return float(value)
