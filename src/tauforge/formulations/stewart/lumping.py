"""The platform as point masses at its joints and a remainder, the legs by their moments about the base joint.

This depends only on the robot's parameters and is done once. A body's motion depends on ten parameters: its mass, first
and second moments. Point masses at the six joints can represent up to six of them, and a mass at a leg's tip costs the
leg nothing. What is left is the remainder. Masses may be negative: only sums matter.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.inertias import point_mass_inertia, second_moments
from tauforge.algebra.linear import independent_rows, solved_by_pivots
from tauforge.algebra.scalars import Scalar, is_number, select, sqrt
from tauforge.algebra.vectors import E_Z, Matrix, Vector, dot, outer
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.stewart.parameters import Friction, LegParameters, PlatformParameters

SMALLEST_PIVOT = 2e-2  # a pivot of the scaled equations for the masses must be this large
SECOND_XX, SECOND_YY, SECOND_ZZ = 4, 5, 7  # places in `moments`
LARGEST_MASSES = 2.0  # sum of the point masses' magnitudes over the body's mass
REMAINDER_ERROR = 1e-14  # a remainder that is smaller than this, relative to the moment it is left of, is rounding


class LumpedLeg(NamedTuple):
    b: Vector
    p: Vector  # from the moved origin
    k: Vector | None  # None: a spherical joint at the base
    J: Matrix  # of both parts about their own frames' origins, leg axes
    lower_moment: Vector  # m_d r_d
    upper_moment: Vector  # m_u r_u, from the platform joint
    tip_mass: Scalar  # of the upper part and the platform's point mass at this joint
    reflected_mass: Scalar


class LumpedPlatform(NamedTuple):
    legs: tuple[LumpedLeg, ...]
    origin: Vector  # the moved origin in the platform's frame
    mass: Scalar  # of the remainder
    first_moment: Vector
    second_moments: Matrix
    friction: Friction
    up: Vector  # unit vector against gravity
    g: Scalar


def lumped(p: PlatformParameters) -> LumpedPlatform:
    """Parameters about the first platform joint, with as much of the platform on the joints as is well conditioned."""
    origin = p.legs[0].p
    points = [leg.p - origin for leg in p.legs]
    masses, rest = masses_at(points, moments(*moments_about(origin, p.body)))
    mass, hx, hy, hz, xx, yy, xy, zz, xz, yz = rest
    second = Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    g = sqrt(dot(p.gravity, p.gravity))
    up = E_Z if is_number(g) and g == 0 else p.gravity * (-1.0 / select(0.0, g, g, 1.0))
    legs = tuple(lumped_leg(leg, point, m) for leg, point, m in zip(p.legs, points, masses, strict=True))
    return LumpedPlatform(legs, origin, mass, Vector(hx, hy, hz), second, p.friction, up, g)


def moments_about(origin: Vector, body: BodyParameters) -> tuple[Scalar, Vector, Matrix]:
    """Mass, first and second moments."""
    com = body.com - origin
    second = second_moments(body.inertia + point_mass_inertia(body.mass, com))
    return body.mass, com * body.mass, second


def with_payload(p: LumpedPlatform, payload: BodyParameters) -> LumpedPlatform:
    """The platform that holds the payload too, which joins the remainder: moments of bodies add.

    Identity: moves as `lumped` of the platform and the payload as one body; only the shares of joints and remainder
    differ.
    """
    mass, first, second = moments_about(p.origin, payload)
    return p._replace(mass=p.mass + mass, first_moment=p.first_moment + first, second_moments=p.second_moments + second)


def lumped_leg(leg: LegParameters, point: Vector, rider: Scalar) -> LumpedLeg:
    lower, upper = leg.lower, leg.upper
    of_lower, of_upper = (body.inertia + point_mass_inertia(body.mass, body.com) for body in (lower, upper))
    J = of_lower + of_upper
    moved = lower.com * lower.mass, upper.com * upper.mass
    return LumpedLeg(leg.b, point, leg.k, J, *moved, upper.mass + rider, leg.reflected_mass)


def moments(mass: Scalar, first: Vector, Q: Matrix) -> list[Scalar]:
    """Mass, first moments, and second moments in the order in which point masses take them over."""
    return [mass, *first, Q[0, 0], Q[1, 1], Q[0, 1], Q[2, 2], Q[0, 2], Q[1, 2]]


def masses_at(points: list[Vector], wanted: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """Masses at the points that take over as many of the ten moments as conditioning allows, and what remains of these.

    Unknown parameters (symbols, inputs of a graph) stay in the remainder.
    """
    numbers = [x for point in points for x in point] + wanted
    if not all(is_number(x) for x in numbers):
        return [0.0] * len(points), wanted
    columns = [moments(1.0, point, outer(point, point)) for point in points]
    rows = [[float(column[k]) for column in columns] for k in range(len(wanted))]
    candidates = independent_rows(rows, len(points), SMALLEST_PIVOT)
    masses, chosen = bounded_masses(rows, [float(y) for y in wanted], candidates)
    rest = []
    for k, (row, y) in enumerate(zip(rows, wanted, strict=True)):
        taken = [a * m for a, m in zip(row, masses, strict=True)]
        left = y - sum(taken)
        magnitude = abs(y) + sum(abs(x) for x in taken)
        rest.append(0.0 if k in chosen or abs(left) <= REMAINDER_ERROR * magnitude else left)
    return masses, rest


def bounded_masses(
    rows: list[list[float]], wanted: list[float], candidates: list[int]
) -> tuple[list[float], list[int]]:
    """Masses that take over one moment after another, as long as their magnitudes stay near the body's own mass: masses
    of both signs that nearly cancel would lose digits.
    """
    spread = sum(rows[k][i] for k in (SECOND_XX, SECOND_YY, SECOND_ZZ) for i in range(len(rows[0]))) / len(rows[0])
    second = sum(abs(wanted[k]) for k in (SECOND_XX, SECOND_YY, SECOND_ZZ))
    largest = LARGEST_MASSES * max(abs(wanted[0]), second / spread)
    masses: list[float] = [0.0] * len(rows[0])
    chosen: list[int] = []
    for k in candidates:
        tried = least_norm(rows, wanted, [*chosen, k])
        if sum(abs(m) for m in tried) <= largest:
            masses, chosen = tried, [*chosen, k]
    return masses, chosen


def least_norm(rows: list[list[float]], wanted: list[float], chosen: list[int]) -> list[float]:
    """The smallest masses with rows[k] . masses = wanted[k] for the chosen k: A' (A A')^-1 y."""
    A = [rows[k] for k in chosen]
    gram = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in A] for a in A]
    weights = solved_by_pivots(gram, [wanted[k] for k in chosen])
    return [sum(w * a[i] for w, a in zip(weights, A, strict=True)) for i in range(len(rows[0]))]
