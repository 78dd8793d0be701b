"""A base that moves: what its motion adds to accelerations and turns that are relative to it.

All vectors are in base axes, which are the world's axes at the instant considered. Poses, twists and accelerations of
platform and legs stay relative to the base: they are what somebody standing on it sees. Newton's and Euler's equations
need the absolute ones,

    a = a_rel + a_0 + alpha_0 x r + omega_0 x (omega_0 x r + 2 v_rel),
    W = W_rel + omega_0,   A = A_rel + alpha_0 + omega_0 x W_rel.

With the base at rest every term here is a structural zero, and costs nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.vectors import ZERO, Vector, cross, dot


class MovingBase(NamedTuple):
    """Motion of the base frame, base axes."""

    omega: Vector
    alpha: Vector
    a: Vector  # of its origin


FIXED_BASE = MovingBase(ZERO, ZERO, ZERO)


def carried(base: MovingBase, r: Vector, v: Vector) -> Vector:
    """What the base adds to the acceleration of a point at r from its origin that moves by v relative to it."""
    return base.a + cross(base.alpha, r) + cross(base.omega, cross(base.omega, r) + v * 2.0)


class AngularMotion(NamedTuple):
    """Angular velocity and acceleration of a body."""

    W: Vector
    A: Vector


def absolute_turning(base: MovingBase, W: Vector, A: Vector) -> AngularMotion:
    """The turning of a body in the inertial frame, from its turning relative to the base."""
    return AngularMotion(W + base.omega, A + base.alpha + cross(base.omega, W))


def without_spin(base: MovingBase, s: Vector, W: Vector, A: Vector) -> AngularMotion:
    """The turning of a symmetric body between two spherical joints, which nothing spins: W.s = 0 in the inertial frame.

    s: unit vector along it; W, A: across s, of its turning relative to the base
    With the base its frame would turn by omega_0 + W, and spin by omega_0.s; s'' is the same for both.
    """
    spin = dot(s, base.omega)
    more = base.alpha + cross(base.omega, W)
    A = A + more - s * dot(s, more) + cross(s, W + base.omega) * spin
    return AngularMotion(W + base.omega - s * spin, A)
