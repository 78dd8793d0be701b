"""The regressor: inverse dynamics is linear in the 10 n inertial parameters of the links.

Per link: m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, in the link's own axes about its own origin.
With a reference velocity it gives Y pi = M qdd + C(q, qd) qd_ref + g, Christoffel's C, as adaptive control needs
(Slotine & Li 1987).
"""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.inertias import moment_of_inertia_forces, second_moments
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import UNIT_VECTORS, ZERO, Matrix, Transform, Vector, cross
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.serial.coriolis import polar_outward
from tauforge.formulations.trees.frames import JointFrame
from tauforge.formulations.trees.recursion import BaseState, passed_inward

UNIT_INERTIAS = tuple(
    Matrix.of([[float((i, j) in ((a, b), (b, a))) for j in range(3)] for i in range(3)])
    for a, b in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
)
PARAMETER_NAMES = ("m", "m cx", "m cy", "m cz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def link_regressor(U: Matrix, a: Vector) -> list[Wrench]:
    """The wrench about the link's origin that each unit parameter of the link needs."""
    columns = [Wrench(a, ZERO)]
    columns += [Wrench(U @ unit, cross(unit, a)) for unit in UNIT_VECTORS]
    columns += [Wrench(ZERO, moment_of_inertia_forces(U, second_moments(I))) for I in UNIT_INERTIAS]
    return columns


def regressor(
    frames: Sequence[JointFrame],
    links: Sequence[Transform],
    q: Scalars,
    qd: Scalars,
    qd_ref: Scalars,
    qdd: Scalars,
    base: BaseState,
) -> list[list[Scalar]]:
    """Y, n rows of 10 n. links: joint frame i <- link frame i, in which the parameters are given.

    Identity: Y times the parameters equals inverse dynamics without friction and rotors, for qd_ref = qd.
    """
    motions = polar_outward(frames, q, qd, qd_ref, qdd, base)
    n = len(frames)
    Y: list[list[Scalar]] = [[0.0] * (10 * n) for _ in range(n)]
    for link in range(n):
        R, p = links[link]
        U = R.T.times(motions[link].U).times(R)
        a = R.T @ (motions[link].a + motions[link].U @ p)
        for k, column in enumerate(link_regressor(U, a)):
            f = R @ column.force
            w = Wrench(f, R @ column.moment + cross(p, f))
            for i in reversed(range(link + 1)):
                Y[i][10 * link + k] = w.moment.z if frames[i].revolute else w.force.z
                if i:
                    w = passed_inward(frames[i], motions[i], w)
    return Y
