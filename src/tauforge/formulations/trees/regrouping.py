"""Base parameters: the same motion of a tree from fewer parameters.

Joint frame k moves with body k and has its z axis on the axis of its joint. A mass on an axis may be counted with
either body that shares the axis. Regrouping moves each body's mass, its first moment along z and its second moment
along z inward to its parent (Khalil & Kleinfinger 1987, Gautier & Khalil 1990), and finally into the base, where they
have no effect. This leaves 7 parameters for each body on a hinge (1 for the first): h_x, h_y and an inertia with
I_zz = I_xx + I_yy.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.inertias import moved, rotated
from tauforge.algebra.scalars import Scalar, is_number, is_zero
from tauforge.algebra.vectors import ZERO, ZERO_MATRIX, Matrix, Vector
from tauforge.formulations.trees.frames import GROUND, JointFrame

CANCELLATION_ERROR = 1e-15  # rounding error of an exact zero after regrouping, relative to the terms that cancelled


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
