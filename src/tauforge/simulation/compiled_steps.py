"""Controller, dynamics and Runge-Kutta step of a robot traced together into one kernel.

Only laws of exactly our own classes are compiled (`can_compile`), and only for robots whose methods, as far as laws
call them, are those of the contract: a kernel does not see a method of a user's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.kernels.backends import backend_of
from tauforge.motion.motion import MotionSample
from tauforge.robots.own_classes import has_own_methods, is_as_written, method_is_as_written
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import PlainState
from tauforge.simulation.step_formulas import StepFormulas

Fields = Mapping[str, Any]  # arrays by name
EVALUATING = ("_by_position", "_evaluate", "kernel")  # the way from a method of dynamics to its formula
ACCELERATING = ("state_rates", "accelerations", "forward_dynamics")  # the methods by which `simulate` asks a plant


def kernel_stands_for(robot: Robot, *methods: str) -> bool:
    """Whether these methods of the robot do what the formula in its table says."""
    written = all(method_is_as_written(type(robot), name) for name in (*methods, *EVALUATING))
    return written and not has_own_methods(robot)


def can_compile(controller: Controller | None, plant: Robot) -> bool:
    """Whether class and arrays tell all about the law, and formulas all about its model and the plant."""
    if not (_is_plain(plant) and kernel_stands_for(plant, *ACCELERATING)):
        return False
    if controller is None:
        return True
    if not (is_as_written(controller) and controller.compiles):
        return False
    gains = {name: value for name, value in vars(controller).items() if name != "robot"}
    if not all(type(gain) is np.ndarray and gain.dtype == np.float64 for gain in gains.values()):
        return False
    return _is_plain(controller.robot) and kernel_stands_for(controller.robot, "inverse_dynamics")


def _is_plain(robot: Robot) -> bool:
    """Whether the state is position and velocity, and errors are differences."""
    return type(robot.state_space) is PlainState and not any(coordinate.wraps for coordinate in robot.coordinates)


class CompiledSteps:
    """Steps of all rows by two kernels: one that asks the law, one that holds its forces.

    gains, fields: an array for each that `formulas` takes
    NoKernelError where there is no machine code to be had: too many operations, no memory for it, or a method of the
    user's own.
    """

    def __init__(self, formulas: StepFormulas, gains: Sequence[Array], fields: Sequence[Array]) -> None:
        self.gains, self.fields = gains, fields
        compile_ = backend_of("cpu").compile
        self._first = compile_(formulas.controlled_step(), "float64")
        self._later = compile_(formulas.held_step(), "float64")

    def controlled(
        self, t: float, q: Array, qd: Array, target: MotionSample | None, added: Array | None
    ) -> tuple[Array, Array, Array]:
        wanted = () if target is None else map(np.ascontiguousarray, target)
        more = () if added is None else (added,)
        q, qd, force = self._first(q, qd, *wanted, *more, *self.gains, *self.fields)
        return q, qd, force

    def held(self, t: float, q: Array, qd: Array, force: Array) -> tuple[Array, Array]:
        q, qd = self._later(q, qd, force, *self.fields)
        return q, qd
