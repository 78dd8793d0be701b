"""The base class of controllers, and errors in the coordinates of arms and platforms."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.motion.motion import MotionSample
from tauforge.robots.own_classes import recorded
from tauforge.robots.poses import pose_rates, twists
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.stewart.stewart_platform import StewartPlatform

SYMMETRIC = 1e-12  # of gain matrices, relative to the largest entry: what rounding leaves of symmetry and of zeros
Robot = SerialArm | StewartPlatform


@recorded
class Controller(ABC):
    """Actuator forces from time, measured position and velocity, and the motion's sample at that time.

    Positions and velocities are joint coordinates and their rates for an arm, poses and twists for a platform; one
    state (n,), or one for each of many robots (..., n).
    """

    robot: Robot
    task_space = False  # whether an arm's target is a pose of its tool
    period: float | None = None  # s, between two calls, for laws that keep state
    # whether the force of an arm is arithmetic on the state, the target, arrays among the attributes, and the arm's
    # inverse dynamics and gravity forces alone, the same at any time; used for our own classes only
    compiles = False

    @abstractmethod
    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        """(..., n) N m or N."""

    def reset(self) -> None:  # noqa: B027 - most controllers have nothing to forget
        """Forget what was learnt; called when a simulation starts."""


def coordinate_count(robot: Robot) -> int:
    if not isinstance(robot, SerialArm | StewartPlatform):
        raise ModelError(f"expected a SerialArm or a StewartPlatform, got {robot!r}", field="robot")
    return robot.n if isinstance(robot, SerialArm) else 6


def coordinate_errors(robot: Robot, position: Array, velocity: Array, target: MotionSample) -> tuple[Array, Array]:
    """Error and its rate, (..., n): of joint coordinates, or of x, y, z and the angles, the short way round."""
    if not isinstance(robot, StewartPlatform):
        return target.position - position, target.velocity - velocity
    error = target.position - position
    error[..., 3:] = np.remainder(error[..., 3:] + np.pi, 2 * np.pi) - np.pi
    rates = pose_rates(target.position, target.velocity)[0] - pose_rates(position, velocity)[0]
    return error, rates


def target_acceleration(robot: Robot, target: MotionSample) -> Array:
    """The second time derivatives of the coordinates whose errors `coordinate_errors` gives."""
    if not isinstance(robot, StewartPlatform):
        return target.acceleration
    return pose_rates(*target)[1]


def robot_acceleration(robot: Robot, position: Array, velocity: Array, second: Array) -> Array:
    """Accelerations as the robot's dynamics take them, from those of the coordinates."""
    if not isinstance(robot, StewartPlatform):
        return second
    return twists(position, pose_rates(position, velocity)[0], second)[1]


def model_forces(robot: Robot, position: Array, velocity: Array, acceleration: Array) -> Array:
    """Inverse dynamics; among many platforms, one at a singular pose gives NaN and does not affect the others."""
    if isinstance(robot, StewartPlatform) and position.ndim > 1:
        return robot.inverse_dynamics(position, velocity, acceleration, on_singular="nan")
    return robot.inverse_dynamics(position, velocity, acceleration)


def times(K: Array, errors: Array) -> Array:
    """K e for every row of errors (..., n)."""
    return np.asarray(errors @ K.T)


def gain_matrix(name: str, gain: ArrayLike, n: int) -> Array:
    """(n, n) from a number, n numbers or a matrix."""
    try:
        K = np.array(gain, float)  # a copy: later changes of the caller's array would not be checked
    except (TypeError, ValueError):
        K = np.full((), np.nan)
    if K.shape == ():
        K = np.eye(n) * K
    elif K.shape == (n,):
        K = np.diag(K)
    if K.shape != (n, n) or not np.isfinite(K).all():
        raise ModelError(f"expected a number, {n} numbers or an {n} x {n} matrix, got {gain!r}", field=name)
    return K


def check_pull(name: str, K: Array) -> None:
    """e' K e must not be negative for any error e; otherwise the feedback increases that error."""
    smallest = np.linalg.eigvalsh(K + K.T).min() / 2
    if smallest < -SYMMETRIC * np.abs(K).max(initial=0.0):
        raise ModelError(
            f"increases some errors: e' K e must not be negative, and is {smallest:.4g} for an e of length 1",
            field=name,
            remedy="Reverse its sign",
        )
