"""The accelerations of a body's points by one matrix: Turney, Mudge & Lee 1980, section 5.

omega x (omega x b) + alpha x b = A b for every b of the body. The moment of the body's inertia is read off A K, with
K = Tr(I)/2 E - I about the centre of mass (`inertias.second_moments`).

Deviates from the print: A(3,2) = omega_z omega_y + alpha_x; n_x takes (A K)_zy - (A K)_yz, and so on around.
"""

from __future__ import annotations

from tauforge.algebra.vectors import Matrix, Vector


def acceleration_matrix(omega: Vector, alpha: Vector) -> Matrix:
    """A = [alpha]x + [omega]x [omega]x (Turney, section 5): A b = alpha x b + omega x (omega x b)."""
    xx, yy, zz = omega.x * omega.x, omega.y * omega.y, omega.z * omega.z
    xy, xz, yz = omega.x * omega.y, omega.x * omega.z, omega.y * omega.z
    return Matrix.of(
        (
            (-(yy + zz), xy - alpha.z, xz + alpha.y),
            (xy + alpha.z, -(xx + zz), yz - alpha.x),
            (xz - alpha.y, yz + alpha.x, -(xx + yy)),
        )
    )


def moment_of_inertia_forces(A: Matrix, K: Matrix) -> Vector:
    """Tr{A K sigma'} = I alpha + omega x I omega: twice the axial part of A K (T5.2, first term)."""
    AK = A.times(K)
    return Vector(AK[2, 1] - AK[1, 2], AK[0, 2] - AK[2, 0], AK[1, 0] - AK[0, 1])
