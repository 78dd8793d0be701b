"""How the pods turn: the equations of Pedrammehr et al. 2012 as printed, beside derivatives of where the pods are.

The true values are derivatives along a path, taken by dual numbers: of the pods' own axes and lengths, which are
positions, and of the rates found so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tauforge.algebra.dual import Dual, derivative, primal
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Vector, cross, dot
from tauforge.arrays import Array
from tauforge.formulations.stewart.kinematics import LegMotion, leg_motion
from tauforge.formulations.stewart.parameters import PlatformMotion, motion
from tauforge.motion import MotionSample, pose_rates
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.stewart_legs import legs


class Rotation(NamedTuple):
    """Magnitudes of the pods' angular velocities (rad/s) or accelerations (rad/s^2), (k, 6)."""

    full: Array  # with the spin that the universal joint gives
    simplified: Array  # by the equations of Dasgupta 1998, which leave the spin out
    across: Array  # of the full vector, the part normal to the pod
    along: Array  # and its component along the pod, with its sign

    @property
    def difference(self) -> Array:
        return self.full - self.simplified

    @property
    def apart(self) -> Array:
        """(6,) the largest difference of each pod beside the largest magnitude."""
        return self.beside(self.difference)

    @property
    def across_apart(self) -> Array:
        """The same, where the simplified vector is taken to be the part normal to the pod."""
        return self.beside(self.full - self.across)

    def beside(self, x: Array) -> Array:
        """(6,) the largest magnitude of x for each pod beside that of the full vector."""
        return np.asarray(np.abs(x).max(axis=0) / self.full.max(axis=0))


def columns(x: Array) -> list[Array]:
    return [x[:, k] for k in range(6)]


def magnitude(vector: Vector) -> Array:
    return np.asarray(np.sqrt(dot(vector, vector)))


def rotations(platform: StewartPlatform, states: MotionSample) -> tuple[Rotation, Rotation]:
    """Angular velocities and accelerations."""
    full, simplified = (legs(platform, states, spin=spin) for spin in (True, False))

    def rotation(vectors: Iterable[Vector], simple: Iterable[Vector]) -> Rotation:
        rows = []
        for leg, vector, without in zip(full, vectors, simple, strict=True):
            along = dot(vector, leg.s)
            rows.append((magnitude(vector), magnitude(without), magnitude(vector - leg.s * along), along))
        return Rotation(*(np.stack(column, axis=-1) for column in zip(*rows, strict=True)))

    return (
        rotation([leg.W for leg in full], [leg.W for leg in simplified]),
        rotation([leg.A for leg in full], [leg.A for leg in simplified]),
    )


# ------------------------------------------------------------------------------------------------ equations as printed


def length_rates(leg: LegMotion, m: PlatformMotion) -> tuple[Scalar, Scalar]:
    """l' by eq. 8 and l'' by eq. 9."""
    n, q, omega = leg.s, leg.q, m.omega
    turning = cross(leg.W, n)
    rate = dot(m.v, n) + dot(omega, cross(q, n))
    second = dot(m.a, n) + dot(m.alpha, cross(q, n)) + dot(m.v, turning)
    return rate, second + dot(omega, cross(cross(omega, q), n) + cross(q, turning))


def velocity_by_components(leg: LegMotion) -> Vector:
    """omega_l by eqs 12-14."""
    W: Vector = leg.u * leg.omega_u + leg.v * leg.omega_v
    return W


def acceleration_components(leg: LegMotion) -> tuple[Scalar, Scalar]:
    """alpha_u and alpha_v by eqs 19-21; eq. 21 with c, which our text of it lacks."""
    n, l, c, W = leg.s, leg.L, leg.c, leg.W
    both = leg.omega_u * leg.omega_v
    rest = leg.S_ddot - cross(c, n * l) * both - cross(W, cross(W, n * l)) - cross(W, n) * (2.0 * leg.Ldot)
    rest = rest - n * leg.Lddot
    return -(dot(rest, leg.v) / (l * dot(n, c))), dot(rest, leg.u) / (l * dot(n, c))


