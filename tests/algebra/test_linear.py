"""Small symmetric systems: factors, solutions and the inverse."""

from __future__ import annotations

import numpy as np
import pytest

from support.tolerances import ROUNDING, error
from tauforge.algebra.linear import factored, inverse, solved
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
