"""The time loop by the methods of law and plant: each is called for all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import RunningLaw, parameters, with_attributes
from tauforge.control.traceable_robot import kernel_stands_for
from tauforge.errors import ConvergenceError, UnsupportedFeatureError
from tauforge.evaluation.arguments import in_rows
from tauforge.evaluation.unmodified import own_methods
from tauforge.robots.capabilities import Fields
from tauforge.robots.formulations import WRENCH
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import StateSpace
from tauforge.simulation.disturbances import stage_times
from tauforge.simulation.integrators import ENDING_ERRORS, RAN_AWAY, ran_away, rk4
from tauforge.simulation.recording import METHODS
from tauforge.simulation.sensors import Actuation
from tauforge.simulation.task import RolloutTask

Acceleration = Callable[[Array, Array, Array, Array | None], Array]  # of positions, velocities, forces and wrenches
Wrench = Callable[[float, Array], Array | None]  # of the time since a step began, and of states
RatesUnder = Callable[[Array, Array, Array | None], Array]  # of states, forces and wrenches
NO_FORCES = "the actuator forces are not finite"
LOST_WRENCH = "the disturbance returned a non-finite wrench"


class MethodLoop:
    """All rows of a task from step to step. A state is that of the integrators.

    why:     there are no compiled steps
    reasons: why rows have no state any more, by their numbers
    """

    def __init__(self, task: RolloutTask, why: str = "") -> None:
        self.stepped_by = f"{METHODS}: {why}"
        plant, fields, rows = task.plant, task.plant_fields, task.rows
        self.task, self.plant, self.space, self.h = task, plant, plant.state_space, task.schedule.step
        self.rates, self.fields = rates_of(plant, fields, rows), in_rows(plant, fields, rows)
        self.reasons: dict[int, str] = {}
        self.actuation = Actuation(plant, task.sensing, task.limits, task.delay, task.position)
        self.m = len(plant.actuators)
        self._law: tuple[int, RunningLaw] | None = None  # and for how many rows

    def records(self, kept: Sequence[int], report: Callable[[float], None]) -> tuple[Array, Array, Array]:
        """By `CompiledLoop.records`."""
        task, schedule, plant, space = self.task, self.task.schedule, self.plant, self.space
        y = space.pack(task.position, task.velocity)
        rows, memory = np.arange(task.rows), [np.broadcast_to(x, (task.rows, x.shape[1])) for x in task.memory]
        widths = (plant.positions.size, plant.n, self.m if task.limits is None else 2 * self.m)
        position, velocity, force = (np.empty((task.rows, len(kept), width)) for width in widths)
        places = {k: place for place, k in enumerate(kept)}
        for k in range(schedule.periods + 1):
            (forces, memory), place = self.forces(k, y, rows, memory), places.get(k)
            if place is not None:
                position[:, place], velocity[:, place], force[:, place] = space.position(y), space.velocity(y), forces
            if k == schedule.periods:
                break
            for step in range(schedule.substeps):
                y = self.held(y, forces, k * schedule.substeps + step)
            report((k + 1) / schedule.periods)
        return position, velocity, force

    def forces(self, k: int, y: Array, rows: Array, memory: Sequence[Array]) -> tuple[Array, list[Array]]:
        """(N, m) at an instant; with limits followed by those wanted. And the memory of the next instant.

        A row for which the law has no answer is NaN and does not stop the others.

        rows:   whose states these are
        memory: of these rows at this instant, (N, numbers) each
        """
        one = len(rows) == 1
        if one or not self.task.gains:
            try:
                return self._answer(k, y, rows, memory)
            except ENDING_ERRORS as error:
                if one:
                    self.reasons.setdefault(int(rows[0]), error.reason)
                    return np.full((1, self.m if self.task.limits is None else 2 * self.m), np.nan), [*memory]
        each = [self.forces(k, y[i : i + 1], rows[i : i + 1], [x[i : i + 1] for x in memory]) for i in range(len(rows))]
        force, *known = (np.concatenate(parts) for parts in zip(*([x, *more] for x, more in each), strict=True))
        return force, known

    def _answer(self, k: int, y: Array, rows: Array, memory: Sequence[Array]) -> tuple[Array, list[Array]]:
        """By `forces`; gains are those of the first row."""
        task, target, added = self.task, self.task.target(k), self.task.added(k)
        if added is None or added.ndim > 1:
            added = 0.0 if added is None else added[rows]
        law = self._law_of(rows)
        own = len(memory) - len(self.actuation.memory)
        self.actuation.recall(memory[own:], rows)
        seen, asked = None, np.zeros((len(y), self.m))
        if law is not None and target is not None:
            law.recall(memory[:own])
            sensed = self.actuation.sensed(k, self.space.position(y), self.space.velocity(y), rows)
            seen = (task.schedule.period * k, *sensed, target)
            asked = np.where(np.isfinite(sensed[0]).all(axis=-1, keepdims=True), asked + law.force(*seen), np.nan)
        force, wanted = self.actuation.given(asked, added, rows)
        if law is not None and seen is not None:
            law.remember(*seen, force)
        known = [x.reshape(len(y), -1) for x in law.memory] if law is not None else []
        known += [x[rows] for x in self.actuation.memory]
        return force if task.limits is None else np.concatenate([force, wanted], axis=-1), known

    def _law_of(self, rows: Array) -> RunningLaw | None:
        law, gains = self.task.controller, self.task.gains
        if law is not None and gains:
            shapes = {name: value.shape for name, value in parameters(law).items()}
            own = {name: np.reshape(x, (-1, *shapes[name])) for name, x in gains.items()}
            return RunningLaw(with_attributes(law, {name: x[rows[0] % len(x)] for name, x in own.items()}), (1,))
        if law is not None and (self._law is None or self._law[0] != len(rows)):
            self._law = len(rows), RunningLaw(law, (len(rows),))
        return self._law and self._law[1]

    def held(self, y: Array, force: Array, step: int = 0) -> Array:
        """States after a step. step: its number in the run"""
        return self._noted(np.arange(len(y)), y, force[:, : self.m], self.rates, np.full(len(y), step))

    def some_held(self, rows: Array, y: Array, force: Array, steps: Array) -> Array:
        """States after a step of some rows alone; y, force, steps: theirs"""
        fields = {name: value[rows] for name, value in self.fields.items()}
        return self._noted(rows, y, force[:, : self.m], rates_of(self.plant, fields, len(rows)), steps)

    def _noted(self, rows: Array, y: Array, force: Array, rates: RatesUnder, steps: Array) -> Array:
        """After a step; notes a reason for every row that had a state and has none then, as if it ran away."""
        reached = self._stepped(rates, y, force, self._wrench(rows, steps))
        reached[ran_away(reached)] = np.nan
        for k in np.flatnonzero(~np.isfinite(reached).all(axis=-1) & np.isfinite(y).all(axis=-1)):
            self.reasons.setdefault(int(rows[k]), self._reason(int(rows[k]), y[k], force[k], int(steps[k])))
        return reached

    def _stepped(
        self, rates: RatesUnder, y: Array, force: Array, wrench: Callable[[float, Array], Array | None]
    ) -> Array:
        return self.space.renewed(rk4(lambda t, y: rates(y, force, wrench(t, y)), 0.0, y, self.h))

    def _wrench(self, rows: Array, steps: Array) -> Wrench:
        """The disturbance of these rows. steps: their numbers in the run"""
        push, times = self.task.disturbance, stage_times(self.h, steps)
        if push is None:
            return lambda *_: None

        def wrench(t: float, y: Array) -> Array:
            now = times[:, round(2 * t / self.h)]
            return push.of_rows(now, self.space.position(y), self.space.velocity(y), rows)

        return wrench

    def _reason(self, row: int, y: Array, force: Array, step: int) -> str:
        """Reason for which a row is lost: stepped alone, it raises the error."""
        if not np.isfinite(force).all():
            return NO_FORCES
        fields = {name: value[row] for name, value in self.fields.items()}
        of_row = self._wrench(np.array([row]), np.array([step]))

        def wrench(t: float, y: Array) -> Array | None:
            found = of_row(t, y[None])
            if found is not None and not np.isfinite(found).all():
                raise ConvergenceError(LOST_WRENCH, residual=np.nan, iterations=0)
            return None if found is None else found[0]

        try:
            self._stepped(lambda y, force, push: self.space.rates_under(y, force, push, fields), y, force, wrench)
        except ENDING_ERRORS as error:
            return error.reason
        except UnsupportedFeatureError:  # a plant whose fields vary in kernels alone
            pass
        return RAN_AWAY


def rates_of(plant: Robot, fields: Fields, rows: int) -> RatesUnder:
    """Time derivatives of all rows' states under forces."""
    space = plant.state_space
    if type(space).rates_under is not StateSpace.rates_under:  # its own way, which takes batches
        return lambda y, force, wrench: space.rates_under(y, force, wrench, fields)
    acceleration = accelerations(plant, fields, rows)
    return lambda y, force, wrench: space.rates(y, acceleration(space.position(y), space.velocity(y), force, wrench))


