"""Grids of positions, computed in blocks so that memory does not grow with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.robot import Robot
from tauforge.workspace.rules import blocks, positions_of


class Grid(NamedTuple):
    """Positions whose coordinates take values along some axes; the others stay at home.

    home:   (N,) a position; the others are assembled as it is
    places: of the coordinates that vary
    values: (k,) for each of them
    """

    robot: Robot
    home: Array
    places: tuple[int, ...]
    values: tuple[Array, ...]

    @property
    def start(self) -> Array:
        """(n,) the coordinates of home."""
        return self.robot.positions.coordinates(self.home)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.values)

    def positions(self, rows: slice) -> Array:
        """(k, N) those of some rows of the flattened grid; NaN where there is none."""
        return self._at(np.unravel_index(np.arange(rows.start, rows.stop), self.shape))

    def evaluated(self, function: Callable[[Array], Array], dtype: str = "float64") -> Array:
        """An array of the grid's shape from a function of positions (k, N)."""
        found = np.empty(int(np.prod(self.shape)), dtype)
        for rows in blocks(len(found)):
            found[rows] = function(self.positions(rows))
        return found.reshape(self.shape)

    def where(self, mask: Array) -> Array:
        """(k, N) the positions at which a mask of the grid's shape is true."""
        return self._at(np.nonzero(mask))

    def _at(self, indices: tuple[Array, ...]) -> Array:
        found = np.repeat(self.start[None], len(indices[0]), axis=0)
        for place, values, index in zip(self.places, self.values, indices, strict=True):
            found[:, place] = values[index]
        return positions_of(self.robot, found, self.home)
