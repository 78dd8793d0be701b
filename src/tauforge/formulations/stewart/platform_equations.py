"""Newton's and Euler's equations of the platform, which all models share (Dasgupta 1998, Pedrammehr 2012)."""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.inertias import rotated
from tauforge.algebra.linear import solved_by_pivots
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Matrix, cross
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.stewart.kinematics import LegVector, leg_vector
from tauforge.formulations.stewart.moving_base import FIXED_BASE, MovingBase, absolute_turning, carried
from tauforge.formulations.stewart.parameters import PlatformMotion, PlatformParameters


def inertial_wrench(
    p: PlatformParameters, m: PlatformMotion, inertia: Matrix | None = None, base: MovingBase = FIXED_BASE
) -> Wrench:
    """The wrench that the platform needs at its origin: M (a_g - g), and R x that + I alpha + omega x I omega (D33-34).

    inertia: about the mass centre, base axes; default that of the body (D32).
    """
    R = m.R @ p.body.com  # D30, P47
    a = cross(m.alpha, R) + cross(m.omega, cross(m.omega, R)) + m.a  # D31, P46
    if base is not FIXED_BASE:
        a = a + carried(base, m.X + R, m.v + cross(m.omega, R))
    omega, alpha = absolute_turning(base, m.omega, m.alpha)
    I = rotated(p.body.inertia, m.R) if inertia is None else inertia
    force = (a - p.gravity) * p.body.mass  # P45
    return Wrench(force, cross(R, force) + I @ alpha + cross(omega, I @ omega))  # P49


def leg_vectors(p: PlatformParameters, m: PlatformMotion) -> list[LegVector]:
    return [leg_vector(leg, m.X, m.R) for leg in p.legs]


def force_matrix(legs: Sequence[LegVector]) -> list[list[Scalar]]:
    """H: its columns are the wrenches of unit forces that extend the legs (D36)."""
    columns = [[*leg.s, *cross(leg.q, leg.s)] for leg in legs]
    return [list(row) for row in zip(*columns, strict=True)]


def leg_forces(legs: Sequence[LegVector], wanted: Wrench) -> list[Scalar]:
    """Forces along the legs that together give the wrench."""
    return solved_by_pivots(force_matrix(legs), [*wanted.force, *wanted.moment])
