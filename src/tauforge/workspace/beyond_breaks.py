"""Which positions of a grid are beyond a singular position or a jump, seen from home.

Neighbours on the grid are connected unless a break lies between them. A position is beyond a break where it would be
connected with home if there were none.
"""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array
from tauforge.workspace.breaks import AT_ONCE, JUMPS, SAME, SINGULAR, Ways, breaks_between, breaks_of
from tauforge.workspace.grids import Grid
from tauforge.workspace.rays import size_of, straight_way
from tauforge.workspace.rules import positions_of

BEYOND = "a singular position is here, or between home and here"


def beyond_breaks(grid: Grid, closed: Array) -> Array:
    """A mask of the grid's shape. closed: a mask of it, where there are positions"""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers = np.arange(closed.size).reshape(closed.shape)
    pairs, broken, singular = [], [], np.zeros(closed.size, bool)
    for axis in range(closed.ndim):
        lines = np.moveaxis(numbers, axis, -1).reshape(-1, closed.shape[axis])
        between, at_cell = _on_lines(grid, axis, lines)
        singular[lines[at_cell]] = True
        pairs.append(np.stack([lines[:, :-1].ravel(), lines[:, 1:].ravel()]))
        broken.append(between.ravel())
    first, second = np.concatenate(pairs, axis=1)
    there = closed.ravel() | singular  # a singular position may have no answer of its own
    both, whole = there[first] & there[second], ~np.concatenate(broken)
    nearest = tuple(int(np.abs(v - grid.start[p]).argmin()) for p, v in zip(grid.places, grid.values, strict=True))
    connected = []
    for kept in (both, both & whole):
        edges = coo_array((np.ones(int(kept.sum())), (first[kept], second[kept])), shape=(closed.size, closed.size))
        labels = connected_components(edges, directed=False)[1]
        connected.append(labels == labels[numbers[nearest]])
    beyond = connected[1] if _is_beyond(grid, nearest) else connected[0] & ~connected[1]
    return np.asarray((beyond | singular).reshape(closed.shape))


def _on_lines(grid: Grid, axis: int, lines: Array) -> tuple[Array, Array]:
    """Whether breaks are between the cells of lines (l, m) along an axis, (l, m - 1), and at these, (l, m)."""
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
    ways = Ways(robot, at, grid.home, np.full(len(lines), values[-1]), np.full(len(lines), scale), size)
    for rows in np.array_split(np.arange(len(lines)), max(1, lines.size // AT_ONCE)):
        for one in breaks_between(ways, rows, np.broadcast_to(values, (len(rows), len(values)))):
            if one.name in (SINGULAR, JUMPS):  # open loops are told by the positions themselves
                before = int(np.clip(np.searchsorted(values, one.distance, side="right") - 1, 0, len(values) - 2))
                between[one.way, before] = True
                near = np.abs(values - one.distance) <= SAME * scale
                at_cell[one.way] |= near & (one.name == SINGULAR)
    return between, at_cell


def _is_beyond(grid: Grid, cell: tuple[int, ...]) -> bool:
    """Whether a break is on the straight way from home to a cell."""
    coordinates = grid.start.copy()
    coordinates[list(grid.places)] = [v[k] for v, k in zip(grid.values, cell, strict=True)]
    found = breaks_of(straight_way(grid.robot, grid.home, coordinates))
    return any(one.name in (SINGULAR, JUMPS) for one in found)
