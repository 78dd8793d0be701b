"""One step of computed torque as a specification: the law's own source, recorded over scalars.

The gains are arguments, one of each for every coordinate, so that a controller can be tuned without a new export.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.control.computed_torque import ComputedTorque
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.functions import choices, flat, results_of
from tauforge.export.extra_arguments import NOTHING, Extra, by_formula, random_values
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.specification import Shape, Specification
from tauforge.motion.motion import MotionSample
from tauforge.robots.robot import Robot
from tauforge.simulation.any_scalar_robot import AnyScalarRobot
from tauforge.simulation.step_formulas import NO_TIME
from tauforge.tracing.graph import Graph, trace

COMPUTED_TORQUE = "computed_torque"
KP, KV = 100.0, 20.0  # gains of the reference vectors


class _Loaded:
    """A robot whose forces have loads and varying fields; everything else is asked of the robot itself."""

    def __init__(self, robot: object, forces: Callable[[Array, Array, Array], Array]) -> None:
        self._robot, self.forces_without_raising = robot, forces

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)


def computed_torque(robot: Robot, extra: Extra = NOTHING) -> Specification:
    """(position, velocity, target position, velocity and acceleration, kp, kv, loads, fields) -> forces.

    ModelError where the law does not take the robot, UnsupportedFeatureError where it cannot be recorded.
    """
    law: Any = _law(robot)
    function = robot.functions["inverse_dynamics"]
    n, state = robot.n, [argument.name for argument in function.arguments]
    names = [*state[:2], *(f"{name}_target" for name in state), "kp", "kv"]
    arguments: list[tuple[str, Shape]] = [(name, (n,)) for name in names]
    arguments += [(load, (function.argument(load).numbers,)) for load in extra.loads]
    arguments += [(field, robot.varying_fields[field]) for field in extra.varying]

    def step(*columns: list[Scalar]) -> list[Scalar]:
        position, velocity, *target, kp, kv = (np.array(x, dtype=object) for x in columns[: len(names)])
        given = dict(zip((*extra.loads, *extra.varying), columns[len(names) :], strict=True))
        law.robot, law.kp, law.kv = _recorded(robot, extra, given), np.diag(kp), np.diag(kv)
        return list(law.force(NO_TIME, position, velocity, MotionSample(*target)))

    def make_graph() -> Graph:
        try:
            return trace(step, {name: math.prod(core) for name, core in arguments})
        except NoKernelError as error:
            raise UnsupportedFeatureError(f"{COMPUTED_TORQUE}: {error}", field="functions") from None

    results = ((len(robot.actuators),),)
    return Specification(COMPUTED_TORQUE, "one step of computed torque", make_graph, tuple(arguments), results, None)


def _recorded(robot: Robot, extra: Extra, given: dict[str, list[Scalar]]) -> AnyScalarRobot | _Loaded:
    """The robot for scalars of any kind, with these loads and fields."""
    plain = AnyScalarRobot(robot)
    if not given:
        return plain
    function = robot.functions["inverse_dynamics"]
    for method in ("forces_without_raising", "inverse_dynamics"):
        getattr(plain, method)  # NoKernelError where the robot's class has its own
    model = robot.varied_model({field: given[field] for field in extra.varying}) if extra.varying else robot.model
    more = {**{load: given[load] for load in extra.loads}, **choices(function.options)[0]}

    def forces(*state: Array) -> Array:
        named = {argument.name: list(x) for argument, x in zip(function.arguments, state, strict=True)}
        return np.array(flat(results_of(function.formula(model, **named, **more))), dtype=object)

    return _Loaded(plain, forces)


def random_arguments(robot: Robot, extra: Extra, count: int, seed: int = 0) -> list[Array]:
    """Targets near the state, (count, n) each, the gains, and the arguments of `extra`."""
    states, others = robot.random_states(count, seed), robot.random_states(count, seed + 1)
    gains = [np.full((count, robot.n), gain) for gain in (KP, KV)]
    more = random_values(robot, robot.functions["inverse_dynamics"], extra, count, seed)
    return [*states[:2], states[0] + 0.01 * others[1], others[1], others[2], *gains, *more]


def reference(robot: Robot, extra: Extra, arguments: Sequence[Array]) -> tuple[Array]:
    """The law itself, all rows at once; the gains are those of `random_arguments`."""
    law: Any = _law(robot)
    position, velocity, *target = (x.astype(float) for x in arguments[:5])
    more = [x.astype(float) for x in arguments[7:]]
    if more:
        law.robot = _Loaded(robot, partial(_forces, robot, extra, more))
    return (law.force(NO_TIME, position, velocity, MotionSample(*target)),)


def _forces(robot: Robot, extra: Extra, more: list[Array], *state: Array) -> Array:
    (forces,) = by_formula(robot, "inverse_dynamics", extra, [*state, *more])
    return np.asarray(forces)


def _law(robot: Robot) -> ComputedTorque:
    robot.check_function("inverse_dynamics")
    if robot.position_size != robot.n:
        raise UnsupportedFeatureError(
            f"{robot.name} has positions with more entries than coordinates, which the law does not complete",
            field=COMPUTED_TORQUE,
            remedy="Write inverse_dynamics, and the law around it",
        )
    return ComputedTorque(robot, KP, KV)
