"""Our cheapest inverse dynamics: joint frames, base parameters, and Turney's A matrix. The default.

In joint frames (`regrouping`) tau_i is a component and needs no projection. With U = [alpha]x + [omega]x[omega]x
(Turney's A_i) the force on a regrouped link is U h, and the moment of its inertia needs only the entries of U.
`frame_choice` places the frames where this costs least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.acceleration_matrices import acceleration_matrix
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import E_Z, Matrix, Vector, cross
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.serial.frame_choice import aligned, placed
from tauforge.formulations.serial.kinematics import joint_rotation, joint_travel
from tauforge.formulations.serial.parameters import ArmParameters, BaseState, base_at_rest
from tauforge.formulations.serial.regrouping import Chain, JointFrame, in_joint_frames, nearly, regrouped


class Motion(NamedTuple):
    """Results of the outward pass for the inward one: joint turns and travels, U and the origin's acceleration."""

    turn: Matrix
    travel: Vector
    U: Matrix
    omega: Vector
    alpha: Vector
    a: Vector


def outward(
    frames: Sequence[JointFrame],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    base: BaseState,
) -> list[Motion]:
    """Motion of each joint frame, in its own axes."""
    omega, alpha, a = base
    U = acceleration_matrix(omega, alpha)
    motions = []
    for i, frame in enumerate(frames):
        turn, travel = joint_rotation(frame.joint, q[i]), joint_travel(frame.joint, q[i])
        R, p = frame.before
        a = turn.T @ (R.T @ (a + U @ p))
        omega, alpha = turn.T @ (R.T @ omega), turn.T @ (R.T @ alpha)
        if frame.revolute:
            alpha = alpha + Vector(omega.y * qd[i], -(omega.x * qd[i]), qdd[i])
            omega = omega + E_Z * qd[i]
        U = acceleration_matrix(omega, alpha)
        if not frame.revolute:
            a = a + U @ travel + cross(omega, E_Z * (2.0 * qd[i])) + E_Z * qdd[i]  # A7.34f
        motions.append(Motion(turn, travel, U, omega, alpha, a))
    return motions


def inertia_moment(I: Matrix, flat: bool, motion: Motion) -> Vector:
    """I alpha + omega x I omega by the entries of U.

    For a flat link I_xx alpha_x + (I_zz - I_yy) omega_y omega_z is I_xx U_zy, and I_yy alpha_y + ... is -I_yy U_zx.
    """
    U, w, alpha = motion.U, motion.omega, motion.alpha
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    Ixx, Iyy, Izz, Ixy, Ixz, Iyz = I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]
    if flat:
        x, y = Ixx * U[2, 1], -(Iyy * U[2, 0])
    else:
        x = Ixx * alpha.x + nearly(Izz - Iyy, I) * (w.y * w.z)
        y = Iyy * alpha.y + nearly(Ixx - Izz, I) * (w.x * w.z)
    return Vector(
        x + (Ixz * U[1, 0] - Ixy * U[2, 0]) + Iyz * (yy - zz),
        y + (Ixy * U[2, 1] - Iyz * U[0, 1]) + Ixz * (zz - xx),
        Izz * alpha.z + nearly(Iyy - Ixx, I) * (w.x * w.y) + (Iyz * U[0, 2] - Ixz * U[1, 2]) + Ixy * (xx - yy),
    )


def passed_inward(frame: JointFrame, motion: Motion, w: Wrench) -> Wrench:
    """A wrench at joint frame i, in its axes, seen from joint frame i-1."""
    R, p = frame.before
    n = w.moment + cross(motion.travel, w.force)
    f = R @ (motion.turn @ w.force)
    return Wrench(f, R @ (motion.turn @ n) + cross(p, f))


def inward(frames: Sequence[JointFrame], motions: Sequence[Motion], tip: Wrench) -> list[Scalar]:
    """Joint forces, from the hand to the base. tip acts at the origin of the last joint frame, in its axes."""
    w = Wrench(-tip.force, -tip.moment)
    tau = []
    for frame, motion in zip(reversed(frames), reversed(motions), strict=True):
        h = frame.first_moment
        f = w.force + (motion.a * frame.mass + motion.U @ h)
        n = w.moment + (inertia_moment(frame.inertia, frame.flat, motion) + cross(h, motion.a))
        tau.append(n.z if frame.revolute else f.z)
        w = passed_inward(frame, motion, Wrench(f, n))
    return tau[::-1]


def base_chain(arm: ArmParameters) -> Chain:
    """The arm by its base parameters, with aligned axes and the original origins."""
    return regrouped(in_joint_frames(aligned(arm)))


def cheapest_chain(arm: ArmParameters) -> Chain:
    """The arm in the frames and by the parameters that cost least; it depends only on the robot."""
    return placed(base_chain(arm))


def inverse_dynamics_of(
    chain: Chain,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    tip: Wrench,
    base: BaseState,
) -> list[Scalar]:
    """Joint forces of a chain. tip: what the environment exerts on link n, at the origin of frame n, frame-n axes."""
    R, p = chain.last
    force = R @ tip.force
    at_joint = Wrench(force, R @ tip.moment + cross(p, force))
    return inward(chain.frames, outward(chain.frames, q, qd, qdd, base), at_joint)


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
    return inverse_dynamics_of(cheapest_chain(arm), q, qd, qdd, tip, base or base_at_rest(arm))
