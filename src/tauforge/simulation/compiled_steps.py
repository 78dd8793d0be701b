"""Controller, dynamics and Runge-Kutta step of a robot traced together into one kernel.

The law's own source is recorded: its robot is replaced by one that evaluates the formulas of the table of functions
over whatever scalars come. Only laws of exactly our own classes are compiled (`can_compile`), and only for robots whose
methods, as far as laws call them, are those of the contract: a kernel does not see a method of a user's own.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from tauforge.algebra.scalars import Scalar, arctangent, cos, sin
from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.kernels.backends import NoKernelError, backend_of
from tauforge.kernels.specification import Shape, Specification
from tauforge.motion.motion import MotionSample
from tauforge.robots.evaluate import choices
from tauforge.robots.functions import flat, results_of
from tauforge.robots.own_classes import has_own_methods, is_as_written, method_is_as_written
from tauforge.robots.own_sources import anything_replaced, model_is_ours
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import PlainState
from tauforge.simulation.integrators import rk4
from tauforge.tracing.graph import Graph, trace

Scalars = Sequence[Scalar]
Fields = Mapping[str, Array]
Formula = Callable[..., list[Scalar]]
STATE, TARGET = ("q", "qd"), ("target", "target_rate", "target_acceleration")
EVALUATING = ("_by_position", "_evaluate", "kernel")  # the way from a method of dynamics to its formula
ACCELERATING = ("accelerations", "forward_dynamics")  # the methods by which `simulate` asks a plant
NO_TIME = math.nan  # laws that are compiled do not look at the time


def kernel_stands_for(robot: Robot, *methods: str) -> bool:
    """Whether these methods of the robot do what the formula in its table says."""
    written = all(method_is_as_written(type(robot), name) for name in (*methods, *EVALUATING))
    return written and not has_own_methods(robot)


def can_compile(controller: Controller, plant: Robot) -> bool:
    """Whether class and arrays tell all about the law, and formulas all about its model and the plant."""
    if not (is_as_written(controller) and controller.compiles):
        return False
    gains = {name: value for name, value in vars(controller).items() if name != "robot"}
    if not all(type(gain) is np.ndarray and gain.dtype == np.float64 for gain in gains.values()):
        return False
    if not all(_is_plain(robot) for robot in (controller.robot, plant)):
        return False
    return kernel_stands_for(plant, *ACCELERATING) and kernel_stands_for(controller.robot, "inverse_dynamics")


def _is_plain(robot: Robot) -> bool:
    """Whether the state is position and velocity, and errors are differences."""
    return type(robot.state_space) is PlainState and not any(coordinate.wraps for coordinate in robot.coordinates)


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
        return np.array(_results(self._robot, name, self._robot.model, *arguments), dtype=object)


def _results(robot: Robot, name: str, model: Any, *arguments: Any) -> list[Scalar]:
    """The formula's results for a plain call, one after another."""
    function = robot.functions[name]
    given = {argument.name: list(x) for argument, x in zip(function.arguments, arguments, strict=True)}
    return flat(results_of(function.formula(model, **given, **choices(function.options)[0])))


class CompiledSteps:
    """Steps of all rows by two kernels: one that asks the law, one that holds its forces.

    NoKernelError where there is no machine code to be had: too many operations, no memory for it, or a method of the
    user's own.
    """

    def __init__(self, controller: Controller, plant: Robot, fields: Fields, h: float) -> None:
        self.values = tuple(fields.values())
        first, later = step_specifications(controller, plant, tuple(fields), h)
        compile_ = backend_of("cpu").compile
        self._first, self._later = compile_(first, "float64"), compile_(later, "float64")

    def controlled(self, t: float, q: Array, qd: Array, target: MotionSample) -> tuple[Array, Array, Array]:
        q, qd, force = self._first(q, qd, *map(np.ascontiguousarray, target), *self.values)
        return q, qd, force

    def held(self, t: float, q: Array, qd: Array, force: Array) -> tuple[Array, Array]:
        q, qd = self._later(q, qd, force, *self.values)
        return q, qd


