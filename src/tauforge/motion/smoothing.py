"""A low-pass without delay for samples at even or uneven times: a smoothing spline with a stated cut-off."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.motion.motion import positive

DEGREE = 5
PENALISED_ORDER = 4  # of the derivative whose square is penalised
PIECES_A_PERIOD = 8  # of the spline in a period of the cut-off: fine enough that only the penalty matters
CUTOFF_AT_ENDS = 1.5  # the cut-off rises by this factor towards the ends, where the penalty would bend the motion
END_PERIODS = 0.5  # periods of the cut-off from an end to where it is as stated
HALF_POWER = np.sqrt(2) - 1  # 1 / (1 + this) is -3 dB


def smoothing_spline(times: Array, values: Array, frequency: float) -> Any:
    """The spline s of fifth degree that minimises integral of (s - values)^2 + penalty (s'''')^2.

    times: (k,) s, strictly increasing; values: (k, n); frequency: Hz, where the amplitude is down by 3 dB
    returns: a scipy.interpolate.BSpline over the times

    A sine of frequency f keeps 1 / (1 + 0.414 (f / frequency)^8) of its amplitude and all of its phase, as a
    Butterworth filter of fourth order run forwards and backwards. At the ends the fourth derivative vanishes, not the
    second as with a reflected signal, so accelerations there are kept; cubics pass unchanged. Half a period of the
    cut-off before an end, the cut-off begins to rise to 1.5 of its value.
    It raises ShapeError if the frequency is not between one period of the motion and half the sampling rate.
    """
    from scipy.interpolate import BSpline  # slow to import
    from scipy.linalg import solveh_banded
    from scipy.sparse import diags_array

    length = float(times[-1] - times[0])
    _check(positive("smooth", frequency), length, len(times))
    x = 2 * np.pi * frequency * (times - times[0])  # in radians of the cut-off all coefficients below are near 1
    pieces = int(np.ceil(PIECES_A_PERIOD * frequency * length))
    knots = np.r_[[0.0] * DEGREE, np.linspace(0.0, x[-1], pieces + 1), [x[-1]] * DEGREE]
    steps = np.diff(x)
    weights = np.r_[steps, 0.0] / 2 + np.r_[0.0, steps] / 2  # integral by the trapezoidal rule
    basis = BSpline.design_matrix(np.minimum(x, x[-1]), knots, DEGREE)
    weighted = basis.T @ diags_array(weights)
    system = weighted @ basis + HALF_POWER * _penalty(knots, pieces)
    banded = np.zeros((DEGREE + 1, pieces + DEGREE))
    for k in range(DEGREE + 1):
        banded[DEGREE - k, k:] = system.diagonal(k)
    coefficients = solveh_banded(banded, weighted @ (values - values[0]))
    return BSpline(knots / (2 * np.pi * frequency) + times[0], coefficients + values[0], DEGREE)


def _check(frequency: float, length: float, count: int) -> None:
    least, most = 1 / length, (count - 1) / (2 * length)
    if not least <= frequency < most:
        raise ShapeError(
            "smooth",
            expected=f"a frequency of at least {least:.4g} Hz, one period in {length:.4g} s, and below {most:.4g} Hz, "
            "half the sampling rate",
            got=f"{frequency:.6g} Hz",
        )


def _penalty(knots: Array, pieces: int) -> Any:
    """The integral of the squared derivative as a quadratic form of the spline's coefficients."""
    from scipy.sparse import diags_array

    derivative: Any = None
    for degree in range(DEGREE, DEGREE - PENALISED_ORDER, -1):
        inner = knots[DEGREE - degree + 1 : len(knots) - (DEGREE - degree + 1)]
        slopes = degree / (inner[degree:] - inner[:-degree])
        step = diags_array([-slopes, slopes], offsets=[0, 1], shape=(len(slopes), len(slopes) + 1))
        derivative = step if derivative is None else step @ derivative
    piece = knots[-1] / pieces  # the derivative is linear in each piece
    from_end = np.minimum(np.arange(pieces), np.arange(pieces)[::-1]) / PIECES_A_PERIOD  # in periods of the cut-off
    weights = piece / np.interp(from_end, [0.0, END_PERIODS], [CUTOFF_AT_ENDS, 1.0]) ** (2 * PENALISED_ORDER)
    middle = (np.r_[weights, 0.0] + np.r_[0.0, weights]) / 3
    gram = diags_array([weights / 6, middle, weights / 6], offsets=[-1, 0, 1])
    return derivative.T @ gram @ derivative
