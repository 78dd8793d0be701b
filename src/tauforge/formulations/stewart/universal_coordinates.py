"""Our cheapest exact form, the kernels' default: every leg in the coordinates of its universal joint.

A leg turns by w1 about the joint's fixed axis k and by w2 about its moving axis v = n / |n|, n = k x S: its angular
velocity is W = w1 k + w2 v. Its mass about the base joint is a constant tensor J and first moments, so Lagrange's
equations for (w1, w2) are short, and the force at its tip is cs s + cn n + ck k; the leg's axes are never formed. cs
does not enter the platform's equations: F_i = x_i + cs. Columns of H are not normalised, [S; q x S], and x_i is scaled
back. Legs with spherical joints at both ends are shorter still: `spherical_legs`.

Gravity is an upward acceleration of everything. The platform's origin is moved to its first joint, and the platform is
replaced by point masses at the joints and a remainder (`lumping`): a mass at a leg's tip costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from tauforge.algebra.elimination import smallest, spread
from tauforge.algebra.inertias import acceleration_matrix, moment_of_inertia_forces
from tauforge.algebra.linear import Rows, elimination
from tauforge.algebra.scalars import Scalar, Scalars, is_zero, sqrt
from tauforge.algebra.vectors import ZERO, Matrix, Vector, cross, dot
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.stewart.lumping import LumpedLeg, LumpedPlatform
from tauforge.formulations.stewart.parameters import Friction, PlatformMotion
from tauforge.formulations.stewart.spherical_legs import FreeTip, free_tip, free_tip_force

ALONG_AXIS = 1e-8  # sine of the angle between a leg and the axis below which the pose is singular
SUSPICIOUS_SPREAD = 1e5  # ratio of the pivots of H above which its condition number is checked


class Tip(NamedTuple):
    """Position of a leg in the coordinates of its universal joint. sigma, rho: cosine and sine of the angle (S, k)."""

    leg: LumpedLeg
    k: Vector
    q: Vector  # platform joint from the moved origin
    S: Vector
    n: Vector  # k x S
    L: Scalar
    L_inverse: Scalar
    n_inverse: Scalar  # 1 / |n|
    sigma: Scalar  # k.S / L
    rho: Scalar  # |n| / L
    rho_inverse: Scalar


def tip(leg: LumpedLeg, X: Vector, R: Matrix) -> Tip | FreeTip:
    q = R @ leg.p
    S = q + (X - leg.b)
    if leg.k is None:
        return free_tip(leg, q, S)
    n = cross(leg.k, S)
    L2, n2 = dot(S, S), dot(n, n)  # not L^2 - (k.S)^2, which loses digits near the axis
    L_inverse, n_inverse = 1.0 / sqrt(L2), 1.0 / sqrt(n2)
    L = L2 * L_inverse
    sigma, rho = dot(leg.k, S) * L_inverse, n2 * n_inverse * L_inverse
    return Tip(leg, leg.k, q, S, n, L, L_inverse, n_inverse, sigma, rho, L * n_inverse)


class Components(NamedTuple):
    """Components of a vector in leg axes s, v and z = s x v."""

    s: Scalar
    v: Scalar
    z: Scalar


def components(t: Tip, x: Vector) -> Components:
    s = dot(t.S, x) * t.L_inverse
    return Components(s, dot(t.n, x) * t.n_inverse, (dot(t.k, x) - t.sigma * s) * t.rho_inverse)


class Rates(NamedTuple):
    """Sliding speed and the rates about both axes."""

    Ldot: Scalar
    w1: Scalar
    w2: Scalar


def rates(t: Tip, S_dot: Vector) -> Rates:
    Ldot = dot(t.S, S_dot) * t.L_inverse
    w1 = dot(t.n, S_dot) * (t.n_inverse * t.n_inverse)
    w2 = (t.sigma * Ldot - dot(t.k, S_dot)) * t.n_inverse
    return Rates(Ldot, w1, w2)


class AxisTurns(NamedTuple):
    """Rates of the platform about the axes of a universal joint."""

    k: Scalar
    v: Scalar


def about_axes(t: Tip, omega: Vector) -> AxisTurns:
    return AxisTurns(dot(t.k, omega), dot(t.n, omega) * t.n_inverse)


class TipForce(NamedTuple):
    """Force of the platform on a leg without the actuator's: cs s + cn n + ck k."""

    cs: Scalar
    cn: Scalar
    ck: Scalar


