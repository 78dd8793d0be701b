"""One body of a tree in its joint frame, and where a joint puts it.

Joint frame k moves with body k, and its z axis is the axis of the joint between body k and its parent. Kinds of joints:

    R  turns about z by its coordinate
    P  slides along z by its coordinate
    B  a ball: turns by three angles, R = Rz Ry Rx; its rates are the angular velocity beside the parent
    F  free: moves by three lengths and turns as a ball; its rates are velocity and angular velocity beside the parent

The rates of a ball and of a free joint are in the axes of `before`, which are the parent's but for a constant rotation.
Those of an inverted ball are of the parent beside the body, in the body's axes: so is a joint that a tree passes from
its child to its parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.inertias import point_mass_inertia
from tauforge.algebra.rotations import rotation_of
from tauforge.algebra.scalars import Scalar, Scalars, cos, sin
from tauforge.algebra.vectors import E_Z, IDENTITY, ZERO, Matrix, Transform, Vector, rotation_z

GROUND = -1  # the parent of a body that hangs from the base
FREEDOMS = {"R": 1, "P": 1, "B": 3, "F": 6}
LENGTHS = {"R": 0, "P": 1, "B": 0, "F": 3}  # among them, the first


class JointFrame(NamedTuple):
    """One body in its joint frame: the place of the joint on its parent, and the body about the joint."""

    parent: int  # place of its parent among the frames, which comes before it, or GROUND
    kind: str
    at: int  # place of its first rate among those of the tree
    offset: Scalar  # of R and P: added to the coordinate
    before: Transform  # parent's joint frame <- joint frame at coordinate + offset = 0
    mass: Scalar
    first_moment: Vector  # m c, about the joint frame's origin and in its axes
    inertia: Matrix  # about the origin
    flat: bool = False  # I_zz = I_xx + I_yy, all mass in the x-y plane: so is every link after regrouping
    inverted: bool = False  # of B: coordinates and rates are of the parent beside the body

    @property
    def revolute(self) -> bool:
        return self.kind == "R"

    @property
    def turns_and_slides(self) -> bool:
        """True if its rates are vectors."""
        return self.kind in "BF"

    @property
    def span(self) -> range:
        """Places of its rates among those of the tree."""
        return range(self.at, self.at + FREEDOMS[self.kind])

    @property
    def in_axes_before(self) -> bool:
        """True if its rates are vectors in the axes of `before`."""
        return self.turns_and_slides and not self.inverted

    def carrying(self, mass: Scalar, c: Vector, inertia: Matrix) -> JointFrame:
        """With one more body, not regrouped. c: its centre of mass; inertia: about that, in the axes of the frame."""
        return self._replace(
            mass=self.mass + mass,
            first_moment=self.first_moment + c * mass,
            inertia=self.inertia + inertia + point_mass_inertia(mass, c),
            flat=False,
        )


class Placement(NamedTuple):
    """Turn and travel of a joint at its coordinates: it turns after it has travelled, both in the axes of `before`."""

    turn: Matrix
    travel: Vector


def placement(frame: JointFrame, q: Scalars) -> Placement:
    """q: the joint's own coordinates."""
    match frame.kind:
        case "R":
            angle = q[0] + frame.offset
            return Placement(rotation_z(cos(angle), sin(angle)), ZERO)
        case "P":
            return Placement(IDENTITY, E_Z * (q[0] + frame.offset))
        case "B":
            turn = rotation_of(Vector(*q))
            return Placement(turn.T if frame.inverted else turn, ZERO)
        case _:
            return Placement(rotation_of(Vector(*q[3:])), Vector(*q[:3]))


def placements(frames: Sequence[JointFrame], q: Scalars) -> list[Placement]:
    """q: the coordinates of all joints, as many as rates and in their order."""
    return [placement(frame, [q[k] for k in frame.span]) for frame in frames]


def seen_from_parent(frame: JointFrame, place: Placement, v: Vector) -> Vector:
    """Components in the joint frame to components in the parent's."""
    return frame.before.rotation @ (place.turn @ v)


def seen_from_child(frame: JointFrame, place: Placement, v: Vector) -> Vector:
    """Components in the parent's frame to components in the joint frame."""
    return place.turn.T @ (frame.before.rotation.T @ v)


def origin(frame: JointFrame, place: Placement) -> Vector:
    """The joint frame's origin, in the parent's frame."""
    return frame.before.translation + frame.before.rotation @ place.travel


def point_from_parent(frame: JointFrame, place: Placement, p: Vector) -> Vector:
    """A point given in the joint frame, in the parent's frame."""
    return frame.before.rotation @ (place.turn @ p + place.travel) + frame.before.translation


def ancestors(frames: Sequence[JointFrame], k: int) -> list[int]:
    """k, its parent and so on, as far as the ground, which is not among them."""
    found = []
    while k != GROUND:
        found.append(k)
        k = frames[k].parent
    return found
