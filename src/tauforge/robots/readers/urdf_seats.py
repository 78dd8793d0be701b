"""Where the links of a URDF are held: by which moving joint, and where in its frame."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.vectors import NO_DISPLACEMENT, Matrix, Transform, Vector
from tauforge.robots.readers.urdf_tree import Tree


class Seat(NamedTuple):
    """Where a link is held: the moving joint that carries it (None: the world) and that joint's link frame <- link."""

    carrier: str | None
    placement: Transform


def seats_of(tree: Tree) -> dict[str, Seat]:
    """Where every link is held."""
    seats = {tree.root: Seat(None, NO_DISPLACEMENT)}
    for joint in tree.joints.values():
        carrier, placement = seats[joint.parent]
        held = Seat(joint.name, NO_DISPLACEMENT) if joint.moves else Seat(carrier, placement.then(joint.origin))
        seats[joint.child] = held
    return seats


def rotation_to(axis: Vector) -> Matrix:
    """A rotation that takes z to the axis, by the shortest way; exact for the coordinate axes."""
    if axis.z < 0:  # by way of -axis and half a turn about x, away from the formula's pole
        return rotation_to(-axis).times(Matrix.diagonal(1.0, -1.0, -1.0))
    x, y, z = axis
    k = 1.0 / (1.0 + z)
    return Matrix.of(((1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z)))
