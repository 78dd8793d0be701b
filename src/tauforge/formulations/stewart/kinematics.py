"""Motion of the legs from that of the platform, and back: poses from lengths, twists and accelerations from rates.

The source is Dasgupta & Mruthyunjaya 1998, eqs 1-9, and Pedrammehr et al. 2012, eqs 1-30. Where they disagree the
second is right: a universal joint lets the leg spin about itself, so W.s = 0 (D6, D8, D9) does not hold. `spin=False`
gives the first nevertheless. D9 is read with S'' and L', whose dots our copy has lost.

Two equations of Pedrammehr are read with omega_t, the leg's spin, where our copy of the paper has omega_l or omega_i:
W = omega_n + omega_t n (15) and omega_t = -omega_n.c / (n.c) (17). His eq. 25 is corrected: the last term of the spin's
rate is omega_u omega_v / (c.n), not -omega_u omega_v. The two are equal only where the leg is normal to the fixed axis
u, since c.n = -sqrt(1 - (u.n)^2). His other way to the angular acceleration, by its components along u and v
(eqs 18-21), is not needed here; the study of the paper compares both.

Between two spherical joints W.s = 0 is right for a leg that is symmetric about itself, has no friction about its axis,
and starts without spin: no moment acts about s, and I_s (W.s)' = 0. Such a leg has no fixed axis k.

Poses follow from lengths (Dasgupta sec. 4.3) by Newton's method, applied to squared lengths, which need no roots:
(S.S - l^2)/2 = 0 with the Jacobian's rows [S, q x S]. The orientation is a quaternion, so that no orientation is
special; a step applies a small rotation to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.linear import solved_by_pivots
from tauforge.algebra.rotations import Quaternion, axes_along, turned_slightly
from tauforge.algebra.scalars import Scalar, Scalars, reciprocal, sqrt
from tauforge.algebra.vectors import ZERO, Matrix, Vector, cross, dot
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.stewart.parameters import (
    FIXED_BASE,
    LegParameters,
    MovingBase,
    PlatformMotion,
    PlatformParameters,
    carried,
)

TINY_SQUARE = 1e-300  # avoids 0/0 where all lengths are 0


class LegVector(NamedTuple):
    """Position of a leg."""

    q: Vector  # platform joint from the platform's origin, base axes (P3)
    S: Vector  # platform joint from the base joint (D1, P1-2, P6-7)
    L: Scalar  # length (D2, P4)
    s: Vector  # unit vector along the leg (D3, P5)


class LegMotion(NamedTuple):
    """Motion of a leg; D and P name the papers' equations. u, v and c are zero where the base joint is spherical."""

    q: Vector
    S: Vector
    L: Scalar
    s: Vector
    u: Vector  # fixed axis of the universal joint
    v: Vector  # its moving axis, the leg's y
    c: Vector  # normal to both: u x v
    T: Matrix  # base <- leg axes (D10, P28)
    Ldot: Scalar  # D5, P8
    Lddot: Scalar  # D8 with the W of D6, across the leg; equal to P9
    S_dot: Vector  # velocity of the platform joint, D4
    S_ddot: Vector  # its acceleration, D7
    W: Vector  # angular velocity, P15; in the plane of u and v, P12
    A: Vector  # angular acceleration, P22
    omega_u: Scalar  # P13
    omega_v: Scalar  # P14
    spin: Scalar  # omega_t = W.s, P17
    spin_rate: Scalar  # alpha_t = A.s, P25 mended

    @property
    def where(self) -> LegVector:
        return LegVector(self.q, self.S, self.L, self.s)


def leg_vector(leg: LegParameters, X: Vector, R: Matrix) -> LegVector:
    q = R @ leg.p
    S = q + X - leg.b
    L = sqrt(dot(S, S))
    return LegVector(q, S, L, S * (1.0 / L))


def leg_motion(leg: LegParameters, platform: PlatformMotion, *, spin: bool = True) -> LegMotion:
    """spin=False: the leg does not turn about itself, as Dasgupta assumes."""
    q, S, L, s = leg_vector(leg, platform.X, platform.R)
    omega, alpha = platform.omega, platform.alpha
    S_dot = platform.v + cross(omega, q)
    S_ddot = platform.a + cross(alpha, q) + cross(omega, cross(omega, q))
    Ldot = dot(s, S_dot)
    W_n = cross(s, S_dot) * (1.0 / L)  # D6, P16
    Lddot = dot(s, S_ddot) + L * dot(W_n, W_n)  # the part of P11 along the leg
    A_n = (cross(s, S_ddot) - W_n * (2.0 * Ldot)) * (1.0 / L)  # D9
    if leg.k is None:
        T = axes_along(s)
        none = (0.0, 0.0, 0.0, 0.0)  # omega_u, omega_v, spin, spin rate
        return LegMotion(q, S, L, s, ZERO, ZERO, ZERO, T, Ldot, Lddot, S_dot, S_ddot, W_n, A_n, *none)
    u = leg.k
    across = cross(u, s)
    across2 = dot(across, across)  # not 1 - (u.s)^2, which loses digits near the axis
    v = across * (1.0 / sqrt(across2))
    c = cross(u, v)
    T = Matrix((s, v, cross(s, v))).T
    sc = dot(s, c)
    sliding_apart = S_dot - s * Ldot  # W x L s (P10)
    omega_u, omega_v = -(dot(sliding_apart, v) / (L * sc)), dot(sliding_apart, u) / (L * sc)  # P13, P14
    if not spin:
        return LegMotion(q, S, L, s, u, v, c, T, Ldot, Lddot, S_dot, S_ddot, W_n, A_n, omega_u, omega_v, 0.0, 0.0)
    omega_t = -(dot(W_n, c) / sc)  # P17
    A_n = A_n - cross(s, W_n) * omega_t  # P23
    us = dot(u, s)
    alpha_t = dot(A_n, u) * us / across2 + omega_u * omega_v / sc  # P25 mended
    W, A = W_n + s * omega_t, A_n + s * alpha_t  # P15, P22
    return LegMotion(q, S, L, s, u, v, c, T, Ldot, Lddot, S_dot, S_ddot, W, A, omega_u, omega_v, omega_t, alpha_t)


