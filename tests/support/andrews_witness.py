"""Andrews' squeezing mechanism by its equations in seven angles with multipliers, written down apart from the package.

Points are complex numbers, sums of c exp(i L q) with integers L. The accelerations follow from M q'' + G' lambda = f and
G q'' = -G' q' (index 1). Data: Test Set for IVP Solvers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Terms = list[tuple[complex, Vector]]
START = np.array(
    [
        -0.0617138900142764496,
        0.0,
        0.455279819163070380,
        0.222668390165885885,
        0.487364979543842550,
        -0.222668390165885885,
        1.23054744454982119,
    ]
)  # beta, Theta, gamma, and the angles of K4, K5, K6, K7
TORQUE, STIFFNESS, LENGTH, C = 0.033, 4530.0, 0.07785, 0.014 + 0.072j
A, B = -0.06934 - 0.00227j, -0.03635 + 0.03273j
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)


def turned(*angles: int) -> Vector:
    found = np.zeros(7)
    found[list(angles)] = 1.0
    return found


CRANK: Terms = [(7e-3, turned(0))]
TIP: Terms = [*CRANK, (-28e-3, turned(0, 1))]
CENTRES: tuple[Terms, ...] = (
    [(92e-5, turned(0))],
    [*CRANK, (-115e-4, turned(0, 1))],
    [(1043e-5 - 1874e-5j, turned(2))],
    [(4e-2, turned(4)), (-1j * (2e-2 - 1421e-5), turned(3, 4))],
    [(2308e-5 + 916e-5j, turned(4))],
    [(-4e-2j, turned(6)), (2e-2 - 1421e-5, turned(5, 6))],
    [(-449e-5 - 1228e-5j, turned(6))],
)
TURNS = (turned(0), turned(0, 1), turned(2), turned(3, 4), turned(4), turned(5, 6), turned(6))
ENDS: tuple[Terms, ...] = (
    [(-35e-3j, turned(2))],
    [(4e-2, turned(4)), (-2e-2j, turned(3, 4))],
    [(-4e-2j, turned(6)), (2e-2, turned(5, 6))],
)
SPRING: Terms = [(2e-2 - 18e-3j, turned(2))]


def point(terms: Terms, q: Vector) -> complex:
    return complex(sum(c * np.exp(1j * (L @ q)) for c, L in terms))


def slope(terms: Terms, q: Vector) -> NDArray[np.float64]:
    """(2, 7) of x and y by the angles."""
    total = sum(1j * c * np.exp(1j * (L @ q)) * L for c, L in terms)
    return np.array([np.real(total), np.imag(total)])


def bias(terms: Terms, q: Vector, v: Vector) -> Vector:
    """(2,) acceleration where the rates do not change."""
    total = complex(sum(-c * np.exp(1j * (L @ q)) * (L @ v) ** 2 for c, L in terms))
    return np.array([total.real, total.imag])


def rates(_: float, y: Vector) -> Vector:
    q, v = y[:7], y[7:]
    M, f = np.zeros((7, 7)), np.zeros(7)
    for terms, turn, mass, inertia in zip(CENTRES, TURNS, MASSES, INERTIAS, strict=True):
        J = slope(terms, q)
        M += mass * J.T @ J + inertia * np.outer(turn, turn)
        f -= mass * J.T @ bias(terms, q, v)
    f[0] += TORQUE
    stretched = B + point(SPRING, q) - C
    pull = -STIFFNESS * (abs(stretched) - LENGTH) / abs(stretched) * stretched
    f += slope(SPRING, q).T @ [pull.real, pull.imag]
    G = np.vstack([slope(TIP, q) - slope(end, q) for end in ENDS])
    g = np.concatenate([bias(TIP, q, v) - bias(end, q, v) for end in ENDS])
    K = np.block([[M, G.T], [G, np.zeros((6, 6))]])
    return np.concatenate([v, np.linalg.solve(K, np.concatenate([f, -g]))[:7]])


def end_angles(time: float) -> Vector:
    """(7,) at a time, s."""
    from scipy.integrate import solve_ivp

    start = np.concatenate([START, np.zeros(7)])
    return np.asarray(solve_ivp(rates, (0.0, time), start, method="DOP853", rtol=1e-13, atol=1e-15).y[:7, -1])
