"""The exact dynamics of a Stewart platform as vector equations: forces of the actuators, joint reactions and energy.

Two ways lead to these equations: Pedrammehr's eqs 1-17, 22-23, 25-31, 34-40, 45-47 and 49 (25 corrected), or Dasgupta's
eqs 1-37 with the leg's spin, without eq. 16's second parallel-axis term and with the universal joint's moment along
c = u x v. The papers as printed are in `dasgupta1998` and `pedrammehr2012`. A spherical joint at the base exerts no
moment on the leg, and the leg does not spin (`kinematics`): then Dasgupta's eqs 1-37 without eq. 16's second term are
exact.

Newton's and Euler's equations of the platform, `inertial_wrench`, are the same in all models. Where the base moves,
inertia forces follow from absolute accelerations and turns, friction and reflected masses from motion relative to it.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import ZERO, Matrix, Vector, cross, dot
from tauforge.formulations.bodies import NO_WRENCH, BodyParameters, Wrench
from tauforge.formulations.stewart.kinematics import LegMotion, centre_accelerations, forces_along_legs, leg_motion
from tauforge.formulations.stewart.parameters import (
    FIXED_BASE,
    LegParameters,
    MovingBase,
    PlatformMotion,
    PlatformParameters,
    absolute_turning,
    carried,
    without_spin,
)


def inertial_wrench(
    p: PlatformParameters,
    m: PlatformMotion,
    external: Wrench = NO_WRENCH,
    inertia: Matrix | None = None,
    base: MovingBase = FIXED_BASE,
) -> Wrench:
    """The wrench that the platform needs at its origin: M (a_g - g), and R x that + I alpha + omega x I omega (D33-34).

    external: what it has of that already
    inertia: about the mass centre, base axes; default that of the body (D32).
    """
    R = m.R @ p.body.com  # D30, P47
    a = cross(m.alpha, R) + cross(m.omega, cross(m.omega, R)) + m.a  # D31, P46
    if base is not FIXED_BASE:
        a = a + carried(base, m.X + R, m.v + cross(m.omega, R))
    omega, alpha = absolute_turning(base, m.omega, m.alpha)
    I = rotated(p.body.inertia, m.R) if inertia is None else inertia
    force = (a - p.gravity) * p.body.mass  # P45
    moment = cross(R, force) + I @ alpha + cross(omega, I @ omega)  # P49
    return Wrench(force - external.force, moment - external.moment)


class LegLoad(NamedTuple):
    """The force of the platform on a leg: K across it, and along it D less the actuator's force."""

    motion: LegMotion
    lower: Wrench  # that the lower part needs, about the base joint, without friction
    upper: Wrench  # that the upper part needs, about the base joint
    M_u: Scalar  # moment of the universal joint along c; 0 for a spherical joint
    K: Vector  # force of the spherical joint on the leg, its part across the leg
    D: Scalar  # actuator force that would move the leg alone
    f: Vector  # friction moment of the spherical joint, on the platform


def leg_load(p: PlatformParameters, leg: LegParameters, m: PlatformMotion, base: MovingBase = FIXED_BASE) -> LegLoad:
    l = leg_motion(leg, m)
    r_d, a_d, r_u, a_u = centre_accelerations(leg, l, base)
    W, A = without_spin(base, l.s, l.W, l.A) if leg.k is None else absolute_turning(base, l.W, l.A)
    I_d, I_u = rotated(leg.lower.inertia, l.T), rotated(leg.upper.inertia, l.T)
    F_d, F_u = (a_d - p.gravity) * leg.lower.mass, (a_u - p.gravity) * leg.upper.mass
    lower = Wrench(F_d, cross(r_d, F_d) + I_d @ A + cross(W, I_d @ W))
    upper = Wrench(F_u, cross(r_u, F_u) + I_u @ A + cross(W, I_u @ W))
    f = (l.W - m.omega) * p.friction.spherical
    N = lower.moment + upper.moment + l.W * p.friction.universal + f  # P36: about the base joint
    M_u = 0.0 if leg.k is None else dot(N, l.s) / dot(l.c, l.s)  # P37; D29 has c = s
    K = cross(N - l.c * M_u, l.s) * (1.0 / l.L)  # P34, P38
    D = dot(l.s, F_u) + l.Ldot * p.friction.prismatic + l.Lddot * leg.reflected_mass  # P39
    return LegLoad(l, lower, upper, M_u, K, D, f)


