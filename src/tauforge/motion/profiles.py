"""Ways to go from 0 to 1 in unit time, at rest at both ends, as piecewise polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.errors import ShapeError

PROFILES = ("cubic", "quintic", "trapezoidal", "s-curve")
BLEND = 1 / 3  # of the time, each: trapezoidal speeds up and slows down
JERK = 1 / 12  # of the time, each: an s-curve raises and lowers its acceleration, four times


def profile(name: str) -> Any:
    """PPoly of the fraction against the share of time."""
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
    raise ShapeError("profile", expected=f"one of {', '.join(PROFILES)}", got=repr(name))


def integrated(values: list[float], lengths: list[float], times: int) -> Any:
    """The piecewise constant function with these values, integrated so many times and scaled to end at 1."""
    from scipy.interpolate import PPoly

    breaks = np.concatenate([[0.0], np.cumsum(lengths)])
    breaks[-1] = 1.0
    whole = PPoly(np.array([values]), breaks).antiderivative(times)
    return PPoly(whole.c / whole(1.0), breaks)
