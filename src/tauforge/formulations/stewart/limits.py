"""Margins of a pose to the limits of a Stewart platform: strokes of legs, cones of joints, gaps between legs.

Every limit has one margin, positive where it holds, in the order of `margins`. `tests` have the same signs and cost
less: they compare chords instead of angles and squares of distances instead of distances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, Scalars, arctangent, select, sin, sqrt
from tauforge.algebra.vectors import E_X, E_Z, Matrix, Vector, cross, dot, unit
from tauforge.formulations.stewart.kinematics import LegVector, leg_vector
from tauforge.formulations.stewart.parameters import LEGS, LegParameters

LEG_PAIRS = tuple(combinations(range(LEGS), 2))
PARALLEL_LEGS = 1e-12  # squared sine of the angle below which two legs are taken to be parallel
TINY = 1e-300  # carries NaN of any value into the smallest
ALONG_Z = 1e-18  # sine squared of the angle to the base's z, below which a joint's axis is taken to lie along it


class Cones(NamedTuple):
    """Joints' cones: their axes from base to platform, in the base's and the platform's frame, and half angles, rad."""

    base_axes: tuple[Vector, ...]
    platform_axes: tuple[Vector, ...]
    base_angle: Scalar
    platform_angle: Scalar


class PlatformLimits(NamedTuple):
    """None where a limit was not given."""

    stroke: tuple[tuple[Scalar, Scalar], ...] | None = None  # m, shortest and longest of each leg
    cones: Cones | None = None
    leg_radius: Scalar | None = None  # m
    force: tuple[Scalar, ...] | None = None  # N, of each leg; not a matter of the pose alone


def margins(legs: Sequence[LegParameters], limits: PlatformLimits, X: Vector, R: Matrix) -> list[Scalar]:
    """Above the shortest length of each leg, below the longest, m; within the base's and the platform's cones, rad;
    between the surfaces of each two legs, m, in the order of LEG_PAIRS.
    """
    return _compared(legs, limits, X, R, _by_angle, lambda square, radius: sqrt(square) - 2.0 * radius)


def nearest(legs: Sequence[LegParameters], limits: PlatformLimits, X: Vector, R: Matrix) -> list[Scalar]:
    """The smaller margin of each leg's stroke, its two cones, the smallest gap and the numbers of its two legs from 1,
    of the limits that were given; and last the smallest of all, of which only the sign has a meaning.

    A margin that is NaN makes the last NaN, and a gap the smallest gap.
    """
    rest = margins(legs, limits, X, R)
    least = _least(rest)[0]
    found: list[Scalar] = []
    if limits.stroke is not None:
        found += [select(a, b, a, b) for a, b in zip(rest[:LEGS], rest[LEGS : 2 * LEGS], strict=True)]
        rest = rest[2 * LEGS :]
    if limits.cones is not None:
        found, rest = found + rest[: 2 * LEGS], rest[2 * LEGS :]
    if limits.leg_radius is not None:
        gap, *pair = _least(rest, *zip(*((i + 1.0, j + 1.0) for i, j in LEG_PAIRS), strict=True))
        found += [gap, *pair]
    return [*found, least]


def _least(values: Scalars, *names: Scalars) -> list[Scalar]:
    """The smallest value and its names, which are those of the first that has it."""
    best, total = [values[0], *(name[0] for name in names)], values[0]
    for k, value in enumerate(values[1:], 1):
        own = [value, *(name[k] for name in names)]
        best, total = [select(value, best[0], a, b) for a, b in zip(own, best, strict=True)], total + value
    return [best[0] + TINY * total, *best[1:]]


def tests(legs: Sequence[LegParameters], limits: PlatformLimits, X: Vector, R: Matrix) -> list[Scalar]:
    """Numbers with the signs of `margins`."""
    return _compared(legs, limits, X, R, _by_chord, lambda square, radius: square - 4.0 * (radius * radius))


