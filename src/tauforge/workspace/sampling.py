"""Positions that are drawn evenly from the ranges of the coordinates, loops closed.

Loops that cannot be closed cost most, because they are followed from a known position in ever shorter strides. So the
first samples are closed from home, and the others from the nearest of those.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.robot import Robot
from tauforge.workspace.rules import BLOCK, positions_of

FIRST = 4096  # samples that are closed from home
SEED = 0


def sampled_positions(robot: Robot, home: Array, count: int) -> Iterator[Array]:
    """Blocks of positions (k, N), assembled as at home (N,), `count` in all; NaN where loops do not close.

    The first block has at most FIRST. The same count gives the same positions.
    """
    random = np.random.default_rng(SEED)
    low, high = np.transpose([coordinate.usual_range for coordinate in robot.coordinates])
    first = random.uniform(low, high, (min(FIRST, count), robot.n))
    known = positions_of(robot, first, home)
    yield known
    closed = np.isfinite(known).all(axis=-1)
    starts = _Nearest(known[closed], first[closed], low, high) if robot.may_not_close and closed.any() else None
    for start in range(len(first), count, BLOCK):
        drawn = random.uniform(low, high, (min(BLOCK, count - start), robot.n))
        yield positions_of(robot, drawn, home if starts is None else starts.of(drawn))


class _Nearest:
    """Known positions (k, N) by their coordinates (k, n): the nearest is found by shares of the ranges."""

    def __init__(self, positions: Array, coordinates: Array, low: Array, high: Array) -> None:
        from scipy.spatial import KDTree

        self._positions, self._span = positions, np.where(high > low, high - low, 1.0)
        self._tree = KDTree(coordinates / self._span)

    def of(self, coordinates: Array) -> Array:
        """(j, N)"""
        return np.asarray(self._positions[self._tree.query(coordinates / self._span)[1]])
