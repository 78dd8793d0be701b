"""Bricard's mechanism of IFToMM's problem A04 as one scalar equation, written down apart from the package.

Every other hinge turns alike: by a the first, third and fifth, by b the others, and the loop closes where
(1 + sin a) (1 + sin b) = 1. So M(a) a'' = -M'(a) a'^2 / 2 - V'(a), and M and V follow from the open chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.integrate import solve_ivp

POINTS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
AXES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)], float)
GRAVITY, WIDTH = 9.81, 0.1
RANGE, DEGREE = (-0.2, np.pi + 0.2), 60  # of a, where b is its smooth function; M and V are polynomials to 1e-14


def turned(axis: Any, angle: float) -> Any:
    K = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def other_angle(a: Any) -> Any:
    return -np.arcsin(np.sin(a) / (1 + np.sin(a)))


def inertia_and_height(a: float) -> tuple[float, float]:
    """M(a), and V(a) = g times the sum of the heights of the five rods of 1 kg."""
    b = float(other_angle(a))
    slope = -np.cos(a) / (1 + np.sin(a)) ** 2 / np.cos(b)  # b'
    R, p = np.eye(3), POINTS[0]
    lines: list[tuple[Any, Any, float]] = []  # axis, point and rate of each hinge so far
    M = V = 0.0
    for k in range(5):
        lines.append((R @ AXES[k], p, slope if k % 2 else 1.0))
        R = R @ turned(AXES[k], b if k % 2 else a)
        along = POINTS[k + 1] - POINTS[k]
        centre = p + R @ along / 2
        omega = np.sum([rate * z for z, _, rate in lines], axis=0)
        v = np.sum([rate * np.cross(z, centre - q) for z, q, rate in lines], axis=0)
        own = R.T @ omega
        thin, long = 2 * WIDTH**2 / 12, (1 + WIDTH**2) / 12
        M += float(v @ v + own @ (np.where(np.abs(along) > 0.5, thin, long) * own))
        V += GRAVITY * float(centre[1])
        p = p + R @ along
    assert np.abs(p - POINTS[5]).max() < 1e-12  # the loop is closed
    return M, V


def angles(times: Any) -> Any:
    """a at these times, s, from rest at home."""
    M, V = (
        Chebyshev.interpolate(np.vectorize(lambda a, k=k: inertia_and_height(a)[k]), DEGREE, domain=RANGE)
        for k in range(2)
    )
    dM, dV = M.deriv(), V.deriv()

    def rates(_: float, y: Any) -> Any:
        return [y[1], -(dM(y[0]) * y[1] ** 2 / 2 + dV(y[0])) / M(y[0])]

    return solve_ivp(rates, (0.0, times[-1]), [0.0, 0.0], method="DOP853", t_eval=times, rtol=1e-13, atol=1e-14).y[0]