def step_specifications(
    controller: Controller, plant: Robot, fields: tuple[str, ...], h: float
) -> tuple[Specification, Specification]:
    """The step that asks the law (state, target, fields -> state, force) and the one that holds its forces."""
    own, given = controller.robot, plant
    plant = copy.copy(given)  # kernels must not keep a robot alive
    n, m = plant.n, len(plant.actuators)
    told = not anything_replaced()
    identity = _identity(given, "forward_dynamics") if told else None
    origin = None if identity is None else f"{h!r} {identity}"
    gains = {name: np.array(value) for name, value in vars(controller).items() if name != "robot"}
    listed = {name: value.tolist() for name, value in gains.items()}
    law = f"{type(controller).__module__}.{type(controller).__qualname__} {listed}"
    known = identity if own is given else _identity(own, "inverse_dynamics") if told else None
    both = None if origin is None or known is None else f"{origin} {law} {known}"
    first = _controlled_step(controller, gains, plant, fields, h)
    targets = dict.fromkeys(TARGET, (n,))
    later = _held_step(plant, fields, h)
    return (
        _specification("controlled_step", first, plant, fields, targets, ((n,), (n,), (m,)), both),
        _specification("held_step", later, plant, fields, {"force": (m,)}, ((n,), (n,)), origin),
    )


def _identity(robot: Robot, function: str) -> str | None:
    """A text that determines what is traced of this robot; None where our sources do not tell all of it.

    A class that is as written has all its formulas from our sources, so one of them tells for the others.
    """
    ours = is_as_written(robot) and model_is_ours(robot, robot.functions[function].formula)
    identity = robot.identity if ours else None
    return None if identity is None else f"{type(robot).__qualname__} {identity}"


def _specification(
    name: str,
    formula: Formula,
    plant: Robot,
    fields: tuple[str, ...],
    more: Mapping[str, Shape],
    results: tuple[Shape, ...],
    origin: str | None,
) -> Specification:
    shapes = {**dict.fromkeys(STATE, (plant.n,)), **more, **{field: plant.varying_fields[field] for field in fields}}

    def graph() -> Graph:
        counts = {argument: math.prod(core) for argument, core in shapes.items()}
        return trace(lambda *columns: formula(**dict(zip(shapes, columns, strict=True))), counts)

    return Specification(name, f"{name} of a rollout", graph, tuple(shapes.items()), results, origin)


def _model(robot: Robot, values: dict[str, Scalars]) -> Any:
    return robot.varied_model(values) if values else robot.model


def _controlled_step(controller: Controller, gains: Fields, plant: Robot, fields: tuple[str, ...], h: float) -> Formula:
    law: Any = copy.copy(controller)
    vars(law).update(gains)  # copies: the kernel may be traced when the user's arrays have been changed
    law.robot = AnyScalarRobot(copy.copy(controller.robot))

    def controlled_step(
        q: Scalars, qd: Scalars, target: Scalars, target_rate: Scalars, target_acceleration: Scalars, **more: Scalars
    ) -> list[Scalar]:
        position, velocity, *wanted = (
            np.array(x, dtype=object) for x in (q, qd, target, target_rate, target_acceleration)
        )
        force = list(law.force(NO_TIME, position, velocity, MotionSample(*wanted)))
        model = _model(plant, {name: more[name] for name in fields})
        return [*_step(plant, model, q, qd, force, h), *force]

    return controlled_step


def _held_step(plant: Robot, fields: tuple[str, ...], h: float) -> Formula:
    def held_step(q: Scalars, qd: Scalars, force: Scalars, **more: Scalars) -> list[Scalar]:
        return _step(plant, _model(plant, {name: more[name] for name in fields}), q, qd, force, h)

    return held_step


def _step(plant: Robot, model: Any, q: Scalars, qd: Scalars, force: Scalars, h: float) -> list[Scalar]:
    """`integrators.rk4` over arrays of whatever scalars these are."""
    n = len(q)

    def rates(_: float, y: Array) -> Array:
        found = _results(plant, "forward_dynamics", model, y[:n], y[n:], force)
        return np.array([*y[n:], *found], dtype=object)

    return list(rk4(rates, 0.0, np.array([*q, *qd], dtype=object), h))