def accelerations(plant: Robot, fields: Fields, rows: int) -> Acceleration:
    """Forward dynamics of all rows. A row without an answer is NaN and does not stop the others."""
    if not kernel_stands_for(plant, "forward_dynamics"):
        return _row_by_row(plant, fields, rows)

    @cache
    def one_by_one() -> Acceleration:
        return _row_by_row(plant, fields, rows)

    def by_methods(*given: Any) -> Array:
        return one_by_one()(*given) if fields else _all_at_once(plant, one_by_one, *given)

    try:
        kernel = plant.kernel("forward_dynamics", varying=tuple(fields))
    except UnsupportedFeatureError:  # switched off, too large, no memory for code
        return by_methods
    values = tuple(fields.values())
    return lambda q, qd, force, wrench: (
        np.asarray(kernel(q, qd, force, *values)) if wrench is None else by_methods(q, qd, force, wrench)
    )


def _all_at_once(
    plant: Robot, one_by_one: Callable[[], Acceleration], q: Array, qd: Array, force: Array, wrench: Array | None
) -> Array:
    """By the plant's method for batches; row by row where a row without an answer stops the others."""
    try:
        return plant.forward_dynamics(q, qd, force, **_loads(wrench))
    except ENDING_ERRORS:
        return one_by_one()(q, qd, force, wrench)


