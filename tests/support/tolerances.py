"""Tolerances, stated once. Error = largest absolute difference in a row over the largest magnitude in that row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.analysis.comparison import relative_error

FORMULATIONS = 1e-12  # formulations against each other
OUTSIDE = 1e-10  # against other people's engines
PLACED = 1e-12  # poses of bodies, against other people's engines
ROUNDING = 1e-13  # the same quantity by two short routes in float64
SINGLE = 1e-5  # float32 against float64 on the same rounded inputs
COMPLEX_STEP = 1e-12  # derivatives against complex steps, without differences: eps times conditions of 4e3 together
CLOSED = 1e-12  # gap of a mechanism's loops over its size, or of points of a mechanism of half a metre, in metres
CENTRAL_DIFFERENCES = 1e-6  # steps h = 1e-5: h^2 times third derivatives of 1e4 slopes; rounding, eps / h, is less
SHORT_DIFFERENCES = 1e-9  # steps h = 1e-6 of positions: h^2 times third derivatives, and rounding, eps / h = 2e-10
ENERGY_BALANCE = 1e-8  # (h rate)^4 of Runge-Kutta and Simpson: steps of 1e-4 s, rates of 100/s
INTEGRATED = 1e-9  # two adaptive integrators with relative tolerances of 1e-12, over less than a second
INTEGRATED_LONG = 1e-9  # the same over 10 s of motions that magnify no errors; seen: 2e-10
SAME_STEPS = 1e-12  # the same Runge-Kutta steps by another order of operations
EPSILON = float(np.finfo(float).eps)


def error_beside(a: ArrayLike, b: ArrayLike, size: ArrayLike) -> float:
    """The largest difference over the size of the quantities it was computed from, where the result may be zero."""
    return float(np.abs(np.asarray(a) - np.asarray(b)).max(initial=0.0) / np.abs(np.asarray(size)).max())


def error(a: ArrayLike, b: ArrayLike, core: int = 1) -> float:
    """The error of the last `core` dimensions, taken as one row."""
    x, y = (np.asarray(v, float) for v in (a, b))
    x, y = np.broadcast_arrays(x, y)
    flat: Any = x.shape[: x.ndim - core] + (-1,)
    return relative_error(x.reshape(flat), y.reshape(flat))


def solve_tolerance(M: ArrayLike) -> float:
    """30 n eps kappa: what a backward stable solve with M may cost."""
    matrix = np.asarray(M)
    return float(30 * matrix.shape[-1] * EPSILON * np.linalg.cond(matrix).max())
