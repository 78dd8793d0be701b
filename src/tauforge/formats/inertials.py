"""Mass, mass centre and inertia of the links of a file: moved to other frames, joined, and as bodies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from tauforge import validation
from tauforge.algebra.inertias import point_mass_inertia, rotated
from tauforge.algebra.vectors import NO_DISPLACEMENT, ZERO, Matrix, Transform, Vector
from tauforge.robots.mechanism.parts import Body


class Inertial(NamedTuple):
    """mass kg, com m, inertia kg m^2 about the centre of mass; in the axes of a named frame."""

    mass: float
    com: Vector
    inertia: Matrix

    def seen_from(self, placement: Transform) -> Inertial:
        """The same in the outer frame of the placement."""
        R, p = placement
        return Inertial(self.mass, R @ self.com + p, rotated(self.inertia, R))

    @property
    def is_massless(self) -> bool:
        return self.mass == 0 and all(x == 0 for row in self.inertia.rows for x in row)

    def as_body(self, name: str, frame: Transform) -> Body:
        """A body of a mechanism. frame: world <- the frame that this is in"""
        own = self.seen_from(frame)
        turned = frame.rotation != NO_DISPLACEMENT.rotation
        return Body(
            name,
            own.mass,
            tuple(own.com),
            tuple(tuple(row) for row in own.inertia.rows),
            origin=None if turned else tuple(frame.translation),
            frame=validation.from_transform(frame) if turned else None,
        )


NO_INERTIAL = Inertial(0.0, ZERO, Matrix((ZERO, ZERO, ZERO)))


def together(parts: Iterable[Inertial]) -> Inertial:
    """Several as one, all in the same frame."""
    bodies = list(parts)
    heavy = [body for body in bodies if body.mass > 0]
    mass = math.fsum(body.mass for body in heavy)
    if len(heavy) == 1:
        com = heavy[0].com  # as given, not rounded by a product and a quotient
    else:
        com = ZERO
        for body in heavy:
            com = com + body.com * (body.mass / mass)
    inertia = NO_INERTIAL.inertia
    for body in bodies:
        inertia = inertia + body.inertia + point_mass_inertia(body.mass, body.com - com)
    return Inertial(mass, com, (inertia + inertia.T) * 0.5)
