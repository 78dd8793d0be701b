"""Positions that are drawn evenly from the ranges of the coordinates, loops closed.

Loops that cannot be closed cost most, because they are followed from a known position in ever shorter strides. So the
first samples are followed from home in small steps, and the others are closed from the nearest of those that arrive.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.robot import Robot
from tauforge.workspace.rules import BLOCK, positions_of

FIRST = 4096  # samples that are followed from home
STEPS = 64  # on the way of each
SEED = 0


def usual_ranges(robot: Robot) -> Array:
    """(2, n) lowest and highest coordinates."""
    return np.transpose([coordinate.usual_range for coordinate in robot.coordinates])


def sampled_positions(robot: Robot, home: Array, count: int, ranges: Array | None = None) -> Iterator[Array]:
    """Blocks of positions (k, N), assembled as at home (N,), `count` in all; NaN where loops do not close.

    ranges: (2, n) lowest and highest coordinates; default the usual ones
    The first block has at most FIRST. The same count gives the same positions.
    """
    random = np.random.default_rng(SEED)
    low, high = usual_ranges(robot) if ranges is None else ranges
    known = _Known(robot, home, np.where(high > low, high - low, 1.0))
    first = random.uniform(low, high, (min(FIRST, count), robot.n))
    if robot.loops is not None:
        known.extend(first)
    yield known.closed(first)
    for start in range(len(first), count, BLOCK):
        yield known.closed(random.uniform(low, high, (min(BLOCK, count - start), robot.n)))


class _Known:
    """Positions from which others are closed. Distances are shares of the coordinates' ranges, `spans` (n,)."""

    def __init__(self, robot: Robot, home: Array, spans: Array) -> None:
        self._robot, self._spans, self._positions = robot, spans, home[None]

    def extend(self, coordinates: Array) -> None:
        """By the positions to which straight ways lead from home, at coordinates (k, n)."""
        home = self._positions[0]
        start = self._robot.positions.coordinates(home)
        positions = np.repeat(self._positions, len(coordinates), axis=0)
        for share in np.linspace(0.0, 1.0, STEPS + 1)[1:]:
            positions = positions_of(self._robot, start + share * (coordinates - start), positions)
            arrived = np.isfinite(positions).all(axis=-1)
            coordinates, positions = coordinates[arrived], positions[arrived]
        self._positions = np.concatenate([self._positions, positions])

    def closed(self, coordinates: Array) -> Array:
        """Positions (k, N) from coordinates (k, n), closed from the nearest that is known; NaN where there is none."""
        if len(self._positions) == 1:
            return positions_of(self._robot, coordinates, self._positions[0])
        from scipy.spatial import KDTree

        tree = KDTree(self._robot.positions.coordinates(self._positions) / self._spans)
        return positions_of(self._robot, coordinates, self._positions[tree.query(coordinates / self._spans)[1]])
