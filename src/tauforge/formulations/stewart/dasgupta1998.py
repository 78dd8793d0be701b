"""Inverse dynamics as Dasgupta & Mruthyunjaya 1998 published it, with misprints corrected, and its errors.

Corrected misprints: the sign of the sum of K in D33 (D35 has it right), S'' and L' in D9, L' before D24 and in D25, t''
in D31. Errors of the model itself, each with a switch that corrects it:

  leg_spin             D6, D8 and D9 take W.s = 0; a universal joint lets the leg spin
  moment_along_c       D17, D20, D21 and D29 put the universal joint's moment along the leg; it is along c = u x v, the
                       normal of the joint's two axes
  parallel_axis_once   D16 adds m_u L^2 diag(0, 1, 1), which m_u r_u x a_u contains already

With all three the model is exact. Where the base joints are spherical the first two change nothing: W.s = 0 is right
there, and s.C = 0, so the joint's moment is zero. The third error remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Matrix, Vector, cross, dot
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.stewart.exact import inertial_wrench
from tauforge.formulations.stewart.kinematics import LegMotion, centre_accelerations, leg_forces, leg_motion
from tauforge.formulations.stewart.parameters import LegParameters, PlatformMotion, PlatformParameters


class DasguptaCorrections(NamedTuple):
    leg_spin: bool = False
    moment_along_c: bool = False
    parallel_axis_once: bool = False


DASGUPTA_AS_PUBLISHED = DasguptaCorrections()


class LegTerms(NamedTuple):
    """The effect of a leg on the platform, except its force along itself."""

    motion: LegMotion
    K: Vector  # force of the platform on the leg, its part across the leg: D21
    D: Scalar  # actuator force that would move the upper part alone: D24
    f: Vector  # friction moment of the spherical joint, on the platform: D18


def leg_terms(
    p: PlatformParameters, leg: LegParameters, m: PlatformMotion, corrections: DasguptaCorrections
) -> LegTerms:
    l = leg_motion(leg, m, spin=corrections.leg_spin)
    r_d, a_d, r_u, a_u = centre_accelerations(leg, l)
    m_d, m_u, g = leg.lower.mass, leg.upper.mass, p.gravity
    I_u0 = leg.upper.inertia
    if not corrections.parallel_axis_once:
        shift = m_u * (l.L * l.L)
        I_u0 = I_u0 + Matrix.diagonal(0.0, shift, shift)  # D16
    I = rotated(leg.lower.inertia + I_u0, l.T)  # D15, D16
    f = (l.W - m.omega) * p.friction.spherical
    C = (
        cross(r_d, a_d) * m_d
        + cross(r_u, a_u) * m_u
        - cross(r_d * m_d + r_u * m_u, g)
        + I @ l.A
        + cross(l.W, I @ l.W)
        + l.W * p.friction.universal
        + f
    )  # D17-20: Euler's equations of both parts, added
    if corrections.moment_along_c and leg.k is not None:
        C = C - l.c * (dot(l.s, C) / dot(l.s, l.c))  # D29 in its exact form
    K = cross(C, l.s) * (1.0 / l.L)  # D21
    # D23, Newton's equation of the upper part, along the leg; the paper has no reflected mass of the drive
    D = dot(l.s, a_u - g) * m_u + l.Ldot * p.friction.prismatic + l.Lddot * leg.reflected_mass
    return LegTerms(l, K, D, f)


def final_system(own: Wrench, legs: Sequence[LegTerms]) -> list[Scalar]:
    """Forces of the actuators. own: the wrench that the platform's motion needs, less the external one."""
    force, moment = own
    for motion, K, _, f in legs:
        force, moment = force + K, moment + cross(motion.q, K) - f  # D33-35, with the other sign
    pushes = leg_forces([leg.motion.where for leg in legs], Wrench(force, moment))  # D36: -x, with x of D22
    return [leg.D + push for leg, push in zip(legs, pushes, strict=True)]  # D24, D37


def inverse_dynamics(
    p: PlatformParameters,
    m: PlatformMotion,
    external: Wrench = NO_WRENCH,
    corrections: DasguptaCorrections = DASGUPTA_AS_PUBLISHED,
) -> list[Scalar]:
    """Forces of the actuators, positive where they extend the legs; external as in `exact`."""
    return final_system(inertial_wrench(p, m, external), [leg_terms(p, leg, m, corrections) for leg in p.legs])
