"""Kinetic and potential energy of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import cross, dot
from tauforge.formulations.drives import reflected_inertia
from tauforge.formulations.mechanism.complement import Complement
from tauforge.formulations.mechanism.dynamics import posed_at
from tauforge.formulations.mechanism.parameters import MechanismParameters
from tauforge.formulations.mechanism.springs import spring_energy
from tauforge.formulations.trees.frames import GROUND, ancestors, point_from_parent
from tauforge.formulations.trees.velocities import twists

Scalars = Sequence[Scalar]


def energies(m: MechanismParameters, x: Scalars, yd: Scalars) -> tuple[Scalar, Scalar, Complement]:
    """Kinetic energy, rotors included; potential energy of weights from the base's origin, and of springs."""
    posed = posed_at(m, x)
    complement = Complement(m, posed, m.independent)
    v = complement.rates(yd)
    moving = twists(posed.frames, posed.places, v)
    kinetic: Scalar = 0.0
    potential = spring_energy(m, posed)
    for (k, place, _), body in m.bodies:
        R, p = place
        c = R @ body.com + p
        if k != GROUND:
            twist = moving[k]
            velocity, omega = twist.v + cross(twist.omega, c), R.T @ twist.omega
            kinetic = kinetic + (body.mass * dot(velocity, velocity) + dot(omega, body.inertia @ omega)) * 0.5
        for j in ancestors(posed.frames, k):
            c = point_from_parent(posed.frames[j], posed.places[j], c)
        potential = potential - body.mass * dot(m.gravity, c)
    for drive, speed in zip(m.drives, v, strict=True):
        kinetic = kinetic + reflected_inertia(drive) * (speed * speed) * 0.5
    return kinetic, potential, complement
