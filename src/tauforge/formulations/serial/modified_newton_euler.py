"""Modified Newton-Euler recursions: Turney, Mudge & Lee 1980, section 5, T5.1-5.2.

omega x (omega x b) + alpha x b = A b for every b, with one matrix A per link. The moment of the link's own inertia
follows from A K, with K = Tr(I)/2 E - I about the centre of mass (`algebra.inertias`,
which states two deviations from the print).

Deviates from the print: K is about the centre of mass, and full where the paper assumes principal axes; the last term
of T5.2 is R_i^{i+1} n_{i+1}. Prismatic joints, which the paper leaves out, add the terms of Angeles, A7.34f.
"""

from __future__ import annotations

from tauforge.algebra.inertias import acceleration_matrix, moment_of_inertia_forces, second_moments
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, cross, dot
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.serial.kinematics import axis_in_link, link_displacement, link_transform
from tauforge.formulations.serial.parameters import ArmParameters, base_at_rest
from tauforge.formulations.trees.recursion import BaseState


def inverse_dynamics(
    arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench = NO_WRENCH, base: BaseState | None = None
) -> list[Scalar]:
    """Actuator forces of the rigid bodies (no friction, no rotors).

    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    Identity: equals every other formulation of this folder.
    """
    omega, alpha, a = base or base_at_rest(arm)
    R_down = [link_transform(joint, q_i).rotation.T for joint, q_i in zip(arm.joints, q, strict=True)]
    r = [link_displacement(joint, q_i) for joint, q_i in zip(arm.joints, q, strict=True)]

    # Outward: kinematics from the base to the hand.
    F, N = [], []
    for i, (joint, body) in enumerate(zip(arm.joints, arm.bodies, strict=True)):
        K = second_moments(body.inertia)
        if joint.revolute:
            alpha = R_down[i] @ (alpha + cross(omega, E_Z * qd[i]) + E_Z * qdd[i])  # T3.16
            omega = R_down[i] @ (omega + E_Z * qd[i])  # T3.15
            carried = R_down[i] @ a
        else:
            sliding = cross(omega, E_Z * (2.0 * qd[i])) + E_Z * qdd[i]  # A7.34f
            alpha, omega = R_down[i] @ alpha, R_down[i] @ omega
            carried = R_down[i] @ (a + sliding)
        A = acceleration_matrix(omega, alpha)
        a = A @ r[i] + carried  # T5.1
        F.append((A @ body.com + a) * body.mass)  # T5.1: m_i A_i (r_bar_i + r_i) + m_i R a_{i-1}
        N.append(moment_of_inertia_forces(A, K))  # T5.2, first term

    # Inward: forces from the hand to the base.
    f_next, n_next = -tip.force, -tip.moment
    tau = []
    for i in reversed(range(arm.n)):
        f = F[i] + f_next  # T5.1
        n = N[i] + cross(arm.bodies[i].com + r[i], F[i]) + cross(r[i], f_next) + n_next  # T5.2
        joint = arm.joints[i]
        tau.append(dot(axis_in_link(joint), n if joint.revolute else f))  # T3.21
        f_next, n_next = R_down[i].T @ f, R_down[i].T @ n
    return tau[::-1]
