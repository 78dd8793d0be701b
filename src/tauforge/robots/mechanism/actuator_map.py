"""The map from the rates of a mechanism's actuators to the twist of one of its bodies, and its condition number.

Both are taken over the motions that the loops allow, so that it does not matter which coordinates are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.evaluation.reference import reference
from tauforge.formulations.mechanism.kinematics import body_rates
from tauforge.robots.mechanism import singular_positions as singular
from tauforge.robots.mechanism.functions import OPEN_LOOP, SINGULAR_CONDITION
from tauforge.robots.mechanism.mobility import RANK_TOLERANCE

if TYPE_CHECKING:
    from tauforge.robots.mechanism.kinematics import MechanismKinematics

TWIST = 6


def condition_numbers(m: MechanismKinematics, x: Array, body: int, length: float) -> Array:
    """(k,) of positions (k, N), finite ones; infinite at singular positions and where loops are open.

    length: m, by which angular velocities become velocities
    """
    p, rank = m._analysis.parameters, freedoms_of(m, body)
    if not rank:
        return np.full(len(x), np.nan)
    found = singular.conditions(m._analysis, x)
    motions, moved = _motions(m, found.motions, x, body, length)
    _, drives, V = np.linalg.svd(motions[:, list(p.actuated if m._analysis.controlled else p.independent)])
    with np.errstate(divide="ignore", invalid="ignore"):
        per_drive = moved @ np.swapaxes(V, 1, 2) / drives[:, None]  # but for a rotation of the actuators' rates
    known = (found.gaps <= OPEN_LOOP) & (found.blocked <= OPEN_LOOP) & (found.freedom < SINGULAR_CONDITION)
    per_drive[~(known & np.isfinite(per_drive).all(axis=(1, 2)))] = 0.0
    return singular.ratio(np.linalg.svd(per_drive, compute_uv=False)[:, :rank])


def freedoms_of(m: MechanismKinematics, body: int) -> int:
    """With how many freedoms a body moves: the rank of the map at most positions, 0 to 6."""

    def find() -> int:
        x = m._analysis.mobility.positions
        moved = _motions(m, singular.conditions(m._analysis, x).motions, x, body, m._analysis.size)[1]
        values = np.linalg.svd(moved, compute_uv=False)
        return int((values > RANK_TOLERANCE * m._analysis.size).sum(axis=-1).max())

    found: int = m._evaluator.kept(("freedoms of a body", body), find)
    return found


def _motions(m: MechanismKinematics, null: Array, x: Array, body: int, length: float) -> tuple[Array, Array]:
    """The tree's rates (k, n, f) of the motions `null`, and the body's velocity and angular velocity (k, 6, f)."""
    p = m._analysis.parameters
    rates = null * np.array(p.scales)[:, None]

    def formula(x: Sequence[Scalar]) -> list[list[Scalar]]:
        return body_rates(p, x, body)

    (by_rates,) = reference(formula, {"x": x}, ((TWIST, p.n),))
    by_rates[:, 3:] *= length
    return rates, by_rates @ rates
