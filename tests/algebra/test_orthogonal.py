"""Systems that are not square: accuracy by condition number, and dependent columns."""

from __future__ import annotations

import numpy as np
import pytest

from support.tolerances import EPSILON
from tauforge.algebra.orthogonal import nearest_solution, orthogonalised, smallest_solution

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