def _compared(
    legs: Sequence[LegParameters],
    limits: PlatformLimits,
    X: Vector,
    R: Matrix,
    cone: Callable[[Vector, Vector, Scalar], Scalar],
    gap: Callable[[Scalar, Scalar], Scalar],
) -> list[Scalar]:
    vectors = [leg_vector(leg, X, R) for leg in legs]
    found: list[Scalar] = []
    if limits.stroke is not None:
        found += [leg.L - shortest for leg, (shortest, _) in zip(vectors, limits.stroke, strict=True)]
        found += [longest - leg.L for leg, (_, longest) in zip(vectors, limits.stroke, strict=True)]
    if limits.cones is not None:
        c = limits.cones
        found += [cone(leg.s, k, c.base_angle) for leg, k in zip(vectors, c.base_axes, strict=True)]
        found += [cone(leg.s, R @ k, c.platform_angle) for leg, k in zip(vectors, c.platform_axes, strict=True)]
    if limits.leg_radius is not None:
        squares = squared_distances([leg.b for leg in legs], vectors)
        found += [gap(square, limits.leg_radius) for square in squares]
    return found


def _by_angle(s: Vector, axis: Vector, widest: Scalar) -> Scalar:
    return widest - angle_between(s, axis)


def _by_chord(s: Vector, axis: Vector, widest: Scalar) -> Scalar:
    chord, apart = 2.0 * sin(0.5 * widest), s - axis
    return chord * chord - dot(apart, apart)


def angle_between(a: Vector, b: Vector) -> Scalar:
    """The angle of two unit vectors. Small angles keep their digits, which the arc cosine loses."""
    apart, together = a - b, a + b
    return 2.0 * arctangent(sqrt(dot(apart, apart)), sqrt(dot(together, together)))


def universal_angles(k: Vector, s: Vector) -> tuple[Scalar, Scalar]:
    """The leg's turn about the joint's fixed axis k, from where it is nearest to the base's z; and towards k.

    Where k lies along z, the turn is measured from the base's x.
    """
    z, x = E_Z - k * k.z, E_X - k * k.x
    upright = dot(z, z)
    reference = unit(Vector(*(select(upright, ALONG_Z, b, a) for a, b in zip(z, x, strict=True))))
    across = cross(k, reference)
    normal = cross(k, s)
    return arctangent(dot(s, across), dot(s, reference)), arctangent(dot(s, k), sqrt(dot(normal, normal)))


def squared_distances(base: Sequence[Vector], legs: Sequence[LegVector]) -> list[Scalar]:
    """Between the axes of each two legs, taken as segments from joint to joint, m^2."""
    squares = [leg.L * leg.L for leg in legs]
    segments = [LegSegment(leg.S, square, 1.0 / square) for leg, square in zip(legs, squares, strict=True)]
    return [squared_distance(segments[i], segments[j], base[i] - base[j]) for i, j in LEG_PAIRS]


class LegSegment(NamedTuple):
    """From its start to its end, its squared length and the inverse of that."""

    d: Vector
    square: Scalar
    inverse: Scalar


def squared_distance(one: LegSegment, other: LegSegment, r: Vector) -> Scalar:
    """Between two segments, the first of which starts at r from the start of the other.

    The nearest points of their lines, then each segment's nearest to that of the other (Ericson 2005, sec. 5.1.9).
    """
    d1, a, a_inverse = one
    d2, e, e_inverse = other
    b, c, f = dot(d1, d2), dot(d1, r), dot(d2, r)
    denominator = a * e - b * b
    s = select(PARALLEL_LEGS * a * e, denominator, within_segment((b * f - c * e) / denominator), 0.0)
    t = within_segment((b * s + f) * e_inverse)
    s = within_segment((b * t - c) * a_inverse)
    between = r + d1 * s - d2 * t
    return dot(between, between)


def within_segment(x: Scalar) -> Scalar:
    """x, or the nearer of 0 and 1."""
    return select(x, 0.0, 0.0, select(1.0, x, 1.0, x))
