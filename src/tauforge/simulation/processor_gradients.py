"""Gradients through rollouts on the processor: kernels of the steps and of the way back, for all rows at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.backends import NoKernelError, backend_of
from tauforge.simulation.compiled_steps import State
from tauforge.simulation.rollout_task import RolloutTask
from tauforge.simulation.rollouts import compiled_steps, recorded
from tauforge.simulation.steps_back import FormulaStepsBack, PlainStepsBack, StepsBack, add_to
from tauforge.simulation.way_back import Bars

Instant = tuple[State, Array]  # the state, and the forces that are held from then on
STORED = 2**27  # numbers of states that are kept for the way back, 1 GiB; beyond, some are computed again


class ProcessorWayBack:
    """The steps, and the way back through them, by kernels of the processor.

    Rows that these kernels leave to the plant's own methods are NaN.
    """

    def __init__(self, task: RolloutTask) -> None:
        self.task, formulas = task, task.formulas(alone=True)
        self.gains, numbers = tuple(task.gains.values()), tuple(task.plant_numbers.values())
        try:
            self.steps = compiled_steps(task, formulas)
            self.back: StepsBack
            if task.may_refuse:
                self.back = FormulaStepsBack(formulas, task.plant, numbers, self.steps)
            else:
                self.back = PlainStepsBack(formulas, task.plant, numbers)
            self._law_back = None
            if formulas.targets:
                law_back = formulas.law_pulled_back(formulas.state | formulas.gains)
                self._law_back = backend_of("cpu").compile(law_back, "float64")
        except NoKernelError as error:
            raise UnsupportedFeatureError(f"gradients need compiled kernels: {error}", field="rollout") from None
        self.steering, self.moving = tuple(formulas.gains.values()), tuple(formulas.fields.values())
        periods = task.schedule.periods
        self.spacing = spacing(task, STORED)
        kept = sorted({*range(0, periods, self.spacing), *task.schedule.kept})
        self.places = {k: place for place, k in enumerate(kept)}
        self.checkpoints = recorded(task, self.steps, kept, lambda _: None)
        wanted = [self.places[k] for k in task.schedule.kept]
        position, velocity, force = (x[:, wanted] for x in self.checkpoints)  # copies: the user may change them
        self.records = position, velocity, force

    def swept(self, bars: Sequence[Array | None]) -> Bars:
        """By `WayBack`."""
        task, schedule = self.task, self.task.schedule
        rows, m = task.rows, len(task.plant.actuators)
        by_position, by_velocity, by_force = (
            np.zeros_like(record) if bar is None else bar for bar, record in zip(bars, self.records, strict=True)
        )
        recorded_at = {k: place for place, k in enumerate(schedule.kept)}
        bar = np.zeros((1, 1))
        steered, moved = ([np.zeros((rows, *core)) for core in cores] for cores in (self.steering, self.moving))
        by_added = None if task.forces is None else np.zeros((rows, schedule.periods, m))
        segment: list[Instant] = []
        with np.errstate(all="ignore"):
            for k in range(schedule.periods, -1, -1):
                force_bar = np.zeros((rows, m))
                if k == schedule.periods:
                    state, force = self._checkpoint(k)
                else:
                    segment = segment or self._states(k)
                    state, force = segment.pop()
                    bar = self._period_back(schedule.period * k, state, force, bar, [force_bar, *moved])
                place = recorded_at.get(k)
                if place is not None:
                    force_bar = force_bar + by_force[:, place]
                if by_added is not None and k < schedule.periods:
                    by_added[:, k] = force_bar
                target = task.target(k)
                if self._law_back is not None and target is not None:
                    wanted = map(np.ascontiguousarray, target)
                    found = self._law_back(*state, *wanted, *self.gains, force_bar)
                    bar = bar + np.concatenate(found[: len(state)], axis=1)
                    add_to(steered, found[len(state) :])
                if place is not None:
                    y = np.concatenate(state, axis=1)
                    bar = bar + self.back.record(y, by_position[:, place], by_velocity[:, place])
            first = self.back.start(task.position, task.velocity, bar)
        gains, plant = (
            dict(zip(names, found, strict=True))
            for names, found in ((task.gains, steered), (task.plant_numbers, moved))
        )
        return Bars(*first, gains, plant, by_added)

    def _checkpoint(self, k: int) -> Instant:
        q, qd, force = (np.ascontiguousarray(x[:, self.places[k]]) for x in self.checkpoints)
        return self.steps.start(q, qd), force

    def _states(self, last: int) -> list[Instant]:
        """States and forces from the checkpoint before an instant to that instant."""
        schedule, first = self.task.schedule, last // self.spacing * self.spacing
        state, force = self._checkpoint(first)
        if first == last:
            return [(state, force)]
        states: list[Instant] = []
        for k in range(first, last + 1):
            t = schedule.period * k
            reached, force = self.steps.controlled(t, state, self.task.target(k), self.task.added(k))
            states.append((state, force))
            state = reached
            for i in range(1, schedule.substeps):
                state = self.steps.held(t + i * schedule.step, state, force)
        return states

    def _period_back(self, t: float, state: State, force: Array, bar: Array, totals: Sequence[Array]) -> Array:
        """From the gradient by the state after a period to that by the state before it.

        totals: gradients by the forces that are held and by the plant's numbers, which are added to
        """
        schedule = self.task.schedule
        states: list[State] = [state]
        for i in range(1, schedule.substeps):
            states.append(self.steps.held(t + i * schedule.step, states[-1], force))
        for before in reversed(states):
            bar = self.back.step(np.concatenate(before, axis=1), force, bar, totals)
        return bar


def spacing(task: RolloutTask, numbers: int) -> int:
    """Periods between checkpoints: 1 if the states of all instants are no more numbers than these, or kept anyway."""
    plant = task.plant
    schedule, width = task.schedule, plant.positions.size + plant.n + len(plant.actuators)
    if schedule.every == 1 or task.rows * schedule.periods * width <= numbers:
        return 1
    return math.isqrt(schedule.periods)
