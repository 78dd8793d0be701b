"""Where the links of a URDF are held: by which moving joint, and where in its frame."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.vectors import NO_DISPLACEMENT, Transform
from tauforge.formats.urdf_tree import Tree


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
