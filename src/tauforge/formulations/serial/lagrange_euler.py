"""Lagrange-Euler equations: Turney, Mudge & Lee 1980, section 2 and appendix; Lee et al. 1982, section 3.1.

tau_i = sum_q Tr{ [sum_j dT_0^q/dq_j qdd_j + sum_jk d2T_0^q/dq_j dq_k qd_j qd_k] J_q^a (dT_0^q/dq_i)' } + gravity.

A T matrix and its derivatives are kept as their rotation and translation blocks, as in T4.26.

Deviates from the print: J_q has the products of inertia, where T1.26 assumes principal axes; T1.11 and T1.12 are read
with R_0^{j-1}; gravity has any direction, with the sign of T2.8 (two wrong signs before it cancel; L3.10 needs a
minus); the coefficients after T2.11 are C^i_jk, printed C^k_ij, and begin at q = max(i, j, k); L3.6 is read with qdd_j,
d2T/dq_j dq_k and dT/dq_i; L3.8 is printed with the sum over j that multiplies it. Prismatic joints, which Turney leaves
out, differentiate to a translation along z_{j-1}.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.inertias import point_mass_inertia, second_moments
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, IDENTITY, NO_DISPLACEMENT, ZERO, Matrix, Transform, Vector, dot
from tauforge.formulations.bodies import NO_WRENCH, BodyParameters, Wrench
from tauforge.formulations.serial.kinematics import link_transform
from tauforge.formulations.serial.parameters import ArmParameters, into_frame_0

NO_MATRIX = IDENTITY * 0.0


class Derivative(NamedTuple):
    """A derivative of a T matrix: its rotation block and its translation column (the last row is zero)."""

    R: Matrix
    p: Vector

    def plus(self, other: Derivative) -> Derivative:
        return Derivative(self.R + other.R, self.p + other.p)

    def by(self, factor: Scalar) -> Derivative:
        return Derivative(self.R * factor, self.p * factor)


class PseudoInertia(NamedTuple):
    """J^a of a link (T1.28, L2.22): J (T1.24-1.25, L2.18-2.19, about the frame's origin), m r_bar and m."""

    J: Matrix
    m_r_bar: Vector
    m: Scalar


def pseudo_inertia(body: BodyParameters) -> PseudoInertia:
    J = second_moments(body.inertia + point_mass_inertia(body.mass, body.com))  # T1.26, L2.20, any axes
    return PseudoInertia(J, body.com * body.mass, body.mass)


def trace_product(D: Derivative, Ja: PseudoInertia, E: Derivative) -> Scalar:
    """Tr{D J^a E'} by submatrices, as in T4.26."""
    return trace_with(weighted(D, Ja), E)


def weighted(D: Derivative, Ja: PseudoInertia) -> Derivative:
    """D J^a."""
    R = D.R.times(Ja.J) + Matrix([Ja.m_r_bar * component for component in D.p])
    return Derivative(R, D.R @ Ja.m_r_bar + D.p * Ja.m)


def trace_with(DJ: Derivative, E: Derivative) -> Scalar:
    rows = [dot(a, b) for a, b in zip(DJ.R.rows, E.R.rows, strict=True)]
    return rows[0] + rows[1] + rows[2] + dot(DJ.p, E.p)


def spun(revolute: bool, T: Transform | Derivative) -> Derivative:
    """Q T: the generator of the joint (T1.5, L2.7; a slide along z if prismatic) times T."""
    R, p = T
    if not revolute:
        moves = isinstance(T, Transform)  # a derivative has no 1 in its last row to slide
        return Derivative(NO_MATRIX, E_Z if moves else ZERO)
    return Derivative(Matrix((-R.rows[1], R.rows[0], ZERO)), Vector(-p.y, p.x, 0.0))


def turned(T: Transform, D: Derivative) -> Derivative:
    """T D."""
    return Derivative(T.rotation.times(D.R), T.rotation @ D.p)


class Partials(NamedTuple):
    """First and second derivatives of T_0^q: first[q][j] = dT_0^q/dq_j; second[q][j, k], j <= k."""

    first: list[list[Derivative]]
    second: list[dict[tuple[int, int], Derivative]]
    T: list[Transform]  # T_0^q, q = 0..n


def partials(arm: ArmParameters, q: Scalars, *, second: bool = True) -> Partials:
    """All derivatives, from the products T_j^q, which are formed once (Turney's appendix)."""
    n = arm.n
    steps = [link_transform(joint, q_i) for joint, q_i in zip(arm.joints, q, strict=True)]
    T: dict[tuple[int, int], Transform] = {(s, s): NO_DISPLACEMENT for s in range(n + 1)}
    for length in range(1, n + 1):
        for s in range(n + 1 - length):
            T[s, s + length] = steps[s] if length == 1 else T[s, s + length - 1].then(steps[s + length - 1])
    first: list[list[Derivative]] = []
    seconds: list[dict[tuple[int, int], Derivative]] = []
    for link in range(1, n + 1):
        inner = [spun(arm.joints[k].revolute, T[k, link]) for k in range(link)]
        first.append([turned(T[0, k], inner[k]) for k in range(link)])  # T1.11, T1.18, L2.6, L2.13
        seconds.append({})
        for j in range(link if second else 0):
            for k in range(j, link):
                d = spun(arm.joints[j].revolute, turned(T[j, k], inner[k]))
                seconds[-1][j, k] = turned(T[0, j], d)  # T1.12, T1.19, L2.10, L2.14
    return Partials(first, seconds, [T[0, link] for link in range(n + 1)])


def inverse_dynamics(
    arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench = NO_WRENCH
) -> list[Scalar]:
    """Actuator forces of the rigid bodies (no friction, no rotors), in the order n^3 of the appendix.

    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    Identity: equals every other formulation of this folder.
    """
    n = arm.n
    U = partials(arm, q)
    J = [pseudo_inertia(body) for body in arm.bodies]
    bracket = []
    for link in range(n):
        total = U.first[link][0].by(qdd[0])
        for j in range(1, link + 1):
            total = total.plus(U.first[link][j].by(qdd[j]))
        for (j, k), d in U.second[link].items():
            pair = qd[j] * qd[k]
            total = total.plus(d.by(pair if j == k else pair * 2.0))
        bracket.append(weighted(total, J[link]))
    gravity = gravity_terms(arm, U, J)
    tau = []
    for i in range(n):
        force = gravity[i]
        for link in range(i, n):
            force = force + trace_with(bracket[link], U.first[link][i])  # T2.9-2.10, T4.34, L3.6
        tau.append(force - virtual_work(arm, U, i, tip))
    return tau


def mass_matrix(arm: ArmParameters, q: Scalars) -> list[list[Scalar]]:
    """M_ij = sum_{q >= max(i, j)} Tr{dT_0^q/dq_j J_q^a (dT_0^q/dq_i)'} (after T2.11; L3.8).

    Identity: equals `composite_inertia.mass_matrix` and M from strobing.
    """
    U = partials(arm, q, second=False)
    J = [pseudo_inertia(body) for body in arm.bodies]
    n = arm.n
    M: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            for link in range(i, n):
                M[i][j] = M[i][j] + trace_product(U.first[link][j], J[link], U.first[link][i])
            M[j][i] = M[i][j]
    return M


def coriolis_coefficients(arm: ArmParameters, q: Scalars) -> list[list[list[Scalar]]]:
    """C^i_jk = sum_{q >= max(i, j, k)} Tr{d2T_0^q/dq_j dq_k J_q^a (dT_0^q/dq_i)'} (L3.9): Christoffel's symbols of M.

    Identity: C^i_jk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.
    """
    n = arm.n
    U = partials(arm, q)
    J = [pseudo_inertia(body) for body in arm.bodies]
    C: list[list[list[Scalar]]] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for link in range(n):
        for (j, k), d in U.second[link].items():
            DJ = weighted(d, J[link])
            for i in range(link + 1):
                C[i][j][k] = C[i][j][k] + trace_with(DJ, U.first[link][i])
                C[i][k][j] = C[i][j][k]
    return C


def gravity_forces(arm: ArmParameters, q: Scalars) -> list[Scalar]:
    """G_i (T2.8, L3.10): the forces that hold the arm at rest."""
    return gravity_terms(arm, partials(arm, q, second=False), [pseudo_inertia(body) for body in arm.bodies])


def gravity_terms(arm: ArmParameters, U: Partials, J: Sequence[PseudoInertia]) -> list[Scalar]:
    g = into_frame_0(arm, arm.gravity)
    forces = []
    for i in range(arm.n):
        lift = U.first[i][i].R @ J[i].m_r_bar + U.first[i][i].p * J[i].m
        for link in range(i + 1, arm.n):
            lift = lift + U.first[link][i].R @ J[link].m_r_bar + U.first[link][i].p * J[link].m
        forces.append(-dot(g, lift))
    return forces


def virtual_work(arm: ArmParameters, U: Partials, i: int, tip: Wrench) -> Scalar:
    """Work of the tip wrench per unit motion of joint i: force on the moved origin, moment on the turned frame."""
    R = U.T[-1].rotation
    work = dot(R @ tip.force, U.first[-1][i].p)
    if arm.joints[i].revolute:
        work = work + dot(R @ tip.moment, U.T[i].rotation @ E_Z)
    return work
