"""Mass matrix by composite bodies (Walker & Orin 1982), on joint frames; regrouped ones are cheapest.

Forward dynamics solves with its L'DL factors (`algebra.linear`), which start at the last joint, where the composite
bodies are small (Featherstone's order). No pivoting is needed, because M is positive definite. Entries between two
branches are zero, and the factors keep these zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.inertias import moved, rotated, turned_about_x, turned_about_z
from tauforge.algebra.scalars import Scalar, Scalars, is_number
from tauforge.algebra.vectors import E_Z, UNIT_VECTORS, Matrix, Vector, cross
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.trees.frames import GROUND, JointFrame, Placement, origin, placements, seen_from_parent
from tauforge.formulations.trees.recursion import components, joint_force


def mass_matrix(frames: Sequence[JointFrame], q: Scalars) -> list[list[Scalar]]:
    """M(q) of the rigid bodies (no rotors), n x n, symmetric. q: coordinates of the joints.

    Identity: M qdd = inverse_dynamics(q, 0, qdd) without gravity.
    """
    return mass_matrix_at(frames, placements(frames, q))


def mass_matrix_at(frames: Sequence[JointFrame], places: Sequence[Placement]) -> list[list[Scalar]]:
    """The same where the joints are placed already."""
    n = sum(len(frame.span) for frame in frames)
    M: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    composite = [(frame.mass, frame.first_moment, frame.inertia) for frame in frames]
    for i in reversed(range(len(frames))):
        frame, place = frames[i], places[i]
        m, h, I = composite[i]
        for d, w in enumerate(unit_wrenches(frame, place, m, h, I)):
            for e, x in enumerate(components(frame, w)[: d + 1]):
                M[frame.at + d][frame.at + e] = M[frame.at + e][frame.at + d] = x
            k = i
            while frames[k].parent != GROUND:
                w = _passed(frames[k], places[k], w, own=k == i)
                k = frames[k].parent
                for e, x in enumerate(joint_force(frames[k], places[k].turn, w)):
                    M[frame.at + d][frames[k].at + e] = M[frames[k].at + e][frame.at + d] = x
        if frame.parent != GROUND:
            inner = composite[frame.parent]
            I = turned_about_z(I, place.turn[0, 0], place.turn[1, 0]) if frame.revolute else _unturned(frame, place, I)
            h, I = moved(m, seen_from_parent(frame, place, h), turned(I, frame.before.rotation), origin(frame, place))
            composite[frame.parent] = (inner[0] + m, inner[1] + h, inner[2] + I)
    return M


def _unturned(frame: JointFrame, place: Placement, I: Matrix) -> Matrix:
    return rotated(I, place.turn) if frame.turns_and_slides else I


def unit_wrenches(frame: JointFrame, place: Placement, m: Scalar, h: Vector, I: Matrix) -> list[Wrench]:
    """Wrenches that give the composite body a unit acceleration of each rate of its joint.

    At the frame's origin, in its axes; of a joint whose rates are in the axes of `before` in those.
    """
    if frame.revolute:
        return [Wrench(Vector(-h.y, h.x, 0.0), I @ E_Z)]
    if frame.kind == "P":
        return [Wrench(E_Z * m, Vector(h.y, -h.x, 0.0))]
    if frame.inverted:
        return [Wrench(cross(h, axis), -(I @ axis)) for axis in UNIT_VECTORS]
    h, I = place.turn @ h, rotated(I, place.turn)
    turning = [Wrench(cross(axis, h), I @ axis) for axis in UNIT_VECTORS]
    return turning if frame.kind == "B" else [*(Wrench(axis * m, cross(h, axis)) for axis in UNIT_VECTORS), *turning]


def _passed(frame: JointFrame, place: Placement, w: Wrench, *, own: bool) -> Wrench:
    """A wrench at a frame's origin, seen from the parent's; own: it is in the axes of the frame's `unit_wrenches`."""
    if own and frame.in_axes_before:
        f, moment = frame.before.rotation @ w.force, frame.before.rotation @ w.moment
    else:
        f, moment = seen_from_parent(frame, place, w.force), seen_from_parent(frame, place, w.moment)
    return Wrench(f, moment + cross(origin(frame, place), f))


def turned(inertia: Matrix, R: Matrix) -> Matrix:
    """R I R', cheaply where R turns about x alone, as it does between DH frames."""
    if all(is_number(x) and x == e for x, e in zip((*R.rows[0], R[1, 0], R[2, 0]), (1, 0, 0, 0, 0), strict=True)):
        return turned_about_x(inertia, R[1, 1], R[2, 1])
    return rotated(inertia, R)
