"""Rotations about axes, for readers of files."""

from __future__ import annotations

import math

from tauforge.algebra.scalars import cos_sin_of_constant
from tauforge.algebra.vectors import IDENTITY, Matrix, Vector, outer, skew

NEAR_POLE = 1e-7  # sine of the angle to -z below which MuJoCo takes an axis as -z


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
