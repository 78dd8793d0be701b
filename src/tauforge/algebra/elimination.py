"""Sparse linear systems over any scalar that are factored once and solved for many right sides, transposed ones too.

A may have more rows than columns. Each state of a batch then picks its own rows by partial pivoting: redundant
equations need no choice that holds everywhere. What is left of the others tells whether they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.linear import Rows, substituted
from tauforge.algebra.scalars import Scalar, Scalars, absolute, is_number, is_zero, reciprocal, select


class StructurallySingularError(ValueError):
    """A column without an entry that could be its pivot."""


class RowExchange(NamedTuple):
    """Rows k and `other` change places where small < large."""

    other: int
    small: Scalar
    large: Scalar


class PivotStep(NamedTuple):
    """One pivot: the row that comes first by structure, exchanges by size, and multiples that are subtracted."""

    first: int
    choices: list[RowExchange]
    multiples: list[tuple[int, Scalar]]


class Elimination:
    """P A Q = L U, P chosen by every state of a batch; Q by `column_order`, the same for all."""

    def __init__(self, A: Sequence[Scalars], columns: int) -> None:
        self.columns, self.count = columns, len(A)
        self.order = column_order([[not is_zero(x) for x in row] for row in A], columns)
        self.rows: Rows = [[row[j] for j in self.order] for row in A]
        self.steps: list[PivotStep] = []
        self.pivots: list[Scalar] = []  # their reciprocals
        for k in range(columns):
            self._eliminate(k)

    def _eliminate(self, k: int) -> None:
        rows, n = self.rows, self.columns
        candidates = [i for i in range(k, self.count) if not is_zero(rows[i][k])]
        if not candidates:
            raise StructurallySingularError(self.order[k])
        candidates.sort(key=lambda i: sum(not is_zero(x) for x in rows[i]))
        first = candidates[0]
        rows[k], rows[first] = rows[first], rows[k]
        choices = []
        for i in sorted(first if i == k else i for i in candidates[1:]):
            choice = RowExchange(i, absolute(rows[k][k]), absolute(rows[i][k]))
            if is_number(choice.small) and is_number(choice.large) and not choice.small < choice.large:
                continue
            choices.append(choice)
            for j in range(k, n):  # entries left of k are no longer needed
                rows[k][j], rows[i][j] = _ordered(choice, rows[k][j], rows[i][j])
        self.pivots.append(reciprocal(rows[k][k]))
        multiples = []
        for i in range(k + 1, self.count):
            if not is_zero(rows[i][k]):
                factor = rows[i][k] * self.pivots[k]
                multiples.append((i, factor))
                for j in range(k + 1, n):
                    rows[i][j] = rows[i][j] - factor * rows[k][j]
                rows[i][k] = 0.0
        self.steps.append(PivotStep(first, choices, multiples))

    def left_over(self, right: Scalars) -> list[Scalar]:
        """By how much the rows that a state did not pick disagree with the others."""
        return self._forward(right)[self.columns :]

    def _forward(self, right: Scalars) -> list[Scalar]:
        b = list(right)
        for k, step in enumerate(self.steps):
            b[k], b[step.first] = b[step.first], b[k]
            for choice in step.choices:
                b[k], b[choice.other] = _ordered(choice, b[k], b[choice.other])
            for i, factor in step.multiples:
                b[i] = b[i] - factor * b[k]
        return b

    def solved(self, right: Scalars) -> list[Scalar]:
        """x with A x = right, of which rows that a state did not pick are not looked at."""
        b = substituted(self.rows, self.pivots, self._forward(right)[: self.columns])
        x: list[Scalar] = [0.0] * self.columns
        for place, j in enumerate(self.order):
            x[j] = b[place]
        return x

    def solved_transposed(self, right: Scalars) -> list[Scalar]:
        """One of the y with A' y = right: 0 in the rows that a state did not pick."""
        y = [right[j] for j in self.order]
        for k in range(self.columns):
            for j in range(k):
                y[k] = y[k] - self.rows[j][k] * y[j]
            y[k] = y[k] * self.pivots[k]
        y += [0.0] * (self.count - self.columns)
        for k in reversed(range(self.columns)):
            step = self.steps[k]
            for i, factor in step.multiples:
                y[k] = y[k] - factor * y[i]
            for choice in reversed(step.choices):
                y[k], y[choice.other] = _ordered(choice, y[k], y[choice.other])
            y[k], y[step.first] = y[step.first], y[k]
        return y


def _ordered(choice: RowExchange, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    if x is y or (is_zero(x) and is_zero(y)):
        return x, y
    return select(choice.small, choice.large, y, x), select(choice.small, choice.large, x, y)


def column_order(pattern: Sequence[Sequence[bool]], columns: int) -> list[int]:
    """Columns by least work: rows that share a pivot's column take the union of their patterns, as pivoting does."""
    return [pivot.column for pivot in _pivots(pattern, columns)]


def elimination_work(pattern: Sequence[Sequence[bool]], columns: int, solves: int = 3) -> int:
    """About how many operations an elimination and some solves take: exchanges, multiples, substitutions."""
    total = 0
    for _, sharing, union in _pivots(pattern, columns):
        total += (sharing - 1) * (2 * union + 2 * union - 1) + solves * (4 * (sharing - 1) + 2 * union - 1)
    return total


class _Pivot(NamedTuple):
    """A column, how many rows have an entry in it, and in how many columns these rows have entries."""

    column: int
    sharing: int
    union: int


def _pivots(pattern: Sequence[Sequence[bool]], columns: int) -> list[_Pivot]:
    rows = [{j for j, present in enumerate(row) if present} for row in pattern]
    left, found = set(range(columns)), []

    def cost(j: int) -> tuple[int, int, int]:
        sharing = [row for row in rows if j in row]
        union = set().union(*sharing)
        return (len(sharing) - 1) * len(union), len(union), j

    costs = {j: cost(j) for j in left}
    while left:
        j = min(left, key=lambda k: costs[k])
        sharing = [row for row in rows if j in row]
        union = set().union(*sharing) - {j}
        rows = [row for row in rows if j not in row] + [set(union) for _ in sharing[1:]]
        left.remove(j)
        costs |= {k: cost(k) for k in union & left}  # those of the other columns stay
        found.append(_Pivot(j, len(sharing), len(union) + 1))
    return found


def smallest(values: Scalars) -> Scalar:
    least = values[0]
    for value in values[1:]:
        least = select(value, least, value, least)
    return least


def spread(pivots: Scalars) -> Scalar:
    """The largest magnitude over the smallest one: about the condition number, never much more."""
    magnitudes = [absolute(x) for x in pivots]
    small = large = magnitudes[0]
    for x in magnitudes[1:]:
        small, large = select(x, small, x, small), select(large, x, x, large)
    return large / small
