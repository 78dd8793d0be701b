"""The closed form of Pedrammehr et al. 2012, eqs 41-43, 48 and 51, and the terms it lacks.

Corrected misprints: I_ui for L_ui in 42, L_di in the m_d centripetal term of 43, and l' in the last term of S_i
(appendix 1). The form is then still not equal to eq. 40, from which it is said to follow. Switches add the terms that
42 and 43 lack; with all of them it is equal to eq. 40:

  spin_rate_sign      43 has -omega_u omega_v for the spin rate's second part; it is +omega_u omega_v / (c.n)
  spin_in_forces      alpha_t n in m L x (alpha x L), both parts of the leg
  spin_in_moments     (I alpha_t n) x n, and n . I alpha_n
  extension           m_u l'' (L_u x n) x n
  offset_axial        m_u n . (alpha x L_u) n
  velocity_in_moment  centripetal and Coriolis terms in N . n
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import IDENTITY, UNIT_VECTORS, ZERO, Matrix, Vector, cross, dot, skew
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.stewart import pedrammehr2012
from tauforge.formulations.stewart.kinematics import LegMotion, centre_accelerations, forces_along_legs, leg_motion
from tauforge.formulations.stewart.parameters import LegParameters, PlatformMotion, PlatformParameters


class Terms(NamedTuple):
    spin_rate_sign: bool = False
    spin_in_forces: bool = False
    spin_in_moments: bool = False
    extension: bool = False
    offset_axial: bool = False
    velocity_in_moment: bool = False


TERMS_AS_PUBLISHED = Terms()


def reaction(
    p: PlatformParameters,
    leg: LegParameters,
    m: PlatformMotion,
    terms: Terms,
    corrections: pedrammehr2012.PedrammehrCorrections,
) -> tuple[LegMotion, Vector]:
    """The leg's motion, and F_i + F_act n: Q_i (X'' + alpha x q_i) + V_i (P41), Q_i (P42) being applied at once."""
    w = leg_motion(leg, m)
    n, u, c, l, W = w.s, w.u, w.c, w.L, w.W
    L_d, _, L_u, _ = centre_accelerations(leg, w)
    I = pedrammehr2012.leg_tensors(leg, w, L_d, L_u, corrections)
    m_d, m_u, G = leg.lower.mass, leg.upper.mass, p.gravity
    C_u, C_p, C_s = p.friction
    y = m.a + cross(m.alpha, w.q)  # what Q multiplies (P42)
    turning = cross(m.omega, cross(m.omega, w.q))
    S = cross(n, turning - cross(W, cross(W, n * l)) - cross(W, n) * (2.0 * w.Ldot))  # appendix 1
    alpha_n = (cross(n, y) + S) * (1.0 / l)  # P23
    un = dot(u, n)
    spin_rate = w.omega_u * w.omega_v / dot(c, n) if terms.spin_rate_sign else -(w.omega_u * w.omega_v)
    across = cross(u, n)
    alpha_t = dot(u, alpha_n) * un / dot(across, across) + spin_rate

    def levered(x: Vector) -> Vector:
        """m L x (x x L) of both parts."""
        both: Vector = cross(L_u, cross(x, L_u)) * m_u + cross(L_d, cross(x, L_d)) * m_d
        return both

    centripetal = (
        cross(L_u, cross(W, cross(W, L_u)) + cross(W, n) * (2.0 * w.Ldot)) * m_u
        + cross(L_d, cross(W, cross(W, L_d))) * m_d
    )
    weight = cross(L_u * m_u + L_d * m_d, G)
    gyroscopic = cross(W, I @ W) + W * C_u + (W - m.omega) * C_s
    across = levered(alpha_n) + centripetal + I @ alpha_n + gyroscopic - weight  # N, as it is crossed with n (P43)
    along = levered(alpha_n) + I @ (n * alpha_t) + gyroscopic - weight  # N, as it is dotted with n (P43)
    if terms.spin_in_forces:
        across, along = across + levered(n * alpha_t), along + levered(n * alpha_t)
    if terms.spin_in_moments:
        across, along = across + I @ (n * alpha_t), along + I @ alpha_n
    if terms.extension:
        across = across + cross(L_u, n) * (m_u * w.Lddot)
    if terms.velocity_in_moment:
        along = along + centripetal
    axial = m_u * (dot(n, cross(W, cross(W, L_u)) - G) + w.Lddot) + C_p * w.Ldot
    if terms.offset_axial:
        axial = axial + m_u * dot(n, cross(alpha_n + n * alpha_t, L_u))
    N_along = cross(c, n) * (dot(along, n) / dot(c, n))
    return w, n * axial + (cross(across, n) - N_along) * (1.0 / l)


