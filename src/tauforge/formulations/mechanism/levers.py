"""Points of a floating body at which loops are closed.

The loops feel the body only through the velocities v + omega x arm of these points. Products with the six columns of
its rates are cheaper through the points than entry by entry, and the inertia of a leg acts at its point as three by
three numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.acceleration_matrices import acceleration_matrix
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import UNIT_VECTORS, ZERO, Vector, cross, dot
from tauforge.formulations.mechanism.cuts import Posed, sides
from tauforge.formulations.mechanism.parameters import CUT_ROWS, MechanismParameters
from tauforge.formulations.trees.frames import GROUND

Scalars = Sequence[Scalar]


class Lever(NamedTuple):
    """A point of a body that floats beside the ground. Vectors are in the axes of the body's rates.

    cut:  number of the cut whose side the point is
    at:   place of the body's first rate
    row:  of the loop matrix, the first of three
    axes: of the three rows
    arm:  from the body's origin to the point
    sign: of the side
    """

    cut: int
    at: int
    row: int
    axes: tuple[Vector, Vector, Vector]
    arm: Vector
    sign: float

    def velocity(self, rates: Scalars) -> Vector:
        return Vector(*rates[self.at : self.at + 3]) + cross(Vector(*rates[self.at + 3 : self.at + 6]), self.arm)

    def acceleration(self, changes: Scalars, rates: Scalars) -> Vector:
        """Where the rates change so."""
        a, alpha = Vector(*changes[self.at : self.at + 3]), Vector(*changes[self.at + 3 : self.at + 6])
        return a + acceleration_matrix(Vector(*rates[self.at + 3 : self.at + 6]), alpha) @ self.arm

    def in_rows(self, u: Vector) -> list[Scalar]:
        """What the three rows see of a velocity of the point."""
        return [self.sign * dot(e, u) for e in self.axes]

    def wrench(self, multipliers: Scalars) -> list[Scalar]:
        """Forces on the body's six rates by multipliers of the loop matrix's rows."""
        force = ZERO
        for e, x in zip(self.axes, multipliers[self.row : self.row + 3], strict=True):
            force = force + e * (self.sign * x)
        return [*force, *cross(self.arm, force)]


def levers(m: MechanismParameters, posed: Posed, z: Sequence[int]) -> list[Lever]:
    """Points of the bodies whose six rates are all among z."""
    found, row = [], 0
    for number, cut in enumerate(m.cuts):
        for side in sides(posed.frames, cut):
            k = side.place.joint_frame
            frame = posed.frames[k]
            # a loop within what the body carries does not feel the body at all
            floats = k in side.path and frame.kind == "F" and frame.parent == GROUND
            if floats and all(j in z for j in range(frame.at, frame.at + 6)):
                arm = posed.places[k].turn @ side.place.displacement.translation
                x, y, w = (frame.before.rotation.T @ posed.transported(e, cut.axes, GROUND) for e in UNIT_VECTORS)
                found.append(Lever(number, frame.at, row, (x, y, w), arm, side.sign))
        row += CUT_ROWS[cut.kind]
    return found
