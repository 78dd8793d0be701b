"""Orientations by angles about fixed axes, theta = (theta_x, theta_y, theta_z): R = Rz Ry Rx, and their rates."""

from __future__ import annotations

from tauforge.algebra.scalars import Scalar, cos, sin
from tauforge.algebra.vectors import Matrix, Vector, cross


def rotation_of(theta: Vector) -> Matrix:
    """Rot(z, theta_z) Rot(y, theta_y) Rot(x, theta_x) (Dasgupta & Mruthyunjaya 1998 eq. 38)."""
    cx, cy, cz = cos(theta.x), cos(theta.y), cos(theta.z)
    sx, sy, sz = sin(theta.x), sin(theta.y), sin(theta.z)
    cz_sy, sz_sy = cz * sy, sz * sy
    return Matrix.of(
        (
            (cz * cy, cz_sy * sx - sz * cx, cz_sy * cx + sz * sx),
            (sz * cy, sz_sy * sx + cz * cx, sz_sy * cx - cz * sx),
            (-sy, cy * sx, cy * cx),
        )
    )


def angular_velocity(theta: Vector, rates: Vector) -> Vector:
    """omega of the turning frame, fixed axes: the axes of the three turns, each at its rate."""
    cy, sy, cz, sz = cos(theta.y), sin(theta.y), cos(theta.z), sin(theta.z)
    x_axis, y_axis = Vector(cz * cy, sz * cy, -sy), Vector(-sz, cz, 0.0)
    omega: Vector = x_axis * rates.x + y_axis * rates.y + Vector(0.0, 0.0, rates.z)
    return omega


def angular_acceleration(theta: Vector, rates: Vector, accelerations: Vector) -> Vector:
    """omega' : the axes turn too, the second with the third angle, the first with the second and third."""
    cy, sy, cz, sz = cos(theta.y), sin(theta.y), cos(theta.z), sin(theta.z)
    x_axis, y_axis, z_axis = Vector(cz * cy, sz * cy, -sy), Vector(-sz, cz, 0.0), Vector(0.0, 0.0, 1.0)
    about_z = z_axis * rates.z
    about_y = about_z + y_axis * rates.y
    turning: Vector = cross(about_z, y_axis) * rates.y + cross(about_y, x_axis) * rates.x
    return angular_velocity(theta, accelerations) + turning


def angle_rates(theta: Vector, omega: Vector) -> Vector:
    """theta' from omega; not finite where theta_y is a quarter turn."""
    cy, sy, cz, sz = cos(theta.y), sin(theta.y), cos(theta.z), sin(theta.z)
    level: Scalar = cz * omega.x + sz * omega.y
    x = level / cy
    return Vector(x, cz * omega.y - sz * omega.x, omega.z + sy * x)


def angle_accelerations(theta: Vector, rates: Vector, alpha: Vector) -> Vector:
    """theta'' from omega' and theta'. Identity: undoes `angular_acceleration`."""
    turning = angular_acceleration(theta, rates, Vector(0.0, 0.0, 0.0))
    return angle_rates(theta, alpha - turning)
