"""Which terms of the torque matter along a move, and what a controller pays that leaves one out.

tau = G + diag(M) qdd + (M - diag(M)) qdd + sum_j C_jj qd_j^2 + sum_{j != k} C_jk qd_j qd_k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.analysis.force_terms import term_contributions
from tauforge.arrays import Array
from tauforge.errors import TauforgeError
from tauforge.motion import Motion
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.simulate import simulate
from tauforge_papers.lee1982.control import HOLD_STEPS, KP, KV, PERIOD

GRAVITY, DIAGONAL, COUPLING = "gravity", "inertia, own joint", "inertia, other joints"
CENTRIFUGAL, CORIOLIS = "centrifugal", "Coriolis"
GROUPS = (GRAVITY, DIAGONAL, COUPLING, CENTRIFUGAL, CORIOLIS)


def terms(arm: SerialArm, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
    """Groups of the arm's torques, each (..., n), N m.

    Identity: they add up to the inverse dynamics. Centrifugal terms are the torques of each joint's speed alone.
    """
    found = term_contributions(arm, q, qd, qdd)
    own, squares = np.einsum("...ii->...i", found.inertia), np.einsum("...ijj->...i", found.velocity)
    return {
        GRAVITY: found.gravity,
        DIAGONAL: own,
        COUPLING: found.inertia.sum(axis=-1) - own,
        CENTRIFUGAL: squares,
        CORIOLIS: found.velocity.sum(axis=(-2, -1)) - squares,
    }


class Importance(NamedTuple):
    """Importance of one group along one motion."""

    largest: Array  # (n,) N m, of each joint
    shares: Array  # (n,) of each joint's largest torque
    tracking: float | None  # rad, largest error of computed torque that leaves the group out; None: it runs away


def along(arm: SerialArm, motion: Motion, rows: int = 401) -> tuple[Array, dict[str, Array], Array]:
    """Times (k,), the groups and the whole torque (k, n) along a motion."""
    t = np.linspace(0, motion.duration, rows)
    state = motion.sample(t)
    return t, terms(arm, *state), arm.inverse_dynamics(*state)


def tracking_without(arm: SerialArm, group: str | None, motion: Motion) -> float | None:
    """rad: the largest error of any joint with the group left out of the controller's model; None: it runs away."""

    def law(t: float, q: Array, qd: Array) -> Array:
        target = motion.sample(t)
        wanted = target.acceleration + KV * (target.velocity - qd) + KP * (target.position - q)
        kept = [value for name, value in terms(arm, q, qd, wanted).items() if name != group]
        return np.asarray(np.sum(kept, axis=0))

    try:
        run = simulate(arm, law, motion, step=PERIOD / HOLD_STEPS, control_period=PERIOD)
    except TauforgeError:
        return None
    error = float(np.abs(run.error).max())
    whole = run.time[-1] > motion.duration - PERIOD
    return error if whole and error < np.pi else None


def importance(arm: SerialArm, motion: Motion) -> dict[str, Importance]:
    _, groups, torque = along(arm, motion)
    peak = np.abs(torque).max(axis=0)
    result = {}
    for name, value in groups.items():
        largest = np.abs(value).max(axis=0)
        result[name] = Importance(largest, largest / peak, tracking_without(arm, name, motion))
    return result
