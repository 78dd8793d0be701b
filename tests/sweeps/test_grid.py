"""Grids: axes and their texts, and blocks, which together are the grid, each point once and in row-major order."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from support.sweep_studies import axes_of
from tauforge.sweeps import Axis
from tauforge.sweeps.grid import CHUNK_POINTS, MOST_BLOCKS, check_axes, grid_of, with_units

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


@pytest.mark.parametrize(
    ("text", "values", "unit"),
    [
        ("x=-0.5:0.5:5", [-0.5, -0.25, 0.0, 0.25, 0.5], ""),
        ("x=2:2:1", [2.0], ""),
        ("seed=3:7", [3, 4, 5, 6], ""),
        ("seed=-2:1", [-2, -1, 0], ""),
        ("mass=0,1,4", [0, 1, 4], ""),
        ("mass=0.5", [0.5], ""),
        ("motor 1=0:1:3", [0.0, 0.5, 1.0], ""),
        (" left knuckle joint = 0,1", [0, 1], ""),
        (" x = 1e-1 : .3 : 3", [0.1, 0.2, 0.3], ""),
        ("theta_x=-90deg:90deg:3", [-math.pi / 2, 0.0, math.pi / 2], "rad"),
        ("x=10mm,2cm", [0.01, 0.02], "m"),
    ],
)
def test_texts(text, values, unit):
    axis = Axis.from_text(text)
    np.testing.assert_allclose(axis.values, values, rtol=4 * np.finfo(float).eps, atol=0)
    assert axis.unit == unit
    assert axis.name == text.partition("=")[0].strip()


def test_whole_numbers_stay_whole():
    assert Axis.from_text("seed=0:3").values.dtype == np.int64
    assert Axis.from_text("seed=0,5").values.dtype == np.int64
    assert Axis.from_text("x=0:2:3").values.dtype == np.float64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=0:1:0", "axis x: the axis has zero points. Ask for 1 or more"),
        ("x=0:1:-3", "axis x: the axis has -3 points. Ask for 1 or more"),
        ("seed=4:4", "axis seed: the axis has zero points. END is not one of the values"),
        ("x=1:0:3", "axis x: the bounds are reversed: 1 is above 0"),
        ("seed=9:2", "axis seed: the bounds are reversed: 9 is above 2"),
        ("x=a:1:3", "axis x: expected a number, got 'a'. Units are "),
        ("x=nan:1:3", "axis x: expected a number, got 'nan'. Units are "),
        ("x=1e999:2:3", "axis x: expected a number, got '1e999'. Units are "),
        ("x=0:1:2.5", "axis x: expected a whole number of points, got '2.5'"),
        ("x=0.5:2", "axis x: expected whole numbers FIRST:END, got '0.5:2'. For others give a count"),
        ("x=0:1:2:3", "axis x: expected at most two colons, got '0:1:2:3'. Write NAME=FIRST:LAST:COUNT"),
        ("x=1,2,1", "axis x: a value occurs twice"),
        ("x=0:1:1", "axis x: one point cannot be both 0 and 1. Ask for 2 or more"),
        ("x=1:1:4", "axis x: 4 points between 1 and itself are the same. Ask for 1"),
        (
            "x=0:1:99999999999",
            "axis x: 99,999,999,999 values are too many for one axis. One axis has at most 10,000,000",
        ),
        ("s=0:100000000000000000000000", "axis s: 100,000,000,000,000,000,000,000 values are too many for one axis"),
        ("s=99999999999999999999:100000000000000000000", "axis s: a value is larger than 9.22e+18"),
        ("x=1mm,2deg", "axis x: the values have different units: m, rad. Give every value its unit"),
        ("x", "axis: expected an axis, got 'x'. Write NAME=FIRST:LAST:COUNT"),
        ("=1:2:3", "axis: expected an axis, got '=1:2:3'"),
        ("x=", "axis: expected an axis, got 'x='"),
        ("../x=1,2", "axis: '../x' cannot be the name of an axis. Use letters"),
        ("motor  1=1,2", "axis: 'motor  1' cannot be the name of an axis. Use letters"),
        ("a /b=1,2", "axis: 'a /b' cannot be the name of an axis. Use letters"),
    ],
)
def test_refused_texts(text, message):
    with pytest.raises(tf.ModelError) as caught:
        Axis.from_text(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "axis x: the axis has zero points"),
        ([[1, 2]], "axis x: expected values (k,), got shape (1, 2)"),
        ([0.0, np.nan], "axis x: a value is not finite"),
        (["a"], "axis x: expected numbers, got ['a']"),
    ],
)
def test_refused_values(values, message):
    with pytest.raises(tf.ModelError) as caught:
        Axis("x", values)
    assert str(caught.value) == message


def test_sets_of_axes():
    x = Axis("x", [1, 2])
    with pytest.raises(tf.ModelError, match=r"axis x: the axis is given twice"):
        check_axes([x, Axis("x", [3])])
    with pytest.raises(tf.ModelError, match=r"a sweep needs an axis"):
        check_axes([])
    long = [Axis(f"x{k}", np.arange(10**5)) for k in range(4)]
    with pytest.raises(tf.ModelError, match=r"the grid has 1e\+20 points, more than the largest that can be counted"):
        check_axes(long)


def test_units_belong_to_names():
    (found,) = with_units([Axis("x", [1.0])], {"x": "m", "y": "m"})
    assert found.unit == "m"
    with pytest.raises(tf.ModelError, match=r"axis z: unknown axis. The axes are x, y"):
        with_units([Axis("z", [1.0])], {"x": "m", "y": "m"})
    with pytest.raises(tf.ModelError, match=r"axis x: expected values in m, got rad"):
        with_units([Axis.from_text("x=1deg")], {"x": "m"})


def test_values_cannot_be_changed():
    axis = pickle.loads(pickle.dumps(Axis("x", [1.0, 2.0], "m")))
    assert (axis.name, axis.unit, list(axis.values)) == ("x", "m", [1.0, 2.0])
    with pytest.raises(ValueError, match=r"read-only"):
        axis.values[0] = 3.0
    given = np.arange(3.0)
    axis = Axis("x", given)
    given[0] = 5.0  # the caller's own array stays his
    assert axis.values[0] == 0.0
