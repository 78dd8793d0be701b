"""Kinetic and potential energy of an arm, over any scalar."""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, ZERO, cross, dot
from tauforge.formulations.drives import DriveParameters, reflected_inertia
from tauforge.formulations.serial.kinematics import link_displacement, link_frames, link_transform
from tauforge.formulations.serial.parameters import ArmParameters


def kinetic_energy(arm: ArmParameters, drives: Sequence[DriveParameters], q: Scalars, qd: Scalars) -> Scalar:
    """1/2 sum (m v.v + omega.I omega) + 1/2 sum J_m G^2 qd^2, J, base at rest; without rotors L3.4.

    Identity: equals 1/2 qd' M qd with the reflected rotor inertias on M's diagonal.
    """
    omega = v = ZERO
    total: Scalar = 0.0
    for joint, body, drive, q_i, qd_i in zip(arm.joints, arm.bodies, drives, q, qd, strict=True):
        R_down = link_transform(joint, q_i).rotation.T
        omega = R_down @ (omega + E_Z * qd_i) if joint.revolute else R_down @ omega
        sliding = ZERO if joint.revolute else E_Z * qd_i
        v = R_down @ (v + sliding) + cross(omega, link_displacement(joint, q_i))
        v_bar = v + cross(omega, body.com)
        twice = body.mass * dot(v_bar, v_bar) + dot(omega, body.inertia @ omega)
        total = total + (twice + reflected_inertia(drive) * (qd_i * qd_i)) * 0.5
    return total


def potential_energy(arm: ArmParameters, q: Scalars) -> Scalar:
    """- sum m g.c (L3.5), J, measured from the world origin.

    Identity: its derivative with respect to q is gravity_forces(q).
    """
    total: Scalar = 0.0
    for frame, body in zip(link_frames(arm, q)[1:], arm.bodies, strict=True):
        c = frame.rotation @ body.com + frame.translation
        total = total - dot(arm.gravity, c) * body.mass
    return total
