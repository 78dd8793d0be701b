"""Derivatives of inverse and forward dynamics by the state: exact, and of one factorisation each.

Let r be the wrench that actuators F leave to be desired, r = M (a, alpha) + eta - H F, about the moved origin of
`lumping`. It vanishes along every motion, so that

    dF = H^-1 dr  with F held in dr,    d(a, alpha) = - M^-1 dr  with the acceleration held in dr.

A leg's share of r depends on the state only by the motion of its tip, S, S' and S'', and, if the platform joints rub,
by omega. So each leg gives 3 x 3 matrices: the slopes of the force K at its tip. Those of a leg with a universal joint
are found by dual numbers through `tip_force` itself, in the joint's own coordinates: the length L, and turns about the
fixed axis k and the moving axis v. Those coordinates are functions of S with short gradients, and their rates are the
same functions of S', with the same gradients.

A turn of the platform, R -> (E + [phi]x) R at unchanged twist and acceleration, is split. Tips move as if the whole
platform with its velocities and accelerations were turned by phi, and omega changed by omega x phi, alpha by
alpha x phi on top. The second part is the slopes by omega and alpha again, so that it is added once and not leg by leg.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.dual import Dual, derivative, primal, seeded
from tauforge.algebra.inertias import acceleration_matrix, moment_of_inertia_forces
from tauforge.algebra.linear import Rows, eliminations, factored
from tauforge.algebra.scalars import Scalar, Scalars, is_zero
from tauforge.algebra.vectors import ZERO_MATRIX, Matrix, Vector, cross, dot, outer, skew
from tauforge.formulations.stewart.closed_form import (
    accelerations,
    assembled,
    crossed,
    doubt_of,
    mass_blocks,
    tip_mass_matrix,
    without_acceleration,
)
from tauforge.formulations.stewart.lumping import LumpedPlatform
from tauforge.formulations.stewart.parameters import PlatformMotion
from tauforge.formulations.stewart.spherical_legs import FreeTip, free_tip, free_tip_force
from tauforge.formulations.stewart.universal_coordinates import (
    AxisTurns,
    Components,
    Rates,
    Tip,
    about_axes,
    components,
    forces_and_doubt,
    gathered,
    long_columns,
    long_legs,
    rates,
    tip_force,
)

BY_LENGTH, BY_K, BY_V = 0, 1, 2  # numbers of the duals: a leg's coordinates, in this order,
BY_RATE = 3  # their rates from here on,
OMEGA_K, OMEGA_V = 6, 7  # and the platform's turning about both axes


class LegSlopes(NamedTuple):
    """Force K of the platform on a leg, the actuator's included; its slopes and those of W by the motion of the tip."""

    K: Vector
    by_place: Matrix  # of K, by S
    by_velocity: Matrix  # by S'
    by_omega: Matrix  # by the platform's omega, which rubs at the joint
    W_by_place: Matrix
    W_by_velocity: Matrix


def leg_slopes(
    p: LumpedPlatform, t: Tip | FreeTip, S_dot: Vector, a: Vector, omega: Vector, actuator: Scalar
) -> LegSlopes:
    """a: acceleration of the tip less gravity."""
    if isinstance(t, FreeTip):
        return free_slopes(p, t, S_dot, a, actuator)
    moved, w = moved_tip(t), moved_rates(t, rates(t, S_dot))
    a_leg, up_leg = (moved_components(t, components(t, x)) for x in (a, p.up))
    f = tip_force(moved, w, a_leg, up_leg, p.g, moved_turns(t, omega), p.friction)
    c = (f.cs - actuator) * moved.L_inverse  # K = S c + n cn + k ck
    along_n = primal(f.cn)
    by_place = mixed(t, (c, f.cn, f.ck), BY_LENGTH) + Matrix.diagonal(*[primal(c)] * 3) + skew(t.k) * along_n
    by_velocity = mixed(t, (c, f.cn, f.ck), BY_RATE)
    K = t.S * primal(c) + t.n * along_n + t.k * primal(f.ck)
    if is_zero(p.friction.spherical):
        return LegSlopes(K, by_place, by_velocity, ZERO_MATRIX, ZERO_MATRIX, ZERO_MATRIX)

    def along(number: int) -> Vector:
        total: Vector = t.S * derivative(c, number) + t.n * derivative(f.cn, number) + t.k * derivative(f.ck, number)
        return total

    by_omega = outer(along(OMEGA_K), t.k) + outer(along(OMEGA_V), t.n * t.n_inverse)
    about_n = w.w2 * moved.n_inverse  # W = k w1 + n about_n
    W_by_place = mixed(t, (0.0, about_n, w.w1), BY_LENGTH) + skew(t.k) * primal(about_n)
    return LegSlopes(K, by_place, by_velocity, by_omega, W_by_place, mixed(t, (0.0, about_n, w.w1), BY_RATE))


