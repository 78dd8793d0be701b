"""Linear systems with more or fewer equations than unknowns, over any scalar: modified Gram-Schmidt.

A = Q R, the columns of Q orthonormal. Unlike the normal equations it does not square the condition number. Both
solutions follow Björck 1996, Numerical Methods for Least Squares Problems, 2.4: the right side is orthogonalised along
with the columns, so that what Q lacks in orthogonality does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.linear import sparse_dot
from tauforge.algebra.scalars import Scalar, is_zero, reciprocal, sqrt

Scalars = Sequence[Scalar]


class Orthogonal(NamedTuple):
    """Q by columns, R by rows above its diagonal, and the reciprocals of the diagonal."""

    Q: list[list[Scalar]]
    R: list[list[Scalar]]
    pivots: list[Scalar]


def orthogonalised(columns: Sequence[Scalars]) -> Orthogonal:
    """A of these columns, as many as there are rows or fewer. Not finite where they are dependent."""
    n = len(columns)
    rest = [list(column) for column in columns]
    R: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    pivots: list[Scalar] = []
    for k in range(n):
        pivots.append(reciprocal(sqrt(sparse_dot(rest[k], rest[k]))))
        rest[k] = [x * pivots[k] for x in rest[k]]
        for j in range(k + 1, n):
            R[k][j] = sparse_dot(rest[k], rest[j])
            rest[j] = _without(rest[j], rest[k], R[k][j])
    return Orthogonal(rest, R, pivots)


def nearest_solution(A: Orthogonal, right: Scalars) -> list[Scalar]:
    """x with the least |A x - right|."""
    rest, x = list(right), list[Scalar]()
    for q in A.Q:
        x.append(sparse_dot(q, rest))
        rest = _without(rest, q, x[-1])
    for k in reversed(range(len(x))):
        for j in range(k + 1, len(x)):
            x[k] = x[k] - A.R[k][j] * x[j]
        x[k] = x[k] * A.pivots[k]
    return x


def smallest_solution(A: Orthogonal, right: Scalars) -> list[Scalar]:
    """The shortest u with A' u = right."""
    y: list[Scalar] = list(right)
    for k in range(len(y)):
        for j in range(k):
            y[k] = y[k] - A.R[j][k] * y[j]
        y[k] = y[k] * A.pivots[k]
    u: list[Scalar] = [0.0] * len(A.Q[0])
    for q, wanted in zip(reversed(A.Q), reversed(y), strict=True):
        share = wanted - sparse_dot(q, u)
        u = [a + share * b for a, b in zip(u, q, strict=True)]
    return u


def _without(a: Scalars, q: Scalars, share: Scalar) -> list[Scalar]:
    return [x if is_zero(y) else x - share * y for x, y in zip(a, q, strict=True)]
