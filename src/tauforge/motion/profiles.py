"""Ways to go from 0 to 1 in unit time, at rest at both ends, as piecewise polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.errors import ShapeError
from tauforge.validation import did_you_mean

PROFILES = ("cubic", "quintic", "trapezoidal", "s-curve")
BLEND = 1 / 3  # of the time, for each of the two blends of the trapezoidal profile
JERK = 1 / 12  # of the time, for each of the four changes of acceleration of an s-curve


def profile(name: str) -> Any:
    """The fraction of the way against the fraction of time, as a PPoly."""
    from scipy.interpolate import PPoly  # slow to import

    match name:
        case "cubic":
            return PPoly(np.array([[-2.0], [3.0], [0.0], [0.0]]), [0, 1])
        case "quintic":
            return PPoly(np.array([[6.0], [-15.0], [10.0], [0.0], [0.0], [0.0]]), [0, 1])
        case "trapezoidal":
            return integrated([1.0, 0.0, -1.0], [BLEND, 1 - 2 * BLEND, BLEND], times=2)
        case "s-curve":
            level = 1 / 6
            rest = 1 - 4 * JERK - 2 * level
            return integrated(
                [1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0], [JERK, level, JERK, rest, JERK, level, JERK], times=3
            )
    hint = did_you_mean(name, PROFILES).strip() or None
    raise ShapeError("profile", expected=f"one of {', '.join(PROFILES)}", got=repr(name), hint=hint)


def integrated(values: list[float], lengths: list[float], times: int) -> Any:
    """The piecewise constant function with these values, integrated `times` times and scaled to end at 1."""
    from scipy.interpolate import PPoly

    breaks = np.concatenate([[0.0], np.cumsum(lengths)])
    breaks[-1] = 1.0
    whole = PPoly(np.array([values]), breaks).antiderivative(times)
    return PPoly(whole.c / whole(1.0), breaks)
