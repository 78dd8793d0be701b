"""Small symmetric systems: factors, solutions and the inverse."""

from __future__ import annotations

import numpy as np
import pytest

from support.tolerances import ROUNDING, error, solve_tolerance
from tauforge.algebra.linear import factored, inverse, solved, solved_by_pivots
from tauforge.algebra.scalars import ArrayScalar
from tauforge.tracing.graph import trace


def positive(n, seed):
    """Diagonally dominant: positive definite, and no inverse loses digits."""
    half = np.random.default_rng(seed).normal(size=(n, n))
    return half @ half.T + 5 * n * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_the_inverse_undoes_the_matrix_and_is_symmetric_to_the_last_bit(n):
    A = positive(n, n)
    factors = factored(A.tolist())
    X = np.array(inverse(factors))
    assert np.array_equal(X, X.T)
    assert error(A @ X, np.eye(n)) < ROUNDING
    columns = [solved(factors, row) for row in np.eye(n).tolist()]
    assert error(np.array(columns), X) < ROUNDING


@pytest.mark.parametrize("scalar", [float, lambda x: ArrayScalar(np.array([x]))], ids=["number", "column"])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_a_tiny_pivot_is_not_taken(n, scalar):
    """Numbers and columns alike: 1e-20 on the diagonal, in every column, takes all digits from the rows below."""
    A = np.random.default_rng(n).normal(size=(n, n)) * (1 - np.eye(n)) + 1e-20 * np.eye(n)
    x = np.arange(1.0, n + 1)
    rows, right = [[scalar(a) for a in row] for row in A.tolist()], [scalar(b) for b in (A @ x).tolist()]
    found = [np.ravel(getattr(y, "value", y))[0] for y in solved_by_pivots(rows, right)]
    assert error(found, x) < solve_tolerance(A)


def test_the_inverse_takes_fewer_operations_than_solving_for_its_columns():
    n = 6

    def matrix(x):
        return [[x[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(n)] for i in range(n)]

    def by_columns(x):
        factors = factored(matrix(x))
        return [y for k in range(n) for y in solved(factors, [float(i == k) for i in range(n)])]

    def at_once(x):
        return [y for row in inverse(factored(matrix(x))) for y in row]

    sizes = {"x": n * (n + 1) // 2}
    assert len(trace(at_once, sizes).nodes) < len(trace(by_columns, sizes).nodes) - 60