def mixed(t: Tip, factors: tuple[Scalar, Scalar, Scalar], first: int) -> Matrix:
    """The slopes of S c + n cn + k ck by way of the factors alone, from their slopes in L and the turns about k and v.

    first: number of the slope in L, or in its rate
    """
    by_c, by_cn, by_ck = (gradient(t, *(derivative(factor, first + j) for j in range(3))) for factor in factors)
    return outer(t.S, by_c) + outer(t.n, by_cn) + outer(t.k, by_ck)


def gradient(t: Tip, by_length: Scalar, by_k: Scalar, by_v: Scalar) -> Vector:
    """By S, of what has these slopes in the coordinates of the leg: each of their gradients is a row of `rates`."""
    along = by_length * t.L_inverse + by_v * (t.sigma * t.L_inverse * t.n_inverse)
    whole: Vector = t.S * along + t.n * (by_k * (t.n_inverse * t.n_inverse)) - t.k * (by_v * t.n_inverse)
    return whole


def moved_tip(t: Tip) -> Tip:
    """Position of the leg with its slopes in the leg's own coordinates."""
    turn = t.sigma * t.rho_inverse
    return t._replace(
        L=Dual(t.L, {BY_LENGTH: 1.0}),
        L_inverse=Dual(t.L_inverse, {BY_LENGTH: -(t.L_inverse * t.L_inverse)}),
        n_inverse=Dual(t.n_inverse, {BY_LENGTH: -(t.n_inverse * t.L_inverse), BY_V: -(t.n_inverse * turn)}),
        sigma=Dual(t.sigma, {BY_V: -t.rho}),
        rho=Dual(t.rho, {BY_V: t.sigma}),
        rho_inverse=Dual(t.rho_inverse, {BY_V: -(t.rho_inverse * turn)}),
    )


def moved_rates(t: Tip, w: Rates) -> Rates:
    """S' stays as the leg moves; and each rate is a variable of its own."""
    Ldot, w1, w2 = w
    turn, shrink = t.sigma * t.rho_inverse, Ldot * t.L_inverse
    Wz = t.rho * w1
    return Rates(
        Dual(Ldot, {BY_K: t.L * (t.rho * Wz), BY_V: t.L * w2, BY_RATE + BY_LENGTH: 1.0}),
        Dual(
            w1, {BY_LENGTH: -(w1 * t.L_inverse), BY_K: -(turn * w2 + shrink), BY_V: -(turn * w1), BY_RATE + BY_K: 1.0}
        ),
        Dual(w2, {BY_LENGTH: -(w2 * t.L_inverse), BY_K: t.sigma * Wz, BY_V: -shrink, BY_RATE + BY_V: 1.0}),
    )


def moved_components(t: Tip, x: Components) -> Components:
    """Components of a vector that stays as the leg's axes turn about k and v, with their derivatives."""
    return Components(
        Dual(x.s, {BY_K: x.v * t.rho, BY_V: -x.z}),
        Dual(x.v, {BY_K: t.sigma * x.z - t.rho * x.s}),
        Dual(x.z, {BY_K: -(t.sigma * x.v), BY_V: x.s}),
    )


def moved_turns(t: Tip, omega: Vector) -> AxisTurns:
    """The platform's turning about both axes: k stays, v turns about k."""
    about = about_axes(t, omega)
    by_k = (dot(t.k, t.S) * about.k - dot(t.S, omega)) * t.n_inverse
    return AxisTurns(Dual(about.k, {OMEGA_K: 1.0}), Dual(about.v, {BY_K: by_k, OMEGA_V: 1.0}))


def free_slopes(p: LumpedPlatform, t: FreeTip, S_dot: Vector, a: Vector, actuator: Scalar) -> LegSlopes:
    """Derivatives of the force of a leg between two spherical joints, in base axes."""
    moved = free_tip(t.leg, t.q, Vector(*seeded(t.S)))
    K, along = free_tip_force(moved, Vector(*seeded(S_dot, BY_RATE)), a, p.up, p.g, p.friction)
    whole = K + moved.S * ((along - actuator) * moved.L_inverse)
    by_place, by_velocity = (
        Matrix.of([[derivative(x, first + j) for j in range(3)] for x in whole]) for first in (0, BY_RATE)
    )
    return LegSlopes(Vector(*map(primal, whole)), by_place, by_velocity, ZERO_MATRIX, ZERO_MATRIX, ZERO_MATRIX)


