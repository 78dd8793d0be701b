"""Inverse dynamics as Dasgupta & Mruthyunjaya 1998 published it, misprints mended, and what is wrong with it.

Mended: the sign of the sum of K in eq. 33 (eq. 35 has it right), S'' in eq. 9, lost dots in eqs 24, 25 and 31. Wrong in
the model itself, each behind a switch:

  leg_spin             eqs 6, 8, 9 take W.s = 0; a universal joint lets the leg spin
  moment_along_c       eqs 17, 20, 21, 29 put the universal joint's moment along the leg; it is along c = u x v, the
                       normal of the joint's two axes
  parallel_axis_once   eq. 16 adds m_u L^2 diag(0, 1, 1), which m_u r_u x a_u holds already

With all three the model is exact. Where the base joints are spherical the first two change nothing: W.s = 0 is right
there, and s.C = 0, so that no moment is left to place. The third remains.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Matrix, Vector, cross, dot
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.stewart.kinematics import LegMotion, centre_accelerations, leg_motion
from tauforge.formulations.stewart.parameters import LegParameters, PlatformMotion, PlatformParameters
from tauforge.formulations.stewart.platform_equations import inertial_wrench, leg_forces, leg_vectors


class Corrections(NamedTuple):
    leg_spin: bool = False
    moment_along_c: bool = False
    parallel_axis_once: bool = False


AS_PUBLISHED = Corrections()


def leg_terms(
    p: PlatformParameters, leg: LegParameters, m: PlatformMotion, corrections: Corrections
) -> tuple[LegMotion, Vector, Scalar, Vector]:
    """The leg's motion, K (21), D (24) and f (18)."""
    l = leg_motion(leg, m, spin=corrections.leg_spin)
    r_d, a_d, r_u, a_u = centre_accelerations(leg, l)
    m_d, m_u, g = leg.lower.mass, leg.upper.mass, p.gravity
    I_u0 = leg.upper.inertia
    if not corrections.parallel_axis_once:
        shift = m_u * (l.L * l.L)
        I_u0 = I_u0 + Matrix.diagonal(0.0, shift, shift)  # 16
    I = rotated(leg.lower.inertia + I_u0, l.T)  # 15, 16
    f = (l.W - m.omega) * p.friction.spherical
    C = (
        cross(r_d, a_d) * m_d
        + cross(r_u, a_u) * m_u
        - cross(r_d * m_d + r_u * m_u, g)
        + I @ l.A
        + cross(l.W, I @ l.W)
        + l.W * p.friction.universal
        + f
    )  # 20
    if corrections.moment_along_c and leg.k is not None:
        C = C - l.c * (dot(l.s, C) / dot(l.s, l.c))  # 29 in its exact form
    K = cross(C, l.s) * (1.0 / l.L)  # 21
    D = dot(l.s, a_u - g) * m_u + l.Ldot * p.friction.prismatic + l.Lddot * leg.reflected_mass  # 24
    return l, K, D, f


def inverse_dynamics(
    p: PlatformParameters,
    m: PlatformMotion,
    external: Wrench = NO_WRENCH,
    corrections: Corrections = AS_PUBLISHED,
) -> list[Scalar]:
    """Forces of the actuators, positive where they extend the legs; external as in `exact`."""
    own = inertial_wrench(p, m)
    force, moment = own.force - external.force, own.moment - external.moment
    D = []
    for leg in p.legs:
        l, K, D_i, f = leg_terms(p, leg, m, corrections)
        force, moment = force + K, moment + cross(l.q, K) - f  # 35, with the other sign: x is minus a leg's push
        D.append(D_i)
    along = leg_forces(leg_vectors(p, m), Wrench(force, moment))
    return [D_i + x for D_i, x in zip(D, along, strict=True)]  # 37
