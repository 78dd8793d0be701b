"""A robot whose methods take arrays of any scalars, so that a law of control can be recorded with it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from tauforge.algebra.scalars import arctangent, cos, sin
from tauforge.arrays import Array
from tauforge.evaluation.unmodified import is_unmodified, method_is_ours
from tauforge.kernels.backends import NoKernelError
from tauforge.robots.capabilities import Capability
from tauforge.robots.robot import Robot
from tauforge.robots.state_formulas import formula_results


class AnyScalarRobot:
    """A robot for arrays of any scalars: functions of its table by their formulas, other methods by their own source.

    NoKernelError where a law calls a method that our sources do not define.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot

    def __getattr__(self, name: str) -> Any:
        robot = self._robot
        if name in robot.functions:
            found: Any = partial(self._evaluated, name)
        else:
            found = getattr(type(robot), name, None)
            if not isinstance(found, FunctionType):
                found = getattr(robot, name)
                if not isinstance(found, Capability):
                    return found
                if not is_unmodified(found):
                    raise NoKernelError(f"{robot.name} has {name} of its own")
                return type(found)(self)
            found = MethodType(found, self)
        self._check_written(name)
        return found

    def coordinate_rates(
        self, position: Array, velocity: Array, acceleration: Array | None = None
    ) -> tuple[Array, Array]:
        """By the method of the contract; a table may have an entry of this name."""
        self._check_written("coordinate_rates")
        found: tuple[Array, Array] = MethodType(type(self._robot).coordinate_rates, self)(
            position, velocity, acceleration
        )
        return found

    def position_error(self, target: Array, position: Array) -> Array:
        """`Robot.position_error` without a remainder: the short way round is the angle of sine and cosine."""
        robot = self._robot
        error = robot.coordinates_at(target) - robot.coordinates_at(position)
        self._check_written("position_error")
        for k, coordinate in enumerate(robot.coordinates):
            if coordinate.wraps:
                error[k] = arctangent(sin(error[k]), cos(error[k]))
        return error

    def position_at(self, coordinates: Array, near: Array | None = None) -> Array:
        """Whole positions stay as they are. Loops are not closed from coordinates: that takes any number of steps."""
        robot = self._robot
        if coordinates.shape[-1] != robot.position_size:
            raise NoKernelError(f"a law closes loops of {robot.name}")
        self._check_written("position_at")
        return coordinates

    def _evaluator(self, name: str, arguments: Mapping[str, Array]) -> list[Array]:
        """One result (k,), for the methods of robots that ask for parts of their formulas."""
        return [self._evaluated(name, *arguments.values())]

    def _evaluated(self, name: str, *arguments: Array) -> Array:
        return np.array(formula_results(self._robot, name, self._robot.model, *arguments), dtype=object)

    def _check_written(self, name: str) -> None:
        if not method_is_ours(type(self._robot), name):
            raise NoKernelError(f"{self._robot.name} has a method {name} of its own")