def _loads(wrench: Array | None) -> dict[str, Any]:
    return {} if wrench is None else {WRENCH: wrench}


def plant_of_row(plant: Robot, fields: Fields, row: int) -> Robot:
    """fields: (N, *core) each"""
    if not fields:
        return plant
    if own_methods(plant):
        problem = f"{plant.name} has methods set on the instance, which its varied copies would lose"
        remedy = "Define the methods in a subclass, or simulate each row"
        raise UnsupportedFeatureError(problem, field="varying", remedy=remedy)
    return plant.replace(**{name: value[row] for name, value in fields.items()})


def _row_by_row(plant: Robot, fields: Fields, rows: int) -> Acceleration:
    """By the plant's own method, which need not know of batches; of a changed copy for each row where fields vary."""
    whole = in_rows(plant, fields, rows)
    plants = [plant_of_row(plant, whole, k) for k in range(rows)]

    def acceleration(q: Array, qd: Array, force: Array, wrench: Array | None) -> Array:
        result, given = np.full(q.shape, np.nan), [q, qd, force, *([] if wrench is None else [wrench])]
        for k, robot in enumerate(plants):
            if all(np.isfinite(x[k]).all() for x in given):
                with suppress(*ENDING_ERRORS):
                    loads = _loads(None if wrench is None else wrench[k])
                    result[k] = robot.forward_dynamics(q[k], qd[k], force[k], **loads)
        return result

    return acceleration
