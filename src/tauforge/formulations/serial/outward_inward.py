"""Outward and inward recursions for revolute and prismatic joints: Angeles, chapter 7, algorithms A7.4.1 and A7.4.2.

Every vector of link i is in the axes of frame i (the book's F_{i+1}); Q_i maps it to frame i-1 (the book's F_i), by two
planar rotations of 4 multiplications and 2 additions each for a DH arm.

Deviates from the print: A7.4.1's prismatic branch turns delta + b e, b' e and b'' e together, before rho is
added; A7.4.2 turns f_i and n_i into frame i-1 after adding; A7.38d gets b_i e_i x f_i for a prismatic joint; the wrench
at the hand acts at the origin of frame n, where A7.38a-b have its force at the mass centre of the last link.
Positions and velocities of the mass centres are computed only on request, because the torques do not need them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, ZERO, Matrix, Vector, cross
from tauforge.formulations.bodies import NO_WRENCH, BodyParameters, Wrench
from tauforge.formulations.serial.kinematics import into_link, joint_rotation, joint_travel, out_of_link
from tauforge.formulations.serial.parameters import ArmParameters, JointParameters, base_at_rest
from tauforge.formulations.trees.recursion import BaseState


class MassCentre(NamedTuple):
    """Position and velocity of a mass centre, in the axes of its link."""

    c: Vector
    c_dot: Vector


class LinkMotion(NamedTuple):
    """Results of the outward recursions for link i, in its own axes."""

    turn: Matrix  # of joint i, about its axis
    omega: Vector
    omega_dot: Vector
    c_ddot: Vector  # acceleration of the mass centre, less gravity
    centre: MassCentre | None  # if requested


def joint_to_centre(joint: JointParameters, body: BodyParameters) -> Vector:
    """rho_i: from O_i, the origin of frame i-1 moved by the joint, to the mass centre C_i, in frame i."""
    return joint.constant.rotation.T @ joint.constant.translation + body.com


def centre_to_next_joint(body: BodyParameters) -> Vector:
    """delta_i = a_i - rho_i or d_i - rho_i (A7.32a, A7.32c): from C_i to O_{i+1}, the origin of frame i."""
    return -body.com


def outward(
    arm: ArmParameters,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    base: BaseState,
    centre: MassCentre | None = None,
    delta_0: Vector = ZERO,
) -> list[LinkMotion]:
    """Algorithm A7.4.1.

    centre:  position and velocity of the base's point C_0, if those of the mass centres are wanted
    delta_0: from C_0, the point that base.a belongs to, to the origin of frame 0
    """
    omega, omega_dot, c_ddot = base
    d = delta_0
    motions = []
    for i, (joint, body) in enumerate(zip(arm.joints, arm.bodies, strict=True)):
        turn = joint_rotation(joint, q[i])
        Q_T = partial(into_link, joint, turn)
        rho = joint_to_centre(joint, body)
        if joint.revolute:
            u = cross(omega, d)
            carried = c_ddot + cross(omega_dot, d) + cross(omega, u)
            omega_dot = Q_T(omega_dot + cross(omega, E_Z * qd[i]) + E_Z * qdd[i])  # A7.26b; A7.28-7.31
            omega = Q_T(omega + E_Z * qd[i])  # A7.26a
            v = cross(omega, rho)
            if centre:
                c = Q_T(centre.c + d) + rho  # A7.32b
                c_dot = Q_T(centre.c_dot + u) + v  # A7.33a
                centre = MassCentre(c, c_dot)
            c_ddot = Q_T(carried) + cross(omega_dot, rho) + cross(omega, v)  # A7.33b
        else:
            w = E_Z * qd[i]
            sliding = Q_T(c_ddot + cross(omega, w + w) + E_Z * qdd[i])
            omega_dot = Q_T(omega_dot)  # A7.34b
            omega = Q_T(omega)  # A7.34a
            u = Q_T(d + joint_travel(joint, q[i])) + rho  # A7.34c
            v = cross(omega, u)  # A7.34d
            if centre:
                c = Q_T(centre.c) + u  # A7.32d
                c_dot = Q_T(centre.c_dot + w) + v  # A7.34e
                centre = MassCentre(c, c_dot)
            c_ddot = sliding + cross(omega_dot, u) + cross(omega, v)  # A7.34f
        d = centre_to_next_joint(body)
        motions.append(LinkMotion(turn, omega, omega_dot, c_ddot, centre))
    return motions


def inward(arm: ArmParameters, q: Scalars, motions: Sequence[LinkMotion], tip: Wrench) -> list[Wrench]:
    """Algorithm A7.4.2: f_i and n_i, what link i-1 exerts on link i, at the origin of frame i-1, in its axes.

    The component along e_i, the third, is the actuator's; the other five are the constraint's (A7.36, A7.37).
    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    """
    phi, nu = -tip.force, -tip.moment  # A7.38a, A7.38b: f_{n+1} and n_{n+1}, in frame n
    wrenches = []
    for i in reversed(range(arm.n)):
        joint, body = arm.joints[i], arm.bodies[i]
        turn, omega, omega_dot, c_ddot, _ = motions[i]
        Q = partial(out_of_link, joint, turn)
        rho, I = joint_to_centre(joint, body), body.inertia
        f = c_ddot * body.mass + phi  # A7.38c
        n = I @ omega_dot + cross(omega, I @ omega) + cross(rho, f)  # A7.38d
        n = n + cross(centre_to_next_joint(body), phi) + nu
        phi, nu = Q(f), Q(n)
        if not joint.revolute:
            nu = nu + cross(joint_travel(joint, q[i]), phi)
        wrenches.append(Wrench(phi, nu))
    return wrenches[::-1]


def inverse_dynamics(
    arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench = NO_WRENCH, base: BaseState | None = None
) -> list[Scalar]:
    """Actuator forces of the rigid bodies (no friction, no rotors).

    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    Identity: equals every other formulation of this folder.
    """
    wrenches = inward(arm, q, outward(arm, q, qd, qdd, base or base_at_rest(arm)), tip)
    return [
        wrench.moment.z if joint.revolute else wrench.force.z  # A7.39, A7.40
        for joint, wrench in zip(arm.joints, wrenches, strict=True)
    ]
