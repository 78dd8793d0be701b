"""Forces and moments at every joint: Dasgupta & Mruthyunjaya 1998 in its exact form."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.vectors import ZERO, cross
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.stewart.exact import leg_load, required_wrench
from tauforge.formulations.stewart.moving_base import FIXED_BASE, MovingBase
from tauforge.formulations.stewart.parameters import PlatformMotion, PlatformParameters
from tauforge.formulations.stewart.platform_equations import leg_forces, leg_vectors


class Reactions(NamedTuple):
    """Wrenches of one leg's joints, base axes."""

    universal: Wrench  # of the base on the lower part, at the base joint, whatever its kind
    # of the lower part on the upper part, about the base joint, actuator and friction included: F_p of D23 and D26 is
    # its force + C_p L' s, and F_c of D28 its force across the leg
    prismatic: Wrench
    spherical: Wrench  # of the platform on the leg, at the platform joint


def reactions(
    p: PlatformParameters, m: PlatformMotion, external: Wrench = NO_WRENCH, base: MovingBase = FIXED_BASE
) -> list[Reactions]:
    """Identity: along the leg the prismatic force is F - C_p L' - m_r L'', F being the actuator's force."""
    loads = [leg_load(p, leg, m, base) for leg in p.legs]
    along = leg_forces(leg_vectors(p, m), required_wrench(p, m, external, loads, base))
    result = []
    for load, x in zip(loads, along, strict=True):
        l = load.motion
        F_s = load.K - l.s * x  # D21: the leg pushes the platform by x
        on_lower = l.c * load.M_u - l.W * p.friction.universal
        F_p, M_p = load.upper.force - F_s, load.upper.moment - cross(l.S, F_s) + load.f  # D23, D18
        universal = Wrench(load.lower.force + F_p, on_lower)  # D27, or D25 with F_p - C_p L' s in one
        result.append(Reactions(universal, Wrench(F_p, M_p), Wrench(F_s, ZERO - load.f)))
    return result
