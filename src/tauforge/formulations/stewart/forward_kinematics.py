"""From leg lengths to the pose (Dasgupta & Mruthyunjaya 1998, sec. 4.3), and from their rates to the platform's.

Newton's method is applied to squared lengths, which need no roots: (S.S - l^2)/2 = 0 with the Jacobian's rows
[S, q x S]. The orientation is a quaternion, so that no orientation is special; a step applies a small rotation to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.linear import solved_by_pivots
from tauforge.algebra.rotations import Quaternion, turned_slightly
from tauforge.algebra.scalars import Scalar, reciprocal, sqrt
from tauforge.algebra.vectors import Vector, cross, dot
from tauforge.formulations.stewart.parameters import LegParameters, PlatformMotion, PlatformParameters
from tauforge.formulations.stewart.platform_equations import force_matrix, leg_vectors

TINY = 1e-300  # avoids 0/0 where all lengths are 0


class Guess(NamedTuple):
    X: Vector
    orientation: Quaternion


def step(legs: Sequence[LegParameters], lengths: Sequence[Scalar], g: Guess) -> Guess:
    """One step of Newton's method."""
    R = g.orientation.rotation()
    rows, errors = [], []
    for leg, length in zip(legs, lengths, strict=True):
        q = R @ leg.p
        S = q + (g.X - leg.b)
        rows.append([*S, *cross(q, S)])
        errors.append((length * length - dot(S, S)) * 0.5)
    x = solved_by_pivots(rows, errors)
    return Guess(g.X + Vector(*x[:3]), turned_slightly(g.orientation, Vector(*x[3:])))


def residual(legs: Sequence[LegParameters], lengths: Sequence[Scalar], g: Guess) -> Scalar:
    """The norm of the errors of the lengths over the norm of the lengths. NaN in gives NaN."""
    R = g.orientation.rotation()
    errors: Scalar = 0.0
    squares: Scalar = 0.0
    for leg, length in zip(legs, lengths, strict=True):
        S = R @ leg.p + (g.X - leg.b)
        error = sqrt(dot(S, S)) - length
        errors, squares = errors + error * error, squares + length * length
    return sqrt(errors / (squares + TINY))


def twist(p: PlatformParameters, m: PlatformMotion, rates: Sequence[Scalar]) -> list[Scalar]:
    """v and omega from the sliding speeds: H' (v, omega) = L' (D5)."""
    return solved_by_pivots(_transposed(force_matrix(leg_vectors(p, m))), rates)


def acceleration(p: PlatformParameters, m: PlatformMotion, accelerations: Sequence[Scalar]) -> list[Scalar]:
    """a and alpha from the sliding accelerations, the twist given in m (D8):

    s.(a + alpha x q) = L'' - s.(omega x (omega x q)) - |S' - L' s|^2 / L.
    """
    legs, right = leg_vectors(p, m), []
    for leg, Lddot in zip(legs, accelerations, strict=True):
        S_dot = m.v + cross(m.omega, leg.q)
        across = S_dot - leg.s * dot(leg.s, S_dot)
        centripetal = dot(leg.s, cross(m.omega, cross(m.omega, leg.q)))
        right.append(Lddot - centripetal - dot(across, across) * reciprocal(leg.L))
    return solved_by_pivots(_transposed(force_matrix(legs)), right)


def _transposed(H: list[list[Scalar]]) -> list[list[Scalar]]:
    return [list(column) for column in zip(*H, strict=True)]
