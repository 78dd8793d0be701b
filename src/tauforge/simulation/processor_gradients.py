"""Gradients through rollouts on the processor: kernels of the steps and of their adjoints, for all rows at once.

A state y is (N, numbers), its parts one after another. Gradients by forces and by numbers of the plant accumulate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.backends import NoKernelError, backend_of
from tauforge.robots.robot import Robot
from tauforge.simulation.integrators import rk4, rk4_pulled_back
from tauforge.simulation.rollout_task import RolloutTask, RowGradients
from tauforge.simulation.rollouts import compiled_steps, recorded
from tauforge.simulation.step_formulas import StepFormulas
from tauforge.simulation.steps import State

Kernel = Callable[..., tuple[Array, ...]]
Parted = Callable[[Array], State]  # the parts of a state
Instant = tuple[State, Array]  # the state, and the forces that are held from then on
STORED = 2**27  # numbers of states that are kept for the reverse pass, 1 GiB; beyond, some are computed again


class ReversePass(Protocol):
    """Interface of the reverse pass: a rollout that was run, with the states that gradients need.

    records: positions, velocities and forces (N, k, ...) at the instants to record; nothing else reads these arrays
    """

    records: tuple[Any, ...]

    def swept(self, bars: Sequence[Any | None]) -> RowGradients:
        """From the gradients by the three records, of the same shapes; None for 0. Several threads may call it."""


class StepAdjoint(Protocol):
    """1. `step` gives the gradient by y before a step from that by the state after it, under forces that are held.
    2. `record` gives the gradient by y from those by position and velocity there.
    3. `start` gives the gradients by coordinates and velocity from that by y, at an initial position and velocity.
    """

    def step(self, y: Array, force: Array, bar: Array, totals: Sequence[Array]) -> Array: ...

    def record(self, y: Array, by_position: Array, by_velocity: Array) -> Array: ...

    def start(self, position: Array, velocity: Array, bar: Array) -> tuple[Array, Array]: ...


class PlainStepAdjoint:
    """Adjoint of steps whose state is position and velocity."""

    def __init__(self, formulas: StepFormulas, plant: Robot, numbers: Sequence[Array], _: Parted) -> None:
        self.n, self.h, self.numbers = plant.n, formulas.h, numbers
        compile_ = backend_of("cpu").compile
        self._acceleration: Kernel = compile_(formulas.acceleration(), "float64")
        self._back: Kernel = compile_(formulas.acceleration_pulled_back(), "float64")

    def step(self, y: Array, force: Array, bar: Array, totals: Sequence[Array]) -> Array:
        n = self.n

        def rates(y: Array) -> Array:
            return np.concatenate([y[:, n:], self._acceleration(y[:, :n], y[:, n:], force, *self.numbers)], axis=1)

        def pull_back(y: Array, slope: Array, rate_bar: Array) -> Array:
            by_q, by_qd, *shares = self._back(y[:, :n], y[:, n:], force, *self.numbers, slope[:, n:], rate_bar[:, n:])
            add_to(totals, shares)
            return np.concatenate([by_q, rate_bar[:, :n] + by_qd], axis=1)

        return rk4_pulled_back(rates, pull_back, y, self.h, bar)

    def record(self, y: Array, by_position: Array, by_velocity: Array) -> Array:
        return np.concatenate([by_position, by_velocity], axis=1)

    def start(self, position: Array, velocity: Array, bar: Array) -> tuple[Array, Array]:
        return bar[:, : self.n], bar[:, self.n :]


class FormulaStepAdjoint:
    """Adjoint of steps of any state that has formulas."""

    def __init__(self, formulas: StepFormulas, plant: Robot, numbers: Sequence[Array], parted: Parted) -> None:
        self.plant, self.h, self.numbers, self.parted = plant, formulas.h, numbers, parted
        compile_ = backend_of("cpu").compile
        self._rates: Kernel = compile_(formulas.stage(), "float64")
        self._rates_back: Kernel = compile_(formulas.rates_pulled_back(), "float64")
        self._renewal_back: Kernel = compile_(formulas.renewal_pulled_back(), "float64")
        self._record_back: Kernel = compile_(formulas.unpacked_pulled_back(), "float64")
        self._start_back: Kernel = compile_(formulas.packed_pulled_back(), "float64")

    def step(self, y: Array, force: Array, bar: Array, totals: Sequence[Array]) -> Array:
        forces = [force] if force.shape[-1] else []
        still = [np.zeros(part.shape[-1]) for part in self.parted(y)]
        shared = totals if forces else totals[1:]

        def rates(y: Array) -> Array:
            return np.concatenate(self._rates(*self.parted(y), *still, 0.0, *forces, *self.numbers), axis=1)

        def pull_back(y: Array, slope: Array, rate_bar: Array) -> Array:
            parts = self.parted(y)
            found = self._rates_back(*parts, *forces, *self.numbers, *self.parted(rate_bar))
            add_to(shared, found[len(parts) :])
            return np.concatenate(found[: len(parts)], axis=1)

        reached = rk4(lambda _, y: rates(y), 0.0, y, self.h)
        bar = np.concatenate(self._renewal_back(*self.parted(reached), *self.parted(bar)), axis=1)
        return rk4_pulled_back(rates, pull_back, y, self.h, bar)

    def record(self, y: Array, by_position: Array, by_velocity: Array) -> Array:
        return np.concatenate(self._record_back(*self.parted(y), by_position, by_velocity), axis=1)

    def start(self, position: Array, velocity: Array, bar: Array) -> tuple[Array, Array]:
        by_position, by_velocity = self._start_back(position, velocity, *self.parted(bar))
        slopes = self.plant.positions.slopes(position)
        return np.einsum("ki,kij->kj", by_position, slopes), by_velocity


def add_to(totals: Sequence[Array], shares: Sequence[Array]) -> None:
    """Add the shares to the totals in place."""
    for total, share in zip(totals, shares, strict=True):
        total += share


class ProcessorReversePass:
    """The steps, and the reverse pass through them, by kernels of the processor.

    Rows that these kernels leave to the plant's own methods are NaN.
    """

    def __init__(self, task: RolloutTask) -> None:
        self.task = task
        self.gains, numbers = tuple(task.gains.values()), tuple(task.plant_numbers.values())
        try:
            formulas = task.formulas(alone=True)
            self.steps = compiled_steps(task, formulas)
            adjoint = FormulaStepAdjoint if task.may_refuse else PlainStepAdjoint
            self.back: StepAdjoint = adjoint(formulas, task.plant, numbers, self.steps.parted)
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
        self.records = tuple(x[:, wanted] for x in self.checkpoints)  # copies: the user may change them

    def swept(self, bars: Sequence[Array | None]) -> RowGradients:
        """By `ReversePass`."""
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
                    wanted = self.steps.prescribed(schedule.period * k, target)
                    found = self._law_back(*state, *wanted, *self.gains, force_bar)
                    bar = bar + np.concatenate(found[: len(state)], axis=1)
                    add_to(steered, found[len(state) :])
                if place is not None:
                    y = np.concatenate(state, axis=1)
                    bar = bar + self.back.record(y, by_position[:, place], by_velocity[:, place])
            first = self.back.start(task.position, task.velocity, bar)
        gains, plant = (dict(zip(task.gains, steered, strict=True)), dict(zip(task.plant_numbers, moved, strict=True)))
        return RowGradients(*first, gains, plant, by_added)

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
