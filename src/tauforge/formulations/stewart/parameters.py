"""Parameters and motions of a Stewart platform for the formulations: plain tuples over any scalar, unvalidated.

Vectors are in the base frame unless a name says otherwise. A leg has axes of its own (D10):

    x = s, along the leg;  y = k x s / |k x s|, the moving axis of the universal joint;  z = x x y,

k being the universal joint's fixed axis. The lower part's frame has its origin at the base joint, the upper part's at
the platform joint. Where the base joint is spherical, y is any direction across the leg: both parts are symmetric about
x, so that it makes no difference.

The base may move, which the papers do not consider. All vectors are in base axes then, which are the world's axes at
the instant considered. Poses, twists and accelerations of platform and legs stay relative to the base: they are what
somebody standing on it sees. Newton's and Euler's equations need the absolute ones,

    a = a_rel + a_0 + alpha_0 x r + omega_0 x (omega_0 x r + 2 v_rel),
    W = W_rel + omega_0,   A = A_rel + alpha_0 + omega_0 x W_rel.

With the base at rest every term of these is a structural zero, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.rotations import rotation_of
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, NO_DISPLACEMENT, ZERO, Matrix, Vector, cross, dot
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


def motion(pose: Scalars, twist: Scalars | None = None, acceleration: Scalars | None = None) -> PlatformMotion:
    """pose: x, y, z and the angles of R = Rz Ry Rx; twist and acceleration are zero by default."""

    def halves(x: Scalars | None) -> tuple[Vector, Vector]:
        return (ZERO, ZERO) if x is None else (Vector(*x[:3]), Vector(*x[3:]))

    return PlatformMotion(Vector(*pose[:3]), rotation_of(Vector(*pose[3:])), *halves(twist), *halves(acceleration))


class MovingBase(NamedTuple):
    """Motion of the base frame, base axes."""

    omega: Vector
    alpha: Vector
    a: Vector  # of its origin


FIXED_BASE = MovingBase(ZERO, ZERO, ZERO)


def carried(base: MovingBase, r: Vector, v: Vector) -> Vector:
    """Acceleration that the base adds to a point at r from its origin that moves by v relative to it."""
    return base.a + cross(base.alpha, r) + cross(base.omega, cross(base.omega, r) + v * 2.0)


def absolute_turning(base: MovingBase, W: Vector, A: Vector) -> tuple[Vector, Vector]:
    """Angular velocity and acceleration of a body in the inertial frame, from those relative to the base."""
    return W + base.omega, A + base.alpha + cross(base.omega, W)


def without_spin(base: MovingBase, s: Vector, W: Vector, A: Vector) -> tuple[Vector, Vector]:
    """The turning of a symmetric body between two spherical joints, which nothing spins: W.s = 0 in the inertial frame.

    s: unit vector along it; W, A: across s, of its turning relative to the base
    With the base its frame would turn by omega_0 + W, and spin by omega_0.s; s'' is the same for both.
    """
    spin = dot(s, base.omega)
    more = base.alpha + cross(base.omega, W)
    A = A + more - s * dot(s, more) + cross(s, W + base.omega) * spin
    return W + base.omega - s * spin, A
