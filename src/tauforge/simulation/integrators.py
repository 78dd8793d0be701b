"""Integrators: classical Runge-Kutta, Dormand-Prince with adaptive steps, and a symplectic method.

Each takes the times of the wanted rows, of which the first is the start, and gives the states there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ConvergenceError, SingularityError, TauforgeError, UnsupportedFeatureError
from tauforge.evaluation.functions import has
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import PlainState

Rates = Callable[[float, Array], Array]
RELATIVE, ABSOLUTE = 1e-12, 1e-14  # of the adaptive method
EVALUATIONS_PER_ROW = 1000  # of the adaptive method for every row, some 80 steps: more is a motion that runs away
ITERATIONS = 50  # of the symplectic method's equations
SETTLED = 1e-14
FAR = 1e9  # rad, m and their rates: beyond, angles have lost their digits, kernels know no sines, a motion has run away
NEEDED = ("mass_matrix", "coriolis_matrix", "gravity_forces", "friction_forces")  # functions, by the symplectic method
AHEAD, WEIGHTS = (1 / 2, 1 / 2, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)  # of rk4: from a stage to the next, and in the sum
RAN_AWAY, STOPPED = "the motion ran away", "the integrator stopped"
ENDING_ERRORS = (ConvergenceError, SingularityError)  # what ends a simulation, not a program


class Stop(NamedTuple):
    """Reason for which an integrator cannot go on; `error` is the exception, if one was raised."""

    reason: str
    error: TauforgeError | None = None


class Integrator(Protocol):
    """Rows of states at these times; fewer where it cannot go on, and why."""

    def advance(self, rates: Rates, times: Array, y: Array) -> tuple[Array, Stop | None]: ...


def ran_away(states: Array) -> Array:
    """Mask (...) of states (..., m) that are beyond FAR or NaN."""
    return np.asarray(~(np.abs(states) <= FAR).all(axis=-1))


def rk4(rates: Rates, t: float, y: Array, h: float) -> Array:
    """One step of the classical fourth-order method (Turney, Mudge & Lee 1980 simulate by it)."""
    k1 = rates(t, y)
    k2 = rates(t + h / 2, y + h / 2 * k1)
    k3 = rates(t + h / 2, y + h / 2 * k2)
    k4 = rates(t + h, y + h * k3)
    return np.asarray(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))


def rk4_pulled_back(
    rates: Callable[[Array], Array], pull_back: Callable[[Array, Array, Array], Array], y: Array, h: float, bar: Array
) -> Array:
    """The gradient by the state before a step of `rk4` from that by the state after it.

    pull_back: from a state, its rates and a gradient by these to the gradient by the state
    """
    stages, slopes = [y], [rates(y)]
    for ahead in AHEAD:
        stages.append(y + ahead * h * slopes[-1])
        slopes.append(rates(stages[-1]))
    later, before = np.zeros_like(y), bar
    for s in reversed(range(len(stages))):
        onward = AHEAD[s] * h * later if s < len(AHEAD) else 0.0
        later = pull_back(stages[s], slopes[s], WEIGHTS[s] * h * bar + onward)
        before = before + later
    return before


class RungeKutta:
    """A step from row to row."""

    def __init__(self, robot: Robot) -> None:
        self.space = robot.state_space

    def advance(self, rates: Rates, times: Array, y: Array) -> tuple[Array, Stop | None]:
        def watched(t: float, y: Array) -> Array:
            if ran_away(y):  # before the robot is asked: it would call such a place singular
                raise ConvergenceError(RAN_AWAY, residual=np.nan, iterations=0)
            return rates(t, y)

        return step_by_step(lambda t, y, h: self.space.renewed(rk4(watched, t, y, h)), times, y)


class DormandPrince:
    """SciPy's DOP853: steps by its own error estimate, each from a renewed state; rows by its dense output."""

    def __init__(self, robot: Robot) -> None:
        self.space = robot.state_space

    def advance(self, rates: Rates, times: Array, y: Array) -> tuple[Array, Stop | None]:
        found, stop = [y[None]], None
        try:
            found.extend(self._steps(rates, times, y))
        except ENDING_ERRORS as error:
            stop = Stop(error.reason, error)
        rows = np.concatenate(found)
        rows[1:] = self.space.renewed(rows[1:])
        lost = np.flatnonzero(ran_away(rows))
        if len(lost):
            return rows[: lost[0]], Stop(RAN_AWAY)
        return rows, stop

    def _steps(self, rates: Rates, times: Array, y: Array) -> Iterator[Array]:
        """Rows (k, m) at the times that each step passes, as long as it goes well."""
        from scipy.integrate import DOP853  # slow to import

        most, calls = EVALUATIONS_PER_ROW * (10 + len(times)), count(1)

        def counted(t: float, y: Array) -> Array:
            if next(calls) > most:
                raise ConvergenceError(f"{STOPPED}: it needs too many steps", residual=np.nan, iterations=most)
            slope = rates(t, y)
            if not np.isfinite(slope).all():  # else SciPy looks for a first step for ever
                raise ConvergenceError(RAN_AWAY, residual=np.nan, iterations=0)
            return slope

        solver = DOP853(counted, times[0], y, times[-1], rtol=RELATIVE, atol=ABSOLUTE)
        done = 1
        while solver.status == "running":
            solver.step()
            if solver.status == "failed":
                why = f"{STOPPED}: no step is short enough: the rates grow without bound here, or jump"
                raise ConvergenceError(why, residual=np.nan, iterations=solver.nfev)
            if ran_away(solver.y):
                raise ConvergenceError(RAN_AWAY, residual=np.nan, iterations=solver.nfev)
            passed = int(np.searchsorted(times, solver.t, side="right"))
            if passed > done:
                yield solver.dense_output()(times[done:passed]).T
                done = passed
            renewed = self.space.renewed(solver.y)
            if not np.array_equal(renewed, solver.y):
                solver.y, solver.f = renewed, counted(solver.t, renewed)


