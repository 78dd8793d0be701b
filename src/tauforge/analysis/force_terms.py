"""Actuator forces term by term, and inverse dynamics without those that do not matter.

Source: Turney, Mudge & Lee 1980, sections 3 and 6; the terms are those of eq. 2.11.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.analysis.strobing import explicit_model
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ShapeError
from tauforge.robots.robot import Robot
from tauforge.robots.summary import summarised
from tauforge.validation import non_negative, real_array


@summarised
@with_field_docs
class ForceTerms(NamedTuple):
    """A number for every term of actuator force i: its force (N m or N), its share of the force, or whether it is kept.

    gravity:  (..., n)       G_i, with springs where the robot has some
    inertia:  (..., n, n)    M_ij qdd_j
    velocity: (..., n, n, n) C^i_jj qd_j^2, centrifugal, and 2 C^i_jk qd_j qd_k for j < k, Coriolis; zero for j > k
    friction: (..., n)
    """

    gravity: Array
    inertia: Array
    velocity: Array
    friction: Array

    def force(self, keep: ForceTerms | None = None) -> Array:
        """Actuator forces (..., n), the sum of the terms, or of those that are kept.

        Identity: without `keep` equals inverse_dynamics.
        """
        kept = self if keep is None else ForceTerms(*(np.where(mask, x, 0.0) for x, mask in self._with(keep)))
        return np.asarray(kept.gravity + kept.inertia.sum(axis=-1) + kept.velocity.sum(axis=(-2, -1)) + kept.friction)

    def shares(self) -> ForceTerms:
        """The largest of each term in all states over the largest of its actuator's force; 0 for a force that is 0.

        That is the change of the force that deleting the term alone makes. Shapes are those of one state.
        """
        largest = _largest(self.force(), 1)
        over = np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)
        found = (_largest(x, k) for x, k in zip(self, (1, 2, 3, 1), strict=True))
        return ForceTerms(*(x * over.reshape(-1, *[1] * (x.ndim - 1)) for x in found))

    def significant(self, share: float = 0.01) -> ForceTerms:
        """Masks that keep the terms of at least this share of their actuator's largest force in these states."""
        least = non_negative(share, "share")
        return ForceTerms(*(x >= least if least else np.ones_like(x, bool) for x in self.shares()))

    def error(self, keep: ForceTerms) -> Array:
        """(n,) the most that leaving out what is not kept changes each force, over the largest of that force."""
        whole = self.force()
        change, largest = _largest(whole - self.force(keep), 1), _largest(whole, 1)
        return np.divide(change, largest, out=np.zeros_like(change), where=largest > 0)

    def _with(self, keep: ForceTerms) -> list[tuple[Array, Array]]:
        pairs = [(x, np.asarray(mask, bool)) for x, mask in zip(self, keep, strict=True)]
        for (x, mask), name, k in zip(pairs, self._fields, (1, 2, 3, 1), strict=True):
            if mask.shape != x.shape[x.ndim - k :]:
                raise ShapeError(f"keep.{name}", expected=str(x.shape[x.ndim - k :]), got=str(mask.shape))
        return pairs


def _largest(x: Array, core: int) -> Array:
    """The largest magnitude in all states."""
    return np.asarray(np.abs(x).max(axis=tuple(range(x.ndim - core)), initial=0.0))


def term_contributions(
    robot: Robot, position: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, *, formulation: str | None = None
) -> ForceTerms:
    """The part of every term of inertia, Coriolis, gravity and friction in the actuator forces.

    position, velocity, acceleration: a state or a batch, as `inverse_dynamics` of the robot takes them
    formulation:                      one of `robot.formulations`; default that of a plain call
    Terms that contribute little along one motion are left out of another with `significant` and `force`:

        keep = term_contributions(robot, *samples).significant(0.01)
        forces = term_contributions(robot, *others).force(keep)

    Of a platform the coordinates are those of its twist.
    """
    model, bare = explicit_model(robot, position, formulation=formulation), robot.without_friction()
    qd, qdd = real_array("velocity", velocity), real_array("acceleration", acceleration)
    state = (position, qd, qdd)
    whole, smooth = (np.asarray(r.inverse_dynamics(*state, formulation=formulation)) for r in (robot, bare))
    once = np.triu(np.full((robot.n, robot.n), 2.0)) - np.eye(robot.n)  # each pair of coordinates
    found = (
        model.gravity_forces,
        model.mass_matrix * qdd[..., None, :],
        model.coriolis_coefficients * (once * qd[..., :, None] * qd[..., None, :])[..., None, :, :],
        whole - smooth,
    )
    pairs = zip(found, (0, 1, 2, 0), strict=True)
    return ForceTerms(*(np.broadcast_to(x, whole.shape + (robot.n,) * k).copy() for x, k in pairs))
