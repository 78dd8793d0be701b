"""Small systems: factors of symmetric ones, the inverse; systems that are not square, by condition number."""

from __future__ import annotations

import numpy as np
import pytest

from support.tolerances import EPSILON, ROUNDING, error, solve_tolerance
from tauforge.algebra.linear import (
    factored,
    independent_rows,
    inverse,
    nearest_solution,
    orthogonalised,
    smallest_solution,
    solved,
    solved_by_pivots,
)
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


SHAPES = [(2, 2), (5, 2), (7, 4), (3, 1), (6, 5)]


def matrix(rng: np.random.Generator, shape: tuple[int, int], condition: float) -> np.ndarray:
    """With singular values from 1 to 1 / condition."""
    U, _, V = np.linalg.svd(rng.normal(size=shape), full_matrices=False)
    return U @ np.diag(np.geomspace(1.0, 1.0 / condition, shape[1])) @ V


@pytest.mark.parametrize("condition", [1e1, 1e6, 1e11])
@pytest.mark.parametrize("shape", SHAPES)
def test_errors_grow_with_the_condition_number_and_not_with_its_square(shape, condition):
    rng = np.random.default_rng(shape[0])
    for _ in range(20):
        A = matrix(rng, shape, condition if shape[1] > 1 else 1.0)
        factors, x = orthogonalised(A.T.tolist()), rng.normal(size=shape[1])
        bound = 30 * shape[0] * EPSILON * condition
        assert np.abs(nearest_solution(factors, (A @ x).tolist()) - x).max() < bound * np.abs(x).max()
        u = A @ rng.normal(size=shape[1])  # of the rows' space, so it is the shortest itself
        found = smallest_solution(factors, (A.T @ u).tolist())
        assert np.abs(found - u).max() < bound * np.abs(u).max()


def test_the_nearest_of_a_system_that_has_no_solution():
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(6, 3)), rng.normal(size=6)
    x = nearest_solution(orthogonalised(A.T.tolist()), b.tolist())
    assert np.abs(A.T @ (A @ x - b)).max() < 100 * EPSILON


@pytest.mark.parametrize("condition", [1e4, 1e8, 1e11])
def test_lost_orthogonality_does_no_harm(condition):
    """The columns of Q are orthogonal but for eps times the condition number. Still A' u is right to rounding beside u,
    and A x is as near as any: residuals do not grow with the condition number.
    """
    rng = np.random.default_rng(2)
    for shape in SHAPES[1:3] * 10:
        A, right = matrix(rng, shape, condition), rng.normal(size=shape[1])
        factors = orthogonalised(A.T.tolist())
        Q = np.array(factors.Q)
        assert np.abs(Q @ Q.T - np.eye(shape[1])).max() > 1e-3 * EPSILON * condition
        u = np.array(smallest_solution(factors, right.tolist()))
        assert np.abs(A.T @ u - right).max() < 30 * shape[0] * EPSILON * np.abs(u).max()
        b = A @ rng.normal(size=shape[1])
        x = np.array(nearest_solution(factors, b.tolist()))
        assert np.abs(A @ x - b).max() < 30 * shape[0] * EPSILON * np.abs(x).max()


def test_dependent_columns_are_not_finite():
    columns = [[1.0, 2.0, 2.0], [2.0, 4.0, 4.0]]
    with np.errstate(all="ignore"):
        arrays = [[np.array([x]) for x in column] for column in columns]
        found = nearest_solution(orthogonalised(arrays), [np.array([1.0])] * 3)
    assert not np.isfinite(found).all()


def test_independent_rows_are_the_first_that_span_all():
    """A dependent row, a zero row and a row that is nearly dependent are passed over; the choice has full rank."""
    a, b, c = np.random.default_rng(4).normal(size=(3, 3))
    rows = [a, np.zeros(3), 2 * a, b, a - 3 * b, a + b + 1e-9 * c, c]
    chosen = independent_rows([row.tolist() for row in rows], 3, 1e-6)
    assert chosen == [0, 3, 6]
    assert np.linalg.matrix_rank(np.array(rows)[chosen]) == 3
    assert independent_rows([row.tolist() for row in rows], 2, 1e-6) == [0, 3]
