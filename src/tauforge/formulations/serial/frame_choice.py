"""The same arm in the frames in which its dynamics cost least. Numbers only: it needs angles and comparisons.

A joint does not care where along its axis, and how turned about it, its frames stand. Three choices follow:

1. Any constant rotation between two axes is Rot(z, beta) Rot(x, alpha) Rot(z, gamma). beta goes into the joint's own
   offset and gamma into the next one's, and Rot(x, alpha) remains: 4 multiplications instead of 9 (Denavit and
   Hartenberg's choice, without moving the origins).
2. An origin may slide along its axis. Sliding it until the next displacement has no z component, from the last joint
   inward, leaves two components (x, y) for every displacement, one for the last, and none between axes that meet.
3. The last link may be turned about its axis until its mass centre lies in the x-z plane.
"""

from __future__ import annotations

import math

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import is_number, is_zero
from tauforge.algebra.vectors import (
    Matrix,
    Transform,
    Vector,
    constant_rotation_x,
    constant_rotation_z,
)
from tauforge.formulations.serial.parameters import ArmParameters, BodyParameters, JointParameters

SMALLEST_SINE = 1e-15  # of a twist between axes that are not parallel
SMALLEST_SLIDING_SINE = 1e-2  # between flatter axes the common normal is too far off to slide to


def cheapest_frames(arm: ArmParameters) -> ArmParameters:
    """An equivalent arm: every function of q that does not name link frames is the same.

    Identity: inverse dynamics, tool pose, Jacobian and energy equal those of `arm`. A geometry that is not made of
    numbers is returned as it is.
    """
    numbers = [x for joint in arm.joints for row in joint.constant.rotation.rows for x in row]
    numbers += [x for joint in arm.joints for x in (*joint.constant.translation, joint.offset)]
    if not all(is_number(x) for x in numbers):
        return arm
    return with_last_link_turned(with_origins_slid(with_axes_aligned(arm)))


def split_z_x_z(R: Matrix, p: Vector) -> tuple[float, float, float]:
    """beta, alpha, gamma with R = Rot(z, beta) Rot(x, alpha) Rot(z, gamma).

    Between parallel axes beta is free: it points x along the displacement p.
    """
    sine = math.hypot(R[0, 2], R[1, 2])
    if sine <= SMALLEST_SINE:
        alpha = 0.0 if R[2, 2] > 0 else math.pi
        beta = 0.0 if is_zero(p.y) else math.atan2(p.y, p.x)
    else:
        alpha, beta = math.atan2(sine, R[2, 2]), math.atan2(R[0, 2], -R[1, 2])
        if abs(beta) > math.pi / 2:  # the other branch of the same rotation keeps a DH twist a DH twist
            alpha, beta = -alpha, beta - math.copysign(math.pi, beta)
    rest = constant_rotation_x(-alpha).times(constant_rotation_z(-beta)).times(R)
    return beta, alpha, math.atan2(rest[1, 0], rest[0, 0])


def turned_body(body: BodyParameters, R: Matrix) -> BodyParameters:
    return BodyParameters(body.mass, R @ body.com, rotated(body.inertia, R))


def with_axes_aligned(arm: ArmParameters) -> ArmParameters:
    """Choice 1: constants of the form Rot(x, alpha), or Rot(z, beta) Rot(x, alpha) after a prismatic joint."""
    joints: list[JointParameters] = []
    bodies: list[BodyParameters] = []
    pending = 0.0  # Rot(z, pending) still to be passed on to the next joint
    for joint, body in zip(arm.joints, arm.bodies, strict=True):
        R, p = joint.constant
        offset = joint.offset
        if joint.revolute:
            offset = offset + pending
        else:
            Z = constant_rotation_z(pending)
            R, p = Z.times(R), Z @ p
        beta, alpha, gamma = split_z_x_z(R, p)
        X = constant_rotation_x(alpha)
        if joint.revolute:
            constant = Transform(X, constant_rotation_z(-beta) @ p)
            offset = offset + beta
        else:
            constant = Transform(constant_rotation_z(beta).times(X), p)
        joints.append(JointParameters(joint.revolute, offset, constant))
        bodies.append(turned_body(body, constant_rotation_z(gamma)))
        pending = gamma
    tool = Transform(constant_rotation_z(pending), Vector(0.0, 0.0, 0.0)).then(arm.tool)
    return arm._replace(joints=tuple(joints), bodies=tuple(bodies), tool=tool)


def with_origins_slid(arm: ArmParameters) -> ArmParameters:
    """Choice 2. Joint i's origin slides by the z component of what follows it; nothing follows the last joint's, which
    slides to the foot of the last common normal instead. The first link's displacement stays empty if it is: it moves
    too little to be worth filling.
    """
    joints, bodies, mount = list(arm.joints), list(arm.bodies), arm.mount
    for i in reversed(range(arm.n)):
        last = 0 < i == arm.n - 1
        slide = Vector(0.0, 0.0, to_common_normal(joints[i - 1]) if last else joints[i].constant.translation.z)
        if not joints[i].revolute or is_zero(slide.z):
            continue
        if i == 0:
            mount = Transform(mount.rotation, mount.translation + mount.rotation @ slide)
        else:
            R, p = joints[i - 1].constant
            if i == 1 and is_zero(p.x) and is_zero(p.y):
                continue
            moved = p + R @ slide
            joints[i - 1] = joints[i - 1]._replace(
                constant=Transform(R, Vector(moved.x, 0.0 if last else moved.y, moved.z))
            )
            bodies[i - 1] = bodies[i - 1]._replace(com=bodies[i - 1].com - slide)
        R, p = joints[i].constant
        joints[i] = joints[i]._replace(constant=Transform(R, p - slide))
    return arm._replace(joints=tuple(joints), bodies=tuple(bodies), mount=mount)


def to_common_normal(before: JointParameters) -> float:
    """How far to slide along the next axis until the displacement has no y; not at all between near-parallel axes."""
    R, p = before.constant
    if is_zero(p.y) or abs(R[1, 2]) < SMALLEST_SLIDING_SINE:
        return 0.0
    return float(-p.y / R[1, 2])


def with_last_link_turned(arm: ArmParameters) -> ArmParameters:
    """Choice 3: the frame turns under the body, the offset turns back."""
    joint, body = arm.joints[-1], arm.bodies[-1]
    R, p = joint.constant
    c = R @ body.com + p
    if not joint.revolute or not (is_number(c.x) and is_number(c.y)) or is_zero(c.y):
        return arm
    angle = math.atan2(c.y, c.x)
    back = constant_rotation_z(-angle)
    turned = JointParameters(True, joint.offset + angle, Transform(back.times(R), exactly_in_plane(back @ p, back @ c)))
    return arm._replace(joints=(*arm.joints[:-1], turned))


def exactly_in_plane(p: Vector, c: Vector) -> Vector:
    """p less what rounding left of c.y, so that the mass centre's y vanishes exactly."""
    return Vector(p.x, p.y - c.y, p.z)
