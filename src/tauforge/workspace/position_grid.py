"""Grids of positions, and the part of a grid that is connected with home.

They are computed in blocks, so that memory does not grow with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.positions import singularity
from tauforge.robots.robot import Robot
from tauforge.workspace import singular_crossings as crossings
from tauforge.workspace.criteria import BLOCK_POSITIONS, Criteria, by_blocks, positions_of
from tauforge.workspace.rays import size_of, straight_path
from tauforge.workspace.singular_crossings import Paths

SEPARATING = (crossings.SINGULAR_POSITION, crossings.JUMPS)  # crossings that separate cells of a grid


class PositionGrid(NamedTuple):
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
        """Coordinates (n,) of home."""
        return self.robot.positions.coordinates(self.home)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.values)

    @property
    def home_cell(self) -> tuple[int, ...]:
        """Indices of the cell nearest to home."""
        start = self.start
        nearest = (np.abs(values - start[k]).argmin() for k, values in zip(self.places, self.values, strict=True))
        return tuple(map(int, nearest))

    def positions(self, rows: slice) -> Array:
        """Positions (k, N) of some rows of the flattened grid; NaN where there is none."""
        return self._at(np.unravel_index(np.arange(rows.start, rows.stop), self.shape))

    def evaluated(self, function: Callable[[Array], Array], dtype: str = "float64") -> Array:
        """An array of the grid's shape from a function of positions (k, N)."""
        count = int(np.prod(self.shape))
        return by_blocks(count, dtype, lambda rows: function(self.positions(rows))).reshape(self.shape)

    def where(self, mask: Array) -> Array:
        """Positions (k, N) at which a mask of the grid's shape is true."""
        return self._at(np.nonzero(mask))

    def _at(self, indices: tuple[Array, ...]) -> Array:
        found = np.repeat(self.start[None], len(indices[0]), axis=0)
        for place, values, index in zip(self.places, self.values, indices, strict=True):
            found[:, place] = values[index]
        return positions_of(self.robot, found, self.home)


def beyond_crossings(grid: PositionGrid, closed: Array) -> Array:
    """Mask of the grid's shape: positions beyond a singular position or a jump, seen from home.

    closed: a mask of it, where there are positions
    Neighbours on the grid are connected unless a crossing lies between them. A position is beyond a crossing where it
    would be connected with home if there were none.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers = np.arange(closed.size).reshape(closed.shape)
    pairs, crossed, singular = [], [], np.zeros(closed.size, bool)
    for axis in range(closed.ndim):
        lines = np.moveaxis(numbers, axis, -1).reshape(-1, closed.shape[axis])
        between, at_cell = _on_lines(grid, axis, lines)
        singular[lines[at_cell]] = True
        pairs.append(np.stack([lines[:, :-1].ravel(), lines[:, 1:].ravel()]))
        crossed.append(between.ravel())
    first, second = np.concatenate(pairs, axis=1)
    there = closed.ravel() | singular  # a singular position may have no answer of its own
    both, whole = there[first] & there[second], ~np.concatenate(crossed)
    connected = []
    for kept in (both, both & whole):
        edges = coo_array((np.ones(int(kept.sum())), (first[kept], second[kept])), shape=(closed.size, closed.size))
        labels = connected_components(edges, directed=False)[1]
        connected.append(labels == labels[numbers[grid.home_cell]])
    beyond = connected[1] if _is_beyond(grid, grid.home_cell) else connected[0] & ~connected[1]
    return np.asarray((beyond | singular).reshape(closed.shape))


def _on_lines(grid: PositionGrid, axis: int, lines: Array) -> tuple[Array, Array]:
    """Masks of crossings between neighbouring cells (l, m - 1) and at the cells (l, m) of lines (l, m) of the grid."""
    robot, values, place = grid.robot, grid.values[axis], grid.places[axis]
    between, at_cell = np.zeros((len(lines), len(values) - 1), bool), np.zeros(lines.shape, bool)
    if len(values) < 2:
        return between, at_cell
    indices = np.unravel_index(lines[:, 0], grid.shape)
    size = size_of(robot, grid.home)

    def at(distance: Array, rows: Array) -> Array:
        coordinates = np.empty((*distance.shape, robot.n))
        coordinates[:] = grid.start
        for other, column, index in zip(grid.places, grid.values, indices, strict=True):
            coordinates[..., other] = column[index[rows]][:, None]
        coordinates[..., place] = distance
        return positions_of(robot, coordinates, grid.home)

    scale = 1.0 if robot.coordinates[place].turns else size
    paths = Paths(robot, at, grid.home, np.full(len(lines), values[-1]), np.full(len(lines), scale), size)
    for rows in np.array_split(np.arange(len(lines)), max(1, lines.size // BLOCK_POSITIONS)):
        for one in crossings.all_crossings(paths, rows, np.broadcast_to(values, (len(rows), len(values)))):
            if one.name in SEPARATING:  # open loops are told by the positions themselves
                before = int(np.clip(np.searchsorted(values, one.distance, side="right") - 1, 0, len(values) - 2))
                between[one.path, before] = True
                near = np.abs(values - one.distance) <= crossings.SAME * scale
                at_cell[one.path] |= near & (one.name == crossings.SINGULAR_POSITION)
    return between, at_cell


def _is_beyond(grid: PositionGrid, cell: tuple[int, ...]) -> bool:
    """True if a crossing is on the straight path from home to a cell."""
    coordinates = grid.start.copy()
    coordinates[list(grid.places)] = [v[k] for v, k in zip(grid.values, cell, strict=True)]
    found = crossings.first_crossings(straight_path(grid.robot, grid.home, coordinates))
    return any(one.name in SEPARATING for one in found)


def connected_with_home(criteria: Criteria, grid: PositionGrid, codes: Array) -> Array:
    """Mask of cells connected with that of home through faces, on its side of all singular positions."""
    from scipy.ndimage import label

    hold, home = codes == 0, grid.home_cell
    if not hold[home]:
        return np.zeros_like(hold)
    labels, _ = label(hold)
    part: Array = labels == labels[home]
    if (own := singularity(criteria.robot, grid.home[None])) is None:
        return part
    positions = grid.where(part)
    robot, sign = criteria.robot, own[0]
    same = by_blocks(len(positions), "bool", lambda rows: crossings.determinants(robot, positions[rows]) * sign > 0)
    if same.all():
        return part
    part[part] = same
    labels, _ = label(part)
    return np.asarray(labels == labels[home]) & part
