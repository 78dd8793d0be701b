"""Springs with dampers between two points of a mechanism."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, Scalars, is_zero, reciprocal, select, sqrt
from tauforge.algebra.vectors import Vector, cross, dot
from tauforge.formulations.mechanism.cuts import Posed
from tauforge.formulations.mechanism.parameters import FixedFrame, MechanismParameters, SpringParameters
from tauforge.formulations.trees.frames import GROUND
from tauforge.formulations.trees.recursion import FrameVelocity, twists

ENDS_MEET = 1e-12  # of the mechanism's size: ends so near are at one place


class Stretch(NamedTuple):
    """Length, and the unit vector from point a to point b, base axes."""

    length: Scalar
    direction: Vector


def between(posed: Posed, spring: SpringParameters) -> Vector:
    """From point a to point b, base axes."""
    a, b = posed.point(spring.a), posed.point(spring.b)
    return b - a


def stretched(m: MechanismParameters, posed: Posed, spring: SpringParameters) -> Stretch:
    """Its direction is NaN, 0 by 0, where its ends meet but for rounding."""
    way = between(posed, spring)
    square = dot(way, way)
    apart = select(square, (ENDS_MEET * m.size) ** 2, 0.0, 1.0)
    return Stretch(sqrt(square), way * (apart / sqrt(square * apart)))


def nearness_of_ends(m: MechanismParameters, posed: Posed) -> Scalar:
    """1 where the ends of a spring meet whose force has no direction there, and next to nothing elsewhere."""
    ways = [between(posed, spring) for spring in m.springs if _pushes(spring)]
    return sum(((ENDS_MEET * m.size) ** 2 * reciprocal(dot(way, way)) for way in ways), 0.0)


def _pushes(spring: SpringParameters) -> bool:
    """True if it pushes its ends apart where they meet: it has a length, and is not a damper alone."""
    return not is_zero(spring.length) and not is_zero(spring.stiffness)


def spring_forces(m: MechanismParameters, posed: Posed, v: Scalars) -> list[tuple[FixedFrame, Vector]]:
    """The force of each spring at both of its ends, base axes."""
    damped = any(not is_zero(spring.damping) for spring in m.springs)
    moving = twists(posed.frames, posed.places, v) if damped else {}
    found = []
    for spring in m.springs:
        if damped:
            va, vb = (_velocity(posed, moving, place) for place in (spring.a, spring.b))
        if not _pushes(spring):  # has no direction where its ends meet, and needs none
            force = between(posed, spring) * spring.stiffness
            if not is_zero(spring.damping):
                force = force + _along(m, between(posed, spring), vb - va) * spring.damping
            found += [(spring.a, force), (spring.b, -force)]
            continue
        length, direction = stretched(m, posed, spring)
        tension = spring.stiffness * (length - spring.length)
        if damped:
            tension = tension + spring.damping * dot(direction, vb - va)
        found += [(spring.a, direction * tension), (spring.b, direction * -tension)]
    return found


def _along(m: MechanismParameters, way: Vector, v: Vector) -> Vector:
    """The part of v along the way from end to end; all of it where they meet, for they part along v."""
    square, least = dot(way, way), (ENDS_MEET * m.size) ** 2
    along = way * (dot(way, v) / select(square, least, 1.0, square))
    return Vector(*(select(square, least, whole, part) for whole, part in zip(v, along, strict=True)))


def _velocity(posed: Posed, moving: dict[int, FrameVelocity], place: FixedFrame) -> Vector:
    """The velocity of a place's origin, base axes."""
    twist = moving[place.joint_frame]
    own = twist.v + cross(twist.omega, place.displacement.translation)
    return posed.transported(own, place.joint_frame, GROUND)


def spring_energy(m: MechanismParameters, posed: Posed) -> Scalar:
    total: Scalar = 0.0
    for spring in m.springs:
        if is_zero(spring.length):
            way = between(posed, spring)
            total = total + spring.stiffness * dot(way, way) * 0.5
            continue
        stretch = stretched(m, posed, spring).length - spring.length
        total = total + spring.stiffness * (stretch * stretch) * 0.5
    return total