class ClosedForm(NamedTuple):
    """H F_act + w_ext = M (X'', alpha) + eta, as the closed form has it; P48 gives three rows of it, P51 the others.

    Q:   of each leg, what multiplies X'' + alpha x q_i in its force, with the reflected mass (P42)
    V:   of each leg, the rest of its force (P43)
    M:   four 3 x 3 coefficients, [[of X'', of alpha] in P48, the same in P51]
    eta: what is left of P48 and of P51
    """

    Q: list[Matrix]
    V: list[Vector]
    M: list[list[Matrix]]
    eta: list[Vector]


def closed_form(
    p: PlatformParameters,
    m: PlatformMotion,
    terms: Terms = TERMS_AS_PUBLISHED,
    corrections: pedrammehr2012.PedrammehrCorrections = pedrammehr2012.PEDRAMMEHR_AS_PUBLISHED,
) -> ClosedForm:
    """The matrices of the closed form; the accelerations in m are not used.

    Q_i is the change of `reaction` with X'', column by column, as `reaction` is linear in it.
    """
    still = m._replace(a=ZERO, alpha=ZERO)
    force, moment = pedrammehr2012.platform_wrench(p, still, NO_WRENCH, corrections)
    r = m.R @ p.body.com
    I_p, m_r = pedrammehr2012.platform_tensor(p, m, corrections), skew(r * p.body.mass)
    X_48, alpha_48 = IDENTITY * p.body.mass, -m_r
    X_51, alpha_51 = m_r, I_p - skew(r).times(m_r)
    Qs, Vs = [], []
    for leg in p.legs:
        w, V = reaction(p, leg, still, terms, corrections)
        V = V + w.s * (w.Lddot * leg.reflected_mass)
        columns = []
        for unit in UNIT_VECTORS:
            moved, F = reaction(p, leg, still._replace(a=unit), terms, corrections)
            columns.append(F + moved.s * (moved.Lddot * leg.reflected_mass) - V)
        Q, q_x = Matrix(columns).T, skew(w.q)
        Qs.append(Q)
        Vs.append(V)
        force, moment = force + V, moment + cross(w.q, V) - (w.W - m.omega) * p.friction.spherical
        X_48, alpha_48 = X_48 + Q, alpha_48 - Q.times(q_x)  # P48
        X_51, alpha_51 = X_51 + q_x.times(Q), alpha_51 - q_x.times(Q).times(q_x)  # P51
    return ClosedForm(Qs, Vs, [[X_48, alpha_48], [X_51, alpha_51]], [force, moment])


def inverse_dynamics(
    p: PlatformParameters,
    m: PlatformMotion,
    external: Wrench = NO_WRENCH,
    terms: Terms = TERMS_AS_PUBLISHED,
    corrections: pedrammehr2012.PedrammehrCorrections = pedrammehr2012.PEDRAMMEHR_AS_PUBLISHED,
) -> list[Scalar]:
    """Forces of the actuators, positive where they extend the legs; external as in `exact`.

    Identity: with all terms equals `pedrammehr2012.inverse_dynamics` with the same corrections.
    """
    force, moment = pedrammehr2012.platform_wrench(p, m, external, corrections)  # P48, P51
    sliding = []
    for leg in p.legs:
        w, F = reaction(p, leg, m, terms, corrections)
        force, moment = force + F, moment + cross(w.q, F) - (w.W - m.omega) * p.friction.spherical
        sliding.append(w.Lddot * leg.reflected_mass)
    along = forces_along_legs(p, m, Wrench(force, moment))
    return [x + d for x, d in zip(along, sliding, strict=True)]
