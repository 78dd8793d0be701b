"""Mass matrix by composite bodies (Walker & Orin 1982), on joint frames; regrouped ones are cheapest.

Forward dynamics solves with its L'DL factors (`algebra.linear`), which start at the last joint, where the composite
bodies are small (Featherstone's order). No pivoting is needed, because M is positive definite.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.inertias import moved, rotated, turned_about_x, turned_about_z
from tauforge.algebra.scalars import Scalar, is_number
from tauforge.algebra.vectors import E_Z, ZERO, Matrix, Vector, cross
from tauforge.formulations.serial.kinematics import joint_rotation, joint_travel
from tauforge.formulations.serial.regrouping import JointFrame


def mass_matrix(frames: Sequence[JointFrame], q: Sequence[Scalar]) -> list[list[Scalar]]:
    """M(q) of the rigid bodies (no rotors), n x n, symmetric.

    Identity: M qdd = inverse_dynamics(q, 0, qdd) without gravity.
    """
    n = len(frames)
    turns = [joint_rotation(frame.joint, q_i) for frame, q_i in zip(frames, q, strict=True)]
    # origin of joint frame k, seen from joint frame k-1
    places = [
        frame.before.translation + frame.before.rotation @ joint_travel(frame.joint, q_i)
        for frame, q_i in zip(frames, q, strict=True)
    ]
    M: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    m, h, I = 0.0, ZERO, Matrix.diagonal(0.0, 0.0, 0.0)
    for i in reversed(range(n)):
        m, h, I = m + frames[i].mass, h + frames[i].first_moment, I + frames[i].inertia
        if frames[i].revolute:  # wrench that gives the composite body a unit acceleration of joint i
            f, moment = Vector(-h.y, h.x, 0.0), I @ E_Z
        else:
            f, moment = E_Z * m, Vector(h.y, -h.x, 0.0)
        M[i][i] = moment.z if frames[i].revolute else f.z
        for k in range(i, 0, -1):
            R = frames[k].before.rotation
            f = R @ (turns[k] @ f)
            moment = R @ (turns[k] @ moment) + cross(places[k], f)
            M[i][k - 1] = M[k - 1][i] = moment.z if frames[k - 1].revolute else f.z
        if i > 0:
            R, turn = frames[i].before.rotation, turns[i]
            h, I = moved(m, R @ (turn @ h), turned(turned_about_z(I, turn[0, 0], turn[1, 0]), R), places[i])
    return M


def turned(inertia: Matrix, R: Matrix) -> Matrix:
    """R I R', cheaply where R turns about x alone, as it does between DH frames."""
    if all(is_number(x) and x == e for x, e in zip((*R.rows[0], R[1, 0], R[2, 0]), (1, 0, 0, 0, 0), strict=True)):
        return turned_about_x(inertia, R[1, 1], R[2, 1])
    return rotated(inertia, R)
