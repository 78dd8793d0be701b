"""Inertia tensors over any scalar, and the accelerations of a body's points by one matrix.

omega x (omega x b) + alpha x b = A b for every b of the body (Turney, Mudge & Lee 1980, section 5). The moment of the
body's inertia is read off A K, with K = Tr(I)/2 E - I about the centre of mass (`second_moments`).

Deviates from the print: A(3,2) = omega_z omega_y + alpha_x; n_x takes (A K)_zy - (A K)_yz, and so on around.
"""

from __future__ import annotations

from tauforge.algebra.scalars import Scalar, is_number
from tauforge.algebra.vectors import IDENTITY, Matrix, Vector


def point_mass_inertia(mass: Scalar, r: Vector) -> Matrix:
    """m (r.r E - r r'): the inertia about the origin of a point mass at r; the parallel-axis term."""
    xx, yy, zz = r.x * r.x, r.y * r.y, r.z * r.z  # r.r less a square would cancel for a body far along one axis
    xy, xz, yz = -(r.x * r.y), -(r.x * r.z), -(r.y * r.z)
    inertia: Matrix = Matrix.of(((yy + zz, xy, xz), (xy, xx + zz, yz), (xz, yz, xx + yy))) * mass
    return inertia


def rotated(inertia: Matrix, rotation: Matrix) -> Matrix:
    """R I R': the tensor in the axes that `rotation` maps to."""
    return rotation.times(inertia).times(rotation.T)


def moved(mass: Scalar, first_moment: Vector, inertia: Matrix, p: Vector) -> tuple[Vector, Matrix]:
    """First moment and inertia of a body about a new origin. The old origin is at p, seen from the new one.

    I' = I + 2 (h.p) E - h p' - p h' + m (p.p E - p p'); both tensors are about their origins. With w = h + m p / 2 the
    added second moments are S = w p' + p w', and Tr(S) E - S is added to the tensor.
    """
    w = first_moment + p * (mass * 0.5)
    xx, yy, zz = (p.x * 2.0) * w.x, (p.y * 2.0) * w.y, (p.z * 2.0) * w.z
    xy, xz, yz = p.x * w.y + p.y * w.x, p.x * w.z + p.z * w.x, p.y * w.z + p.z * w.y
    gain = Matrix.of(((yy + zz, -xy, -xz), (-xy, xx + zz, -yz), (-xz, -yz, xx + yy)))
    return first_moment + p * mass, inertia + gain


def second_moments(inertia: Matrix) -> Matrix:
    """integral r r' dm = Tr(I)/2 E - I, from the inertia tensor about the same point; L2.21 is its inverse."""
    J: Matrix = IDENTITY * (inertia.trace * 0.5) - inertia
    return J


def turned_about_z(inertia: Matrix, c: Scalar, s: Scalar) -> Matrix:
    """`rotated(inertia, rotation_z(c, s))` in 8 multiplications and 7 additions."""
    xx, xy, yy = _turned_in_plane(inertia[0, 0], inertia[0, 1], inertia[1, 1], c, s)
    xz, yz = c * inertia[0, 2] - s * inertia[1, 2], s * inertia[0, 2] + c * inertia[1, 2]
    return Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, inertia[2, 2])))


def turned_about_x(inertia: Matrix, c: Scalar, s: Scalar) -> Matrix:
    """`rotated(inertia, rotation_x(c, s))`, as cheaply."""
    yy, yz, zz = _turned_in_plane(inertia[1, 1], inertia[1, 2], inertia[2, 2], c, s)
    xy, xz = c * inertia[0, 1] - s * inertia[0, 2], s * inertia[0, 1] + c * inertia[0, 2]
    return Matrix.of(((inertia[0, 0], xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _turned_in_plane(a: Scalar, b: Scalar, d: Scalar, c: Scalar, s: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The entries of [[c, -s], [s, c]] [[a, b], [b, d]] [[c, s], [-s, c]], by u = s (d - a) - 2 c b."""
    if is_number(s) and s == 0 and is_number(c) and c == 1:
        return a, b, d
    u = s * (d - a) - c * (b * 2.0)
    return a + s * u, -(c * u + b), d - s * u


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
