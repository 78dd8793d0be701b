"""The grid of a sweep in blocks: each is one task and one shard of the store, and consists of a few chunks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.sweeps.axes import Axis

CHUNK_POINTS = 2**16  # what a reader decodes at once; a quarter of it doubles the time of writing
MOST_BLOCKS = 1_000_000  # each has a file for every result and one of its own

Index = tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """Points in row-major order, the last axis fastest, cut into blocks.

    shape: points along each axis
    block: shape of a block; blocks at the far ends may be smaller
    chunk: shape of a chunk, of which a block has a whole number along each axis
    """

    shape: tuple[int, ...]
    block: tuple[int, ...]
    chunk: tuple[int, ...]

    @property
    def points(self) -> int:
        return math.prod(self.shape)

    @property
    def counts(self) -> tuple[int, ...]:
        """Blocks along each axis."""
        return tuple(-(-size // step) for size, step in zip(self.shape, self.block, strict=True))

    @property
    def blocks(self) -> int:
        return math.prod(self.counts)

    def slices(self, index: Index) -> tuple[slice, ...]:
        """Where a block is in the grid."""
        starts = (k * step for k, step in zip(index, self.block, strict=True))
        ends = zip(starts, self.block, self.shape, strict=True)
        return tuple(slice(start, min(start + step, size)) for start, step, size in ends)

    def lengths(self, index: Index) -> tuple[int, ...]:
        """Points of a block along each axis."""
        return tuple(part.stop - part.start for part in self.slices(index))

    def coordinates(self, axes: Sequence[Axis], index: Index) -> dict[str, Array]:
        """The coordinates (N,) of the N points of a block along each axis, in row-major order."""
        lengths = self.lengths(index)
        along = np.ix_(*(axis.values[part] for axis, part in zip(axes, self.slices(index), strict=True)))
        return {
            axis.name: np.broadcast_to(values, lengths).reshape(-1) for axis, values in zip(axes, along, strict=True)
        }


def grid_of(shape: Sequence[int], block_points: int, largest_core: int = 1) -> Grid:
    """The grid in blocks of at most `block_points` points, which depends on nothing else, so that every run agrees.

    largest_core: numbers of the largest result at one point; chunks have fewer points if there are many
    """
    chunk = _run(shape, max(1, min(CHUNK_POINTS // largest_core, block_points)), (1,) * len(shape))
    grid = Grid(tuple(shape), _run(shape, block_points, chunk), chunk)
    if grid.blocks > MOST_BLOCKS:
        raise ModelError(
            f"the grid has {grid.points:.3g} points in {grid.blocks:.3g} blocks, more than {MOST_BLOCKS:,}",
            field="axis",
            remedy="Take fewer values or fewer axes",
        )
    return grid


def _run(shape: Sequence[int], most: int, unit: Sequence[int]) -> tuple[int, ...]:
    """The shape of a run in row-major order: whole last axes, a part of one axis, one unit of those before it.

    unit: what the run is made of: its extent is a multiple of it along each axis
    """
    found = list(unit)
    for k in reversed(range(len(shape))):
        units = -(-shape[k] // unit[k])
        fitting = max(1, most // math.prod(found))
        parts = -(-units // fitting)
        found[k] = -(-units // parts) * unit[k]  # parts of nearly the same size
        if parts > 1:
            break
    return tuple(found)
