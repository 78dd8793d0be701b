"""The ratio of the extreme singular values of a small matrix, over any scalar and without branches.

Householder reflections make the matrix bidiagonal, B. Its smallest and largest singular values are found one by one as
extreme eigenvalues of B^T B, in a fixed number of Laguerre's steps. B^T B itself is never formed: the stationary
qd recurrence (Parlett 1995) takes the squares of B's entries and loses no digits of small singular values. The squares
must not underflow: entries are to be of a size between 1e-40 and 1e18.

Laguerre's step for a polynomial of degree n comes from outside and never passes the first root. All but the first take
the degree to be 2: they are exact where two roots are near and the others far, so that two equal singular values, which
symmetric robots have, do no harm. Three or more that are nearly equal are not settled in so few steps;
`Condition.doubt` tells that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, Scalars, absolute, select, sqrt

Rows = Sequence[Scalars]
TINY = 1e-300  # keeps the reflection of a column of zeros from 0/0
NO_STEP = 1e38  # a step that is larger, or NaN, is left out: the root was met exactly
LARGEST_RATIO = 1e18  # the ratio of a singular matrix; ratios above 1e16 are in doubt
SURE = 1e-13  # a doubt that is none
DEGREES = (None, *(2.0,) * 6)  # of the steps; None is the polynomial's


class Condition(NamedTuple):
    ratio: Scalar  # of the largest and the smallest singular value, at most LARGEST_RATIO
    doubt: Scalar  # an estimate of its relative error, above SURE where that is not small


class Squares(NamedTuple):
    """Squares of the entries of an upper bidiagonal matrix: n on the diagonal, n - 1 beside it."""

    diagonal: list[Scalar]
    beside: list[Scalar]


class Extremes(NamedTuple):
    """Squares of the smallest and the largest singular value, and doubts of them as in `Condition`."""

    low: Scalar
    high: Scalar
    low_doubt: Scalar
    high_doubt: Scalar


def condition(rows: Rows) -> Condition:
    """The condition number of a matrix with any number of rows and columns.

    Identity: sigma_max / sigma_min.
    """
    if min(len(rows), len(rows[0])) == 1:
        return Condition(1.0, 0.0)
    low, high, low_doubt, high_doubt = extremes(rows)
    ratio = sqrt(high / (low + LARGEST_RATIO**-2 * high))
    return Condition(ratio, low_doubt + high_doubt + SURE * 1e-16 * ratio)


def extremes(rows: Rows) -> Extremes:
    """The squares of the smallest and the largest singular value of a matrix of any size."""
    if min(len(rows), len(rows[0])) == 1:
        entries = [x for row in rows for x in row]
        square = inner(entries, entries)
        return Extremes(square, square, 0.0, 0.0)
    wide = len(rows) < len(rows[0])
    b = bidiagonal([list(column) for column in zip(*rows, strict=True)] if wide else [list(row) for row in rows])
    low, high = RootSearch(0.0), RootSearch(above_all(b))
    for degree in DEGREES:  # both in turn: neither has to wait for the other
        low, high = low.stepped(b, degree), high.stepped(b, degree)
    return Extremes(absolute(low.x), high.x, low.doubt, high.doubt)


def bidiagonal(a: list[list[Scalar]]) -> Squares:
    """The squares of the bidiagonal matrix with the same singular values. a has at least as many rows as columns."""
    n = len(a[0])
    diagonal, beside = [], []
    for k in range(n):
        v, scale, square = mirror([row[k] for row in a[k:]])
        diagonal.append(square)
        if k == n - 1:
            break
        for j in range(k + 1, n):
            w = scale * inner(v, [row[j] for row in a[k:]])
            for i, x in enumerate(v, k):
                a[i][j] = a[i][j] - w * x
        if k == n - 2:
            beside.append(a[k][n - 1] * a[k][n - 1])
            continue
        v, scale, square = mirror(a[k][k + 1 :])
        beside.append(square)
        for row in a[k + 1 :]:
            w = scale * inner(v, row[k + 1 :])
            row[k + 1 :] = [y - w * x for x, y in zip(v, row[k + 1 :], strict=True)]
    return Squares(diagonal, beside)


def mirror(x: Scalars) -> tuple[list[Scalar], Scalar, Scalar]:
    """(v, scale, |x|^2) of the reflection 1 - scale v v^T that turns x to the first axis."""
    square = inner(x, x)
    length = sqrt(square)
    return [x[0] + select(x[0], 0.0, -length, length), *x[1:]], 1.0 / (square + absolute(x[0]) * length + TINY), square


def inner(a: Scalars, b: Scalars) -> Scalar:
    """a . b, summed in pairs: a shorter chain of additions than one by one."""
    terms = [x * y for x, y in zip(a, b, strict=True)]
    while len(terms) > 1:
        last = terms[-1:] if len(terms) % 2 else []
        terms = [x + y for x, y in zip(terms[::2], terms[1::2], strict=False)] + last
    return terms[0]


def above_all(b: Squares) -> Scalar:
    """An upper bound of the eigenvalues of B^T B, from its trace and that of its square: Laguerre's step from infinity.

    It is mean + sqrt((n - 1) variance).
    """
    n, (q, e) = len(b.diagonal), b
    tops = [q[0], *(x + y for x, y in zip(q[1:], e, strict=True))]
    mean = sum(tops[1:], tops[0]) / n
    apart = [x - mean for x in tops]
    squares = inner(apart, apart) + 2.0 * inner(q[:-1], e)
    return mean + sqrt((n - 1) / n * squares)


class RootSearch(NamedTuple):
    """For the eigenvalue of B^T B next to x, which starts outside of all. The last two steps tell how far it is."""

    x: Scalar
    step: Scalar = 0.0
    before: Scalar = 0.0

    def stepped(self, b: Squares, degree: float | None) -> RootSearch:
        step = laguerre_step(b, self.x, float(degree or len(b.diagonal)))
        return RootSearch(self.x + step, step, self.step)

    @property
    def doubt(self) -> Scalar:
        """An estimate of the relative error of the root of x.

        Steps shrink faster than in proportion once they are small: another one would be at most step^2 / before.
        """
        return 0.5 * self.step * self.step / (absolute(self.before * self.x) + TINY)


def laguerre_step(b: Squares, x: Scalar, degree: float) -> Scalar:
    """Towards the eigenvalue next to x, of B^T B: degree / (S1 +- sqrt((degree - 1)(degree S2 - S1^2)))."""
    S1, S2 = power_sums(b, x)
    square = degree * S2 - S1 * S1
    root = sqrt((degree - 1.0) * select(0.0, square, square, 0.0))
    step = degree / (S1 + select(S1, 0.0, -root, root))
    return select(absolute(step), NO_STEP, step, 0.0)


def power_sums(b: Squares, x: Scalar) -> tuple[Scalar, Scalar]:
    """Sums of 1 / (lambda - x) and of its square over the eigenvalues of B^T B.

    With t, the recurrence of the qd transform, the determinant of B^T B - x is the product of q + t. The sums are the
    first and second derivatives of minus its logarithm by x.
    """
    q, e = b
    t, slope, bend = -x, -1.0, 0.0
    S1 = S2 = 0.0
    for k, square in enumerate(q):
        r = 1.0 / (square + t)
        rate = slope * r
        S1, S2 = S1 - rate, S2 + rate * rate - bend * r
        if k < len(e):
            y = e[k] * r
            z = y * (square * r)
            t, slope, bend = y * t - x, z * slope - 1.0, z * (bend - 2.0 * slope * rate)
    return S1, S2
