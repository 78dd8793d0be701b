"""Turney's simulation: Runge-Kutta over accelerations that come from inverse dynamics alone, by strobing (section 7).

One run at the given speeds and no acceleration gives C + G; n runs without gravity at unit accelerations give the
columns of M.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.motion import Motion
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.integrators import rk4
from tauforge.simulation.simulate import simulate
from tauforge_papers.lee1982.control import START, move, puma

Torque = Callable[[float], Array]
JOINTS = tuple(f"joint {i + 1}" for i in range(6))
FORMULATION = "modified-newton-euler"  # the paper's choice


class StrobedArm:
    """Forward dynamics of an arm, asked of its inverse dynamics."""

    def __init__(self, arm: SerialArm) -> None:
        self.arm, self.weightless = arm, arm.replace(gravity=(0.0, 0.0, 0.0))

    def mass_matrix(self, q: Array) -> Array:
        """(n, n): a column for each unit acceleration, at rest and without gravity."""
        rest = np.zeros(self.arm.n)
        columns = self.weightless.inverse_dynamics(q, rest, np.eye(self.arm.n), formulation=FORMULATION)
        return columns.T

    def acceleration(self, q: Array, qd: Array, tau: Array) -> Array:
        """M^-1 (tau - C - G): (n,)."""
        bias = self.arm.inverse_dynamics(q, qd, np.zeros(self.arm.n), formulation=FORMULATION)
        return np.asarray(np.linalg.solve(self.mass_matrix(q), tau - bias))

    def run(self, torque: Torque, q: Array, duration: float, step: float, qd: Array | None = None) -> Array:
        """From q at speeds qd, by default at rest: (k, 2 n) positions and speeds, a row a step."""
        n = self.arm.n

        def rates(t: float, y: Array) -> Array:
            return np.concatenate([y[n:], self.acceleration(y[:n], y[n:], torque(t))])

        rows = [np.concatenate([q, np.zeros(n) if qd is None else qd])]
        for k in range(round(duration / step)):
            rows.append(rk4(rates, k * step, rows[-1], step))
        return np.array(rows)


class Simulations(NamedTuple):
    """An arm that falls, and one that is driven by the torques of a move; step and times in s."""

    time: Array  # (k,)
    fall: Array  # (k, 2 n) by strobing
    fall_directly: Array  # (k, 2 n) by `simulate`, that is, the library's forward dynamics
    kinetic: Array  # (k,) J, of the fall
    energy: Array  # (k,) J, kinetic and potential
    driven: Array  # (k, 2 n)
    wanted: Array  # (k, n) the move that the torques were computed for

    @property
    def apart(self) -> Array:
        """(k,) rad: the fall by strobing from the fall by forward dynamics."""
        return largest((self.fall - self.fall_directly)[:, : self.wanted.shape[1]])

    @property
    def missed(self) -> Array:
        """(k,) rad: the driven arm from the wanted move."""
        return largest(self.driven[:, : self.wanted.shape[1]] - self.wanted)


def largest(difference: Array) -> Array:
    """The largest number of every row. It is never zero, because a logarithmic axis has no zero."""
    return np.asarray(np.maximum(np.abs(difference).max(axis=1), ROUNDED_AWAY))


class Halving(NamedTuple):
    """Errors of the fall's end against the step, and the order that a straight line through them gives."""

    steps: Array  # s
    errors: Array  # rad, the largest of any joint
    order: float


ROUNDED_AWAY = 1e-17  # rad: less than an angle's last digit
FALL, STEP = 1.0, 0.002  # s


def no_torque(t: float) -> Array:
    return np.zeros(6)


@cache
def simulations(rotors: bool = False) -> Simulations:
    """Without rotors, as in the paper, or with ours."""
    return simulated(puma(rotors), move(FALL), FALL)


def simulated(arm: SerialArm, motion: Motion, duration: float) -> Simulations:
    """An arm without friction that falls from the start of a motion, and one that is driven along the motion."""
    strobed, start = StrobedArm(arm), motion.sample(0.0)

    def computed(t: float) -> Array:
        return arm.inverse_dynamics(*motion.sample(t))

    def nothing(t: float) -> Array:
        return np.zeros(arm.n)

    fall = strobed.run(nothing, start.position, duration, STEP)
    directly = simulate(arm, None, initial=(start.position, np.zeros(arm.n)), duration=duration, step=STEP)
    driven = strobed.run(computed, start.position, duration, STEP, start.velocity)
    time = STEP * np.arange(len(fall))
    kinetic, potential = arm.energy(fall[:, : arm.n], fall[:, arm.n :])
    return Simulations(
        time,
        fall,
        np.hstack([directly.position, directly.velocity]),
        kinetic,
        kinetic + potential,
        driven,
        np.asarray(motion.sample(time).position),
    )


@cache
def halving() -> Halving:
    """The fall in ever shorter steps, against Dormand and Prince's adaptive ones; without rotors."""
    arm = puma()
    exact = simulate(arm, None, initial=(START, np.zeros(6)), duration=FALL, step=FALL / 10, method="dormand-prince")
    steps = FALL / np.array([50, 100, 200, 400, 800])
    ends = [StrobedArm(arm).run(no_torque, START, FALL, float(step))[-1, :6] for step in steps]
    errors = np.array([np.abs(end - exact.position[-1]).max() for end in ends])
    order = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
    return Halving(steps, errors, order)
