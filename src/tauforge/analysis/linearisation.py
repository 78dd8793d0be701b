"""A robot's motion about a state, to first order: x' = A x + B u for small changes of state and forces.

The state is (position, velocity): an arm's is (q, qd), a platform's (pose, twist), the pose by its six coordinates.
Derivatives are exact: by the robot's own kernels, or by dual numbers through the formula of its forward dynamics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError, ShapeError
from tauforge.evaluation.derivatives import jacobians
from tauforge.evaluation.functions import choices, has
from tauforge.robots.robot import Robot, check_robot
from tauforge.robots.summary import summarised
from tauforge.validation import real_array


@summarised
@with_field_docs
class Linearisation(NamedTuple):
    """x' = A x + B u about a state, x being small changes of position and velocity, u of the actuator forces.

    A: (..., 2n, 2n)
    B: (..., 2n, m)
    """

    A: Array
    B: Array

    def state_space(self) -> Any:
        """A StateSpace of python-control with all states as outputs."""
        try:
            import control
        except ImportError:
            raise ModelError("state_space needs the package python-control", remedy="Run pip install control") from None
        if self.A.ndim != 2:
            raise ShapeError("state", expected="one state, which python-control takes", got=str(self.A.shape))
        n = len(self.A)
        return control.ss(self.A, self.B, np.eye(n), np.zeros((n, self.B.shape[1])))


def linearise(robot: Robot, position: ArrayLike, velocity: ArrayLike, force: ArrayLike) -> Linearisation:
    """Linearise about states, with friction.

    position, velocity, force: (..., n), (..., n) and (..., m), as the robot's forward dynamics take them; of a
                               mechanism with loops the position may be its independent coordinates, and x are changes
                               of these
    Identity: A and B are the derivatives of (velocity's coordinates, forward_dynamics) by state and forces.
    """
    n, m = check_robot("robot", robot).n, len(robot.actuators)
    given = []
    sizes = (n, robot.positions.size)
    for name, value, counts in (("position", position, sizes), ("velocity", velocity, (n,)), ("force", force, (m,))):
        array = real_array(name, value).astype(float, copy=False)
        if array.shape[-1:] not in [(count,) for count in counts] or not np.isfinite(array).all():
            expected = " or ".join(map(str, dict.fromkeys(counts)))
            raise ShapeError(name, expected=f"{expected} finite numbers", got=f"{value!r}")
        given.append(array)
    given[0] = robot.positions.at(given[0])
    batch = np.shape(robot.forward_dynamics(*given))[:-1]  # raises an error if a state is invalid
    given = [np.broadcast_to(x, (*batch, x.shape[-1])) for x in given]
    by_position, by_velocity, by_force = _slopes_of_dynamics(robot, given)
    top = np.concatenate(robot.positions.rate_derivatives(given[0], given[1]), axis=-1)
    A = np.concatenate([top, np.concatenate([by_position, by_velocity], axis=-1)], axis=-2)
    return Linearisation(A, np.concatenate([np.zeros((*batch, n, m)), by_force], axis=-2))


def _slopes_of_dynamics(robot: Robot, given: list[Array]) -> tuple[Array, ...]:
    """Derivatives of the accelerations by position, velocity and force."""
    if has(robot, "forward_dynamics_derivatives"):
        return robot.forward_dynamics_derivatives(*given)
    if given[0].ndim > 1:
        rows = [_slopes_of_dynamics(robot, list(row)) for row in zip(*given, strict=True)]
        return tuple(np.array(slopes) for slopes in zip(*rows, strict=True))
    function = robot.functions["forward_dynamics"]
    names = tuple(argument.name for argument in function.arguments)
    values = {name: x.tolist() for name, x in zip(names, given, strict=True)}
    slopes = jacobians(function.formula, names)(robot.model, **values, **choices(function.options)[0])
    return tuple(np.array(slope, float) for slope in slopes)
