"""Our cheapest inverse dynamics: joint frames, base parameters, and Turney's A matrix. The default.

Joint frame i moves with link i and has its z axis on the axis of joint i, so that tau_i is a component and needs no
projection. Masses that lie on an axis belong to both links that share it: regrouping moves each link's mass, its
first moment along z and its second moment along z inward to the link before (Khalil & Kleinfinger 1987, Gautier &
Khalil 1990), whence they vanish into the base. What remains is 7 numbers a link (1 for the first):
h_x, h_y and an inertia with I_zz = I_xx + I_yy. With U = [alpha]x + [omega]x[omega]x (Turney's A_i) the force on the
link is U h, and the moment of its inertia needs U's entries alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.inertias import moved, point_mass_inertia, rotated
from tauforge.algebra.scalars import Scalar, is_number, is_zero
from tauforge.algebra.vectors import (
    E_Z,
    NO_DISPLACEMENT,
    ZERO,
    Matrix,
    Transform,
    Vector,
    cross,
)
from tauforge.formulations.serial.kinematics import joint_rotation, joint_travel
from tauforge.formulations.serial.modified_newton_euler import acceleration_matrix
from tauforge.formulations.serial.parameters import (
    NO_WRENCH,
    ArmParameters,
    BaseState,
    JointParameters,
    Wrench,
    base_at_rest,
)

ROUNDING = 1e-15  # what regrouping leaves of an exact zero, relative to the numbers that cancelled


class JointFrame(NamedTuple):
    """One link, seen from its joint: where the joint stands on the link before, and the body about the joint."""

    revolute: bool
    offset: Scalar
    before: Transform  # joint frame i-1 <- joint frame i at q + offset = 0
    mass: Scalar
    first_moment: Vector  # m c, about the joint frame's origin and in its axes
    inertia: Matrix  # about the origin
    flat: bool = False  # I_zz = I_xx + I_yy, no mass off the x-y plane: every link after regrouping

    @property
    def joint(self) -> JointParameters:
        return JointParameters(self.revolute, self.offset, NO_DISPLACEMENT)


def joint_frames(arm: ArmParameters) -> list[JointFrame]:
    """The arm's bodies in their joint frames, nothing regrouped."""
    frames = []
    before = NO_DISPLACEMENT
    for joint, body in zip(arm.joints, arm.bodies, strict=True):
        R, p = joint.constant
        c = R @ body.com + p
        I = rotated(body.inertia, R) + point_mass_inertia(body.mass, c)
        frames.append(JointFrame(joint.revolute, joint.offset, before, body.mass, c * body.mass, I))
        before = joint.constant
    return frames


def regrouped(frames: Sequence[JointFrame]) -> list[JointFrame]:
    """The same motion from fewer numbers: what lies on a joint's axis moves to the link before.

    A prismatic joint does not turn its link, so its whole tensor moves inward, and its mass and first moment stay.
    Identity: inverse dynamics and mass matrix are those of `frames`.
    """
    result = list(frames)
    for i in reversed(range(len(frames))):
        frame = result[i]
        mass, h, I = frame.mass, frame.first_moment, frame.inertia
        if frame.revolute:
            line, flat = axis_second_moment(h, I)
            given = mass, Vector(0.0, 0.0, h.z), Matrix.diagonal(line, line, 0.0)
            mass, h = 0.0, Vector(h.x, h.y, 0.0)
        else:
            given, flat = (0.0, ZERO, I), False
        result[i] = frame._replace(mass=mass, first_moment=h, inertia=rounded(I - given[2], I), flat=flat)
        if i > 0:
            R, p = frame.before
            inner = result[i - 1]
            h_in, I_in = moved(given[0], R @ given[1], rotated(given[2], R), p)
            result[i - 1] = inner._replace(
                mass=inner.mass + given[0],
                first_moment=inner.first_moment + h_in,
                inertia=rounded(inner.inertia + I_in, inner.inertia, I_in),
            )
    return result


def axis_second_moment(h: Vector, I: Matrix) -> tuple[Scalar, bool]:
    """integral z^2 dm, to be moved inward, and whether that makes the link flat.

    A bare diagonal tensor may be left with fewer terms by another amount than the true one: any will do.
    """
    on_axis = (I[0, 0] + I[1, 1] - I[2, 2]) * 0.5
    bare = all(is_zero(x) for x in (h.x, h.y, I[0, 1], I[0, 2], I[1, 2]))
    if not (bare and all(is_number(I[k, k]) for k in range(3))):
        return on_axis, True

    def terms(line: float) -> int:
        J = rounded(I - Matrix.diagonal(line, line, 0.0), I)
        if line == on_axis:
            return 2 * (not is_zero(J[0, 0])) + 2 * (not is_zero(J[1, 1]))
        pairs = ((J[0, 0], nearly(J[2, 2] - J[1, 1], J)), (J[1, 1], nearly(J[0, 0] - J[2, 2], J)))
        present = [(not is_zero(a), not is_zero(b)) for a, b in pairs]
        return sum(a + b + (a and b) for a, b in present)

    best = min((on_axis, I[0, 0], I[1, 1], I[0, 0] - I[2, 2], I[1, 1] - I[2, 2]), key=terms)
    return best, best == on_axis


def nearly(x: Scalar, size: Matrix) -> Scalar:
    """x, or 0 where x is what rounding left of a cancellation among numbers of the size of `size`."""
    entries = [entry for row in size.rows for entry in row if is_number(entry)]
    return 0.0 if is_number(x) and abs(x) <= ROUNDING * max(map(abs, entries), default=0.0) else x


def rounded(M: Matrix, *sizes: Matrix) -> Matrix:
    largest = max(sizes, key=lambda size: max((abs(x) for row in size.rows for x in row if is_number(x)), default=0.0))
    return Matrix.of([[nearly(x, largest) for x in row] for row in M.rows])


class Motion(NamedTuple):
    """What the outward pass leaves for the inward one: joint turns and travels, U and the origin's acceleration."""

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
            a = a + U @ travel + cross(omega, E_Z * (2.0 * qd[i])) + E_Z * qdd[i]
        motions.append(Motion(turn, travel, U, omega, alpha, a))
    return motions


def inertia_moment(I: Matrix, flat: bool, motion: Motion) -> Vector:
    """I alpha + omega x I omega by the entries of U.

    Of a flat link I_xx alpha_x + (I_zz - I_yy) omega_y omega_z is I_xx U_zy, and I_yy alpha_y + ... is -I_yy U_zx.
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


def inward(frames: Sequence[JointFrame], motions: Sequence[Motion], tip: Wrench) -> list[Scalar]:
    """Joint forces, from the hand to the base. tip acts at the origin of the last joint frame, in its axes."""
    f, n = -tip.force, -tip.moment
    tau = []
    for frame, motion in zip(reversed(frames), reversed(motions), strict=True):
        h = frame.first_moment
        f = f + (motion.a * frame.mass + motion.U @ h)
        n = n + (inertia_moment(frame.inertia, frame.flat, motion) + cross(h, motion.a))
        tau.append(n.z if frame.revolute else f.z)
        R, p = frame.before
        n = n + cross(motion.travel, f)
        f = R @ (motion.turn @ f)
        n = R @ (motion.turn @ n) + cross(p, f)
    return tau[::-1]


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
    frames = regrouped(joint_frames(arm))
    R, p = arm.joints[-1].constant
    force = R @ tip.force
    at_joint = Wrench(force, R @ tip.moment + cross(p, force))
    return inward(frames, outward(frames, q, qd, qdd, base or base_at_rest(arm)), at_joint)
