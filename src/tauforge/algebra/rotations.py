"""Orientations by angles, theta = (theta_x, theta_y, theta_z) with R = Rz Ry Rx, by quaternions, and their rates."""

from __future__ import annotations

import math
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, arctangent, cos, cos_sin_of_constant, select, sin, sqrt
from tauforge.algebra.vectors import IDENTITY, Matrix, Vector, cross, dot, outer, skew

SMALL_ANGLE = 1e-12  # rad: below, sin(x) = x to the last digit
TINY = 1e-300  # keeps 0/0 away where there is no turn
NEAR_POLE = 1e-7  # sine of the angle to -z below which MuJoCo takes an axis as -z


def rotation_of(theta: Vector) -> Matrix:
    """Rot(z, theta_z) Rot(y, theta_y) Rot(x, theta_x) (D38)."""
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


def axes_along(s: Vector) -> Matrix:
    """A rotation whose first column is the unit vector s (Duff et al. 2017, JCGT 6(1)); it jumps where s.z passes 0.

    It is for bodies that are symmetric about s, so that the directions of the other two axes make no difference.
    """
    side = select(s.z, 0.0, -1.0, 1.0)
    a = -1.0 / (side + s.z)
    b = s.x * s.y * a
    y = Vector(1.0 + side * (s.x * s.x * a), side * b, -(side * s.x))
    return Matrix((s, y, Vector(b, side + s.y * s.y * a, -s.y))).T


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


class Quaternion(NamedTuple):
    """A unit quaternion w + x i + y j + z k."""

    w: Scalar
    x: Scalar
    y: Scalar
    z: Scalar

    def rotation(self) -> Matrix:
        w, x, y, z = self
        x2, y2, z2 = x + x, y + y, z + z
        xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
        wx, wy, wz = w * x2, w * y2, w * z2
        return Matrix.of(
            (
                (1.0 - (yy + zz), xy - wz, xz + wy),
                (xy + wz, 1.0 - (xx + zz), yz - wx),
                (xz - wy, yz + wx, 1.0 - (xx + yy)),
            )
        )


def quaternion_of(theta: Vector) -> Quaternion:
    """Identity: its rotation is `rotation_of(theta)`."""
    half = theta * 0.5
    cx, cy, cz = cos(half.x), cos(half.y), cos(half.z)
    sx, sy, sz = sin(half.x), sin(half.y), sin(half.z)
    return Quaternion(
        cx * cy * cz + sx * sy * sz,
        sx * cy * cz - cx * sy * sz,
        cx * sy * cz + sx * cy * sz,
        cx * cy * sz - sx * sy * cz,
    )


def quaternion_rates(q: Quaternion, omega: Vector) -> Quaternion:
    """q' of a frame that turns at omega, fixed axes."""
    w, x, y, z = q
    h = omega * 0.5
    return Quaternion(
        -(h.x * x + h.y * y + h.z * z),
        h.x * w + h.y * z - h.z * y,
        h.y * w + h.z * x - h.x * z,
        h.z * w + h.x * y - h.y * x,
    )


def normalised(q: Quaternion) -> Quaternion:
    """The same rotation by a quaternion of length one."""
    w, x, y, z = q
    scale = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    return Quaternion(w * scale, x * scale, y * scale, z * scale)


def with_positive_w(q: Quaternion) -> Quaternion:
    """The same rotation by the one of its two quaternions that has w >= 0."""
    sign = select(q.w, 0.0, -1.0, 1.0)
    return Quaternion(*(component * sign for component in q))


def turned_slightly(q: Quaternion, turn: Vector) -> Quaternion:
    """q followed by a rotation vector about fixed axes, exact to first order in it, normalised."""
    return normalised(Quaternion(*(a + b for a, b in zip(q, quaternion_rates(q, turn), strict=True))))


