"""Loops: the rows of the loop matrix J with J v = 0, their bias J' v, and by how much loops do not close.

v are the rates of the tree. A cut gives three rows for the velocity of its point, on side a less on side b, in the axes
of one joint frame; a hinge two more and a weld three more for the angular velocity, in the axes of its side a. A tie
gives one row.

A floating body is felt by the loops only through the velocities v + omega x arm of the points at which loops are closed
on it (`Lever`). Products with the six columns of its rates are cheaper through the points than entry by entry, and the
inertia of a leg acts at its point as three by three numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tauforge.algebra.inertias import acceleration_matrix
from tauforge.algebra.scalars import Scalar, Scalars, is_zero
from tauforge.algebra.vectors import E_Z, UNIT_VECTORS, ZERO, Matrix, Vector, cross, dot
from tauforge.formulations.mechanism.parameters import CUT_ROWS, POINT, Cut, FixedFrame, MechanismParameters
from tauforge.formulations.trees.frames import (
    GROUND,
    JointFrame,
    Placement,
    ancestors,
    placements,
    point_from_parent,
    seen_from_child,
    seen_from_parent,
)
from tauforge.formulations.trees.recursion import BaseState, FrameMotion, outward

Row = dict[int, Scalar]
RESTING_BASE = BaseState(ZERO, ZERO, ZERO)


class Side(NamedTuple):
    """One side of a cut: the frame there, and the bodies from it inward as far as the loop goes."""

    place: FixedFrame
    path: list[int]
    sign: float


def sides(frames: Sequence[JointFrame], cut: Cut) -> tuple[Side, Side]:
    a, b = ancestors(frames, cut.a.joint_frame), ancestors(frames, cut.b.joint_frame)
    common = set(a) & set(b)
    return Side(cut.a, [k for k in a if k not in common], 1.0), Side(cut.b, [k for k in b if k not in common], -1.0)


class Posed(NamedTuple):
    """A tree with its joints placed."""

    frames: Sequence[JointFrame]
    places: Sequence[Placement]

    def transported(self, v: Vector, source: int, target: int) -> Vector:
        """Components in one joint frame to components in another; GROUND for the base."""
        climb, descend = ancestors(self.frames, source), ancestors(self.frames, target)
        common = set(climb) & set(descend)
        for k in climb:
            if k in common:
                break
            v = seen_from_parent(self.frames[k], self.places[k], v)
        for k in reversed([k for k in descend if k not in common]):
            v = seen_from_child(self.frames[k], self.places[k], v)
        return v

    def point(self, place: FixedFrame, path: Sequence[int] | None = None) -> Vector:
        """The origin of a place, seen from the parent of the last of the path; default the way to the base."""
        return self.point_along(place, ancestors(self.frames, place.joint_frame) if path is None else path)[-1]

    def point_along(self, place: FixedFrame, path: Sequence[int]) -> list[Vector]:
        """The origin of a place, seen from every joint frame of a path inward and from the parent of the last."""
        found = [place.displacement.translation]
        for k in path:
            found.append(point_from_parent(self.frames[k], self.places[k], found[-1]))
        return found


def posed_at(m: MechanismParameters, x: Scalars) -> Posed:
    """The tree at a position x, the coordinates of all joints."""
    return Posed(m.frames, placements(m.frames, [x[k] for k in m.reads]))


def loop_rows(m: MechanismParameters, posed: Posed) -> list[Row]:
    """Rows of J by place of the rate. Entries that are zero by structure are missing."""
    rows = [row for cut in m.cuts for row in _cut_rows(posed, cut)]
    rows += [{tie.follower: 1.0, tie.leader: -tie.factor} for tie in m.ties]
    return [{j: x for j, x in row.items() if not is_zero(x) and (i, j) not in m.zeros} for i, row in enumerate(rows)]


def _cut_rows(posed: Posed, cut: Cut) -> list[Row]:
    rows: list[Row] = [{} for _ in range(CUT_ROWS[cut.kind])]
    turning = len(rows) - 3
    across = cut.a.displacement.rotation.T  # axes of side a <- its joint frame
    for side in sides(posed.frames, cut):
        for k, p in zip(side.path, posed.point_along(side.place, side.path), strict=False):
            frame, place = posed.frames[k], posed.places[k]
            if frame.turns_and_slides:
                _vector_entries(posed, cut, rows, k, p if frame.inverted else place.turn @ p, side.sign)
            else:
                v = Vector(-p.y, p.x, 0.0) if frame.revolute else E_Z
                for i, x in enumerate(posed.transported(v, k, cut.axes)):
                    rows[i][frame.at] = side.sign * x
                if turning and frame.revolute:
                    omega = across @ posed.transported(E_Z, k, cut.a.joint_frame)
                    for i, x in enumerate([*omega][:turning]):
                        rows[3 + i][frame.at] = side.sign * x
    return rows


def _vector_entries(posed: Posed, cut: Cut, rows: list[Row], k: int, arm: Vector, sign: float) -> None:
    """Entries of a ball or a free joint k: e.(omega x arm) = omega.(arm x e) for each axis e of the rows.

    arm: from the joint's centre to the cut, in the axes of its rates
    """
    frame = posed.frames[k]
    first = frame.at + (3 if frame.kind == "F" else 0)

    def seen(axis: Vector, source: int) -> Vector:
        if frame.inverted:
            return -posed.transported(axis, source, k)
        return frame.before.rotation.T @ posed.transported(axis, source, frame.parent)

    for i, axis in enumerate(UNIT_VECTORS):
        e = seen(axis, cut.axes)
        if frame.kind == "F":
            for j, x in enumerate(e):
                rows[i][frame.at + j] = sign * x
        for j, x in enumerate(cross(arm, e)):
            rows[i][first + j] = sign * x
    for i, axis in enumerate(cut.a.displacement.rotation.T.rows[: len(rows) - 3]):
        for j, x in enumerate(seen(axis, cut.a.joint_frame)):
            rows[3 + i][first + j] = sign * x


def loop_bias(
    m: MechanismParameters, posed: Posed, v: Scalars, left_out: Collection[tuple[int, float]] = ()
) -> list[Scalar]:
    """J' v: what the rows accelerate by where the tree's rates do not change.

    left_out: sides of points that do not count, as numbers of cuts and signs
    """
    needed = {k for cut in m.cuts for place in (cut.a, cut.b) for k in ancestors(posed.frames, place.joint_frame)}
    motions = outward(posed.frames, posed.places, v, [0.0] * m.n, RESTING_BASE, needed)
    found: list[Scalar] = []
    for k, cut in enumerate(m.cuts):
        found += _cut_bias(posed, cut, motions, v, {sign for number, sign in left_out if number == k})
    return found + [0.0] * len(m.ties)


def _cut_bias(
    posed: Posed, cut: Cut, motions: dict[int, FrameMotion], v: Scalars, left_out: Collection[float]
) -> list[Scalar]:
    total = ZERO
    for side in sides(posed.frames, cut):
        if side.place.joint_frame != GROUND and side.sign not in left_out:
            a = _acceleration(posed, side.place, motions, v, cut.axes)
            total = total + a if side.sign > 0 else total - a
    turning = CUT_ROWS[cut.kind] - 3
    if not turning:
        return [*total]
    across = cut.a.displacement.rotation.T
    (wa, alpha_a), (wb, alpha_b) = (
        [
            across @ posed.transported(x, place.joint_frame, cut.a.joint_frame)
            for x in (motions[place.joint_frame].omega, motions[place.joint_frame].alpha)
        ]
        for place in (cut.a, cut.b)
    )
    return [*total, *[*(alpha_a - alpha_b - cross(wa, wa - wb))][:turning]]


def _acceleration(posed: Posed, place: FixedFrame, motions: dict[int, FrameMotion], v: Scalars, axes: int) -> Vector:
    """The acceleration of a place's origin, in the axes of a joint frame."""
    frame, p = posed.frames[place.joint_frame], place.displacement.translation
    if frame.kind == "F" and frame.parent == GROUND:  # cheaper in the base's axes
        arm = posed.places[place.joint_frame].turn @ p
        omega = Vector(*v[frame.at + 3 : frame.at + 6])
        found = frame.before.rotation @ (acceleration_matrix(omega, ZERO) @ arm)
        return posed.transported(found, GROUND, axes)
    motion = motions[place.joint_frame]
    return posed.transported(motion.a + motion.U @ p, place.joint_frame, axes)


