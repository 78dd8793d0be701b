"""Linear systems of a handful of equations, over any scalar.

Systems with more or fewer equations than unknowns are solved by modified Gram-Schmidt: A = Q R, the columns of Q
orthonormal. Unlike the normal equations it does not square the condition number. Both solutions follow Björck 1996,
Numerical Methods for Least Squares Problems, 2.4: the right side is orthogonalised along with the columns, so that what
Q lacks in orthogonality does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, Scalars, absolute, is_number, is_zero, reciprocal, select, sqrt

Rows = list[list[Scalar]]


def sparse_dot(a: Scalars, b: Scalars) -> Scalar:
    """The sum of products, without those that are zero by structure."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        if not (is_zero(x) or is_zero(y)):
            total = total + x * y
    return total


def solved_by_pivots(A: Sequence[Scalars], right: Scalars) -> list[Scalar]:
    """x with A x = right, by elimination with partial pivoting."""
    return elimination(A, right)[0]


def elimination(A: Sequence[Scalars], right: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """x with A x = right, and the reciprocals of the pivots."""
    (x,), pivots = eliminations(A, [right])
    return x, pivots


def eliminations(A: Sequence[Scalars], rights: Sequence[Scalars]) -> tuple[Rows, list[Scalar]]:
    """x with A x = right for each right side, and the reciprocals of the pivots.

    The pivot is chosen by `select`, one comparison at a time, so that every state of a batch takes its own; entries
    that are zero by structure are never candidates. The results are not finite where A is singular.
    """
    n = len(A)
    rows = [[*row, *(right[i] for right in rights)] for i, row in enumerate(A)]
    pivots: list[Scalar] = []
    for k in range(n):
        candidates = [i for i in range(k, n) if not is_zero(rows[i][k])] or [k]
        first = candidates[0]
        rows[k], rows[first] = rows[first], rows[k]
        for i in candidates[1:]:
            rows[k], rows[i] = _larger_first(rows[k], rows[i], k)
        pivots.append(reciprocal(rows[k][k]))
        for i in range(k + 1, n):
            if not is_zero(rows[i][k]):
                factor = rows[i][k] * pivots[k]
                for j in range(k + 1, len(rows[k])):
                    rows[i][j] = rows[i][j] - factor * rows[k][j]
    return [substituted(rows, pivots, [row[n + c] for row in rows]) for c in range(len(rights))], pivots


def substituted(rows: Rows, pivots: Scalars, right: Scalars) -> list[Scalar]:
    """From the last unknown back, in rows that are upper triangular. pivots: reciprocals of their diagonal"""
    x = list(right)
    for k in reversed(range(len(x))):
        for j in range(k + 1, len(x)):
            x[k] = x[k] - rows[k][j] * x[j]
        x[k] = x[k] * pivots[k]
    return x


def _larger_first(a: list[Scalar], b: list[Scalar], k: int) -> tuple[list[Scalar], list[Scalar]]:
    """The two rows, the one with the larger entry k first; entries left of k are no longer needed."""
    small, large = absolute(a[k]), absolute(b[k])
    if is_number(small) and is_number(large):
        return (b, a) if small < large else (a, b)
    upper, lower = list(a), list(b)
    for j in range(k, len(a)):
        if not (is_zero(a[j]) and is_zero(b[j])):
            upper[j], lower[j] = select(small, large, b[j], a[j]), select(small, large, a[j], b[j])
    return upper, lower


class Factors(NamedTuple):
    """A = L' D L, L unit lower triangular."""

    L: Rows
    D_inverse: list[Scalar]


def factored(A: Sequence[Scalars]) -> Factors:
    """L'DL of a symmetric positive definite matrix, from the last row up: L keeps the zeros of a tree's mass matrix."""
    n = len(A)
    rest = [list(row) for row in A]
    L: Rows = [[0.0] * n for _ in range(n)]
    D_inverse: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        D_inverse[k] = reciprocal(rest[k][k])
        for i in range(k):
            L[k][i] = rest[k][i] * D_inverse[k]
            for j in range(i + 1):
                rest[i][j] = rest[i][j] - L[k][i] * rest[k][j]
    return Factors(L, D_inverse)


def solved(factors: Factors, right: Scalars) -> list[Scalar]:
    """x with A x = right."""
    L, D_inverse = factors
    x = list(right)
    n = len(x)
    for k in reversed(range(n)):
        for i in range(k):
            x[i] = x[i] - L[k][i] * x[k]
    for k in range(n):
        x[k] = x[k] * D_inverse[k]
        for i in range(k):
            x[k] = x[k] - L[k][i] * x[i]
    return x


def inverse(factors: Factors) -> Rows:
    """X = A^-1 of A = L' D L, symmetric to the last bit.

    L X = D^-1 (L')^-1 is upper triangular with the diagonal D^-1, so each row of X follows from those above it.
    Identity: A X is the unit matrix.
    """
    L, D_inverse = factors
    X: Rows = []
    for i, row in enumerate(L):
        new = []
        for j in range(i):
            x: Scalar = 0.0
            for k in range(i):
                x = x - row[k] * X[k][j]
            new.append(x)
        corner = D_inverse[i]
        for k in range(i):
            corner = corner - row[k] * new[k]
            X[k].append(new[k])
        X.append([*new, corner])
    return X


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
    return substituted(A.R, A.pivots, x)


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


def independent_rows(rows: Sequence[Sequence[float]], most: int, smallest: float) -> list[int]:
    """Numbers of the first rows that are independent of those before them, by Gram-Schmidt; at most so many.

    smallest: share of a row's length that must be left
    """
    basis: list[list[float]] = []
    chosen: list[int] = []
    for k, row in enumerate(rows):
        norm = sum(x * x for x in row) ** 0.5
        if norm == 0 or len(chosen) == most:
            continue
        rest = [x / norm for x in row]
        for _ in range(2):
            for e in basis:
                along = sum(x * y for x, y in zip(rest, e, strict=True))
                rest = [x - along * y for x, y in zip(rest, e, strict=True)]
        length = sum(x * x for x in rest) ** 0.5
        if length > smallest:
            basis.append([x / length for x in rest])
            chosen.append(k)
    return chosen
