"""Velocities of a tree's joint frames, from the base outward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import E_Z, ZERO, Vector, cross
from tauforge.formulations.trees.frames import GROUND, JointFrame, Placement


class FrameVelocity(NamedTuple):
    """Velocity of a joint frame's origin and angular velocity, in the frame's own axes."""

    v: Vector
    omega: Vector


def twists(frames: Sequence[JointFrame], places: Sequence[Placement], qd: Sequence[Scalar]) -> dict[int, FrameVelocity]:
    """By number of the frame; the base is at rest."""
    found = {GROUND: FrameVelocity(ZERO, ZERO)}
    for k, frame in enumerate(frames):
        parent, (R, p), (turn, travel), at = found[frame.parent], frame.before, places[k], frame.at
        v = R.T @ (parent.v + cross(parent.omega, p))
        omega = R.T @ parent.omega
        v = v + cross(omega, travel)
        match frame.kind:
            case "R":
                found[k] = FrameVelocity(turn.T @ v, turn.T @ omega + E_Z * qd[at])
                continue
            case "P":
                v = v + E_Z * qd[at]
            case "B" if frame.inverted:
                found[k] = FrameVelocity(turn.T @ v, turn.T @ omega - Vector(*qd[at : at + 3]))
                continue
            case "B":
                omega = omega + Vector(*qd[at : at + 3])
            case _:
                v, omega = v + Vector(*qd[at : at + 3]), omega + Vector(*qd[at + 3 : at + 6])
        found[k] = FrameVelocity(turn.T @ v, turn.T @ omega)
    return found
