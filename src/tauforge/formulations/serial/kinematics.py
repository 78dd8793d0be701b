"""Link frames, tool pose and Jacobian of an arm, over any scalar.

L2.4 is read with A_{k-1}^k, where our text of the paper has A_k^k.
"""

from __future__ import annotations

from tauforge.algebra.scalars import Scalar, Scalars, cos, sin
from tauforge.algebra.vectors import E_Z, IDENTITY, ZERO, Matrix, Transform, Vector, cross, rotation_z
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.serial.parameters import ArmParameters, JointParameters


def joint_rotation(joint: JointParameters, q: Scalar) -> Matrix:
    """Rot(z, q + offset) of a revolute joint; a prismatic joint does not turn."""
    if not joint.revolute:
        return IDENTITY
    angle = q + joint.offset
    return rotation_z(cos(angle), sin(angle))


def joint_travel(joint: JointParameters, q: Scalar) -> Vector:
    """The displacement of a prismatic joint along z_{i-1}; zero for a revolute one."""
    return ZERO if joint.revolute else E_Z * (q + joint.offset)


def into_link(joint: JointParameters, turn: Matrix, v: Vector) -> Vector:
    """Q_i' v: from frame i-1 to frame i, by two rotations and not by their product (A7.23b). turn: of the joint."""
    return joint.constant.rotation.T @ (turn.T @ v)


def out_of_link(joint: JointParameters, turn: Matrix, v: Vector) -> Vector:
    """Q_i v: from frame i to frame i-1, likewise (A7.24a, A7.24b)."""
    return turn @ (joint.constant.rotation @ v)


def link_transform(joint: JointParameters, q: Scalar) -> Transform:
    """T_{i-1}^i (T1.13, L2.1-2.2): rotation R_{i-1}^i (T1.10) and p_{i-1}^i, in frame i-1."""
    turn = joint_rotation(joint, q)
    return Transform(turn.times(joint.constant.rotation), turn @ joint.constant.translation + joint_travel(joint, q))


def link_displacement(joint: JointParameters, q: Scalar) -> Vector:
    """r_i = R_i^{i-1} p_{i-1}^i (T1.14, L2.11): from origin i-1 to origin i, in frame i; constant if revolute."""
    return joint.constant.rotation.T @ (joint.constant.translation + joint_travel(joint, q))


def axis_in_link(joint: JointParameters) -> Vector:
    """R_i^{i-1} z_{i-1}: the joint's axis, in frame i; constant, since the joint turns about it."""
    return joint.constant.rotation.T @ E_Z


def link_frames(arm: ArmParameters, q: Scalars) -> list[Transform]:
    """World <- frame i, i = 0..n (T1.15, L2.4, L2.12)."""
    frames = [arm.base.then(arm.mount)]
    for joint, q_i in zip(arm.joints, q, strict=True):
        frames.append(frames[-1].then(link_transform(joint, q_i)))
    return frames


def tool_frame(arm: ArmParameters, q: Scalars) -> Transform:
    """World <- tool."""
    return link_frames(arm, q)[-1].then(arm.tool)


def jacobian(arm: ArmParameters, q: Scalars) -> list[tuple[Vector, Vector]]:
    """Column i: velocity of the tool origin and angular velocity per unit speed of joint i, world axes.

    Identity: J qd equals the derivative of `tool_frame`.
    """
    frames = link_frames(arm, q)
    tip = frames[-1].then(arm.tool).translation
    columns = []
    for joint, frame in zip(arm.joints, frames[:-1], strict=True):
        z = frame.rotation @ E_Z
        columns.append((cross(z, tip - frame.translation), z) if joint.revolute else (z, ZERO))
    return columns


def wrench_on_last_link(arm: ArmParameters, q: Scalars, tip: Wrench, *, world_axes: bool) -> Wrench:
    """A wrench acting at the tool origin, moved to the origin of frame n, frame-n axes.

    The wrench is turned from world axes into the axes of one link after another, outward.
    """
    force, moment = tip
    if world_axes:
        down = arm.base.rotation.times(arm.mount.rotation).T
        force, moment = down @ force, down @ moment
        for joint, q_i in zip(arm.joints, q, strict=True):
            turn = joint_rotation(joint, q_i)
            force, moment = into_link(joint, turn, force), into_link(joint, turn, moment)
    else:
        force, moment = arm.tool.rotation @ force, arm.tool.rotation @ moment
    return Wrench(force, moment + cross(arm.tool.translation, force))