def angles_of(R: Matrix) -> Vector:
    """theta of a rotation, |theta_y| <= a quarter turn; at a quarter turn theta_x and theta_z are not unique.

    theta_x is computed after theta_z is taken out of the rotation. So both together are right near a quarter turn too,
    where neither is well determined alone. Identity: `rotation_of` undoes it.
    """
    level = sqrt(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0])
    z = arctangent(R[1, 0], R[0, 0])
    c, s = cos(z), sin(z)
    x = arctangent(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return Vector(x, arctangent(-R[2, 0], level), z)


def quaternion_of_rotation(R: Matrix) -> Quaternion:
    """The unit quaternion of a rotation with w >= 0. Identity: its `rotation` is R.

    4 q q' has entries that are linear in R. Its row with the largest diagonal entry, at least 1, is q but for its
    length, also at half a turn, where w = 0.
    """
    (a, b, c), (d, e, f), (g, h, i) = R.rows
    x, y, z = h - f, c - g, d - b
    xy, xz, yz = b + d, c + g, f + h
    rows: list[list[Scalar]] = [
        [1.0 + (a + e + i), x, y, z],
        [x, 1.0 + (a - e - i), xy, xz],
        [y, xy, 1.0 + (e - a - i), yz],
        [z, xz, yz, 1.0 + (i - a - e)],
    ]
    best, size = rows[0], rows[0][0]
    for k in (1, 2, 3):
        other = rows[k][k]
        best = [select(size, other, new, old) for new, old in zip(rows[k], best, strict=True)]
        size = select(size, other, other, size)
    length = sqrt(best[0] * best[0] + best[1] * best[1] + best[2] * best[2] + best[3] * best[3])
    scale = select(best[0], 0.0, -1.0, 1.0) / length
    return Quaternion(*(component * scale for component in best))


class RotationVector(NamedTuple):
    """A turn by the angle |vector| up to half a turn about the vector, and what the vector's derivative needs."""

    vector: Vector
    shrinking: Scalar  # c = (x/2) cot(x/2) of the angle x: 1 without a turn, 0 at half a turn

    def slope(self) -> Matrix:
        """B with vector' = B omega of R that turns by R' = R [omega]x, omega in the turned axes.

        The inverse of the differential of the exponential map: c 1 + [v]x / 2 + (1 - c) v v' / v.v.
        """
        v, c = self
        along = (1.0 - c) / (dot(v, v) + TINY)
        return Matrix.diagonal(c, c, c) + skew(v * 0.5) + outer(v * along, v)


def rotation_vector(R: Matrix) -> RotationVector:
    """The axis times the angle of a rotation; at half a turn, where both signs are right, one of the two."""
    w, x, y, z = quaternion_of_rotation(R)
    sine = sqrt(x * x + y * y + z * z)
    factor = select(sine, SMALL_ANGLE, 2.0, 2.0 * arctangent(sine, w) / (sine + TINY))
    return RotationVector(Vector(x, y, z) * factor, 0.5 * (factor * w))


def rotation_about(axis: Vector, angle: float) -> Matrix:
    """By Rodrigues' formula, exact at quarter turns about the coordinate axes. axis: a unit vector"""
    if angle == 0:
        return IDENTITY
    c, s = cos_sin_of_constant(angle)
    return IDENTITY * c + skew(axis) * s + outer(axis, axis) * (1.0 - c)


def rotation_to(axis: Vector) -> Matrix:
    """The rotation that takes z to the axis by the shortest way, exact for the coordinate axes. axis: a unit vector

    Every way to -z is as short as any other. There the turn is about x, as MuJoCo has it.
    """
    x, y, z = axis
    s = math.hypot(x, y)
    if z >= 0:
        k = 1.0 / (1.0 + z)
        xx, xy, yy = k * x * x, k * x * y, k * y * y
    elif s < NEAR_POLE:
        return rotation_to(-axis).times(Matrix.diagonal(1.0, -1.0, -1.0))
    else:  # the same terms without 1 / (1 + z), which has a pole at -z
        cosine, sine, k = x / s, y / s, 1.0 - z
        xx, xy, yy = k * cosine * cosine, k * cosine * sine, k * sine * sine
    return Matrix.of(((1.0 - xx, -xy, x), (-xy, 1.0 - yy, y), (-x, -y, z)))
