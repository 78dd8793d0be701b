"""Witnesses for Turney, Mudge & Lee 1980: nothing here knows the package's formulas or counts.

Newton's and Euler's equations of an arm in world axes, from the arm's public numbers, with terms that can be deleted;
Lagrange's equations by automatic differentiation of energies; and a scalar that knows after how many steps it is ready.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

import tauforge as tf
from support.engines import offset_transform
from support.in_doubles import in_doubles
from tauforge.algebra.scalars import FoldingScalar

Array = NDArray[Any]
cross = np.cross


def frames(arm: tf.SerialArm, q: Array) -> list[Array]:
    """World <- frame i, i = 0..n, of revolute joints."""
    found = [np.array(arm.base)]
    for joint, angle in zip(arm.joints, q, strict=True):
        turn = np.eye(4)
        turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        found.append(found[-1] @ np.array(joint.before) @ turn @ offset_transform(joint) @ np.array(joint.after))
    return found


def torques(arm: tf.SerialArm, q: Array, qd: Array, qdd: Array, deleted: tuple[str, int] = ("", 0)) -> Array:
    """Torques of the rigid bodies, in world axes. deleted: a term and the link, from 1, where it is left out."""
    F = frames(arm, q)
    omega, alpha, a = np.zeros(3), np.zeros(3), -np.array(arm.gravity)
    links = []
    for i, joint in enumerate(arm.joints):

        def kept(term: str, value: Array, i: int = i) -> Array:
            return value * (deleted != (term, i + 1))

        z = (F[i] @ np.array(joint.before))[:3, 2]
        R, r = F[i + 1][:3, :3], F[i + 1][:3, 3] - F[i][:3, 3]
        r_bar, I = R @ np.array(joint.com), R @ np.array(joint.inertia) @ R.T
        alpha = alpha + kept("omega x z qd", cross(omega, z * qd[i])) + z * qdd[i]
        omega = omega + z * qd[i]
        a = a + kept("omega x (omega x r)", cross(omega, cross(omega, r))) + kept("alpha x r", cross(alpha, r))
        a_bar = a + kept("omega x (omega x r-bar)", cross(omega, cross(omega, r_bar)))
        a_bar = a_bar + kept("alpha x r-bar", cross(alpha, r_bar))
        own = kept("I alpha", I @ alpha) + kept("omega x I omega", cross(omega, I @ omega))
        links.append((z, r, joint.mass * a_bar, own + cross(r + r_bar, joint.mass * a_bar)))
    f, n, tau = np.zeros(3), np.zeros(3), []
    for z, r, F_i, own in reversed(links):
        n = own + cross(r, f) + n
        f = F_i + f
        tau.append(z @ n)
    return np.array(tau[::-1])


class Chain:
    """A DH arm of revolute joints at an angle of each, with what `lagrange` asks for."""

    def __init__(self, arm: tf.SerialArm, q: Array) -> None:
        places = [offset_transform(joint) @ np.array(joint.after) for joint in arm.joints]
        self.n = arm.n
        self.theta = np.array([0.0, *(q + [np.arctan2(T[1, 0], T[0, 0]) for T in places])])
        self.phi = np.array([0.0, *(np.arctan2(T[2, 1], T[2, 2]) for T in places)])
        self.r = np.array([np.zeros(3), *(T[:3, :3].T @ T[:3, 3] for T in places)])
        self.m = np.array([0.0, *(joint.mass for joint in arm.joints)])
        self.r_bar = np.array([np.zeros(3), *(joint.com for joint in arm.joints)])
        inertia = np.array([np.zeros((3, 3)), *(joint.inertia for joint in arm.joints)])
        self.S = np.trace(inertia, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(3) - inertia


def lagrange(chain: Any, qd: Array, qdd: Array, g: float) -> Array:
    """Torques of a chain with theta, phi, r, r_bar, m and second moments S, numbered from 1, by energies alone."""
    n = chain.n

    def energies(q: Any, rate: Any) -> tuple[Any, Any]:
        def places(q: Any) -> tuple[Any, Any]:
            R, p, axes, centres = jnp.eye(3), jnp.zeros(3), [], []
            for i in range(1, n + 1):
                c, s = jnp.cos(q[i - 1]), jnp.sin(q[i - 1])
                cp, sp = np.cos(chain.phi[i]), np.sin(chain.phi[i])
                R = R @ jnp.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
                p = p + R @ chain.r[i]
                axes.append(R)
                centres.append(p + R @ chain.r_bar[i])
            return jnp.stack(axes), jnp.stack(centres)

        (_, centres), (axes_rate, velocity) = jax.jvp(places, (q,), (rate,))
        m, S = chain.m[1:], chain.S[1:]
        turning = jnp.einsum("qij,qjk,qik->", axes_rate, S, axes_rate) / 2  # a sum over the masses of a body
        return turning + (m * (velocity**2).sum(-1)).sum() / 2, g * (m * centres[:, 2]).sum()

    def momentum(q: Any, rate: Any) -> Any:
        return jax.grad(lambda v: energies(q, v)[0])(rate)

    with in_doubles():
        q, v, dv = jnp.array(chain.theta[1:]), jnp.array(qd), jnp.array(qdd)
        _, change = jax.jvp(momentum, (q, v), (v, dv))
        kinetic = jax.grad(lambda q: energies(q, v)[0])(q)
        return np.asarray(change - kinetic + jax.grad(lambda q: energies(q, v)[1])(q))


class Ready(FoldingScalar):
    """Knows its step. terms: powers of two of the steps of its terms, whose sum gives the best order at once.

    A sum of terms that are ready after t_k steps is ready after the least t with sum 2^t_k <= 2^t.
    """

    __slots__ = ("constant", "kind", "step", "terms")

    def __init__(self, step: int = 0, kind: str = "", terms: int = 0, constant: bool = False) -> None:
        self.step, self.kind, self.terms, self.constant = step, kind, terms, constant

    def _binary(self, name: str, a: Any, b: Any) -> Ready:
        given = [x if isinstance(x, Ready) else Ready(constant=True) for x in (a, b)]
        if all(x.constant for x in given):
            return Ready(constant=True)
        kind = {"add": "sum", "sub": "sum", "mul": "product"}[name]
        terms = sum(x.terms if x.kind == kind else 2**x.step for x in given)
        return Ready((terms - 1).bit_length(), kind, terms)

    def _unary(self, name: str) -> Ready:
        return self if name == "neg" else Ready(self.step, constant=self.constant)


Times = list[Any]  # steps after which the components of a vector are known; None where one is zero
Sums = list[list[int]]  # the same for the terms that a component is the sum of
CONSTANT = [0, 0, 0]
ROTATION = [[0, 1, 1], [0, 1, 1], [None, 0, 0]]  # of eq. 1.10: products of a constant with a sine or cosine take a step


def known(terms: Sums) -> Times:
    """The two earliest terms are joined first."""
    return [(sum(2**t for t in row) - 1).bit_length() if row else None for row in terms]


def products(*pairs: tuple[Any, Any]) -> list[int]:
    return [max(pair) + 1 for pair in pairs if None not in pair]


def crossed(a: Times, b: Times) -> Sums:
    return [products((a[j], b[k]), (a[k], b[j])) for j, k in ((1, 2), (2, 0), (0, 1))]


def applied(M: list[Times], v: Times) -> Sums:
    return [products(*zip(row, v, strict=True)) for row in M]


def summed(*parts: Sums) -> Sums:
    return [[t for part in parts for t in part[k]] for k in range(3)]


def alone(v: Times) -> Sums:
    return [[] if t is None else [t] for t in v]


def formed_once(n: int, modified: bool) -> int:
    """Steps of eqs 3.15-3.21, or with 5.1 and 5.2, everything independent at once; a value needed twice is formed once.

    Link after link from the base, gravity along z_0, full inertias.
    """
    omega, alpha, a = [None] * 3, [None] * 3, [None, None, 0]
    down = [list(column) for column in zip(*ROTATION, strict=True)]
    full = [CONSTANT] * 3
    links = []
    for link in range(n):
        hand = link == n - 1  # its a_i is needed once, for its own mass centre
        turning = summed(alone(alpha), crossed(omega, [None, None, 0]), alone([None, None, 0]))
        alpha = known(applied(down, known(turning)))
        omega = known(applied(down, known(summed(alone(omega), alone([None, None, 0])))))
        carried = applied(down, a)
        if modified:
            carried = carried if hand else alone(known(carried))  # in a_i and in f_i
            others = [[k for k in range(3) if k != j] for j in range(3)]
            A = [
                known(
                    [
                        products(*((omega[i], omega[i]) for i in others[j]))
                        if j == k
                        else products((omega[j], omega[k])) + alone(alpha)[3 - j - k]
                        for k in range(3)
                    ]
                )
                for j in range(3)
            ]
            a = known(summed(applied(A, CONSTANT), carried))
            mean = summed(applied(A, CONSTANT), carried)
            AK = [[products(*((A[j][i], 0) for i in range(3))) for _ in range(3)] for j in range(3)]
            own = [AK[k][j] + AK[j][k] for j, k in ((1, 2), (2, 0), (0, 1))]
        else:
            swept = summed(crossed(omega, known(crossed(omega, CONSTANT))), crossed(alpha, CONSTANT))
            a = known(summed(swept, carried))
            mean = summed(swept, swept, carried) if hand else summed(swept, alone(a))
            own = summed(applied(full, alpha), crossed(omega, known(applied(full, omega))))
        force = [t + 1 for t in known(mean)]
        links.append((force, summed(own, crossed(CONSTANT, force))))
    f_next: list[Any] = [None] * 3
    n_next: list[Any] = [[], [], []]
    last = 0
    for force, own in reversed(links):
        moment = known(summed(own, crossed(CONSTANT, f_next), n_next))
        f = known(summed(alone(force), alone(f_next)))
        last = max(last, *known([products((0, moment[1]), (0, moment[2]))]))
        f_next, n_next = known(applied(ROTATION, f)), applied(ROTATION, moment)
    return last
