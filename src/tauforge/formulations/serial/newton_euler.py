"""Newton-Euler recursions: Turney, Mudge & Lee 1980, T3.15-3.21 (after Luh, Walker & Paul); L3.21-3.27.

T3.16 prints omega_i, which gives the same vector product since z x z = 0; its components are those of omega_{i-1}, as
in T3.4. T3.18 has r-bar_i, as T3.8 prints it. a_0 = g z_0 is a vector in any direction. Prismatic joints, which the
paper leaves out, add the terms of Angeles, A7.34f.
"""

from __future__ import annotations

from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, cross, dot
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.serial.kinematics import axis_in_link, link_displacement, link_transform
from tauforge.formulations.serial.parameters import ArmParameters, base_at_rest
from tauforge.formulations.trees.recursion import BaseState


def link_wrenches(
    arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench = NO_WRENCH, base: BaseState | None = None
) -> list[Wrench]:
    """f_i, n_i: what link i-1 exerts on link i, at the origin of frame i-1, in frame-i axes.

    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    """
    omega, alpha, a = base or base_at_rest(arm)
    R_down = [link_transform(joint, q_i).rotation.T for joint, q_i in zip(arm.joints, q, strict=True)]
    r = [link_displacement(joint, q_i) for joint, q_i in zip(arm.joints, q, strict=True)]

    # Outward: kinematics from the base to the hand.
    F, N, a_bar = [], [], []
    for i, (joint, body) in enumerate(zip(arm.joints, arm.bodies, strict=True)):
        r_bar, I = body.com, body.inertia
        if joint.revolute:
            alpha = R_down[i] @ (alpha + cross(omega, E_Z * qd[i]) + E_Z * qdd[i])  # T3.16, L3.22
            omega = R_down[i] @ (omega + E_Z * qd[i])  # T3.15, L3.21
            a = cross(omega, cross(omega, r[i])) + cross(alpha, r[i]) + R_down[i] @ a  # T3.17, L3.23
        else:
            sliding = cross(omega, E_Z * (2.0 * qd[i])) + E_Z * qdd[i]  # A7.34f
            alpha, omega = R_down[i] @ alpha, R_down[i] @ omega
            a = cross(omega, cross(omega, r[i])) + cross(alpha, r[i]) + R_down[i] @ (a + sliding)
        a_bar.append(cross(omega, cross(omega, r_bar)) + cross(alpha, r_bar) + a)  # T3.18, L3.24
        F.append(a_bar[i] * body.mass)  # T3.9, L3.15
        N.append(I @ alpha + cross(omega, I @ omega))  # T3.10, L3.16

    # Inward: forces from the hand to the base.
    f_next, n_next = -tip.force, -tip.moment  # wrench of link n on the environment, already in frame n
    wrenches = []
    for i in reversed(range(arm.n)):
        f = F[i] + f_next  # T3.19, L3.25
        n = N[i] + cross(arm.bodies[i].com + r[i], F[i]) + cross(r[i], f_next) + n_next  # T3.20, L3.26
        wrenches.append(Wrench(f, n))
        f_next, n_next = R_down[i].T @ f, R_down[i].T @ n
    return wrenches[::-1]


def inverse_dynamics(
    arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench = NO_WRENCH, base: BaseState | None = None
) -> list[Scalar]:
    """Actuator forces of the rigid bodies (no friction, no rotors).

    Identity: equals every other formulation of this folder.
    """
    return [
        dot(axis_in_link(joint), wrench.moment if joint.revolute else wrench.force)  # T3.21, L3.27
        for joint, wrench in zip(arm.joints, link_wrenches(arm, q, qd, qdd, tip, base), strict=True)
    ]
