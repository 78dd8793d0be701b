"""The way back through a step of the integrator, by kernels of the processor, for all rows at once.

A state y is (N, numbers), its parts one after another. Gradients by the forces and by the plant's numbers are added to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from tauforge.arrays import Array
from tauforge.kernels.backends import backend_of
from tauforge.robots.robot import Robot
from tauforge.simulation.compiled_steps import CompiledSteps, StagedSteps
from tauforge.simulation.integrators import rk4, rk4_pulled_back
from tauforge.simulation.step_formulas import StepFormulas

Kernel = Callable[..., tuple[Array, ...]]


class StepsBack(Protocol):
    """1. `step` gives the gradient by y before a step from that by the state after it, under forces that are held.
    2. `record` gives the gradient by y from those by position and velocity there.
    3. `start` gives the gradients by coordinates and velocity from that by y, at an initial position and velocity.
    """

    def step(self, y: Array, force: Array, bar: Array, totals: Sequence[Array]) -> Array: ...

    def record(self, y: Array, by_position: Array, by_velocity: Array) -> Array: ...

    def start(self, position: Array, velocity: Array, bar: Array) -> tuple[Array, Array]: ...


class PlainStepsBack:
    """For states that are position and velocity."""

    def __init__(self, formulas: StepFormulas, plant: Robot, numbers: Sequence[Array]) -> None:
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


class FormulaStepsBack:
    """For any state that has formulas."""

    def __init__(
        self, formulas: StepFormulas, plant: Robot, numbers: Sequence[Array], steps: CompiledSteps | StagedSteps
    ) -> None:
        self.plant, self.h, self.numbers, self.parted = plant, formulas.h, numbers, steps.parted
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
    """In place."""
    for total, share in zip(totals, shares, strict=True):
        total += share
