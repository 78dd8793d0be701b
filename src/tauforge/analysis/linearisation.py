"""A robot's motion about a state, to first order: x' = A x + B u for small changes of state and forces.

The state of an arm is (q, qd), that of a platform (pose, twist), the pose by its six coordinates. Derivatives are
exact: those of forward dynamics by the robot's own methods, those of the rates of a pose by dual numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.dual import derivative, seeded
from tauforge.algebra.rotations import angle_rates
from tauforge.algebra.vectors import Vector
from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError
from tauforge.field_docs import with_field_docs
from tauforge.robots.robot import Robot


@with_field_docs
class Linearisation(NamedTuple):
    """x' = A x + B u about a state, x being small changes of position and velocity, u of the actuator forces.

    A: (2n, 2n)
    B: (2n, n)
    """

    A: Array
    B: Array

    def state_space(self) -> Any:
        """A StateSpace of python-control with all states as outputs."""
        try:
            import control
        except ImportError:
            raise ModelError("needs python-control", remedy="pip install control") from None
        n = len(self.A)
        return control.ss(self.A, self.B, np.eye(n), np.zeros((n, self.B.shape[1])))


def linearise(robot: Robot, position: ArrayLike, velocity: ArrayLike, force: ArrayLike) -> Linearisation:
    """Linearise about one state, with friction.

    position, velocity: (n,); force: (m,), as the robot's forward dynamics take them
    Identity: A and B are the derivatives of (velocity's coordinates, forward_dynamics) by state and forces.
    """
    sizes = {"position": robot.n, "velocity": robot.n, "force": len(robot.actuators)}
    given = []
    for (name, n), value in zip(sizes.items(), (position, velocity, force), strict=True):
        try:
            array = np.asarray(value, float)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        if array.shape != (n,) or not np.isfinite(array).all():
            raise ShapeError(name, expected=f"{n} finite numbers", got=f"{value!r}")
        given.append(array)
    by_position, by_velocity, by_force = robot.forward_dynamics_derivatives(*given)
    slopes = pose_rate_slopes(given[0], given[1]) if robot.positions_are_poses else plain_rate_slopes(robot.n)
    A = np.vstack([slopes, np.hstack([by_position, by_velocity])])
    return Linearisation(A, np.vstack([np.zeros_like(by_force), by_force]))


def plain_rate_slopes(n: int) -> Array:
    """(n, 2n): coordinates whose rates are the velocities."""
    return np.hstack([np.zeros((n, n)), np.eye(n)])


def pose_rate_slopes(pose: Array, twist: Array) -> Array:
    """(6, 12), of the rates of a pose's coordinates, by pose and twist."""
    angles, omega = seeded(pose[3:].tolist()), seeded(twist[3:].tolist(), 3)
    turning = angle_rates(Vector(*angles), Vector(*omega))
    by_angles, by_omega = np.split(np.array([[derivative(rate, k) for k in range(6)] for rate in turning]), 2, axis=1)
    slopes = np.zeros((6, 12))
    slopes[:3, 6:9], slopes[3:, 3:6], slopes[3:, 9:] = np.eye(3), by_angles, by_omega
    return slopes