def slopes_of_legs(
    p: LumpedPlatform, m: PlatformMotion, tips: Sequence[Tip | FreeTip], actuators: Scalars
) -> list[LegSlopes]:
    U = acceleration_matrix(m.omega, m.alpha)
    q1 = m.R @ p.origin
    v, lifted = m.v + cross(m.omega, q1), m.a + U @ q1 + p.up * p.g
    return [
        leg_slopes(p, t, v + cross(m.omega, t.q), lifted + U @ t.q, m.omega, actuator)
        for t, actuator in zip(tips, actuators, strict=True)
    ]


class MotionSlopes(NamedTuple):
    """Derivatives of a force or a moment by the platform's motion, 3 x 3 each, base axes."""

    place: Matrix
    turn: Matrix
    velocity: Matrix
    omega: Matrix
    acceleration: Matrix
    alpha: Matrix


class MissingSlopes(NamedTuple):
    """Derivatives of the missing wrench about the moved origin."""

    force: MotionSlopes
    moment: MotionSlopes


def missing_slopes(
    p: LumpedPlatform, m: PlatformMotion, tips: Sequence[Tip | FreeTip], legs: Sequence[LegSlopes]
) -> MissingSlopes:
    """By the motion of the platform's own origin, all of m and the actuators' forces held but one."""
    U, C_s = acceleration_matrix(m.omega, m.alpha), p.friction.spherical
    q1 = m.R @ p.origin
    v1, a1 = cross(m.omega, q1), U @ q1  # of the moved origin about the platform's own
    force, moment = remainder_slopes(p, m, U, q1)
    own_force = own_moment = ZERO_MATRIX  # by omega where it rubs at the joints, not by the tips that it moves
    for t, f in zip(tips, legs, strict=True):
        Q = tip_mass_matrix(t)
        q, velocity, acceleration = t.q + q1, cross(m.omega, t.q) + v1, U @ t.q + a1
        turned = times_cross(f.by_place, q) + times_cross(f.by_velocity, velocity) + times_cross(Q, acceleration)
        spun = times_cross(f.by_velocity, q) + times_cross(Q, velocity * 2.0)
        rubbed = times_cross(f.W_by_place, q) + times_cross(f.W_by_velocity, velocity)
        force = Turned(
            force.place + f.by_place, force.turn - turned, force.velocity + f.by_velocity, force.omega - spun
        )
        moment = Turned(
            moment.place + (crossed(t.q, f.by_place) - f.W_by_place * C_s),
            moment.turn - (crossed(t.q, turned) - rubbed * C_s) + crossed(f.K, skew(t.q)),
            moment.velocity + (crossed(t.q, f.by_velocity) - f.W_by_velocity * C_s),
            moment.omega - (crossed(t.q, spun) - times_cross(f.W_by_velocity, q) * C_s),
        )
        own_force, own_moment = own_force + f.by_omega, own_moment + crossed(t.q, f.by_omega)
    own_moment = own_moment + Matrix.diagonal(*[C_s * len(p.legs)] * 3)
    M = assembled(*mass_blocks(p, m.R, tips))
    A, C, D = (Matrix.of([row[j : j + 3] for row in M[i : i + 3]]) for i, j in ((0, 0), (3, 0), (3, 3)))
    return MissingSlopes(
        whole_slopes(force, own_force, A, C.T - times_cross(A, q1), m),
        whole_slopes(moment, own_moment, C, D - times_cross(C, q1), m),
    )


class Turned(NamedTuple):
    """Slopes in which a turn takes velocities and accelerations with it, and omega leaves omega x omega' out."""

    place: Matrix
    turn: Matrix
    velocity: Matrix
    omega: Matrix


def whole_slopes(x: Turned, by_own_omega: Matrix, by_a: Matrix, by_alpha: Matrix, m: PlatformMotion) -> MotionSlopes:
    """omega x (d x q) is d x (omega x q) + (omega x d) x q: the second part is one of alpha or omega."""
    omega = x.omega + times_cross(by_alpha, m.omega)
    turn = x.turn + times_cross(omega, m.omega) + times_cross(by_alpha, m.alpha)
    return MotionSlopes(x.place, turn, x.velocity, omega + by_own_omega, by_a, by_alpha)


