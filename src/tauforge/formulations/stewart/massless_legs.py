"""Leg forces with massless legs and frictionless joints: D41, after Fichter 1986."""

from __future__ import annotations

from tauforge.algebra.scalars import Scalar
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.stewart.exact import inertial_wrench
from tauforge.formulations.stewart.kinematics import forces_along_legs
from tauforge.formulations.stewart.parameters import FIXED_BASE, MovingBase, PlatformMotion, PlatformParameters


def inverse_dynamics(
    p: PlatformParameters, m: PlatformMotion, external: Wrench = NO_WRENCH, base: MovingBase = FIXED_BASE
) -> list[Scalar]:
    """F_0. Identity: equals the exact model of a platform with massless legs and frictionless joints."""
    return forces_along_legs(p, m, inertial_wrench(p, m, external, base=base))
