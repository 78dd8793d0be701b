"""Drives of joints over any scalar: viscous and asymmetric Coulomb friction, rotors, motor side times gear ratio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, is_zero, sign, tanh


class DriveParameters(NamedTuple):
    """Motor-side parameters of one joint; the gear ratio G converts them to the joint side."""

    viscous: Scalar
    coulomb_plus: Scalar
    coulomb_minus: Scalar
    motor_inertia: Scalar
    gear_ratio: Scalar


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


def reflected_inertia(drive: DriveParameters) -> Scalar:
    """J_m G^2: the rotor's inertia, reflected to the joint."""
    return drive.motor_inertia * (drive.gear_ratio * drive.gear_ratio)


def rotor_forces(drives: Sequence[DriveParameters], qdd: Sequence[Scalar]) -> list[Scalar]:
    """J_m G^2 qdd, the torque that speeds up the rotors."""
    return [reflected_inertia(drive) * acceleration for drive, acceleration in zip(drives, qdd, strict=True)]
