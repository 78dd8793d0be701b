"""Condition numbers of batches of small matrices: a kernel, and NumPy's singular values where that does not settle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tauforge.algebra.condition import SURE, condition
from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array, real_number
from tauforge.errors import ShapeError
from tauforge.evaluation.array_libraries import arithmetic_of
from tauforge.evaluation.evaluator import formula_kernel, kernel_if_allowed
from tauforge.kernels.backends import Kernel

ROWS = 6  # of the matrices that a kernel takes


def condition_numbers(H: Array) -> Array:
    """Ratios of extreme singular values of (..., 6, 6) matrices, (...); NaN where a matrix is not finite."""
    kernel = kernel_if_allowed(_condition_kernel)
    if kernel is None:
        return by_singular_values(H)
    found, doubt = kernel(np.ascontiguousarray(H, dtype=float).reshape(*H.shape[:-2], ROWS * ROWS))
    return settled(found, doubt, lambda rows: H[rows])


def settled(
    found: Array, doubt: Array, matrices: Callable[[Array], Array], exactly: Callable[[Array], Array] | None = None
) -> Array:
    """Condition numbers (...), those in doubt by NumPy's singular values, so that no row depends on the others.

    matrices: gives the matrices (k, m, n) of those rows, a mask (...)
    exactly:  gives what is asked for (k,) from those matrices, where it is not the condition number
    """
    rows = ~(doubt < SURE)
    if rows.any():
        found = np.array(found)
        found[rows] = (exactly or by_singular_values)(matrices(rows))
    return found


def by_singular_values(H: Array) -> Array:
    """For arrays of any library."""
    xp, constant = arithmetic_of(H)
    finite = xp.isfinite(H).all(-1).all(-1)
    sound = xp.where(finite[..., None, None], H, constant(np.eye(*H.shape[-2:])))
    # CuPy has the second alone
    values = xp.linalg.svdvals(sound) if hasattr(xp.linalg, "svdvals") else xp.linalg.svd(sound, compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = xp.where(finite, values[..., 0] / values[..., -1], constant(np.nan))
    return found


def check_length(length: Any) -> float:
    """A characteristic length, m."""
    if not 0 < real_number(length) < np.inf:
        raise ShapeError("characteristic_length", expected="a number > 0", got=repr(length))
    return float(length)


def smallest_stiffness(matrices: Array, maps_forces: bool) -> Array:
    """Smallest eigenvalues (...) of H H' where the matrices (..., m, n) map forces, of (J J')^-1 where velocities."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(-2, -1)))
    sound = np.where(finite[..., None, None], matrices, 0.0)
    values = np.linalg.svd(sound, compute_uv=False)
    with np.errstate(divide="ignore"):
        found = values[..., -1] ** 2 if maps_forces else values[..., 0] ** -2.0
    return np.where(finite, found, np.nan)


@cache
def _condition_kernel() -> Kernel:
    doc = "condition number of a matrix, and a doubt of it"
    return formula_kernel("condition", doc, _of_rows, {"rows": (ROWS * ROWS,)}, ((), ()), f"of {ROWS} rows")


def _of_rows(rows: Sequence[Scalar]) -> Sequence[Scalar]:
    return list(condition([rows[k * ROWS : (k + 1) * ROWS] for k in range(ROWS)]))