class CentreAccelerations(NamedTuple):
    """Mass centres of both parts from the base joint, and their absolute accelerations (D11-14, P26-30)."""

    r_d: Vector
    a_d: Vector
    r_u: Vector
    a_u: Vector


def centre_accelerations(leg: LegParameters, m: LegMotion, base: MovingBase = FIXED_BASE) -> CentreAccelerations:
    r_d, r_u = m.T @ leg.lower.com, m.S + m.T @ leg.upper.com  # P26, P27

    def turning(r: Vector) -> Vector:
        return cross(m.A, r) + cross(m.W, cross(m.W, r))

    a_u = m.s * m.Lddot + turning(r_u) + cross(m.W, m.s) * (2.0 * m.Ldot)  # P30; P29 is its turning alone
    a_d = turning(r_d)
    if base is not FIXED_BASE:
        a_d = a_d + carried(base, leg.b + r_d, cross(m.W, r_d))
        a_u = a_u + carried(base, leg.b + r_u, m.s * m.Ldot + cross(m.W, r_u))
    return CentreAccelerations(r_d, a_d, r_u, a_u)


def leg_vectors(p: PlatformParameters, m: PlatformMotion) -> list[LegVector]:
    return [leg_vector(leg, m.X, m.R) for leg in p.legs]


def unit_wrenches(legs: Sequence[LegVector]) -> list[list[Scalar]]:
    """H': the wrenches of unit forces that extend the legs."""
    return [[*leg.s, *cross(leg.q, leg.s)] for leg in legs]


def force_matrix(legs: Sequence[LegVector]) -> list[list[Scalar]]:
    """H: its columns are the wrenches of unit forces that extend the legs (D36)."""
    return [list(row) for row in zip(*unit_wrenches(legs), strict=True)]


def leg_forces(legs: Sequence[LegVector], wanted: Wrench) -> list[Scalar]:
    """Forces along the legs that together give the wrench."""
    return solved_by_pivots(force_matrix(legs), [*wanted.force, *wanted.moment])


def forces_along_legs(p: PlatformParameters, m: PlatformMotion, wanted: Wrench) -> list[Scalar]:
    return leg_forces(leg_vectors(p, m), wanted)


class PoseGuess(NamedTuple):
    X: Vector
    orientation: Quaternion


def newton_step(legs: Sequence[LegParameters], lengths: Scalars, g: PoseGuess) -> PoseGuess:
    """One step of Newton's method."""
    R = g.orientation.rotation()
    rows, errors = [], []
    for leg, length in zip(legs, lengths, strict=True):
        q = R @ leg.p
        S = q + (g.X - leg.b)
        rows.append([*S, *cross(q, S)])
        errors.append((length * length - dot(S, S)) * 0.5)
    x = solved_by_pivots(rows, errors)
    return PoseGuess(g.X + Vector(*x[:3]), turned_slightly(g.orientation, Vector(*x[3:])))


def length_error(legs: Sequence[LegParameters], lengths: Scalars, g: PoseGuess) -> Scalar:
    """The norm of the errors of the lengths over the norm of the lengths. NaN in gives NaN."""
    R = g.orientation.rotation()
    errors: Scalar = 0.0
    squares: Scalar = 0.0
    for leg, length in zip(legs, lengths, strict=True):
        S = R @ leg.p + (g.X - leg.b)
        error = sqrt(dot(S, S)) - length
        errors, squares = errors + error * error, squares + length * length
    return sqrt(errors / (squares + TINY_SQUARE))


def twist_of_rates(p: PlatformParameters, m: PlatformMotion, rates: Scalars) -> list[Scalar]:
    """v and omega from the sliding speeds: H' (v, omega) = L' (D5)."""
    return solved_by_pivots(unit_wrenches(leg_vectors(p, m)), rates)


def acceleration_of_rates(p: PlatformParameters, m: PlatformMotion, accelerations: Scalars) -> list[Scalar]:
    """a and alpha from the sliding accelerations, the twist given in m (D8):

    s.(a + alpha x q) = L'' - s.(omega x (omega x q)) - |S' - L' s|^2 / L.
    """
    legs, right = leg_vectors(p, m), []
    for leg, Lddot in zip(legs, accelerations, strict=True):
        S_dot = m.v + cross(m.omega, leg.q)
        across = S_dot - leg.s * dot(leg.s, S_dot)
        centripetal = dot(leg.s, cross(m.omega, cross(m.omega, leg.q)))
        right.append(Lddot - centripetal - dot(across, across) * reciprocal(leg.L))
    return solved_by_pivots(unit_wrenches(legs), right)
