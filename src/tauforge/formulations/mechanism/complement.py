"""The natural orthogonal complement S of the loop matrix J (Angeles, ch. 7): J S = 0, v = S z.

z are some of the tree's rates. The others follow from J v = 0 by elimination, S' projects forces: S' J' = 0, so the
forces that close the loops vanish from the equations. The caller's independent rates y may be others than z:
y = K z with K the rows of S at y.
"""

from __future__ import annotations

from functools import cached_property

from tauforge.algebra.elimination import Elimination
from tauforge.algebra.linear import factored, solved, sparse_dot
from tauforge.algebra.scalars import Scalar, Scalars, absolute, is_zero, select
from tauforge.algebra.vectors import UNIT_VECTORS, ZERO, Vector, cross
from tauforge.formulations.mechanism.cuts import Lever, Posed, Row, levers, loop_bias, loop_gaps, loop_rows
from tauforge.formulations.mechanism.parameters import MechanismParameters

PRESUMED_ZERO_WEIGHT = 1e8  # what entries that should be zero are multiplied by, as shares of the mechanism's size


class Complement:
    """J split into the columns of z and of the other rates, the latter factored; and the way from y to z."""

    def __init__(self, m: MechanismParameters, posed: Posed, z: tuple[int, ...]) -> None:
        self.m, self.posed, self.z, self.y = m, posed, z, m.independent
        self.rows = loop_rows(m, posed)
        self.others = [j for j in range(m.n) if j not in z]
        matrix = [[row.get(j, 0.0) for j in self.others] for row in self.rows]
        self.elimination = Elimination(matrix, len(self.others)) if self.others else None
        self.levers = levers(m, posed, z)
        through = {(lever.row + i, lever.at + j) for lever in self.levers for i in range(3) for j in range(6)}
        # rows of J at the rates of z, but for what the levers are there for
        self.entries = [{j: row[j] for j in z if j in row and (i, j) not in through} for i, row in enumerate(self.rows)]

    def _followed(self, given: Row, right: Scalars) -> list[Scalar]:
        """All rates: some that are given, those that are not of z by the right sides of their rows, and zeros."""
        others = self.elimination.solved(right) if self.elimination is not None else []
        found = given | dict(zip(self.others, others, strict=True))
        return [found.get(j, 0.0) for j in range(self.m.n)]

    def completed(self, given: Scalars, right: Scalars, rates: Scalars | None = None) -> list[Scalar]:
        """All rates v, where those of z are given and J v = right.

        rates: v are accelerations beside these rates, and `right` does not know of the levers' part of J' v
        """
        v: list[Scalar] = [0.0] * self.m.n
        for j, x in zip(self.z, given, strict=True):
            v[j] = x
        if self.elimination is not None:
            b = list(right)
            for i, row in enumerate(self.entries):
                for j, x in row.items():
                    b[i] = b[i] - x * v[j]
            for lever in self.levers:
                u = lever.velocity(v) if rates is None else lever.acceleration(v, rates)
                for i, x in enumerate(lever.in_rows(u), lever.row):
                    b[i] = b[i] - x
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
        left = list(forces)
        for row, multiplier in zip(self.entries, multipliers, strict=True):
            for j, x in row.items():
                left[j] = left[j] - x * multiplier
        for lever in self.levers:
            for j, x in enumerate(lever.wrench(multipliers), lever.at):
                left[j] = left[j] - x
        return [left[j] for j in self.z], multipliers

    @property
    def through_levers(self) -> bool:
        """True if z are the six rates of one body that the loops feel only through its levers."""
        first = self.levers[0].at if self.levers else 0
        return bool(self.levers) and self.z == tuple(range(first, first + 6)) and not any(self.entries)

    @cached_property
    def point_columns(self) -> list[list[list[Scalar]]]:
        """For each lever: rates, those of z left out, by unit velocities of its point along three axes."""

        def column(lever: Lever, axis: Vector) -> list[Scalar]:
            right: list[Scalar] = [0.0] * len(self.rows)
            right[lever.row : lever.row + 3] = [-x for x in lever.in_rows(axis)]
            return self._followed({}, right)

        return [[column(lever, axis) for axis in UNIT_VECTORS] for lever in self.levers]

    @cached_property
    def S(self) -> list[list[Scalar]]:
        """Its columns, one for each of z."""
        if self.through_levers:
            return self._S_through_levers()
        return [self._followed({j: 1.0}, [-row.get(j, 0.0) for row in self.rows]) for j in self.z]

    def _S_through_levers(self) -> list[list[Scalar]]:
        """A rate that follows the point by y.(v + omega x arm) follows v by y and omega by arm x y."""
        rows: list[list[Scalar]] = []
        for k in range(self.m.n):
            force, moment = ZERO, ZERO
            for lever, columns in zip(self.levers, self.point_columns, strict=True):
                y = Vector(*(column[k] for column in columns))
                force, moment = force + y, moment + cross(lever.arm, y)
            rows.append([*force, *moment])
        for i, j in enumerate(self.z):
            rows[j] = [float(i == c) for c in range(len(self.z))]
        return [list(column) for column in zip(*rows, strict=True)]

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

    def actuation(self) -> list[list[Scalar]]:
        """S' B: rows by z, columns by actuator."""
        columns = [self.projected([float(j == a) for j in range(self.m.n)]) for a in self.m.actuated]
        return [list(row) for row in zip(*columns, strict=True)]

    def nearest(self, v: Scalars) -> list[Scalar]:
        """z of the rates S z that are nearest to v, lengths as shares of the mechanism's size: S' W S z = S' W v."""
        if not self.others:
            return [v[j] for j in self.z]
        weights = [1.0 / (scale * scale) for scale in self.m.scales]
        weighted = [[weight * x for weight, x in zip(weights, column, strict=True)] for column in self.S]
        A = [[sparse_dot(a, b) for b in self.S] for a in weighted]
        return solved(factored(A), [sparse_dot(a, v) for a in weighted])

    def spread(self) -> Scalar:
        """The largest entry of S, lengths as shares of the mechanism's size: large where z hardly moves with others,
        and where entries of J are not zero that were presumed to be.
        """
        scale = self.m.scales
        found: Scalar = 1.0
        for j, column in zip(self.z, self.S, strict=True):
            for k in self.others:
                if not is_zero(column[k]):
                    entry = absolute(column[k]) * (scale[j] / scale[k])
                    found = select(found, entry, entry, found)
        return found + self._assembled_otherwise()

    def _assembled_otherwise(self) -> Scalar:
        """Large where entries of J are not zero that were presumed to be."""
        m = self.m
        if not m.presumed:
            return 0.0
        rows = loop_rows(m._replace(zeros=m.zeros - m.presumed), self.posed)
        return sizes([rows[i][j] for i, j in sorted(m.presumed) if j in rows[i]]) * (PRESUMED_ZERO_WEIGHT / m.size)

    def sums(self) -> list[Scalar]:
        """Sums of the reciprocals of the pivots, in size: of the loops and of K."""
        eliminations = (self.elimination, self.K)
        return [0.0 if found is None else sizes(found.pivots) for found in eliminations]

    def doubt(self, x: Scalars, inertia: Scalars = (), actuation: Scalars = ()) -> Scalar:
        """About 1 at usual positions, large near singular ones, where the loops are open and where freedom is lost.

        x: the position; inertia, actuation: reciprocals of further pivots
        """
        scales = self.m.doubts[0]
        total = sparse_dot(scales[:4], (*self.sums(), sizes(inertia), sizes(actuation)))
        if scales.gap and self.rows:
            gaps = loop_gaps(self.m, self.posed, [x[k] for k in self.m.reads], in_any_axes=True)
            # squares are half of the operations of sizes, where products and sums are fused
            total = total + scales.gap * (sparse_dot(gaps, gaps) + self._blocked())
        return total

    def _blocked(self) -> Scalar:
        """Squared velocity of redundant rows, m or rad by unit rates of z, in motions that the other rows allow: zero,
        but in assemblies in which they are not redundant and take away a freedom.
        """
        total: Scalar = 0.0
        if self.elimination is None or len(self.rows) == len(self.others):
            return total
        for j in self.z:
            left = self.elimination.left_over([row.get(j, 0.0) for row in self.rows])
            total = total + sparse_dot(left, left) * (self.m.scales[j] * self.m.scales[j])
        return total


class MovingComplement:
    """A complement while the tree moves at rates v: accelerations that keep the loops closed."""

    def __init__(self, complement: Complement, v: Scalars) -> None:
        self.complement, self.v = complement, v
        known = {(lever.cut, lever.sign) for lever in complement.levers}  # their part of J' v is in `completed`
        m, posed, rows = complement.m, complement.posed, complement.rows
        self.right = [-x for x in (loop_bias(m, posed, v, known) if complement.others else [0.0] * len(rows))]

    def accelerations(self, y: Scalars) -> list[Scalar]:
        """All v' of the caller's."""
        complement = self.complement
        if complement.K is None:
            return self._completed(y)
        still = self.without_acceleration
        return self._completed(complement.K.solved([x - still[j] for x, j in zip(y, complement.y, strict=True)]))

    @cached_property
    def without_acceleration(self) -> list[Scalar]:
        """v' where z' = 0."""
        return self._completed([0.0] * len(self.complement.z))

    def _completed(self, z: Scalars) -> list[Scalar]:
        return self.complement.completed(z, self.right, self.v)


def sizes(values: Scalars) -> Scalar:
    """Sum of the magnitudes."""
    return sum(map(absolute, values), 0.0)
