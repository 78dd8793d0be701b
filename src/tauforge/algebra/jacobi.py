"""Singular values by one-sided Jacobi rotations (Hestenes 1958), over any scalar and without branches.

Columns are rotated in pairs, in a fixed number of sweeps, until all are orthogonal. Their lengths are then the singular
values, small ones as accurate as large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tauforge.algebra.scalars import Scalar, absolute, select, sqrt

Columns = list[list[Scalar]]
TINY = 1e-300  # avoids 0/0 where two columns are equally long and orthogonal


def inner(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def sweep(columns: Columns) -> Columns:
    """Rotate every pair once. t is the tangent of the smaller angle that makes the pair orthogonal."""
    turned = [list(column) for column in columns]
    squares = [inner(column, column) for column in turned]
    for i, j in combinations(range(len(turned)), 2):
        a, b = turned[i], turned[j]
        g, d = inner(a, b), squares[j] - squares[i]
        size = absolute(d) + sqrt(d * d + (4.0 * (g * g) + TINY))
        t = select(d, 0.0, -2.0, 2.0) * g / size
        c = 1.0 / sqrt(1.0 + t * t)
        s = c * t
        turned[i] = [c * x - s * y for x, y in zip(a, b, strict=True)]
        turned[j] = [s * x + c * y for x, y in zip(a, b, strict=True)]
        squares[i], squares[j] = squares[i] - t * g, squares[j] + t * g
    return turned


def skewness(columns: Columns) -> Scalar:
    """The sum of squared cosines between two columns: 0 when the sweeps are done. NaN in gives NaN."""
    squares = [inner(column, column) for column in columns]
    total: Scalar = 0.0
    for i, j in combinations(range(len(columns)), 2):
        g = inner(columns[i], columns[j])
        total = total + g * g / (squares[i] * squares[j] + TINY)
    return total


def extreme_lengths(columns: Columns) -> tuple[Scalar, Scalar]:
    """Lengths of the shortest and the longest column."""
    squares = [inner(column, column) for column in columns]
    small = large = squares[0]
    for square in squares[1:]:
        small, large = select(square, small, square, small), select(large, square, square, large)
    return sqrt(small), sqrt(large)
