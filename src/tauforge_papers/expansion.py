"""An arm in one state, in the symbols with which Turney and Lee expand Newton-Euler into Lagrange.

Links and joints are numbered from 1, as in the papers; entry 0 of a list is the base or is not used. The motion comes
from `formulations.serial.newton_euler_base`, the derivatives of the transformations from
`formulations.serial.lagrange_euler`: the equations of the papers say how the one becomes the other.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.vectors import E_Z, Matrix, Transform, Vector
from tauforge.analysis.arm_matrices import check_arm
from tauforge.arrays import Array
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.formulations.serial.lagrange_euler import Derivative, partials, pseudo_inertia
from tauforge.formulations.serial.newton_euler_base import LinkState, inward, outward
from tauforge.formulations.serial.parameters import base_at_rest, into_frame_0
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.validation import real_array

Z = np.array([*E_Z])
cross = np.cross


def skew(v: Array) -> Array:
    return np.cross(np.eye(3), v)


class Expansion:
    """qd, qdd: (n + 1,) rates of the joints and what the equations have for their accelerations.

    lift:                 minus gravity, in frame 0; g z_0 of the papers
    r, r_bar:             (n + 1, 3) vectors of each link, in its own frame
    m, I, J, Ja:          mass, inertia about the mass centre, second moments about the frame's origin, T1.28
    omega, alpha, a, a_bar, F, own: motion of each link, m a_bar, and the moment that its own motion needs at the origin
                          of the frame before, in the link's frame
    pair:                 (n, 3) moments at the origin of the frame before, if the next link is the last
    tau:                  (n + 1,) torques
    """

    def __init__(self, arm: SerialArm, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> None:
        parameters = revolute(arm).model.parameters
        self.n = n = parameters.n
        state = [_numbers(name, x, n) for name, x in (("q", q), ("qd", qd), ("qdd", qdd))]
        self.qd, self.qdd = (np.append(0.0, x) for x in state[1:])
        angles, rates, accelerations = (x.tolist() for x in state)
        links = outward(parameters, angles, rates, accelerations, base_at_rest(parameters))
        U = partials(parameters, angles)
        pseudo = [pseudo_inertia(body) for body in parameters.bodies]
        self.lift = array(into_frame_0(parameters, -parameters.gravity))
        self._R = [array(T.rotation) for T in U.T]
        self._p = [array(T.translation) for T in U.T]
        self._T = [[array(D) for D in row] for row in U.first]
        self._TT = [{pair: array(D) for pair, D in row.items()} for row in U.second]
        self.m = np.array([0.0, *(body.mass for body in parameters.bodies)])
        self.I = np.array([np.zeros((3, 3)), *(array(body.inertia) for body in parameters.bodies)])
        self.J = np.array([np.zeros((3, 3)), *(array(one.J) for one in pseudo)])
        self.r_bar = np.array([np.zeros(3), *(array(body.com) for body in parameters.bodies)])
        h = self.m[:, None] * self.r_bar
        self.Ja = np.array([np.block([[J, v[:, None]], [v, m]]) for J, v, m in zip(self.J, h, self.m, strict=True)])
        self.r, self.omega, self.alpha, self.a, self.a_bar, self.F = (
            self._own_axes(links, attrgetter(name)) for name in ("r", "omega", "alpha", "a", "a_bar", "F")
        )
        self.a[0] = self._R[0].T @ self.lift
        self.own = self._own_axes(links, lambda link: inward([link])[0].moment)
        pairs = [inward([one, two])[0].moment for one, two in pairwise(links)]  # as if the second were the last
        self.pair = np.array([np.zeros(3), *(array(l.R).T @ array(n) for l, n in zip(links, pairs, strict=False))])
        self.tau = np.array(
            [0.0, *(float(array(a.z) @ array(w.moment)) for a, w in zip(links, inward(links), strict=True))]
        )

    def _own_axes(self, links: list[LinkState], of: Callable[[LinkState], Vector]) -> Array:
        return np.array([np.zeros(3), *(array(link.R).T @ array(of(link)) for link in links)])

    def R(self, k: int, i: int) -> Array:
        """R_k^i, from frame i to frame k."""
        return np.asarray(self._R[k].T @ self._R[i])

    def place(self, i: int, v: Array) -> Array:
        """p_0^i + R_0^i v: a point given in frame i, in frame 0."""
        return np.asarray(self._p[i] + self._R[i] @ v)

    def z(self, k: int, j: int) -> Array:
        """R_k^{j-1} z_{j-1}: the axis of joint j, in frame k."""
        return np.asarray(self.R(k, j - 1) @ Z)

    def Q(self, k: int, j: int) -> Array:
        """Q_k^{j-1}: the vector product with the axis of joint j, in frame k."""
        return skew(self.z(k, j))

    def dT(self, i: int, j: int) -> Array:
        """Derivative of T_0^i by the angle of joint j."""
        return self._T[i - 1][j - 1] if j <= i else np.zeros((4, 4))

    def d2T(self, i: int, j: int, k: int) -> Array:
        """Derivative of T_0^i by the angles of joints j and k."""
        return self._TT[i - 1][min(j, k) - 1, max(j, k) - 1] if max(j, k) <= i else np.zeros((4, 4))

    def dR(self, i: int, j: int) -> Array:
        return self.dT(i, j)[:3, :3]

    def dp(self, i: int, j: int) -> Array:
        return self.dT(i, j)[:3, 3]

    def d2R(self, i: int, j: int, k: int) -> Array:
        return self.d2T(i, j, k)[:3, :3]

    def d2p(self, i: int, j: int, k: int) -> Array:
        return self.d2T(i, j, k)[:3, 3]

    def single(self, last: int, term: Callable[[int], Any], rates: Array | None = None) -> Any:
        """Sum over joints 1 to last of a term times the joint's acceleration, or its rate if the rates are given."""
        rates = self.qdd if rates is None else rates
        return sum(term(j) * rates[j] for j in range(1, last + 1))

    def double(self, last: int, term: Callable[[int, int], Any], ks: Callable[[int], range] | None = None) -> Any:
        """Sum over joints j = 1 to last, and k = 1 to last or those of `ks(j)`, of a term times both rates."""
        pairs = ((j, k) for j in range(1, last + 1) for k in (range(1, last + 1) if ks is None else ks(j)))
        return sum((term(j, k) * (self.qd[j] * self.qd[k]) for j, k in pairs), 0.0 * term(1, 1))

    def turning(self, i: int) -> Array:
        """Second time derivative of R_0^i: sums of its derivatives times accelerations and products of rates."""
        return np.asarray(self.single(i, lambda j: self.dR(i, j)) + self.double(i, lambda j, k: self.d2R(i, j, k)))

    def moving(self, i: int) -> Array:
        """The same of p_0^i."""
        return np.asarray(self.single(i, lambda j: self.dp(i, j)) + self.double(i, lambda j, k: self.d2p(i, j, k)))

    def integral(self, i: int, term: Callable[[Array], Any]) -> Any:
        """Integral over the mass of link i of a quadratic term in d, from the frame's origin to the element of mass.

        The sum over points with the link's mass, first and second moments is the integral of every such term.
        """
        m, centre = self.m[i], self.r_bar[i]
        moments, axes = np.linalg.eigh(self.J[i] - m * np.outer(centre, centre))
        far = np.sqrt(np.abs(moments).sum() / m) if m > 0 else 1.0
        far = far or 1.0
        total = (m - moments.sum() / far**2) * term(centre)
        for moment, axis in zip(moments, axes.T, strict=True):
            for side in (-far, far):
                total = total + moment / (2 * far**2) * term(centre + side * axis)
        return total


def array(x: Vector | Matrix | Transform | Derivative) -> Array:
    """Components of a vector or matrix; of a derivative of T, with its last row."""
    if isinstance(x, Vector):
        return np.array([*x], float)
    if isinstance(x, Matrix):
        return np.array([[*row] for row in x.rows], float)
    return np.vstack([np.column_stack([array(x[0]), array(x[1])]), np.zeros(4)])


def revolute(arm: SerialArm) -> SerialArm:
    """UnsupportedFeatureError unless all joints turn: the papers differentiate rotations alone."""
    slides = [joint.name for joint in check_arm(arm).joints if joint.kind != "R"]
    if slides:
        problem = f"expected revolute joints; {arm.name} has the prismatic joint {slides[0]!r}"
        remedy = "Lock it, or compare the formulations: compare(arm, q, qd, qdd) takes every arm"
        raise UnsupportedFeatureError(problem, field="arm", remedy=remedy)
    return arm


def _numbers(name: str, x: ArrayLike, n: int) -> Array:
    given = real_array(name, x)
    if given.shape != (n,):
        raise ShapeError(name, expected=f"({n},)", got=str(given.shape), hint="The steps are those of one state")
    return given
