"""The exact inverse dynamics of a Stewart platform, as vector equations.

Two ways lead to these equations: Pedrammehr's eqs 1-17, 22-23, 25-31, 34-40, 45-47 and 49 (25 corrected), or Dasgupta's
eqs 1-37 with the leg's spin, without eq. 16's second parallel-axis term and with the universal joint's moment along
c = u x v. The papers as printed are in `dasgupta1998` and `pedrammehr2012`. A spherical joint at the base exerts no
moment on the leg, and the leg does not spin (`kinematics`): then Dasgupta's eqs 1-37 without eq. 16's second term are
exact.

The base may move (`moving_base`), which the papers do not consider. Inertia forces follow from absolute accelerations
and turns, friction and reflected masses from motion relative to the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Vector, cross, dot
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.stewart.kinematics import LegMotion, centre_accelerations, leg_motion
from tauforge.formulations.stewart.moving_base import FIXED_BASE, MovingBase, absolute_turning, without_spin
from tauforge.formulations.stewart.parameters import LegParameters, PlatformMotion, PlatformParameters
from tauforge.formulations.stewart.platform_equations import inertial_wrench, leg_forces, leg_vectors


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
    own = inertial_wrench(p, m, base=base)
    force, moment = own.force - external.force, own.moment - external.moment
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
    along = leg_forces(leg_vectors(p, m), required_wrench(p, m, external, loads, base))
    return [x + load.D for x, load in zip(along, loads, strict=True)]


def missing_wrench(
    p: PlatformParameters,
    m: PlatformMotion,
    actuators: Sequence[Scalar],
    external: Wrench = NO_WRENCH,
    base: MovingBase = FIXED_BASE,
) -> Wrench:
    """What the actuators and the external wrench leave to be desired, at the platform's origin.

    Identity: zero where the actuators have the forces of `inverse_dynamics`.
    """
    loads = [leg_load(p, leg, m, base) for leg in p.legs]
    force, moment = required_wrench(p, m, external, loads, base)
    for load, actuator in zip(loads, actuators, strict=True):
        push = load.motion.s * (load.D - actuator)
        force, moment = force + push, moment + cross(load.motion.q, push)
    return Wrench(force, moment)
