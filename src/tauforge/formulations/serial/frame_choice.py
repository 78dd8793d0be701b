"""An arm as a chain of joint frames, in those in which its dynamics cost least.

A chain is regrouped to its base parameters by `trees.economical_frames`. A frame may be moved along its joint's axis
and turned about it without changing the dynamics. This gives three choices, which need angles and comparisons and so
take only plain numbers:

1. Any constant rotation between two axes is Rot(z, beta) Rot(x, alpha) Rot(z, gamma). beta goes into the joint's own
   offset and gamma into the next one's, and Rot(x, alpha) remains: 4 multiplications instead of 9 (Denavit and
   Hartenberg's choice, without moving the origins).
2. An origin may slide along its axis. Sliding it until the next displacement has no z component, from the last joint
   inward, leaves two components (x, y) for every displacement, one for the last, and none between axes that meet.
3. The last link may be turned about its axis until its mass centre lies in the x-z plane.

The last two are made after regrouping. A regrouped link has no mass, so sliding it by t adds t h_x and t h_y to two
products of inertia and loses no digits by cancellation. A payload has mass (`chain_carrying`): its inertia grows with
the square of the slide and cancels again, so the last origin must not slide far.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tauforge.algebra.inertias import point_mass_inertia, rotated
from tauforge.algebra.scalars import Scalar, is_number, is_zero
from tauforge.algebra.vectors import NO_DISPLACEMENT, Matrix, Transform, Vector, rotation_about_x, rotation_about_z
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.serial.parameters import ArmParameters, JointParameters
from tauforge.formulations.trees import economical_frames
from tauforge.formulations.trees.economical_frames import CANCELLATION_ERROR, split_z_x_z
from tauforge.formulations.trees.frames import JointFrame

SMALLEST_SLIDING_SINE = 0.3  # between flatter axes the common normal is too far off: a payload would lose digits there


class Chain(NamedTuple):
    """The links in their joint frames, and the last frame of the arm, seen from the last joint frame."""

    frames: tuple[JointFrame, ...]
    last: Transform  # joint frame n <- frame n


def in_joint_frames(arm: ArmParameters) -> Chain:
    """The arm's bodies in their joint frames, not regrouped."""
    frames: list[JointFrame] = []
    before = NO_DISPLACEMENT
    for i, (joint, body) in enumerate(zip(arm.joints, arm.bodies, strict=True)):
        R, p = joint.constant
        c = R @ body.com + p
        I = rotated(body.inertia, R) + point_mass_inertia(body.mass, c)
        kind = "R" if joint.revolute else "P"
        frames.append(JointFrame(i - 1, kind, i, joint.offset, before, body.mass, c * body.mass, I))
        before = joint.constant
    return Chain(tuple(frames), before)


def regrouped(chain: Chain) -> Chain:
    """The same motion from fewer parameters."""
    return Chain(economical_frames.regrouped(chain.frames), chain.last)


def chain_carrying(chain: Chain, payload: BodyParameters, tool: Transform) -> Chain:
    """The chain whose last link holds the payload too, which is given in the tool frame. It is not regrouped.

    Regrouping would make parameters of every link depend on the payload. Here only ten of the last link do.
    Identity: moves as the chain of the arm whose last body is both as one (`parameters.with_payload`).
    """
    R, p = chain.last.then(tool)
    c = R @ payload.com + p
    I = rotated(payload.inertia, R) + point_mass_inertia(payload.mass, c)
    last = chain.frames[-1]
    both = last._replace(
        mass=last.mass + payload.mass,
        first_moment=last.first_moment + c * payload.mass,
        inertia=last.inertia + I,
        flat=False,
    )
    return Chain((*chain.frames[:-1], both), chain.last)


def turned_body(body: BodyParameters, R: Matrix) -> BodyParameters:
    return BodyParameters(body.mass, R @ body.com, rotated(body.inertia, R))


def aligned(arm: ArmParameters) -> ArmParameters:
    """Choice 1: constants of the form Rot(x, alpha), or Rot(z, beta) Rot(x, alpha) after a prismatic joint.

    Frame n does not move. Identity: every function of q that does not depend on the other link frames is unchanged. A
    geometry that is not made of plain numbers is returned as it is.
    """
    numbers = [x for joint in arm.joints for row in joint.constant.rotation.rows for x in row]
    numbers += [x for joint in arm.joints for x in (*joint.constant.translation, joint.offset)]
    if not all(is_number(x) for x in numbers):
        return arm
    joints: list[JointParameters] = []
    bodies: list[BodyParameters] = []
    pending = 0.0  # Rot(z, pending) still to be passed on to the next joint
    for joint, body in zip(arm.joints, arm.bodies, strict=True):
        R, p = joint.constant
        offset = joint.offset
        if joint.revolute:
            offset = offset + pending
        else:
            Z = rotation_about_z(pending)
            R, p = Z.times(R), Z @ p
        beta, alpha, gamma = split_z_x_z(R, p)
        X = rotation_about_x(alpha)
        if joint.revolute:
            constant = Transform(X, rotation_about_z(-beta) @ p)
            offset = offset + beta
        else:
            constant = Transform(rotation_about_z(beta).times(X), p)
        joints.append(JointParameters(joint.revolute, offset, constant))
        bodies.append(turned_body(body, rotation_about_z(gamma)))
        pending = gamma
    back = joints[-1].constant.rotation.times(rotation_about_z(pending))
    joints[-1] = joints[-1]._replace(constant=Transform(back, joints[-1].constant.translation))
    bodies[-1] = turned_body(bodies[-1], rotation_about_z(-pending))
    return arm._replace(joints=tuple(joints), bodies=tuple(bodies))


