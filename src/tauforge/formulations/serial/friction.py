"""Joint friction: viscous and asymmetric Coulomb, motor side times gear ratio, over any scalar."""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.scalars import Scalar, is_zero, sign, tanh
from tauforge.formulations.serial.parameters import DriveParameters


def friction_forces(
    drives: Sequence[DriveParameters], qd: Sequence[Scalar], coulomb_speed: Scalar = 0.0
) -> list[Scalar]:
    """B G^2 qd + |G| T_plus for qd > 0, - |G| T_minus for qd < 0, zero at rest.

    With s = sign(qd), or tanh(qd / coulomb_speed) where that is positive, the Coulomb part is
    |G| ((T_plus + T_minus)/2 s + (T_plus - T_minus)/2 s^2): one expression for both signs, and 0 with slope 0 at rest.
    Identity: odd in qd where T_plus = T_minus.
    """
    forces = []
    for drive, speed in zip(drives, qd, strict=True):
        G2 = drive.gear_ratio * drive.gear_ratio
        G_size = drive.gear_ratio * sign(drive.gear_ratio)
        even = (drive.coulomb_plus - drive.coulomb_minus) * (0.5 * G_size)
        odd = (drive.coulomb_plus + drive.coulomb_minus) * (0.5 * G_size)
        force = drive.viscous * G2 * speed
        if not (is_zero(even) and is_zero(odd)):
            s = sign(speed) if is_zero(coulomb_speed) else tanh(speed / coulomb_speed)
            force = force + (odd * s + even * (s * s))
        forces.append(force)
    return forces
