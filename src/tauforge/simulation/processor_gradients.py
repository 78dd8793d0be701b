"""Gradients through rollouts on the processor: kernels of the steps and of the way back, for all rows at once."""

from __future__ import annotations

import math

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.backends import NoKernelError, backend_of
from tauforge.simulation.compiled_steps import CompiledSteps
from tauforge.simulation.integrators import rk4_pulled_back
from tauforge.simulation.rollout_task import RolloutTask
from tauforge.simulation.rollouts import recorded
from tauforge.simulation.way_back import Bars

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
            self._law_back = compile_(formulas.law_pulled_back(), "float64")
        except NoKernelError as error:
            raise UnsupportedFeatureError(f"gradients need compiled kernels: {error}", field="rollout") from None
        self.cores = [tuple(formulas.gains.values()), tuple(formulas.fields.values())]
        self.checkpoints: tuple[Array, Array, Array] = ()  # type: ignore[assignment]

    def records(self) -> tuple[Array, Array, Array]:
        """Positions, velocities and forces at the instants to record; the checkpoints are kept."""
        task, periods = self.task, self.task.schedule.periods
        self.spacing = spacing(task, STORED)
        kept = sorted({*range(0, periods, self.spacing), *task.schedule.kept})
        found = recorded(task, self.steps, kept, lambda _: None)
        self.places = {k: place for place, k in enumerate(kept)}
        self.checkpoints = found
        wanted = [self.places[k] for k in task.schedule.kept]
        parts = [x if len(wanted) == len(kept) else x[:, wanted] for x in found]
        return parts[0], parts[1], parts[2]

    def swept(self, bars: list[Array]) -> Bars:
        task, schedule = self.task, self.task.schedule
        rows, n, m = task.rows, task.plant.n, len(task.plant.actuators)
        recorded_at = {k: place for place, k in enumerate(schedule.kept)}
        bar = np.zeros((rows, 2 * n))
        self._moved = [np.zeros((rows, *core)) for core in self.cores[1]]
        steered = [np.zeros((rows, *core)) for core in self.cores[0]]
        by_forces = None if task.forces is None else np.zeros((rows, schedule.periods, m))
        segment: list[tuple[Array, Array, Array]] = []
        with np.errstate(all="ignore"):
            for k in range(schedule.periods, -1, -1):
                if k == schedule.periods:
                    state = self._checkpoint(k)
                else:
                    segment = segment or self._states(k)
                    state = segment.pop()
                q, qd, force = state
                force_bar = np.zeros((rows, m))
                if k < schedule.periods:
                    bar, force_bar = self._period_back(schedule.period * k, q, qd, force, bar)
                place = recorded_at.get(k)
                if place is not None:
                    force_bar = force_bar + bars[2][:, place]
                if by_forces is not None and k < schedule.periods:
                    by_forces[:, k] = force_bar
                target = task.target(k)
                wanted = () if target is None else map(np.ascontiguousarray, target)
                by_q, by_qd, *by_gains = self._law_back(q, qd, *wanted, *self.gains, force_bar)
                bar = bar + np.concatenate([by_q, by_qd], axis=1)
                steered = [total + share for total, share in zip(steered, by_gains, strict=True)]
                if place is not None:
                    bar = bar + np.concatenate([bars[0][:, place], bars[1][:, place]], axis=1)
        gains = dict(zip(task.gains, steered, strict=True))
        return Bars(bar[:, :n], bar[:, n:], gains, dict(zip(task.plant_numbers, self._moved, strict=True)), by_forces)

    def _checkpoint(self, k: int) -> tuple[Array, Array, Array]:
        q, qd, force = (np.ascontiguousarray(x[:, self.places[k]]) for x in self.checkpoints)
        return q, qd, force

    def _states(self, last: int) -> list[tuple[Array, Array, Array]]:
        """States and forces from the checkpoint before an instant to that instant."""
        schedule, first = self.task.schedule, last // self.spacing * self.spacing
        q, qd, force = self._checkpoint(first)
        if first == last:
            return [(q, qd, force)]
        states: list[tuple[Array, Array, Array]] = []
        for k in range(first, last + 1):
            t = schedule.period * k
            new, rate, force = self.steps.controlled(t, q, qd, self.task.target(k), self.task.added(k))
            states.append((q, qd, force))
            q, qd = new, rate
            for i in range(1, schedule.substeps):
                q, qd = self.steps.held(t + i * schedule.step, q, qd, force)
        return states

    def _period_back(self, t: float, q: Array, qd: Array, force: Array, bar: Array) -> tuple[Array, Array]:
        """From the gradient by the state after a period to those by the state before it and by the forces held."""
        schedule, n = self.task.schedule, self.task.plant.n
        states = [(q, qd)]
        for i in range(1, schedule.substeps):
            states.append(self.steps.held(t + i * schedule.step, *states[-1], force))
        by_force = np.zeros_like(force)

        def rates(y: Array) -> Array:
            return np.concatenate([y[:, n:], self._acceleration(y[:, :n], y[:, n:], force, *self.plant)], axis=1)

        def pull_back(y: Array, slope: Array, rate_bar: Array) -> Array:
            nonlocal by_force
            by_q, by_qd, by_f, *by_plant = self._back(
                y[:, :n], y[:, n:], force, *self.plant, slope[:, n:], rate_bar[:, n:]
            )
            by_force = by_force + by_f
            self._moved = [total + share for total, share in zip(self._moved, by_plant, strict=True)]
            return np.concatenate([by_q, rate_bar[:, :n] + by_qd], axis=1)

        for state in reversed(states):
            bar = rk4_pulled_back(rates, pull_back, np.concatenate(state, axis=1), schedule.step, bar)
        return bar, by_force


def spacing(task: RolloutTask, numbers: int) -> int:
    """Periods between checkpoints: 1 if the states of all instants are no more numbers than these."""
    periods, width = task.schedule.periods, 2 * task.plant.n + len(task.plant.actuators)
    return 1 if task.rows * periods * width <= numbers else math.isqrt(periods)
