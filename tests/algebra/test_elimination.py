"""Sparse elimination with rows that every state picks for itself, against NumPy's dense solutions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tolerances import EPSILON
from tauforge.algebra.elimination import Elimination, StructurallySingularError, column_order
from tauforge.algebra.scalars import ArrayScalar

TINY = 1e-17  # below the rounding of 1


def columns(A):
    """Scalars for a batch of matrices (k, m, n): entries that are 0 in all of them are numbers."""
    return [
        [ArrayScalar(A[:, i, j].copy()) if A[:, i, j].any() else 0.0 for j in range(A.shape[2])]
        for i in range(A.shape[1])
    ]


def values(scalars, count):
    return np.stack([np.broadcast_to(getattr(x, "value", x), (count,)) for x in scalars], axis=-1)


def random_systems(seed, m, n, density, count=7):
    """Matrices with one pattern, of full column rank: a permuted diagonal is always there."""
    rng = np.random.default_rng(seed)
    pattern = rng.random((m, n)) < density
    pattern[rng.permutation(m)[:n], np.arange(n)] = True
    A = rng.normal(size=(count, m, n)) * pattern
    return A, rng


def bound(A):
    """A bound of the relative error of a solution: rounding times the number of steps and the condition."""
    return 30 * A.shape[2] * EPSILON * np.linalg.cond(A)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.1, 1.0))
def test_square_systems_and_their_transposes(seed, n, density):
    A, rng = random_systems(seed, n, n, density)
    b = rng.normal(size=(len(A), n))
    factors = Elimination(columns(A), n)
    good = np.linalg.cond(A) < 1e8
    for found, matrix in ((factors.solved, A), (factors.solved_transposed, A.swapaxes(1, 2))):
        x = values(found([ArrayScalar(b[:, i].copy()) for i in range(n)]), len(A))
        expected = np.linalg.solve(matrix[good], b[good][..., None])[..., 0]
        error = np.abs(x[good] - expected).max(axis=-1, initial=0.0)
        assert (error <= bound(A)[good] * np.abs(expected).max(axis=-1, initial=0.0)).all()


@pytest.mark.parametrize("A", [[[TINY, 1.0], [1.0, TINY]], [[1.0, TINY], [TINY, 1.0]]])
def test_rows_of_plain_numbers_change_places_too(A):
    """A pivot of 1e-17 beside 1 loses all digits; whichever column comes first, one of the two has it."""
    factors = Elimination(A, 2)
    for found, matrix in ((factors.solved, np.array(A)), (factors.solved_transposed, np.array(A).T)):
        x, expected = np.array(found([1.0, 2.0])), np.linalg.solve(matrix, [1.0, 2.0])
        assert np.abs(x - expected).max() <= bound(matrix[None])[0] * np.abs(expected).max()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 4), st.floats(0.2, 1.0))
def test_redundant_rows(seed, n, more, density):
    """Rows that say the same as others: every state picks its own, and what is left over is zero."""
    A, rng = random_systems(seed, n, n, density)
    A = np.concatenate([A, rng.normal(size=(len(A), more, n)) @ A], axis=1)
    A = A[:, rng.permutation(n + more)]
    x = rng.normal(size=(len(A), n))
    b = np.einsum("kij,kj->ki", A, x)
    factors = Elimination(columns(A), n)
    right = [ArrayScalar(b[:, i].copy()) for i in range(n + more)]
    found, left_over = factors.solved(right), factors.left_over(right)
    good = np.linalg.cond(A) < 1e6
    error = np.abs(values(found, len(A)) - x).max(axis=-1)
    assert (error <= bound(A) * np.abs(x).max(axis=-1))[good].all()
    rest = np.abs(values(left_over, len(A))).max(axis=-1)
    assert (rest <= bound(A) * np.abs(b).max(axis=-1))[good].all()
    y = values(factors.solved_transposed([ArrayScalar(x[:, i].copy()) for i in range(n)]), len(A))
    back = np.einsum("kij,ki->kj", A, y)
    assert (np.abs(back - x).max(axis=-1) <= bound(A) * np.abs(x).max(axis=-1))[good].all()


def test_redundant_rows_that_disagree_are_left_over():
    rows = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]
    factors = Elimination(rows, 2)
    assert factors.solved([3.0, 4.0, 5.5]) == [3.0, 2.0]
    assert factors.left_over([3.0, 4.0, 5.5]) == [0.5]


def test_every_state_has_its_own_pivot():
    """No order of the two rows is good for both states."""
    A = np.array([[[1e-17, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1e-17, 1.0]]])
    b = np.array([[1.0, 2.0], [2.0, 1.0]])
    x = values(Elimination(columns(A), 2).solved([ArrayScalar(b[:, 0].copy()), ArrayScalar(b[:, 1].copy())]), 2)
    assert np.abs(x - 1.0).max() <= 4 * EPSILON


def test_a_column_without_a_pivot_is_told():
    with pytest.raises(StructurallySingularError):
        Elimination([[1.0, 2.0], [0.0, 0.0]], 2)


def test_legs_are_eliminated_before_what_they_share():
    """Two legs of two unknowns each, and one that both have."""
    legs = [{0, 1, 4}, {0, 1, 4}, {2, 3, 4}, {2, 3, 4}, {4}]
    order = column_order([[j in row for j in range(5)] for row in legs], 5)
    assert order[-1] == 4
    assert {frozenset(order[:2]), frozenset(order[2:4])} == {frozenset({0, 1}), frozenset({2, 3})}
