"""Steps of all rows by the methods of the law and of the plant, and why rows come to an end.

Rows that kernels refuse are stepped so, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.arguments import in_rows
from tauforge.evaluation.unmodified import own_methods
from tauforge.motion.motion import MotionSample
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import StateSpace
from tauforge.simulation.compiled_steps import CompiledSteps, StagedSteps, State, kernel_stands_for
from tauforge.simulation.integrators import LOST, RAN_AWAY, rk4

Fields = Mapping[str, Array]
Acceleration = Callable[[Array, Array, Array], Array]  # of positions, velocities and forces
RatesUnder = Callable[[Array, Array], Array]  # of states and forces
NO_FORCES = "the controller returned non-finite forces"


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
        """Why rows that had a state have none after the step."""
        if np.isfinite(reached).all():
            return
        for k in np.flatnonzero(~np.isfinite(reached).all(axis=-1) & np.isfinite(y).all(axis=-1)):
            self.reasons.setdefault(int(rows[k]), self._reason(int(rows[k]), y[k], force[k]))

    def _reason(self, row: int, y: Array, force: Array) -> str:
        """Alone a row raises what it is lost by."""
        if not np.isfinite(force).all():
            return NO_FORCES
        fields = {name: value[row] for name, value in self.fields.items()}
        try:
            self._stepped(lambda y, force: self.space.rates_under(y, force, fields=fields), y, force)
        except LOST as error:
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
        except LOST:
            return one_by_one(q, qd, force)

    return acceleration


def _row_by_row(plant: Robot, fields: Fields, rows: int) -> Acceleration:
    """By the plant's own method, which need not know of batches; of a changed copy for each row where fields vary."""
    plants = [plant] * rows
    if fields:
        if own_methods(plant):
            raise UnsupportedFeatureError(
                f"{plant.name} has methods set on the instance, which its varied copies would lose",
                field="varying",
                remedy="Define the methods in a subclass, or simulate each row",
            )
        whole = in_rows(plant, fields, rows)
        plants = [plant.replace(**{name: value[k] for name, value in whole.items()}) for k in range(rows)]

    def acceleration(q: Array, qd: Array, force: Array) -> Array:
        result = np.full(q.shape, np.nan)
        for k, robot in enumerate(plants):
            if all(np.isfinite(x[k]).all() for x in (q, qd, force)):
                with suppress(*LOST):
                    result[k] = robot.forward_dynamics(q[k], qd[k], force[k])
        return result

    return acceleration


class WatchedSteps:
    """A row that a kernel refuses is NaN after it. It is stepped again by `own`, from the state before."""

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
