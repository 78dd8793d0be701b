"""Steps of all rows of a rollout: by kernels of law, dynamics and integrator, or by the methods of law and plant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.control.traceable_robot import kernel_stands_for
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.arguments import in_rows
from tauforge.evaluation.unmodified import own_methods
from tauforge.kernels.backends import backend_of
from tauforge.motion.motion import MotionSample
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import PlainState, StateSpace
from tauforge.simulation.integrators import AHEAD, ENDING_ERRORS, RAN_AWAY, rk4
from tauforge.simulation.step_formulas import StepFormulas

Fields = Mapping[str, Any]  # arrays by name
State = tuple[Array, ...]  # the parts of all rows' states, (N, ...) each
ONE_KERNEL_OPERATIONS = 10_000  # of a step that may leave rows to the plant: about a second to compile
Acceleration = Callable[[Array, Array, Array], Array]  # of positions, velocities and forces
RatesUnder = Callable[[Array, Array], Array]  # of states and forces
NO_FORCES = "the controller returned non-finite forces"


class Steps(Protocol):
    """All rows' states from step to step, from `start` on; `read` gives their positions and velocities.

    The forces of a step are new ones from the law, or those held.
    reasons: why rows have no state any more, by their numbers, where it is known
    """

    reasons: dict[int, str]

    def start(self, position: Array, velocity: Array) -> State: ...

    def read(self, state: State) -> tuple[Array, Array]: ...

    def controlled(
        self, t: float, state: State, target: MotionSample | None, added: Array | None
    ) -> tuple[State, Array]: ...

    def held(self, t: float, state: State, force: Array) -> State: ...


class KernelSteps:
    """Base of steps by kernels: the state of all rows as the parts that kernels take."""

    def __init__(self, formulas: StepFormulas, plant: Robot, gains: Sequence[Array], fields: Sequence[Array]) -> None:
        self.gains, self.fields, self.space = gains, fields, plant.state_space
        self.parts, self.targets = len(formulas.state), len(formulas.targets)
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

    def prescribed(self, t: float, target: MotionSample) -> list[Array]:
        """The target, and the time if the law looks at it."""
        return [*map(np.ascontiguousarray, target), np.array(t)][: self.targets]

    def _asked(self, t: float, target: MotionSample | None, added: Array | None) -> list[Array]:
        """Arguments of the law besides the state."""
        wanted = [] if target is None else self.prescribed(t, target)
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
        found = self._first(*state, *self._asked(t, target, added), *self.fields)
        return found[: self.parts], found[-1] if self.actuators else np.zeros((len(state[0]), 0))

    def held(self, t: float, state: State, force: Array) -> State:
        found: State = self._later(*state, *([force] if self.actuators else []), *self.fields)
        return found


class StagedSteps(KernelSteps):
    """Steps of all rows by three kernels: of the law, of a stage of Runge-Kutta, and of the end of a step.

    They have a fifth of the operations and take a fifth of the time to compile.
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
            force = self._law(*state, *self._asked(t, target, added))
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


class BatchSteps:
    """The law and the dynamics one after the other, each for all rows at once. The state is that of the integrators.

    fields:  of the plant, (N, *core) or (*core) each
    reasons: why rows have no state any more, by their numbers
    """

    def __init__(self, controller: Controller | None, plant: Robot, fields: Fields, rows: int, h: float) -> None:
        self.controller, self.plant, self.space, self.h = controller, plant, plant.state_space, h
        self.rates, self.fields = rates_of(plant, fields, rows), in_rows(plant, fields, rows)
        self.reasons: dict[int, str] = {}

    def start(self, position: Array, velocity: Array) -> State:
        return (self.space.pack(position, velocity),)

    def read(self, state: State) -> tuple[Array, Array]:
        return self.space.position(state[0]), self.space.velocity(state[0])

    def controlled(
        self, t: float, state: State, target: MotionSample | None, added: Array | None
    ) -> tuple[State, Array]:
        force = np.zeros((len(state[0]), len(self.plant.actuators)))
        if self.controller is not None and target is not None:
            force = force + self.controller.force(t, *self.read(state), target)
        if added is not None:
            force = force + added
        return self.held(t, state, force), force

    def held(self, t: float, state: State, force: Array) -> State:
        (y,) = state
        reached = self._stepped(self.rates, y, force)
        self._note(np.arange(len(y)), y, force, reached)
        return (reached,)

    def some_held(self, rows: Array, y: Array, force: Array) -> Array:
        """States after a step of some rows alone; y, force: theirs"""
        fields = {name: value[rows] for name, value in self.fields.items()}
        reached = self._stepped(rates_of(self.plant, fields, len(rows)), y, force)
        self._note(rows, y, force, reached)
        return reached

    def _stepped(self, rates: RatesUnder, y: Array, force: Array) -> Array:
        return self.space.renewed(rk4(lambda _, y: rates(y, force), 0.0, y, self.h))

    def _note(self, rows: Array, y: Array, force: Array, reached: Array) -> None:
        """Note a reason for every row that had a state and has none after the step."""
        if np.isfinite(reached).all():
            return
        for k in np.flatnonzero(~np.isfinite(reached).all(axis=-1) & np.isfinite(y).all(axis=-1)):
            self.reasons.setdefault(int(rows[k]), self._reason(int(rows[k]), y[k], force[k]))

    def _reason(self, row: int, y: Array, force: Array) -> str:
        """Reason for which a row is lost: stepped alone, it raises the error."""
        if not np.isfinite(force).all():
            return NO_FORCES
        fields = {name: value[row] for name, value in self.fields.items()}
        try:
            self._stepped(lambda y, force: self.space.rates_under(y, force, fields=fields), y, force)
        except ENDING_ERRORS as error:
            return error.reason
        except UnsupportedFeatureError:  # a plant whose fields vary in kernels alone
            pass
        return RAN_AWAY