def loop_gaps(m: MechanismParameters, posed: Posed, q: Scalars, *, in_any_axes: bool = False) -> list[Scalar]:
    """By how much the loops do not close: what the rows' velocities are rates of, near a closed loop.

    q:           the tree's coordinates, for ties
    in_any_axes: where only their size matters: vectors stay in the axes that cost least
    """
    gaps = [x for cut in m.cuts for x in _cut_gaps(posed, cut, in_any_axes)]
    return gaps + [q[tie.follower] - (tie.factor * q[tie.leader] + tie.offset) for tie in m.ties]


def _cut_gaps(posed: Posed, cut: Cut, in_any_axes: bool) -> list[Scalar]:
    a, b = sides(posed.frames, cut)
    between = posed.point(a.place, a.path) - posed.point(b.place, b.path)
    if not in_any_axes:
        shared = [k for k in ancestors(posed.frames, cut.a.joint_frame) if k not in a.path]
        between = posed.transported(between, shared[0] if shared else GROUND, cut.axes)
    gaps = [*between]
    if cut.kind == POINT:
        return gaps
    R = relative_rotation(posed, cut)
    # For a small turn (x, y, z) of b beside a the columns are (1, z, -y), (-z, 1, x), (y, -x, 1).
    turn = [R[1, 2], -R[0, 2], -R[1, 0]]
    return gaps + turn[: CUT_ROWS[cut.kind] - 3]