def placed(chain: Chain) -> Chain:
    """Choices 2 and 3, applied to a regrouped chain.

    Identity: inverse dynamics and mass matrix are those of `chain`.
    """
    numbers = [x for frame in chain.frames for x in (*frame.before.translation, *frame.before.rotation.rows[1])]
    return turned(slid(chain)) if all(is_number(x) for x in numbers) else turned(chain)


def placed_for_mass_matrix(chain: Chain) -> Chain:
    """The same for the mass matrix alone, which gains from sliding only where displacements lose components."""
    candidates = (turned(chain), placed(chain))
    return min(candidates, key=lambda c: sum(not is_zero(x) for frame in c.frames for x in frame.before.translation))


def slid(chain: Chain) -> Chain:
    """Choice 2. The origin of joint i slides by the z component of the displacement to the next joint. The last origin
    slides to the foot of the last common normal instead. A first displacement that is zero stays zero: the first link
    moves too little to gain from another origin.
    """
    frames, last = list(chain.frames), chain.last
    for i in reversed(range(len(frames))):
        frame = frames[i]
        outermost = 0 < i == len(frames) - 1
        if outermost:
            t = to_common_normal(frame.before)
        else:
            t = frames[i + 1].before.translation.z if i + 1 < len(frames) else 0.0
        R, p = frame.before
        if not frame.revolute or is_zero(t) or (i == 1 and is_zero(p.x) and is_zero(p.y)):
            continue
        slide = Vector(0.0, 0.0, t)
        there = p + R @ slide
        frames[i] = slid_frame(frame, Vector(there.x, 0.0 if outermost else there.y, there.z), t)
        if outermost:
            last = Transform(last.rotation, last.translation - slide)
        else:
            R, p = frames[i + 1].before
            frames[i + 1] = frames[i + 1]._replace(before=Transform(R, p - slide))
    return Chain(tuple(frames), last)


def slid_frame(frame: JointFrame, translation: Vector, t: float) -> JointFrame:
    """A regrouped frame t further along its axis: integral (z - t) x dm = I_xz's part less t h_x."""
    h, I = frame.first_moment, frame.inertia
    xz, yz = (rounded_sum(I[k, 2], component * t) for k, component in ((0, h.x), (1, h.y)))
    moved = Matrix.of(((I[0, 0], I[0, 1], xz), (I[0, 1], I[1, 1], yz), (xz, yz, I[2, 2])))
    return frame._replace(before=Transform(frame.before.rotation, translation), inertia=moved)


def rounded_sum(a: Scalar, b: Scalar) -> Scalar:
    """a + b, or 0 where the sum is only the rounding error of an exact zero."""
    total = a + b
    small = is_number(a) and is_number(b) and abs(total) <= CANCELLATION_ERROR * max(abs(a), abs(b))
    return 0.0 if small else total


def to_common_normal(before: Transform) -> float:
    """The distance to slide along the axis until the displacement has no y; 0 between nearly parallel axes."""
    R, p = before
    if is_zero(p.y) or abs(R[1, 2]) < SMALLEST_SLIDING_SINE:
        return 0.0
    return float(-p.y / R[1, 2])


def turned(chain: Chain) -> Chain:
    """Choice 3: the last frame is turned under its body, and the joint's offset is turned back."""
    frame = chain.frames[-1]
    h = frame.first_moment
    if not frame.revolute or not (is_number(h.x) and is_number(h.y) and is_number(frame.offset)) or is_zero(h.y):
        return chain
    angle = math.atan2(h.y, h.x)
    back = rotation_about_z(-angle)
    there = frame._replace(
        offset=frame.offset + angle,
        first_moment=Vector(math.hypot(h.x, h.y), 0.0, h.z),
        inertia=rotated(frame.inertia, back),
    )
    last = Transform(back.times(chain.last.rotation), back @ chain.last.translation)
    return Chain((*chain.frames[:-1], there), last)
