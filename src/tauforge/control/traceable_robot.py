"""Conditions for compiling laws and robots, and a robot whose methods record what a law asks of it.

Steps are compiled only for robots whose methods, as far as laws call them, are those of the contract: a kernel does not
see a method of a user's own.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from tauforge.algebra.scalars import Scalar, is_number
from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.control.law_arrays import law_array
from tauforge.evaluation.unmodified import is_unmodified, method_is_ours, own_methods
from tauforge.kernels.backends import NoKernelError
from tauforge.robots.capabilities import Capability
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import judged_results

EVALUATING = ("_by_name", "_sorted", "_answer", "kernel")  # the way from a method of dynamics to its formula


def kernel_stands_for(robot: Robot, *methods: str) -> bool:
    """True if these methods of the robot do what the formulas in its table say."""
    written = all(method_is_ours(type(robot), name) for name in (*methods, *EVALUATING))
    return written and not own_methods(robot)


def why_not_compiled(controller: Controller | None, plant: Robot) -> str | None:
    """Reason for which steps of a law and a plant are not compiled; None if they may be, once the law is recorded."""
    space = plant.state_space
    if space.formulas is None or not method_is_ours(type(space), "rates_under"):
        return f"{plant.name} has no formulas of its state"
    if not kernel_stands_for(plant, "forward_dynamics"):
        return f"{plant.name} has methods of its own"
    if controller is None:
        return None
    if not controller.traceable:
        return f"{type(controller).__name__} does not say traceable = True"
    model = getattr(controller, "robot", None)
    if isinstance(model, Robot) and model.state_space.formulas is None:
        return f"{model.name} has no formulas of its state"
    return None


def _method(of: Any, name: str, stand_in: Any, robot: Robot) -> Any:
    """A method by its own source with a stand-in for its object, or an attribute of the object."""
    found = getattr(type(of), name, None)
    if not isinstance(found, FunctionType):
        return getattr(of, name)
    if not method_is_ours(type(of), name):
        raise NoKernelError(f"{robot.name} has a method {name} of its own")
    return MethodType(found, stand_in)


class TraceableRobot:
    """A robot for arrays of any scalars: functions of its table by their formulas, other methods by their own source.

    NoKernelError where a law calls a method that our sources do not define.
    suspicions: of functions with guards; where one of them is not below 1, the robot's own methods know better
    """

    def __init__(self, robot: Robot) -> None:
        self._robot, self.positions = robot, TraceablePositions(self, robot)
        self.suspicions: list[Scalar] = []

    def __getattr__(self, name: str) -> Any:
        robot = self._robot
        if name in robot.functions and robot.functions[name].quick:
            if not method_is_ours(type(robot), name):
                raise NoKernelError(f"{robot.name} has a method {name} of its own")
            return partial(self._evaluated, name)
        found = _method(robot, name, self, robot)
        if not isinstance(found, Capability):
            return found
        if not is_unmodified(found):
            raise NoKernelError(f"{robot.name} has {name} of its own")
        return type(found)(self)

    def _answer(self, name: str, arguments: Mapping[Any, Array], **options: Any) -> list[Array]:
        """All results, for methods that do more than to call their own formula. arguments: with the loads by name"""
        known = {argument.name for argument in self._robot.functions[name].optional}
        scalars = [np.asarray(x).tolist() for key, x in arguments.items() if key not in known]
        loads = {key: np.asarray(x).tolist() for key, x in arguments.items() if key in known}
        watching = sys.getprofile()
        if callable(watching):
            sys.setprofile(None)  # formulas are ours, and have many calls
        try:
            found = judged_results(self._robot, name, self._robot.model, *scalars, loads=loads, options=options)
        finally:
            if callable(watching):
                sys.setprofile(watching)
        self.suspicions.extend(found.suspicions)
        recorded = not all(map(is_number, found.values))
        values = law_array(found.values) if recorded else np.array(found.values, float)
        shapes = self._robot.functions[name].results
        ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
        return [x.reshape(shape) for x, shape in zip(np.split(values, ends), shapes, strict=True)]

    _evaluator = _answer

    def _evaluated(self, name: str, *arguments: Array, **options: Any) -> Array:
        chosen = self._robot._check_options(name, options)
        loads = {x.name: chosen.pop(x.name) for x in self._robot.functions[name].optional if x.name in chosen}
        given = {key: x for key, x in loads.items() if x is not None}
        (result,) = self._answer(name, {**dict(enumerate(arguments)), **given}, **chosen)
        return result


class TraceablePositions:
    """The same for `Robot.positions`."""

    def __init__(self, stand_in: TraceableRobot, robot: Robot) -> None:
        self.robot, self._robot = stand_in, robot

    def __getattr__(self, name: str) -> Any:
        return _method(self._robot.positions, name, self, self._robot)

    def error(self, target: Array, position: Array) -> Array:
        """`Positions.error` without a remainder: the short way round is the angle of sine and cosine."""
        robot = self._robot
        _method(robot.positions, "error", self, robot)
        error = robot.positions.coordinates(target) - robot.positions.coordinates(position)
        for k, coordinate in enumerate(robot.coordinates):
            if coordinate.wraps:
                error[..., k] = np.arctan2(np.sin(error[..., k]), np.cos(error[..., k]))
        return error

    def at(self, coordinates: Array, near: Array | None = None) -> Array:
        """Positions with all entries, unchanged; NoKernelError where loops would be closed, in any number of steps."""
        robot = self._robot
        if coordinates.shape[-1] != robot.positions.size:
            raise NoKernelError(f"a law closes loops of {robot.name}")
        _method(robot.positions, "at", self, robot)
        return coordinates
