"""Steps in time: the paper's Runge-Kutta, Dormand & Prince's with its own steps, and a symplectic one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from tauforge.errors import ConvergenceError, UnsupportedFeatureError
from tauforge.robots.serial_arm import SerialArm

Array = NDArray[Any]
Rates = Callable[[float, Array], Array]
METHODS = ("rk4", "dormand-prince", "symplectic")
RELATIVE, ABSOLUTE = 1e-10, 1e-12  # of the adaptive method
ITERATIONS = 50  # of the symplectic method's equations
SETTLED = 1e-14


def rk4(rates: Rates, t: float, y: Array, h: float) -> Array:
    """One step of the classical fourth-order method (Turney, Mudge & Lee 1980 simulate by it)."""
    k1 = rates(t, y)
    k2 = rates(t + h / 2, y + h / 2 * k1)
    k3 = rates(t + h / 2, y + h / 2 * k2)
    k4 = rates(t + h, y + h * k3)
    return np.asarray(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))


def dormand_prince(rates: Rates, t: float, y: Array, h: float) -> Array:
    """From t to t + h by SciPy's DOP853, in as many steps as its error estimate asks for."""
    found = solve_ivp(rates, (t, t + h), y, method="DOP853", rtol=RELATIVE, atol=ABSOLUTE)
    if not found.success:
        raise ConvergenceError(f"the integrator stopped: {found.message}", residual=np.nan, iterations=found.nfev)
    return np.asarray(found.y[:, -1])


class Symplectic:
    """The implicit midpoint rule in joint coordinates and momenta p = M qd: order 2, energy errors do not pile up.

    qd = M^-1 p and p' = C' qd - g + tau, C being Christoffel's.
    """

    def __init__(self, robot: object) -> None:
        if not isinstance(robot, SerialArm):
            raise UnsupportedFeatureError(
                "the symplectic method is for arms", field="method", remedy="Use rk4 or dormand-prince"
            )
        self.arm = robot

    def step(self, y: Array, force: Array, h: float) -> Array:
        n, arm = self.arm.n, self.arm
        q0, qd0 = y[:n], y[n:]
        p0 = arm.mass_matrix(q0) @ qd0
        q1, p1 = q0 + h * qd0, p0
        for _ in range(ITERATIONS):
            q, p = (q0 + q1) / 2, (p0 + p1) / 2
            qd = np.linalg.solve(arm.mass_matrix(q), p)
            slope = arm.coriolis_matrix(q, qd).T @ qd - arm.gravity_forces(q) + force - arm.friction_forces(qd)
            q2, p2 = q0 + h * qd, p0 + h * slope
            change = max(np.abs(q2 - q1).max(), np.abs(p2 - p1).max() / (1 + np.abs(p2).max()))
            q1, p1 = q2, p2
            if change < SETTLED * (1 + np.abs(q1).max()):
                return np.concatenate([q1, np.linalg.solve(arm.mass_matrix(q1), p1)])
        raise ConvergenceError(
            "the symplectic step did not settle: take a shorter one", residual=change, iterations=ITERATIONS
        )