def required_wrench(
    p: PlatformParameters, m: PlatformMotion, external: Wrench, loads: list[LegLoad], base: MovingBase = FIXED_BASE
) -> Wrench:
    """The wrench that the forces along the legs must exert on the platform (P45, P49)."""
    force, moment = inertial_wrench(p, m, external, base=base)
    for load in loads:
        force, moment = force + load.K, moment + cross(load.motion.q, load.K) - load.f
    return Wrench(force, moment)


def inverse_dynamics(
    p: PlatformParameters, m: PlatformMotion, external: Wrench = NO_WRENCH, base: MovingBase = FIXED_BASE
) -> list[Scalar]:
    """Forces of the actuators, positive where they extend the legs.

    external: on the platform at its origin, base axes
    Identity: equals `universal_coordinates.inverse_dynamics`, and both equal Newton-Euler over 13 bodies.
    """
    loads = [leg_load(p, leg, m, base) for leg in p.legs]
    along = forces_along_legs(p, m, required_wrench(p, m, external, loads, base))
    return [x + load.D for x, load in zip(along, loads, strict=True)]


def missing_wrench(
    p: PlatformParameters,
    m: PlatformMotion,
    actuators: Scalars,
    external: Wrench = NO_WRENCH,
    base: MovingBase = FIXED_BASE,
) -> Wrench:
    """Residual wrench on the platform at its origin: what actuators and external wrench lack.

    Identity: zero where the actuators have the forces of `inverse_dynamics`.
    """
    loads = [leg_load(p, leg, m, base) for leg in p.legs]
    force, moment = required_wrench(p, m, external, loads, base)
    for load, actuator in zip(loads, actuators, strict=True):
        push = load.motion.s * (load.D - actuator)
        force, moment = force + push, moment + cross(load.motion.q, push)
    return Wrench(force, moment)


class Reactions(NamedTuple):
    """Wrenches of one leg's joints, base axes."""

    universal: Wrench  # of the base on the lower part, at the base joint, whatever its kind
    # of the lower part on the upper part, about the base joint, actuator and friction included: F_p of D23 and D26 is
    # its force + C_p L' s, and F_c of D28 its force across the leg
    prismatic: Wrench
    spherical: Wrench  # of the platform on the leg, at the platform joint


def reactions(
    p: PlatformParameters, m: PlatformMotion, external: Wrench = NO_WRENCH, base: MovingBase = FIXED_BASE
) -> list[Reactions]:
    """Identity: along the leg the prismatic force is F - C_p L' - m_r L'', F being the actuator's force."""
    loads = [leg_load(p, leg, m, base) for leg in p.legs]
    along = forces_along_legs(p, m, required_wrench(p, m, external, loads, base))
    result = []
    for load, x in zip(loads, along, strict=True):
        l = load.motion
        F_s = load.K - l.s * x  # D21: the leg pushes the platform by x
        on_lower = l.c * load.M_u - l.W * p.friction.universal
        F_p, M_p = load.upper.force - F_s, load.upper.moment - cross(l.S, F_s) + load.f  # D23, D18
        universal = Wrench(load.lower.force + F_p, on_lower)  # D27, or D25 with F_p - C_p L' s in one
        result.append(Reactions(universal, Wrench(F_p, M_p), Wrench(F_s, ZERO - load.f)))
    return result


def body_energy(body: BodyParameters, axes: Matrix, velocity: Vector, omega: Vector) -> Scalar:
    """m v.v / 2 + omega . I omega / 2, v of the mass centre."""
    turning = dot(omega, rotated(body.inertia, axes) @ omega)
    return 0.5 * (body.mass * dot(velocity, velocity) + turning)


def energies(p: PlatformParameters, m: PlatformMotion) -> tuple[Scalar, Scalar]:
    """Kinetic (reflected masses included) and potential (from the base frame's origin).

    Identities: kinetic = twist . M twist / 2; d(kinetic + potential)/dt is the power of actuators, friction and
    external wrench.
    """
    r = m.R @ p.body.com
    kinetic = body_energy(p.body, m.R, m.v + cross(m.omega, r), m.omega)
    weight = (m.X + r) * p.body.mass
    for leg in p.legs:
        l = leg_motion(leg, m)
        r_d, r_u = l.T @ leg.lower.com, l.S + l.T @ leg.upper.com
        kinetic = kinetic + body_energy(leg.lower, l.T, cross(l.W, r_d), l.W)
        kinetic = kinetic + body_energy(leg.upper, l.T, l.s * l.Ldot + cross(l.W, r_u), l.W)
        kinetic = kinetic + 0.5 * leg.reflected_mass * (l.Ldot * l.Ldot)
        weight = weight + (leg.b + r_d) * leg.lower.mass + (leg.b + r_u) * leg.upper.mass
    return kinetic, -dot(p.gravity, weight)
