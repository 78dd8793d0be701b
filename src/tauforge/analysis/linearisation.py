"""A robot's motion about a state, to first order: x' = A x + B u for small changes of state and forces.

The state of an arm is (q, qd); of a platform (pose, twist), the pose by its six numbers. Derivatives are exact: those
of forward dynamics by the robot's own methods, those of the rates of a pose by dual numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.dual import derivative, seeded
from tauforge.algebra.rotations import angle_rates
from tauforge.algebra.vectors import Vector
from tauforge.arrays import Array
from tauforge.control.controller import Robot, coordinate_count
from tauforge.errors import ModelError, ShapeError
from tauforge.field_docs import with_field_docs
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.stewart.stewart_platform import StewartPlatform


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
    """About one state, friction included.

    position, velocity, force: (n,), as the robot's forward dynamics take them
    Identity: A and B are the derivatives of (velocity's coordinates, forward_dynamics) by state and forces.
    """
    n = coordinate_count(robot)
    given = []
    for name, value in (("position", position), ("velocity", velocity), ("force", force)):
        try:
            array = np.asarray(value, float)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        if array.shape != (n,) or not np.isfinite(array).all():
            raise ShapeError(name, expected=f"{n} finite numbers", got=f"{value!r}")
        given.append(array)
    if isinstance(robot, SerialArm):
        by_q, by_qd, by_tau = robot.forward_dynamics_derivatives(*given)
        top = np.hstack([np.zeros((n, n)), np.eye(n)])
        return Linearisation(np.vstack([top, np.hstack([by_q, by_qd])]), np.vstack([np.zeros((n, n)), by_tau]))
    return _of_platform(robot, *given)


def _of_platform(platform: StewartPlatform, pose: Array, twist: Array, force: Array) -> Linearisation:
    by_pose, by_twist, by_force = platform.forward_dynamics_derivatives(pose, twist, force)
    angles, omega = seeded(pose[3:].tolist()), seeded(twist[3:].tolist(), 3)
    turning = angle_rates(Vector(*angles), Vector(*omega))  # a pose's numbers change by v and by these
    slopes = np.array([[derivative(rate, k) for k in range(6)] for rate in turning])
    top = np.zeros((6, 12))
    top[:3, 6:9], top[3:, 3:6], top[3:, 9:] = np.eye(3), slopes[:, :3], slopes[:, 3:]
    A = np.vstack([top, np.hstack([by_pose, by_twist])])
    return Linearisation(A, np.vstack([np.zeros((6, 6)), by_force]))
