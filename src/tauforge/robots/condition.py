"""Condition numbers of batches of small matrices: Jacobi rotations in a kernel, or NumPy's singular values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tauforge import settings
from tauforge.algebra.jacobi import extreme_lengths, skewness, sweep
from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.kernels.backends import Kernel, NoKernelError, backend_of
from tauforge.kernels.cpu.code_memory import need_memory
from tauforge.kernels.specification import Shape, Specification
from tauforge.robots.array_libraries import arithmetic_of
from tauforge.tracing.graph import Graph, trace

SIZE = 6
SWEEPS = 5  # in one call of the kernel: nearly always enough
ROUNDS = 3
ORTHOGONAL = 1e-18  # sum of squared cosines; singular values are then wrong by about as much
FEW = 16  # matrices, below which NumPy is quicker


def condition_numbers(H: Array) -> Array:
    """Ratios of extreme singular values of (..., 6, 6) matrices, (...); NaN where a matrix is not finite."""
    batch = H.shape[:-2]
    rows = np.ascontiguousarray(np.swapaxes(H, -1, -2), dtype=float).reshape(-1, SIZE * SIZE)
    kernel = None if len(rows) < FEW else jacobi_kernel()
    if kernel is None:
        return by_singular_values(H)
    result = np.full(len(rows), np.nan)
    going = np.flatnonzero(np.isfinite(rows).all(axis=-1))
    for _ in range(ROUNDS):
        if not len(going):
            return result.reshape(batch)
        turned, skew, extremes = kernel(rows[going] if len(going) < len(rows) else rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            result[going] = extremes[:, 1] / extremes[:, 0]
        unfinished = ~(skew < ORTHOGONAL)
        rows[going], going = turned, going[unfinished]
    if len(going):  # singular ones may never settle
        result[going] = by_singular_values(np.swapaxes(rows[going].reshape(-1, SIZE, SIZE), -1, -2))
    return result.reshape(batch)


def by_singular_values(H: Array) -> Array:
    """For arrays of any library."""
    xp, constant = arithmetic_of(H)
    finite = xp.isfinite(H).all(-1).all(-1)
    sound = xp.where(finite[..., None, None], H, constant(np.eye(SIZE)))
    # CuPy has the second alone
    values = xp.linalg.svdvals(sound) if hasattr(xp.linalg, "svdvals") else xp.linalg.svd(sound, compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = xp.where(finite, values[..., 0] / values[..., -1], constant(np.nan))
    return found


def jacobi_kernel() -> Kernel | None:
    if not settings.kernels():
        return None
    try:
        return _jacobi_kernel()
    except NoKernelError:  # not remembered: there may be memory for it later
        return None


@cache
def _jacobi_kernel() -> Kernel:
    need_memory()
    core = (SIZE * SIZE,)
    doc = "columns one after another, turned; how far they are from right angles; shortest and longest"

    def graph() -> Graph:
        return trace(_sweeps, {"columns": SIZE * SIZE})

    origin = f"{SWEEPS} sweeps of {SIZE}"
    results: tuple[Shape, ...] = (core, (), (2,))
    return backend_of("cpu").compile(
        Specification("jacobi_sweeps", doc, graph, (("columns", core),), results, origin), "float64"
    )


def _sweeps(flat: Sequence[Scalar]) -> list[Scalar]:
    columns = [list(flat[k * SIZE : (k + 1) * SIZE]) for k in range(SIZE)]
    for _ in range(SWEEPS):
        columns = sweep(columns)
    return [*(x for column in columns for x in column), skewness(columns), *extreme_lengths(columns)]
