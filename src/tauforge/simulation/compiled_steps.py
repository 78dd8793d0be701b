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
from tauforge.evaluation.unmodified import is_unmodified, method_is_ours, own_methods
from tauforge.kernels.backends import backend_of
from tauforge.motion.motion import MotionSample
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import PlainState
from tauforge.simulation.integrators import AHEAD
from tauforge.simulation.step_formulas import StepFormulas

Fields = Mapping[str, Any]  # arrays by name
State = tuple[Array, ...]  # the parts of all rows' states, (N, ...) each
EVALUATING = ("_answer_call", "_sorted", "_answer", "kernel")  # the way from a method of dynamics to its formula
WHOLE = 10_000  # operations of a step that may leave rows to the plant, in one kernel: about a second to compile


def kernel_stands_for(robot: Robot, *methods: str) -> bool:
    """Whether these methods of the robot do what the formula in its table says."""
    written = all(method_is_ours(type(robot), name) for name in (*methods, *EVALUATING))
    return written and not own_methods(robot)


def can_compile(controller: Controller | None, plant: Robot) -> bool:
    """Whether class and arrays tell all about the law, and formulas all about its model and the plant."""
    space = plant.state_space
    if space.formulas is None or not method_is_ours(type(space), "rates_under"):
        return False
    if not kernel_stands_for(plant, "forward_dynamics"):
        return False
    if controller is None:
        return True
    if not (is_unmodified(controller) and controller.compiles):
        return False
    gains = {name: value for name, value in vars(controller).items() if name != "robot"}
    if not all(type(gain) is np.ndarray and gain.dtype == np.float64 for gain in gains.values()):
        return False
    model = controller.robot
    return model.state_space.formulas is not None and kernel_stands_for(model, "inverse_dynamics")


class KernelSteps:
    """What steps by kernels have in common: the state of all rows as the parts that kernels take."""

    def __init__(self, formulas: StepFormulas, plant: Robot, gains: Sequence[Array], fields: Sequence[Array]) -> None:
        self.gains, self.fields, self.space = gains, fields, plant.state_space
        self.parts = len(formulas.state)
        self.ends = np.cumsum([numbers for (numbers,) in formulas.state.values()])[:-1]
        self.actuators, self.takes_added = len(plant.actuators), bool(formulas.added)
        self.reasons: dict[int, str] = {}

    def start(self, position: Array, velocity: Array) -> State:
        if type(self.space) is PlainState:
            return position, velocity
        return self.parted(self.space.pack(position, velocity))

    def parted(self, y: Array) -> State:
        return tuple(map(np.ascontiguousarray, np.split(y, self.ends, axis=-1)))

    def read(self, state: State) -> tuple[Array, Array]:
        if type(self.space) is PlainState:
            return state[0], state[1]
        y = np.concatenate(state, axis=-1)
        return self.space.position(y), self.space.velocity(y)

    def _asked(self, target: MotionSample | None, added: Array | None) -> list[Array]:
        """What the law takes besides the state."""
        wanted = [] if target is None else [np.ascontiguousarray(x) for x in target]
        return [*wanted, *([added] if added is not None and self.takes_added else []), *self.gains]


class CompiledSteps(KernelSteps):
    """Steps of all rows by two kernels: one that asks the law, one that holds its forces.

    gains, fields: an array for each that `formulas` takes
    NoKernelError where there is no machine code to be had: too many operations, no memory for it, or a method of the
    user's own.
    """

    def __init__(self, formulas: StepFormulas, plant: Robot, gains: Sequence[Array], fields: Sequence[Array]) -> None:
        super().__init__(formulas, plant, gains, fields)
        compile_ = backend_of("cpu").compile
        self._first = compile_(formulas.controlled_step(), "float64")
        self._later = compile_(formulas.held_step(), "float64")

    def controlled(
        self, t: float, state: State, target: MotionSample | None, added: Array | None
    ) -> tuple[State, Array]:
        found = self._first(*state, *self._asked(target, added), *self.fields)
        return found[: self.parts], found[-1] if self.actuators else np.zeros((len(state[0]), 0))

    def held(self, t: float, state: State, force: Array) -> State:
        found: State = self._later(*state, *([force] if self.actuators else []), *self.fields)
        return found


class StagedSteps(KernelSteps):
    """The same by a kernel of the law, one of a stage of Runge-Kutta and one of the end of a step.

    They have a fifth of the operations, which are compiled in a fifth of the time.
    """

    def __init__(self, formulas: StepFormulas, plant: Robot, gains: Sequence[Array], fields: Sequence[Array]) -> None:
        super().__init__(formulas, plant, gains, fields)
        compile_ = backend_of("cpu").compile
        self._law = compile_(formulas.law(), "float64") if formulas.targets else None
        self._stage = compile_(formulas.stage(), "float64")
        self._end = compile_(formulas.end(), "float64")
        self.ahead = [np.array(ahead * formulas.h) for ahead in (0.0, *AHEAD)]

    def controlled(
        self, t: float, state: State, target: MotionSample | None, added: Array | None
    ) -> tuple[State, Array]:
        if self._law is not None:
            force = self._law(*state, *self._asked(target, added))
        else:
            force = np.zeros((len(state[0]), self.actuators)) + (0.0 if added is None else added)
        return self.held(t, state, force), force

    def held(self, t: float, state: State, force: Array) -> State:
        forces = [force] if self.actuators else []
        rates: State = tuple(np.zeros(part.shape[-1]) for part in state)
        stages: list[Array] = []
        for ahead in self.ahead:
            rates = self._stage(*state, *rates, ahead, *forces, *self.fields)
            stages += rates
        found: State = self._end(*state, *stages)
        return found
