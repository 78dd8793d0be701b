"""Gradients through rollouts on the processor: kernels of the steps and of the way back, for all rows at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.backends import NoKernelError, backend_of
from tauforge.simulation.compiled_steps import CompiledSteps
from tauforge.simulation.integrators import rk4_pulled_back
from tauforge.simulation.rollout_task import RolloutTask
from tauforge.simulation.rollouts import recorded
from tauforge.simulation.way_back import Bars

State = tuple[Array, Array, Array]  # positions, velocities and the forces that are held, (N, ...) each
STORED = 2**27  # numbers of states that are kept for the way back, 1 GiB; beyond, some are computed again


class ProcessorWayBack:
    """The steps, and the way back through them, by kernels of the processor."""

    def __init__(self, task: RolloutTask) -> None:
        self.task, formulas = task, task.formulas()
        self.gains, self.plant = tuple(task.gains.values()), tuple(task.plant_numbers.values())
        compile_ = backend_of("cpu").compile
        try:
            self.steps = CompiledSteps(formulas, self.gains, self.plant)
            self._acceleration = compile_(formulas.acceleration(), "float64")
            self._back = compile_(formulas.acceleration_pulled_back(), "float64")
            self._law_back = compile_(formulas.law_pulled_back(formulas.state | formulas.gains), "float64")
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
        rows, n, m = task.rows, task.plant.n, len(task.plant.actuators)
        by_position, by_velocity, by_force = (
            np.zeros_like(record) if bar is None else bar for bar, record in zip(bars, self.records, strict=True)
        )
        by_state = np.concatenate([by_position, by_velocity], axis=2)
        recorded_at = {k: place for place, k in enumerate(schedule.kept)}
        bar = np.zeros((rows, 2 * n))
        steered, moved = ([np.zeros((rows, *core)) for core in cores] for cores in (self.steering, self.moving))
        by_added = None if task.forces is None else np.zeros((rows, schedule.periods, m))
        segment: list[State] = []
        with np.errstate(all="ignore"):
            for k in range(schedule.periods, -1, -1):
                force_bar = np.zeros((rows, m))
                if k == schedule.periods:
                    state = self._checkpoint(k)
                else:
                    segment = segment or self._states(k)
                    state = segment.pop()
                    bar, force_bar = self._period_back(schedule.period * k, state, bar, moved)
                place = recorded_at.get(k)
                if place is not None:
                    force_bar = force_bar + by_force[:, place]
                if by_added is not None and k < schedule.periods:
                    by_added[:, k] = force_bar
                target = task.target(k)
                wanted = () if target is None else map(np.ascontiguousarray, target)
                by_q, by_qd, *by_gains = self._law_back(*state[:2], *wanted, *self.gains, force_bar)
                bar = bar + np.concatenate([by_q, by_qd], axis=1)
                add_to(steered, by_gains)
                if place is not None:
                    bar = bar + by_state[:, place]
        gains, plant = (
            dict(zip(names, found, strict=True))
            for names, found in ((task.gains, steered), (task.plant_numbers, moved))
        )
        return Bars(bar[:, :n], bar[:, n:], gains, plant, by_added)

    def _checkpoint(self, k: int) -> State:
        q, qd, force = (np.ascontiguousarray(x[:, self.places[k]]) for x in self.checkpoints)
        return q, qd, force

    def _states(self, last: int) -> list[State]:
        """States and forces from the checkpoint before an instant to that instant."""
        schedule, first = self.task.schedule, last // self.spacing * self.spacing
        q, qd, force = self._checkpoint(first)
        if first == last:
            return [(q, qd, force)]
        states: list[State] = []
        for k in range(first, last + 1):
            t = schedule.period * k
            new, rate, force = self.steps.controlled(t, q, qd, self.task.target(k), self.task.added(k))
            states.append((q, qd, force))
            q, qd = new, rate
            for i in range(1, schedule.substeps):
                q, qd = self.steps.held(t + i * schedule.step, q, qd, force)
        return states

    def _period_back(self, t: float, state: State, bar: Array, moved: list[Array]) -> tuple[Array, Array]:
        """From the gradient by the state after a period to those by the state before it and by the forces held.

        moved: gradients by the plant's numbers, which are added to
        """
        schedule, n = self.task.schedule, self.task.plant.n
        q, qd, force = state
        states = [(q, qd)]
        for i in range(1, schedule.substeps):
            states.append(self.steps.held(t + i * schedule.step, *states[-1], force))
        by_force = np.zeros_like(force)

        def rates(y: Array) -> Array:
            return np.concatenate([y[:, n:], self._acceleration(y[:, :n], y[:, n:], force, *self.plant)], axis=1)

        def pull_back(y: Array, slope: Array, rate_bar: Array) -> Array:
            by_q, by_qd, by_f, *by_plant = self._back(
                y[:, :n], y[:, n:], force, *self.plant, slope[:, n:], rate_bar[:, n:]
            )
            add_to([by_force, *moved], [by_f, *by_plant])
            return np.concatenate([by_q, rate_bar[:, :n] + by_qd], axis=1)

        for y in reversed(states):
            bar = rk4_pulled_back(rates, pull_back, np.concatenate(y, axis=1), schedule.step, bar)
        return bar, by_force


def add_to(totals: Sequence[Array], shares: Sequence[Array]) -> None:
    """In place."""
    for total, share in zip(totals, shares, strict=True):
        total += share


def spacing(task: RolloutTask, numbers: int) -> int:
    """Periods between checkpoints: 1 if the states of all instants are no more numbers than these, or kept anyway."""
    schedule, width = task.schedule, 2 * task.plant.n + len(task.plant.actuators)
    if schedule.every == 1 or task.rows * schedule.periods * width <= numbers:
        return 1
    return math.isqrt(schedule.periods)
