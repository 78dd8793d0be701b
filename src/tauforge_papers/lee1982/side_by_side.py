"""Runs of the PUMA side by side, a row each: a curve costs little more than one run.

`tf.rollout` has one motion and one law for all rows; here every row may have its own. Identity: a row equals `simulate`
with the same steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.motion import JointMove, MotionSample
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.integrators import Rates, rk4
from tauforge_papers.lee1982.control import END, PERIOD, START

Law = Callable[[Array, Array, MotionSample], Array]  # of position, velocity and target, (N, 6) each, to torques
Target = Callable[[float], MotionSample]
HALVES = (0.5, 0.5)  # of a period: the steps of the integrator
LONGEST_STEP = 5e-3  # s, of a continuous law


class Rows(NamedTuple):
    """Times (k,), errors (k, N, 6) and the last position and velocity, (N, 6) each."""

    time: Array
    error: Array
    last: tuple[Array, Array]


def moves(durations: ArrayLike, start: Array = START, end: Array = END) -> Target:
    """The paper's move, or another, in several durations."""
    lasting = np.array(durations, float)
    unit = JointMove(start, end, 1.0)

    def target(t: float) -> MotionSample:
        position, velocity, acceleration = unit.sample(t / lasting)
        return MotionSample(position, velocity / lasting[:, None], acceleration / lasting[:, None] ** 2)

    return target


def at_rest(target: Target) -> tuple[Array, Array]:
    position = target(0.0).position
    return position, np.zeros_like(position)


def under(plant: SerialArm, torque: Callable[[float, Array, Array], Array]) -> Rates:
    """Time derivatives of position and velocity, in one row."""

    def rates(t: float, y: Array) -> Array:
        q, qd = y[:, :6], y[:, 6:]
        return np.concatenate([qd, plant.forward_dynamics(q, qd, torque(t, q, qd))], axis=1)

    return rates


def _given(plant: SerialArm, torque: Array) -> Rates:
    return under(plant, lambda t, q, qd: torque)


def held(
    plant: SerialArm,
    law: Law,
    target: Target,
    duration: float,
    *,
    period: float = PERIOD,
    initial: tuple[Array, Array] | None = None,
    steps: tuple[float, ...] = HALVES,
    late: ArrayLike = False,
) -> Rows:
    """The law asked every period, its torques held in between.

    steps: of the integrator, shares of a period; late: rows whose torques act after the first of them only
    """
    y = np.concatenate(at_rest(target) if initial is None else initial, axis=1)
    times = period * np.arange(round(duration / period) + 1)
    waits = np.broadcast_to(late, len(y))[:, None]
    errors, before = [], None
    for t in times:
        wanted = target(t)
        errors.append(wanted.position - y[:, :6])
        if len(errors) == len(times):
            break
        new = law(y[:, :6], y[:, 6:], wanted)
        before = new if before is None else before
        for k, share in enumerate(steps):
            y = rk4(_given(plant, np.where(waits, before, new) if k == 0 else new), t, y, share * period)
        before = new
    return Rows(times, np.array(errors), (y[:, :6], y[:, 6:]))


def continuous(
    plant: SerialArm,
    law: Law,
    target: Target,
    duration: float,
    initial: tuple[Array, Array],
    step: float = LONGEST_STEP,
) -> Rows:
    """The law asked whenever the integrator asks."""
    y = np.concatenate(initial, axis=1)
    times = step * np.arange(round(duration / step) + 1)
    rates = under(plant, lambda t, q, qd: law(q, qd, target(t)))
    errors = [target(0.0).position - y[:, :6]]
    for t in times[:-1]:
        y = rk4(rates, t, y, step)
        errors.append(target(t + step).position - y[:, :6])
    return Rows(times, np.array(errors), (y[:, :6], y[:, 6:]))


def computed_torque(arm: SerialArm, kp: ArrayLike, kv: ArrayLike) -> Law:
    """kp, kv: a number, (N, 1), or (N, 6, 6)."""
    Kp, Kv = (np.eye(6) * np.reshape(K, (-1, 1, 1)) if np.ndim(K) < 3 else np.asarray(K) for K in (kp, kv))

    def law(q: Array, qd: Array, wanted: MotionSample) -> Array:
        e, e_dot = wanted.position - q, wanted.velocity - qd
        pull = np.einsum("nij,nj->ni", Kp, e) + np.einsum("nij,nj->ni", Kv, e_dot)
        return np.asarray(arm.inverse_dynamics(q, qd, wanted.acceleration + pull))

    return law