def tip_force(
    t: Tip, w: Rates, a: Components, up: Components, g: Scalar, omega: AxisTurns, friction: Friction
) -> TipForce:
    """a: acceleration of the tip less gravity; up: unit vector against gravity, g its magnitude."""
    leg, sigma, rho = t.leg, t.sigma, t.rho
    Ldot, w1, w2 = w
    Wz = rho * w1
    twice = (Ldot + Ldot) * t.L_inverse
    # components across the leg of the second derivative of s; a contains gravity, which is removed again
    sv = (a.v - g * up.v) * t.L_inverse - twice * Wz
    sz = (a.z - g * up.z) * t.L_inverse + twice * w2
    twice_w12, w11, w22, sr = (w1 + w1) * w2, w1 * w1, w2 * w2, sigma * rho
    across = sv - sigma * twice_w12
    a1 = across * t.rho_inverse  # w1'
    a2 = sr * w11 - sz  # w2'
    # Lagrange's equations in (w1, w2) of both parts about the base joint, the upper one as if it did not slide
    J = leg.J
    s2 = sigma * sigma
    dJ = J[0, 0] - J[2, 2]
    J11 = J[2, 2] + s2 * dJ + sr * (2.0 * J[0, 2])
    J12, J22 = rho * J[1, 2] + sigma * J[0, 1], J[1, 1]
    half_slope = s2 * (2.0 * J[0, 2]) - J[0, 2] - sr * dJ  # half the derivative of J11 by the angle about v
    J12_slope = sigma * J[1, 2] - rho * J[0, 1]
    G1 = J11 * a1 + J12 * a2 + half_slope * twice_w12 + J12_slope * w22
    G2 = J12 * a1 + J22 * a2 - half_slope * w11
    # moments about the base joint: the upper part's mass centre moves with the tip, the lower part adds its weight
    r, h = leg.upper_moment, leg.lower_moment * g
    moment = Components(
        r.y * a.z - r.z * a.v + (h.y * up.z - h.z * up.v),
        r.z * a.s - r.x * a.z + (h.z * up.s - h.x * up.z),
        r.x * a.v - r.y * a.s + (h.x * up.v - h.y * up.s),
    )
    C_u, C_p, C_s = friction
    G1 = G1 + sigma * moment.s + rho * moment.z + (C_u + C_s) * w1 - C_s * omega.k
    G2 = G2 + moment.v + (C_u + C_s) * w2 - C_s * omega.v
    e = offset_force(leg, sigma, Turning(sv, sz, across, a1, a2, w11, w22, rho * twice_w12, Wz * Wz))
    m = leg.tip_mass
    ck = (m * a.z + e.z) * t.rho_inverse - G2 * t.n_inverse
    cn = (m * a.v + e.v) * t.n_inverse + G1 * (t.n_inverse * t.n_inverse)
    cs = m * a.s + e.s + C_p * Ldot - sigma * ck
    if not is_zero(leg.reflected_mass):
        Lddot = a.s - g * up.s + t.L * (w22 + Wz * Wz)
        cs = cs + leg.reflected_mass * Lddot
    return TipForce(cs, cn, ck)


class Turning(NamedTuple):
    """Turning of a leg as its offset mass centres feel it: accelerations across it, and products of rates."""

    sv: Scalar  # second derivative of s along v
    sz: Scalar  # and along z
    across: Scalar  # rho w1': sv less what the rates alone contribute
    a1: Scalar  # w1'
    a2: Scalar  # w2'
    w11: Scalar  # w1^2
    w22: Scalar  # w2^2
    twice_wvz: Scalar  # 2 w2 Wz, Wz = rho w1
    wzz: Scalar  # Wz^2


def offset_force(leg: LumpedLeg, sigma: Scalar, t: Turning) -> Components:
    """m_u times the acceleration of the upper part's mass centre about the tip, in leg axes."""
    r = leg.upper_moment
    towards = r.x * (t.w22 + t.wzz)
    if is_zero(r.y) and is_zero(r.z):
        return Components(-towards, r.x * t.sv, r.x * t.sz)
    turn = sigma * t.a1
    return Components(
        (2.0 * t.a2 + t.sz) * r.z - t.across * r.y - towards,
        t.sv * r.x - r.y * t.w11 + r.z * (t.twice_wvz - turn),
        t.sz * r.x + r.y * turn - r.z * (sigma * sigma * t.w11 + t.w22),
    )


class LegForce(NamedTuple):
    """Force of the platform on a leg without the actuator's, K + along s, and the leg's angular motion."""

    K: Vector
    along: Scalar
    W: Vector


def leg_force(p: LumpedPlatform, t: Tip | FreeTip, S_dot: Vector, a: Vector, omega: Vector) -> LegForce:
    """a: acceleration of the tip less gravity."""
    if isinstance(t, FreeTip):
        K, along = free_tip_force(t, S_dot, a, p.up, p.g, p.friction)
        return LegForce(K, along, cross(t.S, S_dot) * (t.L_inverse * t.L_inverse))
    w = rates(t, S_dot)
    f = tip_force(t, w, components(t, a), components(t, p.up), p.g, about_axes(t, omega), p.friction)
    return LegForce(t.n * f.cn + t.k * f.ck, f.cs, t.k * w.w1 + t.n * (w.w2 * t.n_inverse))


