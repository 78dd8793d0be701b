"""The line of an arrow that shows a force along an axis, or a torque about it."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array

LONGEST = 0.22  # of the extent: the arrow of the largest force
TURN = 1.5 * np.pi  # rad that the arrow of the largest torque goes round
ARC_RADIUS = 0.35  # of the longest arrow
ARC_POINTS = 25


def force_line(place: Array, axis: Array, turns: bool, share: float, size: float) -> Array:
    """Points of the line from its foot to its tip: (2, 3) for a force, (25, 3) for a torque.

    place: (3,) m, where it acts; axis: (3,) unit vector; turns: whether it is a torque
    share: of the largest force, with its sign; size: m, the robot's extent
    """
    if not turns:
        return np.stack([place, place + share * LONGEST * size * axis])
    beside = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    beside /= np.linalg.norm(beside)
    angles = np.linspace(0.0, share * TURN, ARC_POINTS)[:, None]
    around = np.cos(angles) * beside + np.sin(angles) * np.cross(axis, beside)
    return np.asarray(place + ARC_RADIUS * LONGEST * size * around)
