"""Inverse dynamics as Pedrammehr, Mahboubkhah & Khani 2012 published it, with misprints corrected, and its errors.

This is the vector form: the motion of the legs is that of `kinematics`, where eqs 15, 17 and 25 are corrected; X_g in
eq. 46 is read as X_g''. This file adds eqs 31-40 and 45-50. Wrong in the model itself are the parallel-axis terms of
eqs 32, 33 and 50: m L x L'' (and m r x X_g'') contain them already, and they put components in base axes between T and
T'. Switches correct this:

  legs_once, platform_once   leave the terms out: exact with both
  own_axes                   keep them, but in components of the leg's and the platform's own axes

The closed form, eqs 41-43, 48 and 51, is not equal to eq. 40; see `pedrammehr2012_closed`.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.inertias import point_mass_inertia, rotated
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Matrix, Vector, cross, dot
from tauforge.formulations.bodies import NO_WRENCH, BodyParameters, Wrench
from tauforge.formulations.stewart.exact import inertial_wrench
from tauforge.formulations.stewart.kinematics import LegMotion, centre_accelerations, forces_along_legs, leg_motion
from tauforge.formulations.stewart.parameters import LegParameters, PlatformMotion, PlatformParameters


class PedrammehrCorrections(NamedTuple):
    legs_once: bool = False
    platform_once: bool = False
    own_axes: bool = False


PEDRAMMEHR_AS_PUBLISHED = PedrammehrCorrections()


def tensor(body: BodyParameters, axes: Matrix, r: Vector, once: bool, own_axes: bool) -> Matrix:
    """P32, P33, P50: T (I + m (r.r E - r r')) T', r in base components as printed."""
    if once:
        return rotated(body.inertia, axes)
    components = axes.T @ r if own_axes else r
    return rotated(body.inertia + point_mass_inertia(body.mass, components), axes)


def leg_tensors(
    leg: LegParameters, l: LegMotion, r_d: Vector, r_u: Vector, corrections: PedrammehrCorrections
) -> Matrix:
    """I_d + I_u (P32, P33)."""
    once, own = corrections.legs_once, corrections.own_axes
    return tensor(leg.lower, l.T, r_d, once, own) + tensor(leg.upper, l.T, r_u, once, own)


def platform_tensor(p: PlatformParameters, m: PlatformMotion, corrections: PedrammehrCorrections) -> Matrix:
    """I_p (P50)."""
    return tensor(p.body, m.R, m.R @ p.body.com, corrections.platform_once, corrections.own_axes)


def platform_wrench(
    p: PlatformParameters, m: PlatformMotion, external: Wrench, corrections: PedrammehrCorrections
) -> Wrench:
    """The wrench that the legs must exert on the platform (P45, P49 with P50)."""
    return inertial_wrench(p, m, external, platform_tensor(p, m, corrections))


def inverse_dynamics(
    p: PlatformParameters,
    m: PlatformMotion,
    external: Wrench = NO_WRENCH,
    corrections: PedrammehrCorrections = PEDRAMMEHR_AS_PUBLISHED,
) -> list[Scalar]:
    """Forces of the actuators, positive where they extend the legs; external as in `exact`."""
    force, moment = platform_wrench(p, m, external, corrections)
    axial = []
    C_u, C_p, C_s = p.friction
    for leg in p.legs:
        l = leg_motion(leg, m)
        L_d, L_d_ddot, L_u, L_u_ddot = centre_accelerations(leg, l)
        I = leg_tensors(leg, l, L_d, L_u, corrections)
        m_d, m_u, G = leg.lower.mass, leg.upper.mass, p.gravity
        rubbing = (l.W - m.omega) * C_s
        N = (
            cross(L_u, L_u_ddot - G) * m_u
            + cross(L_d, L_d_ddot - G) * m_d
            + I @ l.A
            + cross(l.W, I @ l.W)
            + rubbing
            + l.W * C_u
        )  # P36, which is P31 solved for what M_i and F_i give
        m_i = dot(N, l.s) / dot(l.c, l.s)  # P37
        F_i = (cross(N, l.s) - cross(l.c, l.s) * m_i) * (1.0 / l.L)  # P34, P35, P38, without its part along the leg
        axial.append(dot(l.s, L_u_ddot - G) * m_u + l.Ldot * C_p + l.Lddot * leg.reflected_mass)  # P39
        force, moment = force + F_i, moment + cross(l.q, F_i) - rubbing  # P45, P49
    along = forces_along_legs(p, m, Wrench(force, moment))  # P40: F_i has -F_act + axial along the leg
    return [x + d for x, d in zip(along, axial, strict=True)]
