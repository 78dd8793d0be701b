"""One motion in every formulation, and how far they disagree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.field_docs import with_field_docs
from tauforge.formulations.serial import FIXED_BASE_ONLY, FORMULATIONS
from tauforge.robots.serial.serial_arm import SerialArm


@with_field_docs
class Comparison(NamedTuple):
    """Torques by formulation, and how far the formulations disagree.

    torques:      formulation -> (..., n)
    disagreement: formulation -> its largest disagreement with any other
    """

    torques: dict[str, Array]
    disagreement: dict[str, float]

    @property
    def largest(self) -> float:
        return max(self.disagreement.values())


def row_errors(a: Array, b: Array) -> Array:
    """Largest absolute difference in a row over the largest magnitude in that row: (..., n) to (...)."""
    largest = np.maximum(np.abs(a).max(axis=-1), np.abs(b).max(axis=-1))
    difference = np.abs(a - b).max(axis=-1)
    return np.asarray(np.divide(difference, largest, out=np.zeros_like(difference), where=difference != 0))


def relative_error(a: Array, b: Array) -> float:
    """The largest of the row errors."""
    return float(row_errors(a, b).max(initial=0.0))


def compare(arm: SerialArm, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, **loads: Any) -> Comparison:
    """Inverse dynamics of a state or a batch in every formulation that takes these loads.

    loads: tip_wrench, payload, base_motion and wrench_frame, as in `SerialArm.inverse_dynamics`.
    """
    names = [name for name in FORMULATIONS if loads.get("base_motion") is None or name not in FIXED_BASE_ONLY]
    torques = {name: arm.inverse_dynamics(q, qd, qdd, formulation=name, **loads) for name in names}
    disagreement = {name: max(relative_error(torques[name], torques[other]) for other in names) for name in names}
    return Comparison(torques, disagreement)


def random_states(arm: SerialArm, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """q within the limits (or a turn), qd and qdd of order one: (count, n) each."""
    random = np.random.default_rng(seed)
    limits = arm.limits
    low, high = (
        np.where(np.isfinite(limits[:, 0]), limits[:, 0], -np.pi),
        np.where(np.isfinite(limits[:, 1]), limits[:, 1], np.pi),
    )
    q = random.uniform(low, high, (count, arm.n))
    return q, random.normal(size=(count, arm.n)), random.normal(size=(count, arm.n))
