"""Where a robot is: positions beside coordinates."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array
from tauforge.computed_once import computed_once
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Capability
from tauforge.robots.parts import Coordinate


@ours
class Positions(Capability):
    """What positions (..., N) are beside coordinates (..., n), and velocities beside the rates of these.

    By default a position is its coordinates, and velocities are their rates.
    """

    @property
    def entries(self) -> tuple[Coordinate, ...]:
        """One for each number of a position."""
        found: tuple[Coordinate, ...] = self.robot.coordinates
        return found

    @property
    def size(self) -> int:
        """N, the number of entries."""
        return len(self.entries)

    @property
    def default(self) -> Array:
        """(N,) where pictures show the robot, and maps hold what they do not vary.

        A little beside the middle of each range, to one side and the other in turn: links do not hide one another.
        """
        low, high = np.transpose([c.usual_range for c in self.robot.coordinates])
        return np.asarray(low + np.where(np.arange(self.robot.n) % 2, 0.4, 0.6) * (high - low))

    def coordinates(self, position: Array) -> Array:
        """The coordinates (..., n) of positions (..., N)."""
        return position

    def at(self, coordinates: Array, near: Array | None = None, *, on_failure: str = "raise") -> Array:
        """Positions (..., N) from coordinates (..., n), or from positions that are nearly right.

        near:       (..., N) decides where there are several
        on_failure: "raise", or "nan" for rows where there is none
        """
        return coordinates

    def slopes(self, position: Array) -> Array:
        """(..., N, n) derivatives of positions (..., N) by their coordinates."""
        return np.broadcast_to(np.eye(self.robot.n), (*position.shape, self.robot.n))

    def error(self, target: Array, position: Array) -> Array:
        """target - position, (..., n), the short way round. target: coordinates (..., n), as motions give them"""
        error, wrapped = np.asarray(target - position), self._wrapped
        if wrapped:
            error[..., wrapped] = np.remainder(error[..., wrapped] + np.pi, 2 * np.pi) - np.pi
        return error

    @computed_once
    def _wrapped(self) -> list[int]:
        """The places of coordinates that a full turn leaves unchanged."""
        return [i for i, coordinate in enumerate(self.robot.coordinates) if coordinate.wraps]

    def rates(self, position: Array, velocity: Array, acceleration: Array | None = None) -> tuple[Array, Array]:
        """First and second time derivatives of the coordinates, (..., n) each; the second without acceleration is that
        of a motion whose acceleration is 0.
        """
        return velocity, np.zeros_like(velocity) if acceleration is None else acceleration

    def from_rates(self, position: Array, rates: Array, second_rates: Array) -> tuple[Array, Array]:
        """Velocity and acceleration from the time derivatives of the coordinates. Identity: undoes `rates`."""
        return rates, second_rates

    def rate_derivatives(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        """Derivatives of the coordinates' first rates by position and by velocity, each (..., n, n)."""
        n = self.robot.n
        shape = (*np.broadcast_shapes(np.shape(position)[:-1], np.shape(velocity)[:-1]), n, n)
        return np.zeros(shape), np.array(np.broadcast_to(np.eye(n), shape))