def rates_of(plant: Robot, fields: Fields, rows: int) -> RatesUnder:
    """Time derivatives of all rows' states under forces."""
    space = plant.state_space
    if type(space).rates_under is not StateSpace.rates_under:  # its own way, which takes batches
        return lambda y, force: space.rates_under(y, force, fields=fields)
    acceleration = accelerations(plant, fields, rows)
    return lambda y, force: space.rates(y, acceleration(space.position(y), space.velocity(y), force))


def accelerations(plant: Robot, fields: Fields, rows: int) -> Acceleration:
    """Forward dynamics of all rows. A row without an answer is NaN and does not stop the others."""
    if not kernel_stands_for(plant, "forward_dynamics"):
        return _row_by_row(plant, fields, rows)
    try:
        kernel = plant.kernel("forward_dynamics", varying=tuple(fields))
    except UnsupportedFeatureError:  # switched off, too large, no memory for code
        return _row_by_row(plant, fields, rows) if fields else _all_at_once(plant, rows)
    values = tuple(fields.values())
    return lambda q, qd, force: np.asarray(kernel(q, qd, force, *values))


def _all_at_once(plant: Robot, rows: int) -> Acceleration:
    """By the plant's method for batches; row by row where a row without an answer stops the others."""
    one_by_one = _row_by_row(plant, {}, rows)

    def acceleration(q: Array, qd: Array, force: Array) -> Array:
        try:
            return plant.forward_dynamics(q, qd, force)
        except ENDING_ERRORS:
            return one_by_one(q, qd, force)

    return acceleration


def _row_by_row(plant: Robot, fields: Fields, rows: int) -> Acceleration:
    """By the plant's own method, which need not know of batches; of a changed copy for each row where fields vary."""
    plants = [plant] * rows
    if fields:
        if own_methods(plant):
            problem = f"{plant.name} has methods set on the instance, which its varied copies would lose"
            remedy = "Define the methods in a subclass, or simulate each row"
            raise UnsupportedFeatureError(problem, field="varying", remedy=remedy)
        whole = in_rows(plant, fields, rows)
        plants = [plant.replace(**{name: value[k] for name, value in whole.items()}) for k in range(rows)]

    def acceleration(q: Array, qd: Array, force: Array) -> Array:
        result = np.full(q.shape, np.nan)
        for k, robot in enumerate(plants):
            if all(np.isfinite(x[k]).all() for x in (q, qd, force)):
                with suppress(*ENDING_ERRORS):
                    result[k] = robot.forward_dynamics(q[k], qd[k], force[k])
        return result

    return acceleration


class WatchedSteps:
    """Steps by kernels, after which `own` repeats the step for rows that a kernel refused: these are NaN."""

    def __init__(self, compiled: CompiledSteps | StagedSteps, own: BatchSteps) -> None:
        self.compiled, self.own, self.reasons = compiled, own, own.reasons
        self.start, self.read = compiled.start, compiled.read

    def controlled(
        self, t: float, state: State, target: MotionSample | None, added: Array | None
    ) -> tuple[State, Array]:
        reached, force = self.compiled.controlled(t, state, target, added)
        return self._mended(state, force, reached), force

    def held(self, t: float, state: State, force: Array) -> State:
        return self._mended(state, force, self.compiled.held(t, state, force))

    def _mended(self, before: State, force: Array, reached: State) -> State:
        refused = np.isnan(reached[0][:, 0])
        if not refused.any():
            return reached
        rows = np.flatnonzero(refused)
        y = np.concatenate([part[rows] for part in before], axis=-1)
        alive = np.isfinite(y).all(axis=-1)
        if alive.any():
            rows = rows[alive]
            found = self.own.some_held(rows, y[alive], force[rows])
            for part, better in zip(reached, self.compiled.parted(found), strict=True):
                part[rows] = better
        return reached
