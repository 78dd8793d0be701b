"""A leg between two spherical joints in the cheapest exact form: symmetric about itself, and without spin.

Its motion follows from its direction alone: s'' = (S'' - 2 L' s')/L across the leg. Let J be its inertia across the leg
about the base joint, both parts about their own origins, and r, h the first moments of upper and lower part along it.
The apparent mass of its tip is m + 2 r/L + J/L^2 across the leg and m along it:

    K = m a + r s'' + [J s'' + r a + h g up + C_u s']/L across the leg,  a = S'' + g up.

Components along the leg do not enter the platform's equations, so they are not removed from vectors; `along` corrects
for them.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, is_zero, sqrt
from tauforge.algebra.vectors import Matrix, Vector, dot
from tauforge.formulations.stewart.lumping import LumpedLeg
from tauforge.formulations.stewart.parameters import Friction


class FreeTip(NamedTuple):
    """Position of a leg without a fixed axis."""

    leg: LumpedLeg
    q: Vector  # platform joint from the moved origin
    S: Vector
    L: Scalar
    L_inverse: Scalar


def free_tip(leg: LumpedLeg, q: Vector, S: Vector) -> FreeTip:
    L2 = dot(S, S)
    L_inverse = 1.0 / sqrt(L2)
    return FreeTip(leg, q, S, L2 * L_inverse, L_inverse)


class AddedMass(NamedTuple):
    """Apparent mass of the tip across the leg, beyond its own mass."""

    turning: Scalar  # r/L + J/L^2, of L s''
    whole: Scalar  # 2 r/L + J/L^2, of S''


def added_mass(t: FreeTip) -> AddedMass:
    lever = t.leg.upper_moment.x * t.L_inverse
    turning = lever + t.leg.J[1, 1] * (t.L_inverse * t.L_inverse)
    return AddedMass(turning, turning + lever)


def free_tip_force(
    t: FreeTip, S_dot: Vector, a: Vector, up: Vector, g: Scalar, friction: Friction
) -> tuple[Vector, Scalar]:
    """Force of the platform on the leg without the actuator's: K + along s.

    a: acceleration of the tip less gravity; up: unit vector against gravity, g its magnitude
    """
    leg, Li = t.leg, t.L_inverse
    r, h = leg.upper_moment.x, leg.lower_moment.x
    C_u, C_p, _ = friction
    Ldot = dot(t.S, S_dot) * Li
    a_s, up_s = dot(t.S, a) * Li, dot(t.S, up) * Li
    turning, whole = added_mass(t)
    of_up = (h * Li - turning) * g
    of_rate = Li * (C_u * Li - 2.0 * (turning * Ldot))
    K = a * (leg.tip_mass + whole) + up * of_up + S_dot * of_rate
    across2 = dot(S_dot, S_dot) - Ldot * Ldot
    along = C_p * Ldot - r * (across2 * (Li * Li)) - (whole * a_s + of_up * up_s + of_rate * Ldot)
    if not is_zero(leg.reflected_mass):
        along = along + leg.reflected_mass * (a_s - g * up_s + across2 * Li)
    return K, along


def free_tip_mass_matrix(t: FreeTip) -> Matrix:
    """The apparent mass of the leg at its tip, 3 x 3, base axes, with the platform's point mass there."""
    added, s = added_mass(t).whole, tuple(t.S * t.L_inverse)
    across, along = t.leg.tip_mass + added, t.leg.reflected_mass - added
    entries: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i, 3):
            entry = along * (s[i] * s[j])
            entries[i][j] = entries[j][i] = entry + across if i == j else entry
    return Matrix.of(entries)
