"""The requirements on a path that keeps away from singular poses, and the quality of a pose on it.

The measure is the signed inverse condition number, sign(det H) / cond(H). It is continuous through a singular pose and
changes its sign there. So a path that skips a singularity between two samples is detected, and gradients lead it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array

MIN_SAMPLES_BETWEEN = 10  # the fewest poses between two points of a path at which it is evaluated while it is planned
MIN_SAMPLES = 60  # the fewest on the whole path
DIFFERENCE_STEP = 1e-6  # of difference quotients, relative to the scale of a coordinate
BROKEN_LIMIT = 1.0  # added to a broken limit, so that any pose within the limits comes before any pose outside


class Conditioned(Protocol):
    """A robot with a square matrix H from actuator forces to the wrench on its platform."""

    @property
    def name(self) -> str: ...

    def force_matrix(self, pose: ArrayLike) -> Array: ...

    def condition_number(self, pose: ArrayLike, characteristic_length: float | None = None) -> Array: ...

    def within_limits(self, pose: ArrayLike) -> Any: ...


@dataclass(frozen=True)
class PathTask:
    """The requirements on the path.

    given:  (g, 6) poses to pass, the first and the last at the ends
    points: free poses between each two given ones
    length: m, for the condition number; None: H as it is
    scale:  (6,) m and rad: equally large displacements of the six coordinates
    room:   (6,) m and rad: how far a free pose may be from the straight line
    safety: of the margins of limits, relative to scale: more than a path exceeds them between samples
    """

    robot: Conditioned
    given: Array
    points: int
    length: float | None
    scale: Array
    room: Array
    safety: float

    # ------------------------------------------------------------------------------------------------------- geometry

    @cached_property
    def knots(self) -> Array:
        """(k,) fractions from 0 to 1 of the way: given and free poses, each stretch as long as its straight line."""
        ways = np.linalg.norm(np.diff(self.given, axis=0) / self.scale, axis=1)
        ends: Array = np.concatenate([[0.0], np.cumsum(ways)]) / ways.sum()
        ends[-1] = 1.0
        inner = np.linspace(0.0, 1.0, self.points + 2)[:-1]
        return np.append((ends[:-1, None] + np.diff(ends)[:, None] * inner).ravel(), 1.0)

    @cached_property
    def free(self) -> Array:
        """(k,) which of the knots are to be found."""
        return np.asarray(np.arange(len(self.knots)) % (self.points + 1) != 0)

    @cached_property
    def movable(self) -> Array:
        """(6,) which coordinates have room."""
        return np.asarray(self.room > 0)

    @cached_property
    def straight(self) -> Array:
        """(k, 6) the knots on straight lines from each given pose to the next."""
        ends = self.knots[~self.free]
        return np.stack([np.interp(self.knots, ends, column) for column in self.given.T], axis=-1)

    @cached_property
    def fractions(self) -> Array:
        """(s,) where the path is evaluated: as often in a short stretch as in a long one."""
        count = len(self.knots) - 1
        samples = count * max(MIN_SAMPLES_BETWEEN, -(-MIN_SAMPLES // count))
        return np.interp(np.linspace(0, count, samples + 1), np.arange(count + 1), self.knots)

    @cached_property
    def basis(self) -> Array:
        """(s, k): the matrix that gives the poses at the fractions from the knots."""
        return np.asarray(spline(self.knots, np.eye(len(self.knots)))(self.fractions))

    @cached_property
    def slackness(self) -> Array:
        """(s, 1) from 0 at given poses, which may be on a limit, to 1."""
        apart = np.abs(self.fractions[:, None] - self.knots[~self.free]).min(axis=1)
        return np.asarray(apart / apart.max())[:, None]

    # ----------------------------------------------------------------------------------------------------- the measure

    def signed_inverse(self, poses: Array) -> Array:
        """sign(det H) / cond(H), (...); 0 where H is not finite, as where a leg has no length."""
        condition = self.robot.condition_number(poses, self.length)
        sign = np.sign(np.linalg.det(self.robot.force_matrix(poses)))
        with np.errstate(divide="ignore"):
            return np.asarray(np.nan_to_num(sign / condition, nan=0.0))

    @cached_property
    def at_given(self) -> Array:
        """(g,) the signed inverse at the poses to pass."""
        return self.signed_inverse(self.given)

    def quality(self, poses: Array) -> Array:
        """(...) 1 where H is as well conditioned as at the worst given pose, 0 where it is singular, below beyond."""
        return np.asarray(self.signed_inverse(poses) * np.sign(self.at_given[0]) / np.abs(self.at_given).min())

    def margins(self, poses: Array) -> Array:
        """(..., m) margins to the limits, positive where they hold, relative to the scale of lengths and in rad."""
        if not self.limited:
            return np.zeros((*poses.shape[:-1], 0))
        margins = self.robot.within_limits(poses).margins(self.scale[0])
        return np.asarray(np.nan_to_num(margins, nan=-BROKEN_LIMIT))

    @cached_property
    def limited(self) -> bool:
        """Whether the robot has any limits of its pose; evaluating them at every pose would take half of the time."""
        return bool(self.robot.within_limits(self.given[0]).margins(1.0).size)

    def slopes(self, of: Any, poses: Array) -> Array:
        """(s, ..., 6) derivatives of a function of poses (s, 6) by the scaled coordinates."""
        steps = DIFFERENCE_STEP * np.diag(self.scale)
        ahead, behind = (of(poses[:, None] + sign * steps) for sign in (1, -1))
        return np.asarray(np.moveaxis((ahead - behind) / (2 * DIFFERENCE_STEP), 1, -1))


def spline(knots: Array, points: Array) -> Any:
    """A cubic spline over fractions (k,) through points (k, n): straight where the points are."""
    from scipy.interpolate import CubicSpline  # slow to import

    return CubicSpline(knots, points, bc_type="natural")