class Symplectic:
    """The implicit midpoint rule in coordinates and momenta p = M qd: order 2, energy errors do not pile up.

    qd = M^-1 p and p' = C' qd - g - friction, C being Christoffel's.
    """

    def __init__(self, robot: Robot) -> None:
        if not has(robot, *NEEDED) or type(robot.state_space) is not PlainState:
            needed = f"{', '.join(NEEDED)}, which {robot.kind} {robot.name} does not have"
            problem = f"the symplectic method needs {needed}"
            raise UnsupportedFeatureError(problem, field="method", remedy="Use rk4 or dormand-prince")
        self.robot: Any = robot  # its methods of these names are not in the contract

    def advance(self, rates: Rates, times: Array, y: Array) -> tuple[Array, Stop | None]:
        return step_by_step(lambda t, y, h: self.step(y, h), times, y)

    def step(self, y: Array, h: float) -> Array:
        n, robot = self.robot.n, self.robot
        q0, qd0 = y[:n], y[n:]
        p0 = robot.mass_matrix(q0) @ qd0
        q1, p1 = q0 + h * qd0, p0
        for _ in range(ITERATIONS):
            q, p = (q0 + q1) / 2, (p0 + p1) / 2
            qd = np.linalg.solve(robot.mass_matrix(q), p)
            slope = robot.coriolis_matrix(q, qd).T @ qd - robot.gravity_forces(q) - robot.friction_forces(qd)
            q2, p2 = q0 + h * qd, p0 + h * slope
            change = max(np.abs(q2 - q1).max(), np.abs(p2 - p1).max() / (1 + np.abs(p2).max()))
            q1, p1 = q2, p2
            if change < SETTLED * (1 + np.abs(q1).max()):
                return np.concatenate([q1, np.linalg.solve(robot.mass_matrix(q1), p1)])
        problem = "the symplectic step did not converge"
        raise ConvergenceError(problem, residual=change, iterations=ITERATIONS, remedy="Take a shorter step")


def step_by_step(step: Callable[[float, Array, float], Array], times: Array, y: Array) -> tuple[Array, Stop | None]:
    """From row to row, as far as it goes."""
    rows = [y]
    for t, following in pairwise(times.tolist()):
        try:
            reached = step(t, rows[-1], following - t)
        except ENDING_ERRORS as error:
            return np.array(rows), Stop(error.reason, error)
        if ran_away(reached):
            return np.array(rows), Stop(RAN_AWAY)
        rows.append(reached)
    return np.array(rows), None


INTEGRATORS: dict[str, Callable[[Robot], Integrator]] = {
    "rk4": RungeKutta,
    "dormand-prince": DormandPrince,
    "symplectic": Symplectic,
}
