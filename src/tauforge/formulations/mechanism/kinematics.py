"""Frames, velocities and energy of the bodies of a mechanism."""

from __future__ import annotations

from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import NO_DISPLACEMENT, ZERO, Transform, Vector, cross, dot
from tauforge.formulations.drives import reflected_inertia
from tauforge.formulations.mechanism.complement import Complement
from tauforge.formulations.mechanism.cuts import Posed, posed_at
from tauforge.formulations.mechanism.parameters import MechanismParameters
from tauforge.formulations.mechanism.springs import spring_energy
from tauforge.formulations.trees.frames import GROUND, ancestors, point_from_parent
from tauforge.formulations.trees.recursion import twists


def world_frames(posed: Posed) -> list[Transform]:
    """World <- joint frame."""
    found: list[Transform] = []
    for frame, place in zip(posed.frames, posed.places, strict=True):
        own = Transform(frame.before.rotation.times(place.turn), point_from_parent(frame, place, ZERO))
        found.append(own if frame.parent == GROUND else found[frame.parent].then(own))
    return found


def body_frames(m: MechanismParameters, x: Scalars) -> list[Transform]:
    """World <- frame of each body; copies of bodies that were cut are left out by the caller."""
    posed = posed_at(m, x)
    worlds = world_frames(posed)
    return [(NO_DISPLACEMENT if k == GROUND else worlds[k]).then(displacement) for (k, displacement, _), _ in m.bodies]


def point_jacobians(m: MechanismParameters, x: Scalars) -> tuple[list[list[list[Scalar]]], Complement]:
    """Rows of velocity of each body's origin and of its angular velocity, world axes; a column for each rate."""
    posed = posed_at(m, x)
    complement = Complement(m, posed, m.independent)
    worlds = world_frames(posed)
    columns: list[list[list[Scalar]]] = [[] for _ in m.bodies]
    for v in complement.S:
        moving = twists(posed.frames, posed.places, v)
        for b, ((k, displacement, _), _) in enumerate(m.bodies):
            twist = moving[k]
            velocity: Vector = twist.v + cross(twist.omega, displacement.translation)
            R = (NO_DISPLACEMENT if k == GROUND else worlds[k]).rotation
            columns[b].append([*(R @ velocity), *(R @ twist.omega)])
    return [[list(row) for row in zip(*body, strict=True)] for body in columns], complement


def body_rates(m: MechanismParameters, x: Scalars, body: int) -> list[list[Scalar]]:
    """(6, n) rows of velocity of a body's origin and of its angular velocity, in the axes of the joint that carries it;
    a column for each of the tree's rates, loops apart.
    """
    posed = posed_at(m, x)
    (k, displacement, _), _ = m.bodies[body]
    columns: list[list[Scalar]] = [[0.0] * 6 for _ in range(m.n)]
    for frame in (posed.frames[j] for j in ancestors(posed.frames, k)):
        for at in frame.span:
            twist = twists(posed.frames, posed.places, [float(at == j) for j in range(m.n)])[k]
            velocity: Vector = twist.v + cross(twist.omega, displacement.translation)
            columns[at] = [*velocity, *twist.omega]
    return [list(row) for row in zip(*columns, strict=True)]


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
