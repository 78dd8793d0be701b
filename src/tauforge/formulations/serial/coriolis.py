"""The Coriolis forces as a symmetric bilinear form in two joint velocities, and the Christoffel Coriolis matrix.

The velocity torque of an arm is a quadratic form c_i(qd) = sum_jk C^i_jk qd_j qd_k. Its polar form
c_i(qd, qd_ref) = sum_jk C^i_jk qd_j qd_ref_k is C(q, qd) qd_ref with Christoffel's C (Turney's C^i_jk, section 2), for
which M' - 2C is skew. Polarising the Newton-Euler recursion gives it without differences: every product of two
velocities becomes half the sum of the two mixed products.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.inertias import moment_of_inertia_forces, second_moments
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, IDENTITY, ZERO, Matrix, Vector, cross, dot, outer, skew
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.trees.frames import JointFrame, placement
from tauforge.formulations.trees.recursion import BaseState, FrameMotion, passed_inward

BASE_WITHOUT_GRAVITY = BaseState(ZERO, ZERO, ZERO)


def polar_acceleration_matrix(omega: Vector, omega_ref: Vector, alpha: Vector) -> Matrix:
    """[alpha]x + ([omega]x [omega_ref]x + [omega_ref]x [omega]x) / 2; Turney's A when both are the same."""
    mixed = (outer(omega, omega_ref) + outer(omega_ref, omega)) * 0.5
    A: Matrix = skew(alpha) + mixed - IDENTITY * dot(omega, omega_ref)
    return A


def polar_outward(
    frames: Sequence[JointFrame], q: Scalars, qd: Scalars, qd_ref: Scalars, qdd: Scalars, base: BaseState
) -> list[FrameMotion]:
    """Accelerations of the joint frames whose velocity parts are bilinear in qd and qd_ref.

    Identity: with qd_ref = qd equals `recursion.outward`, for a base that does not turn.
    """
    omega = omega_ref = ZERO
    alpha, a = base.alpha, base.a
    U = polar_acceleration_matrix(omega, omega_ref, alpha)
    motions = []
    for i, frame in enumerate(frames):
        turn, travel = placement(frame, [q[i]])
        R, p = frame.before
        a = turn.T @ (R.T @ (a + U @ p))
        omega, omega_ref, alpha = (turn.T @ (R.T @ v) for v in (omega, omega_ref, alpha))
        mixed = cross(omega, E_Z * qd_ref[i]) + cross(omega_ref, E_Z * qd[i])
        if frame.revolute:
            alpha = alpha + mixed * 0.5 + E_Z * qdd[i]
            omega, omega_ref = omega + E_Z * qd[i], omega_ref + E_Z * qd_ref[i]
        U = polar_acceleration_matrix(omega, omega_ref, alpha)
        if not frame.revolute:
            a = a + U @ travel + mixed + E_Z * qdd[i]
        motions.append(FrameMotion(turn, travel, U, omega, alpha, a))
    return motions


def coriolis_product(frames: Sequence[JointFrame], q: Scalars, qd: Scalars, qd_ref: Scalars) -> list[Scalar]:
    """C(q, qd) qd_ref, symmetric in the two velocities.

    Identity: coriolis_product(q, qd, qd) = inverse_dynamics(q, qd, 0) without gravity.
    """
    motions = polar_outward(frames, q, qd, qd_ref, [0.0] * len(frames), BASE_WITHOUT_GRAVITY)
    w = NO_WRENCH
    forces = []
    for frame, motion in zip(reversed(frames), reversed(motions), strict=True):
        h = frame.first_moment
        f = w.force + motion.a * frame.mass + motion.U @ h
        n = w.moment + moment_of_inertia_forces(motion.U, second_moments(frame.inertia)) + cross(h, motion.a)
        forces.append(n.z if frame.revolute else f.z)
        w = passed_inward(frame, motion, Wrench(f, n))
    return forces[::-1]


def coriolis_matrix(frames: Sequence[JointFrame], q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """Christoffel's C(q, qd), n x n, a column for each unit reference velocity.

    Identities: C qd = inverse_dynamics(q, qd, 0) without gravity; M' - 2C is skew.
    """
    n = len(frames)
    columns = [coriolis_product(frames, q, qd, [float(i == j) for i in range(n)]) for j in range(n)]
    return [list(row) for row in zip(*columns, strict=True)]


def coriolis_coefficients(frames: Sequence[JointFrame], q: Scalars) -> list[list[list[Scalar]]]:
    """C^i_jk (after T2.11), n x n x n: the product of unit velocities of joints j and k, component i.

    Identity: equals `lagrange_euler.coriolis_coefficients`, at a third of its operations.
    """
    n = len(frames)
    units = [[float(i == j) for i in range(n)] for j in range(n)]
    products = [[coriolis_product(frames, q, units[j], units[k]) for k in range(j + 1)] for j in range(n)]
    return [[[products[max(j, k)][min(j, k)][i] for k in range(n)] for j in range(n)] for i in range(n)]
