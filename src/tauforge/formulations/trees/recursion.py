"""Velocities and inverse dynamics of a tree: motions from the base outward, forces from the ends inward.

In joint frames (`frames`) the force of a joint is a component and needs no projection. With U = [alpha]x +
[omega]x[omega]x (Turney's A_i) the force on a regrouped body is U h, and the moment of its inertia needs only the
entries of U.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tauforge.algebra.inertias import acceleration_matrix
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, IDENTITY, ZERO, Matrix, Vector, cross
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.trees.economical_frames import nearly
from tauforge.formulations.trees.frames import GROUND, JointFrame, Placement


class BaseState(NamedTuple):
    """Motion of the base, in its axes: omega, alpha, and a, the acceleration of its origin less gravity."""

    omega: Vector
    alpha: Vector
    a: Vector


class FrameMotion(NamedTuple):
    """Results of the outward pass for the inward one: joint turns and travels, U and the origin's acceleration."""

    turn: Matrix
    travel: Vector
    U: Matrix
    omega: Vector
    alpha: Vector
    a: Vector


def outward(
    frames: Sequence[JointFrame],
    places: Sequence[Placement],
    qd: Scalars,
    qdd: Scalars,
    base: BaseState,
    needed: Collection[int] | None = None,
) -> dict[int, FrameMotion]:
    """Motion of each joint frame, in its own axes, by its number.

    needed: numbers of the frames that are wanted, with all of their ancestors; default all
    """
    motions: dict[int, FrameMotion] = {
        GROUND: FrameMotion(IDENTITY, ZERO, acceleration_matrix(base.omega, base.alpha), *base)
    }
    for k, frame in enumerate(frames):
        if needed is None or k in needed:
            motions[k] = _moved(frame, places[k], motions[frame.parent], qd, qdd)
    return motions


def _moved(frame: JointFrame, place: Placement, parent: FrameMotion, qd: Scalars, qdd: Scalars) -> FrameMotion:
    """The motion of a joint frame whose parent moves like this."""
    turn, travel = place
    R, p = frame.before
    at = frame.at
    omega, alpha, a = (R.T @ x for x in (parent.omega, parent.alpha, parent.a + parent.U @ p))
    if frame.kind == "F":
        v, dv = Vector(*qd[at : at + 3]), Vector(*qdd[at : at + 3])
        a = a + acceleration_matrix(omega, alpha) @ travel + cross(omega, v * 2.0) + dv
        at += 3
    if frame.turns_and_slides:
        w, dw = Vector(*qd[at : at + 3]), Vector(*qdd[at : at + 3])
    if frame.in_axes_before:
        omega, alpha = omega + w, alpha + cross(omega, w) + dw
    omega, alpha, a = (turn.T @ x for x in (omega, alpha, a))
    if frame.inverted:
        omega, alpha = omega - w, alpha - cross(omega, w) - dw
    if frame.revolute:
        alpha = alpha + Vector(omega.y * qd[at], -(omega.x * qd[at]), qdd[at])
        omega = omega + E_Z * qd[at]
    U = acceleration_matrix(omega, alpha)
    if frame.kind == "P":
        a = a + U @ travel + cross(omega, E_Z * (2.0 * qd[at])) + E_Z * qdd[at]  # A7.34f
    return FrameMotion(turn, travel, U, omega, alpha, a)


def inertia_moment(I: Matrix, flat: bool, motion: FrameMotion) -> Vector:
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


def passed_inward(frame: JointFrame, motion: FrameMotion, w: Wrench) -> Wrench:
    """A wrench at a joint frame, in its axes, seen from its parent's."""
    R, p = frame.before
    force, moment = motion.turn @ w.force, motion.turn @ w.moment
    f = R @ force
    return Wrench(f, R @ (moment + cross(motion.travel, force)) + cross(p, f))


def joint_force(frame: JointFrame, turn: Matrix, w: Wrench) -> list[Scalar]:
    """Components of a wrench at the joint's frame, in its axes, that do work with its rates."""
    if frame.in_axes_before:
        w = Wrench(turn @ w.force if frame.kind == "F" else w.force, turn @ w.moment)
    return components(frame, w)


def components(frame: JointFrame, w: Wrench) -> list[Scalar]:
    """The same of a wrench in the axes of the joint's rates."""
    match frame.kind:
        case "R":
            return [w.moment.z]
        case "P":
            return [w.force.z]
        case "B":
            return [*(-w.moment if frame.inverted else w.moment)]
        case _:
            return [*w.force, *w.moment]


def inward(frames: Sequence[JointFrame], motions: dict[int, FrameMotion], external: dict[int, Wrench]) -> list[Scalar]:
    """Joint forces, from the ends to the base. external: what acts on bodies, at the joint frame, in its axes."""
    pending = {k: Wrench(-w.force, -w.moment) for k, w in external.items()}
    forces: list[list[Scalar]] = []
    for k in reversed(range(len(frames))):
        frame, motion = frames[k], motions[k]
        w = pending.pop(k, NO_WRENCH)
        h = frame.first_moment
        f = w.force + (motion.a * frame.mass + motion.U @ h)
        n = w.moment + (inertia_moment(frame.inertia, frame.flat, motion) + cross(h, motion.a))
        forces.append(joint_force(frame, motion.turn, Wrench(f, n)))
        if frame.parent != GROUND:
            inner, passed = pending.get(frame.parent, NO_WRENCH), passed_inward(frame, motion, Wrench(f, n))
            pending[frame.parent] = Wrench(inner.force + passed.force, inner.moment + passed.moment)
    return [force for joint in reversed(forces) for force in joint]


class FrameVelocity(NamedTuple):
    """Velocity of a joint frame's origin and angular velocity, in the frame's own axes."""

    v: Vector
    omega: Vector


def twists(frames: Sequence[JointFrame], places: Sequence[Placement], qd: Scalars) -> dict[int, FrameVelocity]:
    """By number of the frame; the base is at rest."""
    found = {GROUND: FrameVelocity(ZERO, ZERO)}
    for k, frame in enumerate(frames):
        parent, (R, p), (turn, travel), rates = (
            found[frame.parent],
            frame.before,
            places[k],
            [qd[j] for j in frame.span],
        )
        omega = R.T @ parent.omega
        v = R.T @ (parent.v + cross(parent.omega, p)) + cross(omega, travel)
        if frame.kind in "PF":
            v = v + (E_Z * rates[0] if frame.kind == "P" else Vector(*rates[:3]))
        if frame.in_axes_before:
            omega = omega + Vector(*rates[-3:])
        v, omega = turn.T @ v, turn.T @ omega
        if frame.revolute:
            omega = omega + E_Z * rates[0]
        elif frame.inverted:
            omega = omega - Vector(*rates)
        found[k] = FrameVelocity(v, omega)
    return found