class Gathered(NamedTuple):
    """Tips of all legs and forces along them, and the wrench at the moved origin that they and the platform need."""

    tips: list[Tip | FreeTip]
    along: list[Scalar]
    wrench: Wrench


def gathered(p: LumpedPlatform, m: PlatformMotion, actuators: Scalars | None = None) -> tuple[Gathered, Vector]:
    """The legs and the platform in motion, and the vector from the platform's own origin to the moved one, base axes.

    actuators: forces along the legs; None leaves all tip forces along the legs out of the wrench.
    """
    U = acceleration_matrix(m.omega, m.alpha)
    q1 = m.R @ p.origin
    X, v, lifted = m.X + q1, m.v + cross(m.omega, q1), (m.a + p.up * p.g) + U @ q1
    force, moment = remainder_wrench(p, m.R, m.omega, m.alpha, lifted, U)
    tips, along, turning = [], [], ZERO
    for i, leg in enumerate(p.legs):
        t = tip(leg, X, m.R)
        f = leg_force(p, t, v + cross(m.omega, t.q), lifted + U @ t.q, m.omega)
        K = f.K
        if actuators is not None:
            K = K + t.S * ((f.along - actuators[i]) * t.L_inverse)
        force, moment = force + K, moment + cross(t.q, K)
        turning = turning + f.W
        tips.append(t)
        along.append(f.along)
    rubbing = (m.omega * len(p.legs) - turning) * p.friction.spherical
    return Gathered(tips, along, Wrench(force, moment + rubbing)), q1


def remainder_wrench(p: LumpedPlatform, R: Matrix, omega: Vector, alpha: Vector, a: Vector, U: Matrix) -> Wrench:
    """The wrench that the remainder of the platform needs; its second moments are in the platform's own axes."""
    force, moment = a * p.mass, ZERO
    if not all(is_zero(x) for x in p.first_moment):
        h = R @ p.first_moment
        force, moment = force + U @ h, moment + cross(h, a)
    Q = p.second_moments
    if not all(is_zero(x) for row in Q.rows for x in row):
        own = acceleration_matrix(R.T @ omega, R.T @ alpha)
        moment = moment + R @ moment_of_inertia_forces(own, Q)
    return Wrench(force, moment)


def without(wrench: Wrench, external: Wrench, q1: Vector) -> Wrench:
    """`wrench` less an external one, which is given at the platform's own origin; q1 leads from it to the moved one."""
    moment = external.moment - cross(q1, external.force)
    return Wrench(wrench.force - external.force, wrench.moment - moment)


def inverse_dynamics(p: LumpedPlatform, m: PlatformMotion, external: Wrench = NO_WRENCH) -> list[Scalar]:
    """Forces of the actuators, positive where they extend the legs. Identity: equals `exact.inverse_dynamics`."""
    return inverse_dynamics_and_doubt(p, m, external)[0]


def inverse_dynamics_and_doubt(
    p: LumpedPlatform, m: PlatformMotion, external: Wrench = NO_WRENCH
) -> tuple[list[Scalar], Callable[[], Scalar]]:
    """The forces, and what computes a doubt of them.

    The doubt is at least 1 where H may be singular, or where a leg may lie along its joint's axis.
    """
    found, q1 = gathered(p, m)
    return forces_and_doubt(found, without(found.wrench, external, q1))


def forces_and_doubt(found: Gathered, wanted: Wrench) -> tuple[list[Scalar], Callable[[], Scalar]]:
    """The forces that give the wanted wrench at the moved origin, and what computes their doubt."""
    pushes, pivots = elimination(long_columns(found.tips), [*wanted.force, *wanted.moment])
    forces = [x * t.L + along for t, along, x in zip(found.tips, found.along, pushes, strict=True)]
    return forces, partial(doubt, pivots, [t.rho for t in found.tips if isinstance(t, Tip)])


def long_legs(tips: Sequence[Tip | FreeTip]) -> Rows:
    """Columns of H about the moved origin, each as long as its leg."""
    return [[*t.S, *cross(t.q, t.S)] for t in tips]


def long_columns(tips: Sequence[Tip | FreeTip]) -> Rows:
    return [list(row) for row in zip(*long_legs(tips), strict=True)]


def doubt(pivots: Scalars, sines: Scalars) -> Scalar:
    """At least 1 where the pivots of H differ so much that it may be singular, or where a sine is nearly 0.

    sines: of the angles between the legs and the fixed axes of their universal joints
    """
    of_pivots = spread(pivots) * (1.0 / SUSPICIOUS_SPREAD)
    return of_pivots + ALONG_AXIS / smallest(sines) if sines else of_pivots