def relative_rotation(posed: Posed, cut: Cut) -> Matrix:
    """Axes of side a <- axes of side b."""
    across = cut.a.displacement.rotation.T
    axes = cut.b.displacement.rotation.T.rows
    return Matrix([across @ posed.transported(axis, cut.b.joint_frame, cut.a.joint_frame) for axis in axes]).T


class Lever(NamedTuple):
    """A point of a body that floats beside the ground. Vectors are in the axes of the body's rates.

    cut:  number of the cut whose side the point is
    at:   place of the body's first rate
    row:  of the loop matrix, the first of three
    axes: of the three rows
    arm:  from the body's origin to the point
    sign: of the side
    """

    cut: int
    at: int
    row: int
    axes: tuple[Vector, Vector, Vector]
    arm: Vector
    sign: float

    def velocity(self, rates: Scalars) -> Vector:
        return Vector(*rates[self.at : self.at + 3]) + cross(Vector(*rates[self.at + 3 : self.at + 6]), self.arm)

    def acceleration(self, changes: Scalars, rates: Scalars) -> Vector:
        """Acceleration of the point where the rates change by `changes`."""
        a, alpha = Vector(*changes[self.at : self.at + 3]), Vector(*changes[self.at + 3 : self.at + 6])
        return a + acceleration_matrix(Vector(*rates[self.at + 3 : self.at + 6]), alpha) @ self.arm

    def in_rows(self, u: Vector) -> list[Scalar]:
        """The three rows' part of a velocity of the point."""
        return [self.sign * dot(e, u) for e in self.axes]

    def wrench(self, multipliers: Scalars) -> list[Scalar]:
        """Forces on the body's six rates by multipliers of the loop matrix's rows."""
        force = ZERO
        for e, x in zip(self.axes, multipliers[self.row : self.row + 3], strict=True):
            force = force + e * (self.sign * x)
        return [*force, *cross(self.arm, force)]


def levers(m: MechanismParameters, posed: Posed, z: Sequence[int]) -> list[Lever]:
    """Points of the bodies whose six rates are all among z."""
    found = []
    for number, (cut, rows) in enumerate(zip(m.cuts, m.rows_of_cuts, strict=True)):
        for side in sides(posed.frames, cut):
            k = side.place.joint_frame
            frame = posed.frames[k]
            # a loop within what the body carries does not feel the body at all
            floats = k in side.path and frame.kind == "F" and frame.parent == GROUND
            if floats and all(j in z for j in range(frame.at, frame.at + 6)):
                arm = posed.places[k].turn @ side.place.displacement.translation
                x, y, w = (frame.before.rotation.T @ posed.transported(e, cut.axes, GROUND) for e in UNIT_VECTORS)
                found.append(Lever(number, frame.at, rows.start, (x, y, w), arm, side.sign))
    return found
