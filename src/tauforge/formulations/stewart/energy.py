"""Kinetic and potential energy, from positions and velocities of the 13 bodies alone."""

from __future__ import annotations

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Matrix, Vector, cross, dot
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.stewart.kinematics import leg_motion
from tauforge.formulations.stewart.parameters import PlatformMotion, PlatformParameters


def body_energy(body: BodyParameters, axes: Matrix, velocity: Vector, omega: Vector) -> Scalar:
    """m v.v / 2 + omega . I omega / 2, v of the mass centre."""
    turning = dot(omega, rotated(body.inertia, axes) @ omega)
    return 0.5 * (body.mass * dot(velocity, velocity) + turning)


def energies(p: PlatformParameters, m: PlatformMotion) -> tuple[Scalar, Scalar]:
    """Kinetic (reflected masses included) and potential (from the base frame's origin).

    Identities: kinetic = twist . M twist / 2; d(kinetic + potential)/dt is the power of actuators, friction and
    external wrench.
    """
    r = m.R @ p.body.com
    kinetic = body_energy(p.body, m.R, m.v + cross(m.omega, r), m.omega)
    weight = (m.X + r) * p.body.mass
    for leg in p.legs:
        l = leg_motion(leg, m)
        r_d, r_u = l.T @ leg.lower.com, l.S + l.T @ leg.upper.com
        kinetic = kinetic + body_energy(leg.lower, l.T, cross(l.W, r_d), l.W)
        kinetic = kinetic + body_energy(leg.upper, l.T, l.s * l.Ldot + cross(l.W, r_u), l.W)
        kinetic = kinetic + 0.5 * leg.reflected_mass * (l.Ldot * l.Ldot)
        weight = weight + (leg.b + r_d) * leg.lower.mass + (leg.b + r_u) * leg.upper.mass
    return kinetic, -dot(p.gravity, weight)
