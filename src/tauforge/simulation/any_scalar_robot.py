"""A robot whose methods take arrays of any scalars, so that a law of control can be recorded with it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from tauforge.algebra.scalars import Scalar, arctangent, cos, sin
from tauforge.arrays import Array
from tauforge.kernels.backends import NoKernelError
from tauforge.robots.evaluate import choices
from tauforge.robots.functions import flat, results_of
from tauforge.robots.own_classes import method_is_as_written
from tauforge.robots.robot import Robot


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
                return getattr(robot, name)
            found = MethodType(found, self)
        if not method_is_as_written(type(robot), name):
            raise NoKernelError(f"{robot.name} has a method {name} of its own")
        return found

    def position_error(self, target: Array, position: Array) -> Array:
        """`Robot.position_error` without a remainder: the short way round is the angle of sine and cosine."""
        robot, error = self._robot, target - position
        if not method_is_as_written(type(robot), "position_error"):
            raise NoKernelError(f"{robot.name} has a method position_error of its own")
        for k, coordinate in enumerate(robot.coordinates):
            if coordinate.wraps:
                error[k] = arctangent(sin(error[k]), cos(error[k]))
        return error

    def _evaluated(self, name: str, *arguments: Array) -> Array:
        return np.array(results(self._robot, name, self._robot.model, *arguments), dtype=object)


def results(
    robot: Robot, name: str, model: Any, *arguments: Any, loads: Mapping[str, Any] | None = None
) -> list[Scalar]:
    """The formula's results for a plain call, one after another. loads: its optional arguments, by name"""
    function = robot.functions[name]
    given = {argument.name: list(x) for argument, x in zip(function.arguments, arguments, strict=True)}
    return flat(results_of(function.formula(model, **given, **(loads or {}), **choices(function.options)[0])))
