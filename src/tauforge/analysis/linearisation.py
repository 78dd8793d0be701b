"""A robot's motion about a state, to first order: x' = A x + B u for small changes of state and forces.

The state of an arm is (q, qd), that of a platform (pose, twist), the pose by its six coordinates. Derivatives are
exact: an arm's by its kernels, a platform's by its forward dynamics over dual numbers.
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
from tauforge.formulations.stewart.lumping import lumped
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.stewart.functions import PlatformModel, forward_dynamics
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
    """Linearise about one state, with friction.

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
    platform.forward_dynamics(pose, twist, force)  # raises an error if the state is invalid
    parameters = platform.parameters
    model = PlatformModel(parameters, lumped(parameters))
    p, t, f = (seeded(x.tolist(), 6 * k) for k, x in enumerate((pose, twist, force)))
    rates = [*t[:3], *angle_rates(Vector(*p[3:]), Vector(*t[3:])), *forward_dynamics(model, p, t, f)]
    slopes = np.array([[derivative(rate, k) for k in range(18)] for rate in rates])
    return Linearisation(slopes[:, :12], slopes[:, 12:])
