"""Gradients through rollouts on the processor: kernels of the steps and of their adjoints, for all rows at once.

A state y is (N, numbers), its parts one after another. Gradients by forces and by numbers of the plant accumulate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Protocol

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.backends import NoKernelError, backend_of
from tauforge.robots.robot import Robot
from tauforge.simulation.compiled_loop import CompiledLoop
from tauforge.simulation.integrators import rk4, rk4_pulled_back
from tauforge.simulation.rollout_task import RolloutTask, RowGradients
from tauforge.simulation.rollouts import without_lost, without_start
from tauforge.simulation.step_formulas import StepFormulas

Kernel = Callable[..., tuple[Array, ...]]
Parted = Callable[[Array], list[Array]]  # the parts of a state
Period = tuple[list[Array], Array]  # states (N, numbers) before its steps, and the forces that are held
STORED = 2**27  # numbers of states that are kept for the reverse pass, 1 GiB; beyond, some are computed again


class ReversePass(Protocol):
    """Interface of the reverse pass: a rollout that was run, with the states that gradients need.

    records: positions, velocities and forces (N, k, ...) at the instants to record; nothing else reads these arrays
    """

    records: tuple[Any, ...]

    def swept(self, bars: Sequence[Any | None]) -> RowGradients:
        """From the gradients by the three records, of the same shapes; None for 0. Several threads may call it."""


class StepAdjoint:
    """From gradients by what a step leads to, to gradients by what it starts from.

    numbers: of the plant that rows have
    """

    def __init__(self, formulas: StepFormulas, plant: Robot, numbers: Sequence[Array], parted: Parted) -> None:
        self.plant, self.h, self.numbers, self.parted = plant, formulas.h, numbers, parted
        compile_ = backend_of("cpu").compile
        self._rates: Kernel = compile_(formulas.stage(), "float64")
        self._rates_back: Kernel = compile_(formulas.rates_pulled_back(), "float64")
        self._renewal_back: Kernel = compile_(formulas.renewal_pulled_back(), "float64")
        self._record_back: Kernel = compile_(formulas.unpacked_pulled_back(), "float64")
        self._start_back: Kernel = compile_(formulas.packed_pulled_back(), "float64")

    def step(self, y: Array, force: Array, bar: Array, totals: Sequence[Array]) -> Array:
        """The gradient by y before a step from that by the state after it, under forces that are held."""
        forces = [force] if force.shape[-1] else []
        still = [np.zeros(part.shape[-1]) for part in self.parted(y)]
        shared = totals if forces else totals[1:]

        def rates(y: Array) -> Array:
            return np.concatenate(self._rates(*self.parted(y), *still, 0.0, *forces, *self.numbers), axis=1)

        def pull_back(y: Array, slope: Array, rate_bar: Array) -> Array:
            parts = self.parted(y)
            bars = (*self.parted(slope), *self.parted(rate_bar))
            found = self._rates_back(*parts, *forces, *self.numbers, *bars)
            add_to(shared, found[len(parts) :])
            return np.concatenate(found[: len(parts)], axis=1)

        reached = rk4(lambda _, y: rates(y), 0.0, y, self.h)
        bar = np.concatenate(self._renewal_back(*self.parted(reached), *self.parted(bar)), axis=1)
        return rk4_pulled_back(rates, pull_back, y, self.h, bar)

    def record(self, y: Array, by_position: Array, by_velocity: Array) -> Array:
        """The gradient by y from those by position and velocity there."""
        return np.concatenate(self._record_back(*self.parted(y), by_position, by_velocity), axis=1)

    def start(self, position: Array, velocity: Array, bar: Array) -> tuple[Array, Array]:
        """The gradients by coordinates and velocity from that by y, at an initial position and velocity."""
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
            self.loop, self._one = CompiledLoop(task, formulas, None), Lock()
            self.back = StepAdjoint(formulas, task.plant, numbers, self.loop.parted)
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
        without_start(task, self.loop.reasons)
        with np.errstate(all="ignore"):
            self.checkpoints = self.loop.records(kept, lambda _: None)
            without_lost(*self.checkpoints)
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
        later: list[Period] = []
        with np.errstate(all="ignore"):
            for k in range(schedule.periods, -1, -1):
                force_bar = np.zeros((rows, m))
                if k == schedule.periods:
                    states, force = self._checkpoint(k)
                else:
                    later = later or self._periods(k)
                    states, force = later.pop()
                    for y in reversed(states):
                        bar = self.back.step(y, force, bar, [force_bar, *moved])
                y = states[0]
                place = recorded_at.get(k)
                if place is not None:
                    force_bar = force_bar + by_force[:, place]
                if by_added is not None and k < schedule.periods:
                    by_added[:, k] = force_bar
                target = task.target(k)
                if self._law_back is not None and target is not None:
                    given = [*map(np.ascontiguousarray, target), np.array(schedule.period * k)]
                    parts, wanted = self.loop.parted(y), given[: len(self.loop.targets)]
                    found = self._law_back(*parts, *wanted, *self.gains, force_bar)
                    bar = bar + np.concatenate(found[: len(parts)], axis=1)
                    add_to(steered, found[len(parts) :])
                if place is not None:
                    bar = bar + self.back.record(y, by_position[:, place], by_velocity[:, place])
            first = self.back.start(task.position, task.velocity, bar)
        gains, plant = (dict(zip(task.gains, steered, strict=True)), dict(zip(task.plant_numbers, moved, strict=True)))
        return RowGradients(*first, gains, plant, by_added)

    def _checkpoint(self, k: int) -> Period:
        q, qd, force = (np.ascontiguousarray(x[:, self.places[k]]) for x in self.checkpoints)
        return [self.loop.space.pack(q, qd)], force

    def _periods(self, last: int) -> list[Period]:
        """From the checkpoint before a period to that period."""
        substeps, first = self.task.schedule.substeps, last // self.spacing * self.spacing
        (y,), force = self._checkpoint(first)
        if first == last and substeps == 1:
            return [([y], force)]
        with self._one:
            *parts, forces = self.loop.segment(y, first, last + 1)
        states = np.concatenate(parts, axis=-1)
        starts = range(0, states.shape[1], substeps)
        return [([states[:, i] for i in range(start, start + substeps)], forces[:, start]) for start in starts]


def spacing(task: RolloutTask, numbers: int) -> int:
    """Periods between checkpoints: 1 if the states of all instants are no more numbers than these, or kept anyway."""
    plant = task.plant
    schedule, width = task.schedule, plant.positions.size + plant.n + len(plant.actuators)
    if schedule.every == 1 or task.rows * schedule.periods * width <= numbers:
        return 1
    return math.isqrt(schedule.periods)
