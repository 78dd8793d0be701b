"""From one position to another by a profile: all coordinates together, at rest at both ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.motion.motion import Motion, coordinates, positive
from tauforge.validation import did_you_mean

BLEND = 1 / 3  # of the time, for each of the two blends of the trapezoidal profile
JERK, LEVEL = (
    1 / 12,
    1 / 6,
)  # of the time, for each change of acceleration of an s-curve, and what lies between two
REST = 1 - 4 * JERK - 2 * LEVEL
POLYNOMIALS = {"cubic": (-2.0, 3.0, 0.0, 0.0), "quintic": (6.0, -15.0, 10.0, 0.0, 0.0, 0.0)}
# a derivative that is constant in pieces, of which order, and how long the pieces are
PIECEWISE = {
    "trapezoidal": (2, (1.0, 0.0, -1.0), (BLEND, 1 - 2 * BLEND, BLEND)),
    "s-curve": (
        3,
        (1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0),
        (JERK, LEVEL, JERK, REST, JERK, LEVEL, JERK),
    ),
}
PROFILES = (*POLYNOMIALS, *PIECEWISE)


class JointMove(Motion):
    """All coordinates move from start to end (n,) by the same profile, at rest at both ends.

    profile: "cubic", "quintic" (no jump of the acceleration), "trapezoidal" or "s-curve" (bounded jerk)
    """

    def __init__(self, start: ArrayLike, end: ArrayLike, duration: float, profile: str = "quintic") -> None:
        self.start, self.end = coordinates("start", start), coordinates("end", end)
        if self.start.shape != self.end.shape:
            raise ShapeError("end", expected=f"{len(self.start)} numbers, as many as in start", got=str(len(self.end)))
        self.duration, self.profile = positive("duration", duration), profile
        self._fraction = unit_profile(profile)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        share, way = t / self.duration, self.end - self.start
        s, v, a = (np.multiply.outer(self._fraction(share, k) / self.duration**k, way) for k in range(3))
        return self.start + s, v, a

    def __repr__(self) -> str:
        return f"JointMove({self.start.tolist()}, {self.end.tolist()}, {self.duration}, {self.profile!r})"


def unit_profile(name: str) -> Any:
    """The fraction of the way against the fraction of time, from 0 to 1, as a PPoly."""
    from scipy.interpolate import PPoly  # slow to import

    if name in POLYNOMIALS:
        return PPoly(np.array(POLYNOMIALS[name])[:, None], [0, 1])
    if name not in PIECEWISE:
        hint = did_you_mean(name, PROFILES).strip() or None
        raise ShapeError("profile", expected=f"one of {', '.join(PROFILES)}", got=repr(name), hint=hint)
    order, values, lengths = PIECEWISE[name]
    breaks = np.concatenate([[0.0], np.cumsum(lengths)])
    breaks[-1] = 1.0
    whole = PPoly(np.array([values]), breaks).antiderivative(order)
    return PPoly(whole.c / whole(1.0), breaks)