def acceleration_by_components(leg: LegMotion) -> Vector:
    """alpha_l by eqs 18-21."""
    alpha_u, alpha_v = acceleration_components(leg)
    A: Vector = leg.u * alpha_u + leg.v * alpha_v + leg.c * (leg.omega_u * leg.omega_v)
    return A


def printed_spin_rate(leg: LegMotion) -> Scalar:
    """alpha_t by eq. 25 as printed."""
    un = dot(leg.u, leg.s)
    alpha_n = leg.A - leg.s * leg.spin_rate
    return dot(alpha_n, leg.u) * un / (1.0 - un**2) - leg.omega_u * leg.omega_v


# ------------------------------------------------------------------------------------------------- beside the true ones


class Errors(NamedTuple):
    """The largest error of any pod's rates along a path, and the largest true value."""

    length_rate: tuple[float, float]  # eq. 8, m/s
    length_acceleration: tuple[float, float]  # eq. 9, m/s^2
    velocity_by_components: tuple[float, float]  # eqs 12-14, rad/s
    velocity_by_parts: tuple[float, float]  # eqs 15-17, rad/s
    velocity_without_spin: tuple[float, float]
    acceleration_by_components: tuple[float, float]  # eqs 18-21, rad/s^2
    acceleration_along_u: tuple[float, float]  # alpha_u of eq. 19 against eq. 24
    acceleration_by_parts: tuple[float, float]  # eqs 22-25, with eq. 25 mended
    acceleration_as_printed: tuple[float, float]  # eqs 22-25, with eq. 25 as printed
    spin_rate_as_printed: tuple[float, float]  # eq. 25 as printed

    def of(self, name: str) -> float:
        """Relative."""
        error, largest = getattr(self, name)
        return float(error / largest)


def kinematic_errors(platform: StewartPlatform, states: MotionSample) -> Errors:
    rates, _ = pose_rates(states.position, states.velocity)
    pose = [Dual(x, {0: rate}) for x, rate in zip(columns(states.position), columns(rates), strict=True)]
    twist = [Dual(x, {0: rate}) for x, rate in zip(columns(states.velocity), columns(states.acceleration), strict=True)]
    moving = motion(*(columns(x) for x in states))
    found: list[list[tuple[float, float]]] = []
    for parameters in platform.parameters.legs:
        leg = leg_motion(parameters, moving)
        placed, dual = leg_motion(parameters, motion(pose)), leg_motion(parameters, motion(pose, twist))
        W = _turning(placed)
        A = Vector(*(np.asarray(derivative(x, 0)) for x in dual.W))
        printed = printed_spin_rate(leg)
        rate, second = length_rates(leg, moving)
        W_n = leg.W - leg.s * leg.spin
        found.append(
            [
                _scalars(rate, derivative(placed.L, 0)),
                _scalars(second, derivative(dual.Ldot, 0)),
                _vectors(velocity_by_components(leg), W),
                _vectors(leg.W, W),
                _vectors(W_n, W),
                _vectors(acceleration_by_components(leg), A),
                _scalars(acceleration_components(leg)[0], dot(A, leg.u)),
                _vectors(leg.A, A),
                _vectors(leg.A + leg.s * (printed - leg.spin_rate), A),
                _scalars(printed, dot(A, leg.s)),
            ]
        )
    pairs = np.array(found).max(axis=0)
    return Errors(*((float(error), float(largest)) for error, largest in pairs))


def _turning(leg: LegMotion) -> Vector:
    """The angular velocity of the leg's own axes, which are duals: the vector of T' times the transpose of T."""
    T = leg.T

    def across(r: int, c: int) -> Array:
        return np.asarray(sum(derivative(T[r, k], 0) * np.asarray(primal(T[c, k])) for k in range(3)))

    return Vector(across(2, 1), across(0, 2), across(1, 0))


def _scalars(got: Scalar, wanted: Scalar) -> tuple[float, float]:
    return float(np.abs(got - wanted).max()), float(np.abs(wanted).max())


def _vectors(got: Vector, wanted: Vector) -> tuple[float, float]:
    return float(magnitude(got - wanted).max()), float(magnitude(wanted).max())
