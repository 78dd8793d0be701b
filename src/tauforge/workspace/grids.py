"""Grids of positions, computed in blocks so that memory does not grow with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.workspace.rules import blocks


class Grid(NamedTuple):
    """Positions whose coordinates take values along some axes; the others stay at home.

    home:   (n,)
    places: of the coordinates that vary
    values: (k,) for each of them
    """

    home: Array
    places: tuple[int, ...]
    values: tuple[Array, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.values)

    def positions(self, rows: slice) -> Array:
        """(k, n) those of some rows of the flattened grid."""
        found = np.repeat(self.home[None], rows.stop - rows.start, axis=0)
        indices = np.unravel_index(np.arange(rows.start, rows.stop), self.shape)
        for place, values, index in zip(self.places, self.values, indices, strict=True):
            found[:, place] = values[index]
        return found

    def evaluated(self, function: Callable[[Array], Array], dtype: str = "float64") -> Array:
        """An array of the grid's shape from a function of positions (k, n)."""
        found = np.empty(int(np.prod(self.shape)), dtype)
        for rows in blocks(len(found)):
            found[rows] = function(self.positions(rows))
        return found.reshape(self.shape)

    def where(self, mask: Array) -> Array:
        """(k, n) the positions at which a mask of the grid's shape is true."""
        indices = np.nonzero(mask)
        found = np.repeat(self.home[None], len(indices[0]), axis=0)
        for place, values, index in zip(self.places, self.values, indices, strict=True):
            found[:, place] = values[index]
        return found
