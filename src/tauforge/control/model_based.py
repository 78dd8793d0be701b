"""Laws that turn a wanted acceleration into forces by inverse dynamics of the controller's own model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Controller, check_actuated
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.unmodified import ours
from tauforge.motion.motion import MotionSample
from tauforge.robots.formulations import WRENCH, forces_by_rows
from tauforge.robots.robot import Robot, check_robot
from tauforge.validation import real_array

MeasuredWrench = Callable[[float, Array, Array], ArrayLike] | ArrayLike | None


@ours
class ModelBasedLaw(Controller):
    """Errors of the coordinates and, by inverse dynamics, forces for their second rates.

    Both are in the robot's coordinates: those of a platform are x, y, z and the angles. The arguments are those of
    `ComputedTorque`.
    """

    traceable = True

    def __init__(self, robot: Robot, formulation: str | None, wrench: MeasuredWrench) -> None:
        self.robot = check_robot("robot", robot)
        check_actuated(self, robot)
        if formulation is not None:
            robot.formulations.check(formulation)
        if wrench is not None and not robot.formulations.take_wrench:
            raise UnsupportedFeatureError(f"{robot.name} takes no external wrench", field="wrench")
        self.formulation = formulation
        self.wrench = wrench if wrench is None or callable(wrench) else np.array(real_array("wrench", wrench), float)
        if isinstance(self.wrench, np.ndarray) and (self.wrench.shape != (6,) or not np.isfinite(self.wrench).all()):
            raise ShapeError("wrench", expected="(6,) finite numbers, a force and a moment", got=f"{wrench!r}")

    def errors(self, position: Array, velocity: Array, target: MotionSample) -> tuple[Array, Array, Array]:
        """Errors of the coordinates and of their rates, and the target's second rates, (..., n) each."""
        positions = self.robot.positions
        target_rates, second_rates = positions.rates(*target)
        rates = positions.rates(position, velocity)[0]
        return positions.error(target.position, position), target_rates - rates, second_rates

    def forces(self, t: float, position: Array, velocity: Array, second_rates: Array) -> Array:
        """(..., m) forces that give the coordinates these second rates (..., n), against the measured wrench."""
        robot, chosen = self.robot, dict[str, Any]()
        rates = robot.positions.rates(position, velocity)[0]
        acceleration = robot.positions.from_rates(position, rates, second_rates)[1]
        if self.formulation is not None:
            chosen["formulation"] = self.formulation
        if self.wrench is not None:
            chosen[WRENCH] = self.wrench(t, position, velocity) if callable(self.wrench) else self.wrench
        return forces_by_rows(robot, position, velocity, acceleration, **chosen)
