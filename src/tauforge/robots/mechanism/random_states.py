"""Random states of a mechanism to try things on: loops closed, limits kept, far from singular positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ConvergenceError

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism

HOME_TURN, HOME_TRAVEL = 0.3, 0.1  # rad and shares of the mechanism's size: how far from home coordinates are
TRIES_NEARER_HOME = 12  # times that what does not fit is tried again, nearer to home
WORST_CONDITION = 1e4  # condition number
NEARBY_OFFSET = 1e-3  # rad or m beside a position: where Newton's method starts from


def random_states(m: Mechanism, count: int, seed: int) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    home = m.positions.coordinates(m.home)
    reach = np.array([HOME_TURN if c.turns else HOME_TRAVEL * m._analysis.size for c in m.coordinates])
    low, high = (np.array([getattr(c, side) for c in m.coordinates]) for side in ("lower", "upper"))
    step = reach * random.uniform(-1.0, 1.0, (count, m.n))
    position, left = np.tile(m.home, (count, 1)), np.arange(count)
    for _ in range(TRIES_NEARER_HOME):
        # a step over a limit is turned about, and kept within the other limit
        q = home + step[left]
        q = np.clip(np.where((q < low) | (q > high), home - step[left], q), low, high)
        x = m.configuration(q, on_failure="nan")
        good = np.flatnonzero(np.isfinite(x).all(axis=-1))
        good = good[(m.bounds.margins(x[good]) >= 0).all(axis=-1) & (m.loop_condition(x[good]) < WORST_CONDITION)]
        position[left[good]] = x[good]
        left = np.delete(left, good)
        if not len(left):
            break
        step[left] *= 0.5
    else:
        raise ConvergenceError(
            f"{m.name}: there are no positions near home within the limits",
            residual=np.nan,
            iterations=TRIES_NEARER_HOME,
        )
    return position, random.normal(size=(count, m.n)), random.normal(size=(count, m.n))


def random_argument(m: Mechanism, argument: str, states: tuple[Array, Array, Array]) -> Array | None:
    """Arguments that only mechanisms have, at random states."""
    x, qd, _ = states
    match argument:
        case "q":
            return m.positions.coordinates(x)
        case "near":
            return m.configuration(m.positions.coordinates(x) + NEARBY_OFFSET * np.sin(np.arange(len(x)))[:, None], x)
        case "s" | "v":
            return m._evaluator("state_of_position", {"x": x, "qd": qd})["sv".index(argument)]
    return None
