"""What a formulation needs to know of a Stewart platform: plain tuples over any scalar, unvalidated.

Base frame throughout, unless a name says otherwise. A leg has axes of its own (D10):

    x = s, along the leg;  y = k x s / |k x s|, the moving axis of the universal joint;  z = x x y,

k being the universal joint's fixed axis. The lower part's frame has its origin at the base joint, the upper part's at
the platform joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import E_Z, ZERO, Matrix, Vector, cross
from tauforge.formulations.bodies import BodyParameters

LEGS = 6


def default_axes(base_points: Sequence[Vector]) -> list[Vector]:
    """Fixed axes of the universal joints where none are given: z x (b_i - mean b), not yet of length 1."""
    middle = sum(base_points, ZERO) * (1.0 / len(base_points))
    return [cross(E_Z, b - middle) for b in base_points]


class LegParameters(NamedTuple):
    b: Vector  # m, base joint
    p: Vector  # m, platform joint, in the platform's frame
    k: Vector  # unit vector, fixed axis of the universal joint
    lower: BodyParameters  # in leg axes, from the base joint
    upper: BodyParameters  # in leg axes, from the platform joint
    reflected_mass: Scalar = 0.0  # kg, what a rotor or a ball screw adds to the leg's sliding


class Friction(NamedTuple):
    """Viscous, one of each kind for all legs."""

    universal: Scalar  # N m s
    prismatic: Scalar  # N s/m
    spherical: Scalar  # N m s


class PlatformParameters(NamedTuple):
    legs: tuple[LegParameters, ...]
    body: BodyParameters  # platform and payload, in the platform's frame
    friction: Friction
    gravity: Vector  # m/s^2, acceleration of free fall


class PlatformMotion(NamedTuple):
    """Of the platform's frame."""

    X: Vector  # m, its origin
    R: Matrix  # base <- platform
    v: Vector
    omega: Vector
    a: Vector
    alpha: Vector
