"""The natural orthogonal complement S of the loop matrix J (Angeles, ch. 7): J S = 0, v = S z.

z are some of the tree's rates. The others follow from J v = 0 by elimination, S' projects forces: S' J' = 0, so the
forces that close the loops vanish from the equations. The caller's independent rates y may be others than z:
y = K z with K the rows of S at y.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tauforge.algebra.elimination import Elimination
from tauforge.algebra.linear import factored, solved
from tauforge.algebra.scalars import Scalar, absolute, is_zero, select
from tauforge.formulations.mechanism.cuts import Posed, loop_bias, loop_rows
from tauforge.formulations.mechanism.parameters import MechanismParameters

Scalars = Sequence[Scalar]


class Complement:
    """J split into the columns of z and of the other rates, the latter factored; and the way from y to z."""

    def __init__(self, m: MechanismParameters, posed: Posed, z: tuple[int, ...]) -> None:
        self.m, self.posed, self.z, self.y = m, posed, z, m.independent
        self.rows = loop_rows(m, posed)
        self.others = [j for j in range(m.n) if j not in z]
        matrix = [[row.get(j, 0.0) for j in self.others] for row in self.rows]
        self.elimination = Elimination(matrix, len(self.others)) if self.others else None

    def completed(self, given: Scalars, right: Scalars) -> list[Scalar]:
        """All rates v, where those of z are given and J v = right."""
        v: list[Scalar] = [0.0] * self.m.n
        for j, x in zip(self.z, given, strict=True):
            v[j] = x
        if self.elimination is not None:
            b = []
            for row, x in zip(self.rows, right, strict=True):
                for j in self.z:
                    x = x - row.get(j, 0.0) * v[j]
                b.append(x)
            for j, x in zip(self.others, self.elimination.solved(b), strict=True):
                v[j] = x
        return v

    def projected(self, forces: Scalars) -> list[Scalar]:
        """S' forces."""
        return self.projected_and_multipliers(forces)[0]

    def projected_and_multipliers(self, forces: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """S' forces, and multipliers with forces = J' multipliers on the rates that are not of z."""
        if self.elimination is None:
            return [forces[j] for j in self.z], [0.0] * len(self.rows)
        multipliers = self.elimination.solved_transposed([forces[j] for j in self.others])
        found = []
        for j in self.z:
            x = forces[j]
            for row, multiplier in zip(self.rows, multipliers, strict=True):
                x = x - row.get(j, 0.0) * multiplier
            found.append(x)
        return found, multipliers

    @cached_property
    def S(self) -> list[list[Scalar]]:
        """Its columns, one for each of z."""
        columns = []
        for j in self.z:
            column: list[Scalar] = [0.0] * self.m.n
            column[j] = 1.0
            if self.elimination is not None:
                right = [-row.get(j, 0.0) for row in self.rows]
                for k, x in zip(self.others, self.elimination.solved(right), strict=True):
                    column[k] = x
            columns.append(column)
        return columns

    # ------------------------------------------------------------------------------------------- the caller's rates

    @cached_property
    def K(self) -> Elimination | None:
        """y = K z, factored; None where y is z."""
        if self.y == self.z:
            return None
        return Elimination([[column[j] for column in self.S] for j in self.y], len(self.z))

    def rates(self, y: Scalars) -> list[Scalar]:
        """All rates v of the caller's."""
        z = y if self.K is None else self.K.solved(y)
        return self.completed(z, [0.0] * len(self.rows))

    @cached_property
    def bias(self) -> list[Scalar]:
        """-J' v of the rates that were set last."""
        raise AttributeError("set the rates first")

    def at_rates(self, v: Scalars) -> None:
        """The rates that accelerations are about."""
        self.bias = [-x for x in loop_bias(self.m, self.posed, v)] if self.others else [0.0] * len(self.rows)

    def accelerations(self, y: Scalars) -> list[Scalar]:
        """All v' of the caller's."""
        if self.K is None:
            return self.completed(y, self.bias)
        still = self.without_acceleration
        z = self.K.solved([x - still[j] for x, j in zip(y, self.y, strict=True)])
        return self.completed(z, self.bias)

    @cached_property
    def without_acceleration(self) -> list[Scalar]:
        """v' where z' = 0."""
        return self.completed([0.0] * len(self.z), self.bias)

    def actuation(self) -> list[list[Scalar]]:
        """S' B: rows by z, columns by actuator."""
        columns = []
        for a in self.m.actuated:
            unit: list[Scalar] = [0.0] * self.m.n
            unit[a] = 1.0
            columns.append(self.projected(unit))
        return [list(row) for row in zip(*columns, strict=True)]

    def nearest(self, v: Scalars) -> list[Scalar]:
        """z of the rates S z that are nearest to v, lengths as shares of the mechanism's size: S' W S z = S' W v."""
        if not self.others:
            return [v[j] for j in self.z]
        weights = [1.0 / (scale * scale) for scale in self.m.scales]

        def product(a: Scalars, b: Scalars) -> Scalar:
            total: Scalar = 0.0
            for weight, x, y in zip(weights, a, b, strict=True):
                if not (is_zero(x) or is_zero(y)):
                    total = total + (weight * x) * y
            return total

        A = [[product(a, b) for b in self.S] for a in self.S]
        return solved(factored(A), [product(column, v) for column in self.S])

    def spread(self) -> Scalar:
        """The largest entry of S, lengths as shares of the mechanism's size: large where z hardly moves with others."""
        scale = self.m.scales
        found: Scalar = 1.0
        for j, column in zip(self.z, self.S, strict=True):
            for k in self.others:
                if not is_zero(column[k]):
                    entry = absolute(column[k]) * (scale[j] / scale[k])
                    found = select(found, entry, entry, found)
        return found

    def doubt(self, more: Scalars = ()) -> Scalar:
        """The largest reciprocal of a pivot: large near a singular position."""
        pivots = [*more]
        for elimination in (self.elimination, self.K):
            pivots += [] if elimination is None else elimination.pivots
        total: Scalar = 0.0
        for pivot in pivots:
            total = total + absolute(pivot)
        return total
