"""Outward and inward recursions for revolute and prismatic joints: Angeles, chapter 7, algorithms 7.4.1 and 7.4.2.

Every vector of link i is held in frame i (the book's F_{i+1}); Q_i maps it to frame i-1 (the book's F_i), in two
planar turns of 4 multiplications and 2 additions each for a DH arm (7.23-7.24).

Deviates from the print: algorithm 7.4.1's prismatic branch turns delta + b e, b' e and b'' e together, before rho is
added; algorithm 7.4.2 turns f_i and n_i into frame i-1 after adding; 7.38d gets b_i e_i x f_i for a prismatic joint;
in 7.24a the first two rows take v, not v_2. Positions and velocities of the mass centres, which the algorithm lists
and the torques do not need, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import E_Z, ZERO, Vector, cross
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.serial.kinematics import joint_rotation, joint_travel
from tauforge.formulations.serial.parameters import ArmParameters, BaseState, base_at_rest


def inverse_dynamics(
    arm: ArmParameters,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    tip: Wrench = NO_WRENCH,
    base: BaseState | None = None,
) -> list[Scalar]:
    """Actuator forces of the rigid bodies (no friction, no rotors).

    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    Identity: equals every other formulation of this folder.
    """
    turns = [joint_rotation(joint, q_i) for joint, q_i in zip(arm.joints, q, strict=True)]

    def Q(i: int, v: Vector) -> Vector:
        return turns[i] @ (arm.joints[i].constant.rotation @ v)

    def Q_T(i: int, v: Vector) -> Vector:
        return arm.joints[i].constant.rotation.T @ (turns[i].T @ v)

    # rho_i leads from O_i to C_i, in frame i; a_i = O_i to O_{i+1} enters through delta_i = a_i - rho_i, which is the
    # same as minus the mass centre seen from origin i (7.32a, 7.32c).
    rho = []
    delta = [ZERO]
    for joint, body in zip(arm.joints, arm.bodies, strict=True):
        rho.append(joint.constant.rotation.T @ joint.constant.translation + body.com)
        delta.append(-body.com)

    # Algorithm 7.4.1: outward recursions.
    omega, omega_dot, c_ddot = base or base_at_rest(arm)
    omegas, omega_dots, c_ddots = [], [], []
    for i, joint in enumerate(arm.joints):
        d = delta[i]
        if joint.revolute:
            u = cross(omega, d)
            carried = c_ddot + cross(omega_dot, d) + cross(omega, u)
            omega_dot = Q_T(i, omega_dot + cross(omega, E_Z * qd[i]) + E_Z * qdd[i])  # 7.26b
            omega = Q_T(i, omega + E_Z * qd[i])  # 7.26a
            v = cross(omega, rho[i])
            c_ddot = Q_T(i, carried) + cross(omega_dot, rho[i]) + cross(omega, v)  # 7.33b
        else:
            omega_dot_next, omega_next = Q_T(i, omega_dot), Q_T(i, omega)
            w = E_Z * qd[i]
            u = Q_T(i, d + joint_travel(joint, q[i])) + rho[i]  # 7.34c
            v = cross(omega_next, u)  # 7.34d
            sliding = Q_T(i, c_ddot + cross(omega, w + w) + E_Z * qdd[i])
            omega_dot, omega = omega_dot_next, omega_next
            c_ddot = sliding + cross(omega_dot, u) + cross(omega, v)  # 7.34f
        omegas.append(omega)
        omega_dots.append(omega_dot)
        c_ddots.append(c_ddot)

    # Algorithm 7.4.2: inward recursions.
    phi, nu = -tip.force, -tip.moment  # f_{n+1} and n_{n+1} in frame n
    tau = []
    for i in reversed(range(arm.n)):
        joint, body = arm.joints[i], arm.bodies[i]
        I = body.inertia
        f = c_ddots[i] * body.mass + phi  # 7.38c
        n = I @ omega_dots[i] + cross(omegas[i], I @ omegas[i]) + cross(rho[i], f)  # 7.38d
        n = n + cross(delta[i + 1], phi) + nu
        phi, nu = Q(i, f), Q(i, n)
        if not joint.revolute:
            nu = nu + cross(joint_travel(joint, q[i]), phi)
        tau.append(nu.z if joint.revolute else phi.z)  # 7.39, 7.40
    return tau[::-1]
