"""From one position to another, all coordinates together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.motion.motion import Motion, coordinates, positive
from tauforge.motion.profiles import profile as profile_of


class JointMove(Motion):
    """All coordinates move from start to end (n,) by the same profile, at rest at both ends.

    profile: "cubic", "quintic" (no jump of the acceleration), "trapezoidal" or "s-curve" (bounded jerk)
    """

    def __init__(self, start: ArrayLike, end: ArrayLike, duration: float, profile: str = "quintic") -> None:
        self.start, self.end = coordinates("start", start), coordinates("end", end)
        if self.start.shape != self.end.shape:
            raise ShapeError("end", expected=f"{len(self.start)} numbers, as many as in start", got=str(len(self.end)))
        self.duration, self.profile = positive("duration", duration), profile
        self._fraction = profile_of(profile)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        share, way = t / self.duration, self.end - self.start
        s, v, a = (np.multiply.outer(self._fraction(share, k) / self.duration**k, way) for k in range(3))
        return self.start + s, v, a

    def __repr__(self) -> str:
        return f"JointMove({self.start.tolist()}, {self.end.tolist()}, {self.duration}, {self.profile!r})"
