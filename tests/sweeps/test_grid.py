"""Blocks of a grid: together they are the grid, each point once and in row-major order."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from support.sweep_studies import axes_of
from tauforge.sweeps.grid import CHUNK_POINTS, MOST_BLOCKS, grid_of

shapes = st.lists(st.integers(1, 9), min_size=1, max_size=6)


@given(shapes, st.integers(1, 200))
def test_every_point_is_in_one_block(shape, most):
    grid = grid_of(shape, most)
    seen = np.zeros(shape, dtype=int)
    for index in itertools.product(*map(range, grid.counts)):
        assert 1 <= math.prod(grid.lengths(index)) <= most
        seen[grid.slices(index)] += 1
    assert (seen == 1).all()
    assert all(block % chunk == 0 for block, chunk in zip(grid.block, grid.chunk, strict=True))


@given(shapes, st.integers(1, 200))
def test_coordinates_are_in_row_major_order(shape, most):
    grid, axes = grid_of(shape, most), axes_of({f"x{k}": size for k, size in enumerate(shape)})
    indices = np.indices(shape)
    for index in itertools.product(*map(range, grid.counts)):
        found = grid.coordinates(axes, index)
        for k, values in enumerate(found.values()):
            np.testing.assert_array_equal(values, indices[k][grid.slices(index)].reshape(-1))


def test_blocks_fill_what_they_may():
    """A few large blocks and not many small ones; those of one grid have nearly the same size."""
    grid = grid_of((201, 201, 201), 2**18)
    sizes = [math.prod(grid.lengths((k, 0, 0))) for k in range(grid.counts[0])]
    assert grid.counts[1:] == (1, 1)
    assert min(sizes[:-1]) > 0.8 * 2**18
    assert math.prod(grid.chunk) <= CHUNK_POINTS
    assert grid_of((1, 1, 5), 2**18).blocks == 1


def test_chunks_of_many_numbers_have_fewer_points():
    assert math.prod(grid_of((10**6,), 2**18, 36).chunk) <= CHUNK_POINTS // 36


def test_too_many_blocks():
    with pytest.raises(
        tf.ModelError, match=r"the grid has 1e\+15 points in .* blocks, more than 1,000,000. Take fewer"
    ):
        grid_of((10**5, 10**5, 10**5), 2**18)
    assert grid_of((10**6,), 1).blocks == MOST_BLOCKS
