"""Where the named parts of a drawing are, and which of them a ray from the eye hits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.drawing import Drawing

OUTLINES = ("base", "platform")  # edges without a name of their own


class NamedPlaces(NamedTuple):
    """names: of k parts; places: (k, 3) m; is_joint: (k,)"""

    names: tuple[str, ...]
    places: Array
    is_joint: tuple[bool, ...]

    def joints(self) -> dict[str, Array]:
        """Places of joints by name."""
        return {name: self.places[k] for k, name in enumerate(self.names) if self.is_joint[k]}

    def of(self, name: str) -> dict[str, Array]:
        """The place of one part; empty where there is none."""
        return {name: self.places[self.names.index(name)]} if name in self.names else {}

    def nearest(self, origin: Array, direction: Array) -> str:
        """The part whose place is nearest to a ray, seen from its origin; "" where all are behind it."""
        ways = self.places - origin
        ahead = ways @ direction
        off = np.linalg.norm(ways - ahead[:, None] * direction, axis=1)
        angles = np.where(ahead > 0, off / np.where(ahead > 0, ahead, 1.0), np.inf)
        if not len(angles) or not np.isfinite(angles).any():
            return ""
        return self.names[int(angles.argmin())]


def named_places(drawing: Drawing) -> NamedPlaces:
    """Joints, mass centres, and the middles of links and legs."""
    names, places, joints = [], [], []
    for point in drawing.points:
        is_joint = point.part == "joint"
        names.append(point.name if is_joint else f"{point.part} of {point.name}")
        places.append(point.place)
        joints.append(is_joint)
    for segment in drawing.segments:
        if segment.part not in OUTLINES:
            names.append(segment.name)
            places.append((segment.start + segment.end) / 2)
            joints.append(False)
    return NamedPlaces(tuple(names), np.reshape(places, (-1, 3)), tuple(joints))
