"""Joint frames and masses chosen so that the recursions of a tree cost least, with the same dynamics.

A joint frame may be turned about its joint's axis and moved along it. These choices need angles and comparisons and so
take only plain numbers. They are made before the bodies are put into the frames.

A mass on a joint's axis may be counted with either body that shares the axis. Regrouping moves each body's mass, its
first moment along z and its second moment along z inward to its parent (Khalil & Kleinfinger 1987, Gautier & Khalil
1990), and finally into the base, where they have no effect. This leaves 7 parameters for each body on a hinge (1 for
the first), the base parameters: h_x, h_y and an inertia with I_zz = I_xx + I_yy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tauforge.algebra.inertias import moved, rotated
from tauforge.algebra.scalars import Scalar, is_number, is_zero
from tauforge.algebra.vectors import ZERO, ZERO_MATRIX, Matrix, Transform, Vector, rotation_about_x, rotation_about_z
from tauforge.formulations.trees.frames import GROUND, JointFrame

SMALLEST_SINE = 1e-15  # of a twist between axes that are not parallel
COORDINATE_ERROR = 4e-15  # rounding of a component that should be 0, relative to the coordinates it is a difference of
CANCELLATION_ERROR = 1e-15  # rounding error of an exact zero after regrouping, relative to the terms that cancelled


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
        if abs(beta) > math.pi / 2:  # the other branch of the same rotation: a DH arm keeps its own twists
            alpha, beta = -alpha, beta - math.copysign(math.pi, beta)
    rest = rotation_about_x(-alpha).times(rotation_about_z(-beta)).times(R)
    return beta, alpha, math.atan2(rest[1, 0], rest[0, 0])


def aligned(frames: Sequence[JointFrame], ends: dict[int, Vector], size: float) -> list[JointFrame]:
    """Constant rotations become Rot(x, alpha) for the first child of a hinge, Rot(z, beta) Rot(x, alpha) for others.

    A hinge's frame turns about its own z by an angle that goes into the joint's offset, that of a slider by one that
    goes into its children.
    ends: of frames without children a point, such as a cut or a centre of mass, that the x axis shall point to
    size: of the coordinates that displacements are differences of
    """
    result = list(frames)
    turned = [0.0] * len(result)  # new frame k = old frame k, turned by this angle about z
    first: dict[int, int] = {}
    for k, frame in enumerate(frames):
        first.setdefault(frame.parent, k)
    for k, frame in enumerate(frames):
        before, p = frame.before
        parent_turn = 0.0 if frame.parent == GROUND else turned[frame.parent]
        p = tidy(rotation_about_z(-parent_turn) @ p, size)
        if frame.turns_and_slides:
            result[k] = frame._replace(before=Transform(rotation_about_z(-parent_turn).times(before), p))
            continue
        beta, alpha, gamma = split_z_x_z(*frame.before)
        beta = 0.0 if parent_turn == beta else beta - parent_turn
        R = rotation_about_z(beta).times(rotation_about_x(alpha))
        offset = frame.offset
        if frame.revolute:
            if k in first and not frames[first[k]].turns_and_slides:
                turned[k] = split_z_x_z(*frames[first[k]].before)[0]
            elif k not in first and k in ends and not is_zero(ends[k].y):
                turned[k] = math.atan2(ends[k].y, ends[k].x)
            offset = offset + gamma + turned[k]
        else:
            turned[k] = -gamma
        result[k] = frame._replace(before=Transform(R, p), offset=offset)
    return result


def tidy(v: Vector, size: float) -> Vector:
    """v with 0 for components that rounding left of coordinates of this size."""
    return Vector(*(0.0 if abs(x) <= COORDINATE_ERROR * size else x for x in v))


def slid(
    frames: Sequence[JointFrame], ends: dict[int, Vector], centres: dict[int, Vector], size: float
) -> list[JointFrame]:
    """Origins of hinges slide along their axes until the displacement of the first child has no z component.

    Those of sliders without children slide to their bodies' centres of mass, which only changes the joint's offset.
    ends, centres: of frames without children a point of interest, such as a cut, and the centre of mass, in the frame
    size:          as for `aligned`
    """
    result = list(frames)
    for k in reversed(range(len(result))):
        frame = result[k]
        children = [j for j, other in enumerate(result) if other.parent == k]
        if frame.kind == "P" and not children and k in centres:
            result[k] = frame._replace(offset=frame.offset + centres[k].z)
        if not frame.revolute or not (children or k in ends):
            continue
        t = result[children[0]].before.translation.z if children else ends[k].z
        R, p = frame.before
        if is_zero(t) or all(is_zero(x) for x in p):
            continue
        slide = Vector(0.0, 0.0, t)
        result[k] = frame._replace(before=Transform(R, tidy(p + R @ slide, size)))
        for j in children:
            inner, q = result[j].before
            result[j] = result[j]._replace(before=Transform(inner, tidy(q - slide, size)))
    return result


def regrouped(frames: Sequence[JointFrame]) -> tuple[JointFrame, ...]:
    """The same motion from fewer parameters: what lies on a joint's axis is moved to the parent.

    A prismatic joint does not turn its body, so its whole tensor moves inward, and its mass and first moment stay. The
    mass of a ball's body moves inward as a point at its centre. A free body keeps all that it has.
    Identity: inverse dynamics and mass matrix are those of `frames`.
    """
    result = list(frames)
    for i in reversed(range(len(result))):
        frame = result[i]
        mass, h, I = frame.mass, frame.first_moment, frame.inertia
        flat = False
        match frame.kind:
            case "R":
                line, flat = axis_second_moment(h, I)
                given = mass, Vector(0.0, 0.0, h.z), Matrix.diagonal(line, line, 0.0)
                mass, h = 0.0, Vector(h.x, h.y, 0.0)
            case "P":
                given = 0.0, ZERO, I
            case "B":
                given, mass = (mass, ZERO, ZERO_MATRIX), 0.0
            case _:
                continue
        result[i] = frame._replace(mass=mass, first_moment=h, inertia=rounded(I - given[2], I), flat=flat)
        if frame.parent != GROUND:
            R, p = frame.before
            inner = result[frame.parent]
            h_in, I_in = moved(given[0], R @ given[1], rotated(given[2], R), p)
            result[frame.parent] = inner._replace(
                mass=inner.mass + given[0],
                first_moment=inner.first_moment + h_in,
                inertia=rounded(inner.inertia + I_in, inner.inertia, I_in),
            )
    return tuple(result)


def axis_second_moment(h: Vector, I: Matrix) -> tuple[Scalar, bool]:
    """integral z^2 dm, to be moved inward, and whether that makes the link flat.

    Any amount may be moved. For a diagonal tensor another amount than the true one may leave fewer terms.
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


def nearly(x: Scalar, cancelled: Matrix) -> Scalar:
    """x, or 0 where x is only the rounding error of a cancellation among terms as large as those of `cancelled`."""
    entries = [entry for row in cancelled.rows for entry in row if is_number(entry)]
    return 0.0 if is_number(x) and abs(x) <= CANCELLATION_ERROR * max(map(abs, entries), default=0.0) else x


def rounded(M: Matrix, *terms: Matrix) -> Matrix:
    """M with 0 for what rounding left of its terms."""
    largest = max(terms, key=lambda term: max((abs(x) for row in term.rows for x in row if is_number(x)), default=0.0))
    return Matrix.of([[nearly(x, largest) for x in row] for row in M.rows])
