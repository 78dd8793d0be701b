"""Rotations about axes, for readers of files."""

from __future__ import annotations

from tauforge.algebra.scalars import cos_sin_of_constant
from tauforge.algebra.vectors import IDENTITY, Matrix, Vector, outer, skew


def rotation_about(axis: Vector, angle: float) -> Matrix:
    """By Rodrigues' formula, exact at quarter turns about the coordinate axes. axis: a unit vector"""
    if angle == 0:
        return IDENTITY
    c, s = cos_sin_of_constant(angle)
    return IDENTITY * c + skew(axis) * s + outer(axis, axis) * (1.0 - c)


def rotation_to(axis: Vector) -> Matrix:
    """A rotation that takes z to the axis, by the shortest way; exact for the coordinate axes."""
    if axis.z < 0:  # by way of -axis and half a turn about x, away from the formula's pole
        return rotation_to(-axis).times(Matrix.diagonal(1.0, -1.0, -1.0))
    x, y, z = axis
    k = 1.0 / (1.0 + z)
    return Matrix.of(((1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z)))
