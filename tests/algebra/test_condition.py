"""Condition numbers by Laguerre's steps, against NumPy's singular values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import seeds
from tauforge.algebra.condition import LARGEST_RATIO, SURE, Squares, bidiagonal, condition, extremes, power_sums
from tauforge.algebra.scalars import ArrayScalar

EPSILON = np.finfo(float).eps
COUNT = 200
ROUNDINGS = 60  # of reflections, per condition number: a relative error of the smallest singular value


def of_columns(matrices):
    """Ratio and doubt (k,) of matrices (k, m, n)."""
    rows = [[ArrayScalar(matrices[:, i, j].copy()) for j in range(matrices.shape[2])] for i in range(matrices.shape[1])]
    with np.errstate(all="ignore"):
        found = condition(rows)
    return found.ratio.value, found.doubt.value


def with_singular_values(rng, values):
    """(k, n, n) matrices with singular values (k, n)."""
    count, n = values.shape
    left, right = (np.linalg.qr(rng.normal(size=(count, n, n)))[0] for _ in range(2))
    return np.einsum("kij,kj,klj->kil", left, values, right)


@given(rng=seeds, shape=st.sampled_from([(6, 6), (6, 2), (2, 6), (6, 3), (6, 7), (4, 4), (6, 5)]))
def test_random_matrices(rng, shape):
    matrices = rng.normal(size=(COUNT, *shape))
    expected = np.linalg.cond(matrices)
    ratio, doubt = of_columns(matrices)
    sure = doubt < SURE
    assert sure.mean() > 0.98
    assert (np.abs(ratio / expected - 1)[sure] < ROUNDINGS * EPSILON * expected[sure]).all()


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (1, 1)])
def test_one_row_or_column_is_as_well_conditioned_as_can_be(shape):
    """There is one singular value, so nothing is computed: a state in which it vanishes is none of doubt."""
    rows = [[ArrayScalar(np.array([0.0, 3.0])) for _ in range(shape[1])] for _ in range(shape[0])]
    assert condition(rows) == (1.0, 0.0)


@pytest.mark.parametrize("shape", [(1, 6), (6, 1)])
def test_one_row_or_column_has_one_singular_value(shape):
    entries = np.random.default_rng(1).normal(size=(6, 2))
    rows = np.reshape([ArrayScalar(x) for x in entries], shape).tolist()
    low, high, *doubts = extremes(rows)
    assert np.allclose(low.value, (entries**2).sum(axis=0), rtol=ROUNDINGS * EPSILON)
    assert low is high
    assert doubts == [0.0, 0.0]


@pytest.mark.parametrize("decades", [0.5, 3, 8, 12])
@given(rng=seeds)
def test_what_is_sure_is_right(decades, rng):
    """Singular values spread over decades, some of them nearly equal: wrong ones are doubted, most are not."""
    values = 10 ** rng.uniform(-decades, 0, (COUNT, 6))
    near = 1 + 10 ** rng.uniform(-12, 0, (COUNT, 6))
    chosen = rng.integers(0, 6, (COUNT, 6))
    values = np.where(chosen < 2, np.take_along_axis(values, chosen, axis=1) * near, values)
    matrices = with_singular_values(rng, values)
    expected = np.linalg.cond(matrices)
    ratio, doubt = of_columns(matrices)
    sure = doubt < SURE
    assert sure.any()
    assert (np.abs(ratio / expected - 1)[sure] < SURE + ROUNDINGS * EPSILON * expected[sure]).all()


@given(rng=seeds)
def test_two_equal_singular_values_are_settled(rng):
    """As symmetric platforms have them: the smallest, the largest, or both in pairs."""
    values = np.sort(10 ** rng.uniform(-1.5, 0, (COUNT, 6)), axis=1)
    values[:, 1], values[::2, 4] = values[:, 0], values[::2, 5]
    values[:, 2] = np.maximum(values[:, 2], 1.3 * values[:, 0])
    values[:, 3] = np.minimum(values[:, 3], values[:, 5] / 1.3)
    matrices = with_singular_values(rng, values)
    ratio, doubt = of_columns(matrices)
    expected = values.max(1) / values.min(1)
    sure = doubt < SURE
    assert sure.mean() > 0.9
    assert (np.abs(ratio / expected - 1)[sure] < SURE + ROUNDINGS * EPSILON * expected[sure]).all()


def test_known_ratios():
    diagonal = np.diag([1.0, 2, 3, 4, 5, 10])[None]
    for matrix, expected in ((np.eye(6)[None], 1.0), (diagonal, 10.0), (diagonal[:, ::-1] * 1e-60, 10.0)):
        ratio, doubt = of_columns(matrix.copy())
        assert doubt < SURE
        assert abs(ratio / expected - 1) < ROUNDINGS * EPSILON * expected
    assert condition([[3.0], [4.0]]).ratio == 1.0


def test_singular_matrices_are_doubted():
    rng = np.random.default_rng(1)
    matrices = rng.normal(size=(COUNT, 6, 6))
    matrices[:, 5] = matrices[:, 0] - 2 * matrices[:, 3]
    matrices[0] = 0.0
    matrices[1, :, 2] = 0.0
    ratio, doubt = of_columns(matrices)
    assert not (doubt < SURE)[ratio > 1e16].any()
    assert not ((ratio < 1e14) & (doubt < SURE)).any()
    assert not (ratio > 1.01 * LARGEST_RATIO).any()


def test_not_finite():
    matrices = np.random.default_rng(2).normal(size=(3, 6, 6))
    matrices[1, 2, 3] = np.nan
    matrices[2, 5, 5] = np.inf
    ratio, doubt = of_columns(matrices)
    assert np.isfinite(ratio[0])
    assert not (doubt < SURE)[1:].any()


@given(rng=seeds)
def test_the_bidiagonal_matrix_has_the_same_singular_values(rng):
    matrix = rng.normal(size=(6, 5))
    q, e = bidiagonal(matrix.tolist())
    B = np.diag(np.sqrt(q)) + np.diag(np.sqrt(e), 1)
    expected = np.linalg.svd(matrix, compute_uv=False)
    assert np.abs(np.linalg.svd(B, compute_uv=False) - expected).max() < ROUNDINGS * EPSILON * expected[0]


@given(rng=seeds)
def test_power_sums(rng):
    q, e = rng.uniform(0.5, 2, 6), rng.uniform(0.1, 1, 5)
    B = np.diag(np.sqrt(q)) + np.diag(np.sqrt(e), 1)
    eigenvalues = np.linalg.eigvalsh(B.T @ B)
    for x in (0.5 * eigenvalues[0], 1.5 * eigenvalues[-1], 0.5 * (eigenvalues[2] + eigenvalues[3])):
        terms = 1 / (eigenvalues - x)
        got = power_sums(Squares(q.tolist(), e.tolist()), float(x))
        scale = np.abs(terms).max()
        assert abs(got[0] - terms.sum()) < 1e6 * EPSILON * scale * (1 + scale * eigenvalues[-1])
        assert abs(got[1] - (terms**2).sum()) < 1e6 * EPSILON * scale**2 * (1 + scale * eigenvalues[-1])
