"""Numbers that are shaken at every operation: their runs differ by what rounding does."""

from __future__ import annotations

import numpy as np
import pytest

from support.tolerances import EPSILON
from tauforge.algebra.linear import solved_by_pivots
from tauforge.algebra.scalars import arctangent, cos, select, sin, sqrt
from tauforge.evaluation.reference import RUNS, Shaken, errors, runs, shaken

MANY = 50  # times: how far the estimate of an error may be from it


def spread(found: np.ndarray) -> float:
    return float(np.abs(found - found[0]).max())


def test_the_first_run_has_no_errors_and_the_others_have_those_of_rounding():
    own = errors()
    x, y = shaken(np.array([[1.3, 0.7], [0.2, -0.9]]), own)
    found = sin(x) * cos(y) + sqrt(x * x + y * y) / arctangent(y, x) - select(x, y, x, -y)
    a, b = np.array([1.3, 0.2]), np.array([0.7, -0.9])
    wanted = np.sin(a) * np.cos(b) + np.sqrt(a * a + b * b) / np.arctan2(b, a) - np.where(a < b, a, -b)
    got = runs([found], 2)
    assert got.shape == (RUNS, 2, 1)
    np.testing.assert_array_equal(got[0, :, 0], wanted)
    assert 0 < spread(got) < MANY * EPSILON


def test_what_cancels_is_seen():
    own = errors()
    (x,) = shaken(np.array([[1e-8]]), own)
    left = runs([(1.0 + x) - 1.0], 1)
    assert EPSILON / 2 < spread(left) < MANY * EPSILON  # 1e-8 of which eight digits are left
    assert spread(runs([x + x], 1)) < MANY * EPSILON * 1e-8


@pytest.mark.parametrize("exponent", [0, 4, 8, 12])
def test_an_elimination_loses_by_its_condition(exponent):
    """The solution (1, 1) of x + y = 2 and x + (1 + d) y = 2 + d is off by about eps / d."""
    d = 10.0**-exponent
    own = errors()
    one, more = shaken(np.array([[1.0, 1.0 + d]]), own)
    found = spread(runs(solved_by_pivots([[one, one], [one, more]], [one + one, one + more]), 1))
    assert EPSILON / d / MANY < found < MANY * EPSILON / d


def test_zero_is_known():
    nothing, something = shaken(np.array([[0.0, 2.0]]), errors())
    assert nothing == 0.0
    assert isinstance(something, Shaken)
