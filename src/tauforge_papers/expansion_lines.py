"""Lines of the expansion that Turney and Lee share, corrected: each a function of the number i of a link.

Vectors are in frame i. Turney's number of a line stands at its right, then Lee's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge_papers.expansion import Expansion, cross


class Lines(Expansion):
    """Left sides come from the recursion. Right sides are sums over the joints, which end in Lagrange's."""

    # Accelerations.

    def axes(self, i: int) -> Any:
        return self.single(i, lambda j: self.z(i, j), self.qd)  # T4.1, L4.5

    def turns(self, i: int) -> Any:
        second = self.double(i, lambda j, k: cross(self.z(i, k), self.z(i, j)), lambda j: range(1, j))
        return self.single(i, lambda j: self.z(i, j)) + second  # T4.2, L4.6

    def centripetal(self, i: int) -> Any:
        return cross(self.omega[i], cross(self.omega[i], self.r[i]))

    def centripetal_by_axes(self, i: int, last: int | None = None) -> Any:
        ks = None if last is None else lambda j: range(1, last + 1)
        return self.double(i, lambda j, k: cross(self.z(i, j), cross(self.z(i, k), self.r[i])), ks)  # T4.3, L4.7

    def centripetal_by_Q(self, i: int) -> Any:
        return self.double(i, lambda j, k: self.Q(i, j) @ self.Q(i, k) @ self.r[i])  # T4.3, L4.7

    def tangential(self, i: int) -> Any:
        return cross(self.alpha[i], self.r[i])

    def tangential_by_axes(self, i: int) -> Any:
        r, z = self.r[i], self.z
        twice = self.double(
            i,
            lambda j, k: cross(z(i, k), cross(z(i, j), r)) - cross(z(i, j), cross(z(i, k), r)),
            lambda j: range(1, j),
        )
        return self.single(i, lambda j: cross(z(i, j), r)) + twice  # before T4.4; L4.8

    def tangential_by_Q(self, i: int) -> Any:
        r, Q = self.r[i], self.Q
        twice = self.double(i, lambda j, k: (Q(i, k) @ Q(i, j) - Q(i, j) @ Q(i, k)) @ r, lambda j: range(1, j))
        return self.single(i, lambda j: Q(i, j) @ r) + twice  # T4.4, L4.8

    def ordered(self, i: int, j: int, k: int) -> Array:
        """Q_i^{v-1} Q_i^{u-1}, v the smaller of j and k and u the larger."""
        return np.asarray(self.Q(i, min(j, k)) @ self.Q(i, max(j, k)))

    def carried(self, i: int) -> Array:
        return np.asarray(self.R(i, i - 1) @ self.a[i - 1])

    def acceleration_by_joints(self, i: int) -> Any:
        r = self.r[i]
        own = self.single(i, lambda j: self.Q(i, j) @ r) + self.double(i, lambda j, k: self.ordered(i, j, k) @ r)
        return own + self.carried(i)  # after T4.5

    def acceleration_by_links(self, i: int, ordered: bool = True, lifted: bool = True) -> Any:
        """ordered: the two Q as mended; else Q^{k-1} Q^{j-1}. lifted: with gravity."""

        def product(j: int, k: int) -> Array:
            return self.ordered(i, j, k) if ordered else self.Q(i, k) @ self.Q(i, j)

        def beyond(j: int) -> Any:
            return sum(self.R(i, m) @ self.r[m] for m in range(j, i + 1))

        moved = self.single(i, lambda j: self.Q(i, j) @ beyond(j))
        moved = moved + self.double(i, lambda j, k: product(j, k) @ beyond(max(j, k)))
        return moved + (self.R(i, 0) @ self.lift if lifted else 0.0)  # T4.6, L4.9, L4.10

    def acceleration_by_derivatives(self, i: int) -> Any:
        return self.R(i, 0) @ self.moving(i) + self.R(i, 0) @ self.lift  # T4.7, L4.11

    def with_a_double_sum(self, i: int) -> Any:
        """The accelerations of the joints under the sum over k too."""
        again = (i - 1) * self.single(i, lambda j: self.dp(i, j))
        return self.R(i, 0) @ (again + self.moving(i) + self.lift)

    def centre_by_Q(self, i: int, ordered: bool = True) -> Any:
        def product(j: int, k: int) -> Array:
            return self.ordered(0, j, k) if ordered else self.Q(0, k) @ self.Q(0, j)

        arm = self.R(0, i) @ self.r_bar[i]
        turned = self.single(i, lambda j: self.Q(0, j) @ arm) + self.double(i, lambda j, k: product(j, k) @ arm)
        return self.R(i, 0) @ turned + self.a[i]  # T4.8, L4.12

    def centre_by_derivatives(self, i: int, back: Array | None = None) -> Any:
        """back: what turns g z_0 into frame i, if not R_i^0."""
        moved = self.R(i, 0) @ (self.turning(i) @ self.r_bar[i] + self.moving(i))
        return moved + (self.R(i, 0) if back is None else back) @ self.lift  # T4.9, L4.13

    # The torque of one link's own motion.

    def axis(self, i: int) -> Array:
        return self.z(i, i)

    def own_torque(self, i: int) -> Any:
        return self.axis(i) @ self.own[i]

    def by_inertia(self, i: int) -> Any:
        w, I = self.omega[i], self.I[i]
        arms = self.m[i] * cross(self.r[i] + self.r_bar[i], self.a_bar[i])
        return self.axis(i) @ (I @ self.alpha[i] + cross(w, I @ w) + arms)  # T4.10, L4.14

    def about_origin(self, i: int) -> Any:
        """The terms with J of T4.11."""
        w, I = self.omega[i], np.trace(self.J[i]) * np.eye(3) - self.J[i]
        return self.axis(i) @ (I @ self.alpha[i] + cross(w, I @ w))

    def of_the_centre(self, i: int, mass: float | None = None) -> Any:
        """The other terms of T4.11. mass: of the second moments of the mass centre, if not m_i."""
        w, al, c = self.omega[i], self.alpha[i], self.r_bar[i]
        about = cross(c, cross(al, c)) + cross(c, cross(w, cross(w, c)))
        arms = self.m[i] * cross(c + self.r[i], self.a_bar[i])
        return self.axis(i) @ (arms - (self.m[i] if mass is None else mass) * about)

    def as_integrals(self, i: int) -> Any:
        z, w, al = self.axis(i), self.omega[i], self.alpha[i]

        def term(d: Array) -> Any:
            inertia = np.trace(np.outer(d, d)) * np.eye(3) - np.outer(d, d)
            return z @ (inertia @ al) + z @ cross(w, inertia @ w)

        return self.integral(i, term)  # T4.12, L4.16

    def of_arms(self, i: int) -> Any:
        z, w, al = self.axis(i), self.omega[i], self.alpha[i]
        return self.integral(i, lambda d: z @ cross(d, cross(al, d)) + z @ cross(w, cross(d, cross(w, d))))  # L4.17

    def of_one_arm(self, i: int) -> Any:
        z, w, al = self.axis(i), self.omega[i], self.alpha[i]
        return self.integral(i, lambda d: z @ cross(d, cross(al, d)) + z @ cross(d, cross(w, cross(w, d))))  # T4.13

    def exchanged(self, i: int) -> Any:
        z, w, al = self.axis(i), self.omega[i], self.alpha[i]
        return self.integral(i, lambda d: (cross(al, d) + cross(w, cross(w, d))) @ cross(z, d))  # L4.17

    def traced(self, i: int) -> Any:
        w, al, Q = self.omega[i], self.alpha[i], self.Q(i, i)
        return self.integral(i, lambda d: np.trace(np.outer(cross(al, d) + cross(w, cross(w, d)), Q @ d)))  # L4.17

    def integrated(self, i: int, ordered: bool = True) -> Any:
        def product(j: int, k: int) -> Array:
            return (self.ordered(0, j, k) if ordered else self.Q(0, k) @ self.Q(0, j)) @ self.R(0, i)

        turned = self.single(i, lambda j: self.Q(0, j) @ self.R(0, i)) + self.double(i, product)
        turn = self.R(i, 0) @ turned
        return self.integral(i, lambda d: np.trace(turn @ np.outer(d, d) @ self.Q(i, i).T))  # T4.14, L4.18

    def turned_trace(self, i: int, last: Array | None = None) -> Any:
        """last: the last factor, if not R_0^i."""
        last = self.R(0, i) if last is None else last
        return np.trace(self.R(i, 0) @ self.turning(i) @ self.J[i] @ self.dR(i, i).T @ last)  # T4.15, L4.19

    def trace_of_turning(self, i: int) -> Any:
        single = self.single(i, lambda j: np.trace(self.dR(i, j) @ self.J[i] @ self.dR(i, i).T))
        double = self.double(i, lambda j, k: np.trace(self.d2R(i, j, k) @ self.J[i] @ self.dR(i, i).T))
        return single + double  # T4.16, L4.20

    def centre_terms(self, i: int, arm: Array | None = None, mass: float = 1.0) -> Any:
        """arm: what the second derivatives turn, if not r_bar_i; mass: a factor of the gravity term."""
        at_joint = self.middle(i, self.r[i], arm) + self.first(i)
        return at_joint + self.axis(i) @ cross(self.lever(i), self.R(i, 0) @ self.lift) * mass  # T4.17, L4.21

    def lever(self, i: int) -> Array:
        return np.asarray(self.m[i] * (self.r_bar[i] + self.r[i]))

    def first(self, i: int) -> Any:
        """First and third terms of T4.17."""
        return self.axis(i) @ cross(self.m[i] * self.r_bar[i], self.R(i, 0) @ self.moving(i))  # T4.18, L4.22

    def first_of_recursion(self, i: int) -> Any:
        return self.axis(i) @ cross(self.m[i] * self.r_bar[i], self.a[i] - self.R(i, 0) @ self.lift)

    def first_traced(self, i: int, axis: Array | None = None) -> Any:
        axis = self.axis(i) if axis is None else axis
        return np.trace(np.outer(self.R(i, 0) @ self.moving(i), cross(axis, self.m[i] * self.r_bar[i])))  # L4.23

    def first_by_Q(self, i: int) -> Any:
        return np.trace(
            np.outer(self.R(i, 0) @ self.moving(i), self.m[i] * self.r_bar[i]) @ self.Q(i, i).T
        )  # T4.19, L4.23

    def Q_by_turns(self, i: int) -> Array:
        """R_i^0 R_0^{i-1} Q_{i-1}^{i-1} R_{i-1}^i (T4.20, T4.24; L4.24, L4.28)."""
        return np.asarray(self.R(i, 0) @ self.R(0, i - 1) @ self.Q(i - 1, i) @ self.R(i - 1, i))

    def first_by_derivatives(self, i: int, moved: Array | None = None) -> Any:
        """moved: the second derivative of p_0^i, if not the right one."""
        moved = self.moving(i) if moved is None else moved
        return np.trace(np.outer(moved, self.m[i] * self.r_bar[i]) @ self.dR(i, i).T)  # T4.21, L4.25

    def bracket(self, i: int, arm: Array | None = None) -> Any:
        turned = self.turning(i) @ self.r_bar[i]
        if arm is not None:
            turned = turned + self.double(i, lambda j, k: self.d2R(i, j, k)) @ (arm - self.r_bar[i])
        return self.moving(i) + turned

    def middle(self, i: int, lever: Array, arm: Array | None = None) -> Any:
        """Middle terms of T4.17 with this lever."""
        return self.axis(i) @ cross(self.m[i] * lever, self.R(i, 0) @ self.bracket(i, arm))  # T4.22, L4.26

    def middle_of_recursion(self, i: int) -> Any:
        return self.axis(i) @ cross(self.m[i] * self.r[i], self.a_bar[i] - self.R(i, 0) @ self.lift)

    def middle_traced(self, i: int, lever: Array, axis: Array | None = None) -> Any:
        axis = self.axis(i) if axis is None else axis
        return np.trace(np.outer(self.R(i, 0) @ self.bracket(i), cross(axis, self.m[i] * lever)))  # T4.23, L4.27

    def middle_by_derivatives(self, i: int, turn: Array | None = None) -> Any:
        turn = np.eye(3) if turn is None else turn
        return np.trace(self.m[i] * np.outer(turn @ self.bracket(i), self.dp(i, i)))  # T4.25, L4.29

    def weight(self, i: int) -> Any:
        return self.axis(i) @ cross(self.lever(i), self.R(i, 0) @ self.lift)  # L4.30

    def weight_by_derivatives(self, i: int) -> Any:
        return np.trace(np.outer(self.m[i] * self.lift, self.dR(i, i) @ self.r_bar[i] + self.dp(i, i)))  # L4.31

    def lift_of(self, q: int, i: int) -> Any:
        return self.m[q] * np.append(self.lift, 0.0) @ self.dT(q, i) @ np.append(self.r_bar[q], 1.0)  # L4.32

    def in_submatrices(
        self, q: int, i: int, arm: Array, ends: tuple[int, int] | None = None, lift_in_sum: bool = False
    ) -> Any:
        """What link q adds to joint i, by submatrices of T: T4.26, T4.31, T4.33; L4.33, L4.38, L4.40.

        arm: derivative of the place of its origin. ends: of the sums over j and k of products of rates, if not q.
        lift_in_sum: gravity beside every acceleration.
        """
        m, J, c = self.m[q], self.J[q], self.r_bar[q]

        def term(R: Array, p: Array) -> Any:
            turned = (R @ J + m * np.outer(p, c)) @ self.dR(q, i).T
            return np.trace(turned + np.outer(m * R @ c + m * p, arm))

        lift = self.lift * lift_in_sum
        last, ks = (q, None) if ends is None else (ends[0], lambda j: range(1, ends[1] + 1))
        found = self.single(q, lambda j: term(self.dR(q, j), self.dp(q, j) + lift))
        found = found + self.double(last, lambda j, k: term(self.d2R(q, j, k), self.d2p(q, j, k)), ks)
        return found if lift_in_sum else found + term(np.zeros((3, 3)), self.lift)

    # Links further out.

    def lagrange(self, q: int, i: int, first: bool = False) -> Any:
        """What link q adds to joint i, in T matrices. first: with the derivative by i in the place of j."""
        Ja, dT = self.Ja[q], self.dT(q, i)
        single = self.single(q, lambda j: np.trace(self.dT(q, j) @ Ja @ dT.T))
        double = self.double(q, lambda j, k: np.trace(self.d2T(q, i if first else j, k) @ Ja @ dT.T))
        return single + double + self.lift_of(q, i)  # T4.27, L4.34

    def in_base(self, i: int) -> Array:
        """R_0^{i-1} Q_{i-1}^{i-1} R_{i-1}^i r_i."""
        return np.asarray(self.R(0, i - 1) @ self.Q(i - 1, i) @ self.R(i - 1, i) @ self.r[i])

    def beyond(self, i: int) -> Array:
        """R_0^{i-1} Q_{i-1}^{i-1} R_{i-1}^{i+1} r_{i+1}: the second term of T4.32, L4.39."""
        return np.asarray(self.R(0, i - 1) @ self.Q(i - 1, i) @ self.R(i - 1, i + 1) @ self.r[i + 1])

    def outer(self, i: int) -> Any:
        """What link i + 1 adds if it is the last."""
        return self.axis(i) @ self.pair[i] - self.own_torque(i)

    def outer_force(self, i: int) -> Any:
        return self.axis(i) @ cross(self.r[i], self.R(i, i + 1) @ self.F[i + 1])

    def outer_force_traced(self, i: int) -> Any:
        return np.trace(np.outer(self.R(i, i + 1) @ self.F[i + 1], self.Q(i, i) @ self.r[i]))  # T4.29, L4.36

    def outer_force_in_base(self, i: int, arm: Array) -> Any:
        return np.trace(np.outer(self.R(0, i + 1) @ self.F[i + 1], arm))  # T4.29, L4.36

    def outer_force_by_derivatives(self, i: int, arm: Array, mass: float | None = None) -> Any:
        """mass: of the sums, if not m_{i+1}."""
        moved = self.turning(i + 1) @ self.r_bar[i + 1] + self.moving(i + 1)
        mass = self.m[i + 1] if mass is None else mass
        return np.trace(np.outer(mass * moved + self.m[i + 1] * self.lift, arm))  # T4.30, L4.37

    def outer_moment(self, i: int) -> Any:
        return self.axis(i) @ self.R(i, i + 1) @ self.own[i + 1]

    def of_two(self, i: int) -> Any:
        """Torques of joint i if link i + 1 is the last."""
        return self.axis(i) @ self.pair[i]

    def of_two_by_lagrange(self, i: int) -> Any:
        return self.lagrange(i, i) + self.lagrange(i + 1, i)  # T4.34, L4.41

    def by_lagrange(self, i: int) -> Any:
        """The same sum over all links."""
        return sum(self.lagrange(q, i) for q in range(i, self.n + 1))
