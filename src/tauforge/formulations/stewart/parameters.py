"""Parameters of a Stewart platform for the formulations: plain tuples over any scalar, unvalidated.

Vectors are in the base frame unless a name says otherwise. A leg has axes of its own (D10):

    x = s, along the leg;  y = k x s / |k x s|, the moving axis of the universal joint;  z = x x y,

k being the universal joint's fixed axis. The lower part's frame has its origin at the base joint, the upper part's at
the platform joint. Where the base joint is spherical, y is any direction across the leg: both parts are symmetric about
x, so that it makes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import E_Z, NO_DISPLACEMENT, ZERO, Matrix, Vector, cross
from tauforge.formulations.bodies import BodyParameters, heavier

LEGS = 6


def default_axes(base_points: Sequence[Vector]) -> list[Vector]:
    """Fixed axes of the universal joints where none are given: z x (b_i - mean b), not yet of length 1."""
    middle = sum(base_points, ZERO) * (1.0 / len(base_points))
    return [cross(E_Z, b - middle) for b in base_points]


class LegParameters(NamedTuple):
    b: Vector  # m, base joint
    p: Vector  # m, platform joint, in the platform's frame
    k: Vector | None  # unit vector, fixed axis of the universal joint; None: a spherical joint is there instead
    lower: BodyParameters  # in leg axes, from the base joint
    upper: BodyParameters  # in leg axes, from the platform joint
    reflected_mass: Scalar = 0.0  # kg, what a rotor or a ball screw adds to the leg's sliding


class Friction(NamedTuple):
    """Viscous coefficients, one of each kind for all legs."""

    universal: Scalar  # N m s, of the base joint, whatever its kind
    prismatic: Scalar  # N s/m
    spherical: Scalar  # N m s, of the platform joint; 0 where the base joint is spherical too


class PlatformParameters(NamedTuple):
    legs: tuple[LegParameters, ...]
    body: BodyParameters  # platform and payload, in the platform's frame
    friction: Friction
    gravity: Vector  # m/s^2, acceleration of free fall


def with_payload(p: PlatformParameters, payload: BodyParameters) -> PlatformParameters:
    """The platform that holds the payload too, which is given in the platform's frame."""
    return p._replace(body=heavier(p.body, payload, NO_DISPLACEMENT))


class PlatformMotion(NamedTuple):
    """Motion of the platform's frame."""

    X: Vector  # m, its origin
    R: Matrix  # base <- platform
    v: Vector
    omega: Vector
    a: Vector
    alpha: Vector
