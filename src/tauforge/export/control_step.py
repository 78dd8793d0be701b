"""One step of computed torque as a specification: the law's own source, recorded over scalars.

The gains are arguments, one of each for every coordinate, so that a controller can be tuned without a new export.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.control.computed_torque import ComputedTorque
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.specification import Specification
from tauforge.motion.motion import MotionSample
from tauforge.robots.robot import Robot
from tauforge.simulation.any_scalar_robot import AnyScalarRobot
from tauforge.simulation.step_formulas import NO_TIME
from tauforge.tracing.graph import Graph, trace

COMPUTED_TORQUE = "computed_torque"
KP, KV = 100.0, 20.0  # gains of the reference vectors


def computed_torque(robot: Robot) -> Specification:
    """(position, velocity, target position, velocity and acceleration, kp, kv) -> forces.

    ModelError where the law does not take the robot, UnsupportedFeatureError where it cannot be recorded.
    """
    law: Any = _law(robot)
    n, state = robot.n, [argument.name for argument in robot.functions["inverse_dynamics"].arguments]
    names = [*state[:2], *(f"{name}_target" for name in state), "kp", "kv"]
    arguments = tuple((name, (n,)) for name in names)

    def step(*columns: list[Scalar]) -> list[Scalar]:
        position, velocity, *target, kp, kv = (np.array(x, dtype=object) for x in columns)
        law.robot, law.kp, law.kv = AnyScalarRobot(robot), np.diag(kp), np.diag(kv)
        return list(law.force(NO_TIME, position, velocity, MotionSample(*target)))

    def make_graph() -> Graph:
        try:
            return trace(step, {name: math.prod(core) for name, core in arguments})
        except NoKernelError as error:
            raise UnsupportedFeatureError(f"{COMPUTED_TORQUE}: {error}", field="functions") from None

    results = ((len(robot.actuators),),)
    return Specification(COMPUTED_TORQUE, "one step of computed torque", make_graph, arguments, results, None)


def random_arguments(robot: Robot, count: int, seed: int = 0) -> list[Array]:
    """Targets near the state, (count, n) each, and the gains."""
    states, others = robot.random_states(count, seed), robot.random_states(count, seed + 1)
    gains = [np.full((count, robot.n), gain) for gain in (KP, KV)]
    return [*states[:2], states[0] + 0.01 * others[1], others[1], others[2], *gains]


def reference(robot: Robot, arguments: list[Array]) -> Array:
    """The law itself, row after row; the gains are those of `random_arguments`."""
    law = _law(robot)
    rows = zip(*(x.astype(float) for x in arguments[:5]), strict=True)
    return np.array([law.force(NO_TIME, q, qd, MotionSample(*target)) for q, qd, *target in rows])


def applies(robot: Robot) -> bool:
    """Whether the law takes the robot."""
    try:
        _law(robot)
    except ModelError:
        return False
    return True


def _law(robot: Robot) -> ComputedTorque:
    robot.check_function("inverse_dynamics")
    return ComputedTorque(robot, KP, KV)