def remainder_slopes(p: LumpedPlatform, m: PlatformMotion, U: Matrix, q1: Vector) -> tuple[Turned, Turned]:
    """Derivatives of the wrench that moves the rest of the platform (`universal_coordinates.remainder_wrench`)."""
    h, a = m.R @ p.first_moment, m.a + p.up * p.g
    first = h + q1 * p.mass
    velocity = cross(m.omega, q1)
    force = Turned(ZERO_MATRIX, -skew(U @ first), ZERO_MATRIX, -skew(cross(m.omega, first) * 2.0))
    turn = crossed(a, skew(h)) - skew(cross(h, U @ q1))
    omega = ZERO_MATRIX - crossed(h, skew(velocity * 2.0))
    Q = p.second_moments
    if not all(is_zero(x) for row in Q.rows for x in row):
        own = acceleration_matrix(m.R.T @ m.omega, m.R.T @ m.alpha)
        I = m.R.times(Matrix.diagonal(Q.trace, Q.trace, Q.trace) - Q).times(m.R.T)
        gyration = crossed(m.omega, I)
        turn = turn - skew(m.R @ moment_of_inertia_forces(own, Q))
        omega = omega - skew(I @ m.omega) + gyration + gyration.T
    return force, Turned(ZERO_MATRIX, turn, ZERO_MATRIX, omega)


def times_cross(A: Matrix, q: Vector) -> Matrix:
    """A [q]x."""
    return Matrix([cross(row, q) for row in A.rows])


# --------------------------------------------------------------------------------------------------------- solutions


class StateSlopes(NamedTuple):
    """Six rows each: by the six numbers of the pose, by the twist, and by the acceleration or the leg forces."""

    pose: Rows
    twist: Rows
    last: Rows


def inverse_dynamics_slopes(p: LumpedPlatform, m: PlatformMotion, turns: Matrix) -> tuple[StateSlopes, Scalar]:
    """Derivatives of the actuators' forces by pose, twist and acceleration, and their doubt, as for the forces.

    turns: whose columns are the turns by the three angles of the pose, each at unit rate
    Identity: the last is H^-1 M.
    """
    found, _ = gathered(p, m)
    tips = found.tips
    F, doubt = forces_and_doubt(found, found.wrench)
    doubted = doubt()
    slopes = missing_slopes(p, m, tips, slopes_of_legs(p, m, tips, F))
    answers, _ = eliminations(long_columns(tips), columns_of(slopes, turns))  # H^-1 dr
    return by_sixes([[x * t.L for t, x in zip(tips, answer, strict=True)] for answer in answers]), doubted


def forward_dynamics_slopes(
    p: LumpedPlatform, m: PlatformMotion, actuators: Scalars, turns: Matrix
) -> tuple[StateSlopes, Scalar]:
    """Derivatives of the acceleration by pose, twist and the actuators' forces, and their doubt, as for it.

    m: its accelerations are not used
    Identity: the last is M^-1 H; the others are - (dF/d(a, alpha))^-1 times those of `inverse_dynamics_slopes`.
    """
    found, q1 = gathered(p, without_acceleration(m), actuators)
    tips = found.tips
    factors = factored(assembled(*mass_blocks(p, m.R, tips)))
    a, alpha = accelerations(factors, [-y for y in (*found.wrench.force, *found.wrench.moment)], q1)
    m = m._replace(a=a, alpha=alpha)
    slopes = missing_slopes(p, m, tips, slopes_of_legs(p, m, tips, actuators))
    needed = [[-y for y in column] for column in columns_of(slopes, turns)[:12]]  # - dr
    pushed = [[y * t.L_inverse for y in column] for t, column in zip(tips, long_legs(tips), strict=True)]  # H
    results = [[x for half in accelerations(factors, y, q1) for x in half] for y in needed + pushed]
    return by_sixes(results), doubt_of(factors)


def columns_of(slopes: MissingSlopes, turns: Matrix) -> Rows:
    """Of the wrench, six by the numbers of the pose, six by the twist and six by the acceleration."""
    force, moment = (part._replace(turn=part.turn.times(turns)) for part in slopes)
    return [[*x, *y] for A, B in zip(force, moment, strict=True) for x, y in zip(A.T.rows, B.T.rows, strict=True)]


def by_sixes(columns: Rows) -> StateSlopes:
    """18 columns as three matrices of six rows."""
    blocks = [columns[6 * k : 6 * k + 6] for k in range(3)]
    return StateSlopes(*([list(row) for row in zip(*block, strict=True)] for block in blocks))
