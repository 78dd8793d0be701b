"""Derivatives of samples by a spline of fifth degree through them or a smoothing one, and their errors.

Rounding of the values in steps of q changes the second derivative of the spline by 4.80 q / (sqrt(12) h^2) in the root
mean square, at even times a step h apart, and by 5 q / h^2 at most; at the two ends by nine times as much. Noise of
standard deviation q / sqrt(12) has the same effect.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
    least, most = 1 / length, (len(times) - 1) / (2 * length)
    if not least <= positive("smooth", frequency) < most:
        raise ShapeError(
            "smooth",
            expected=f"a frequency of at least {least:.4g} Hz, one period in {length:.4g} s, and below {most:.4g} Hz, "
            "half the sampling rate",
            got=f"{frequency:.6g} Hz",
        )
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


FEWEST_SPLINE_SAMPLES = DEGREE + 1  # samples that the spline needs
STRETCH_RATIO = np.sqrt(2)  # length of each stretch at an end over that of the one before
EXACT_RANGE = 1e-9  # differences, relative to the range of the values, that are rounding of exact numbers
EXACT_VALUES = 1e-14  # the same relative to the values themselves
BOUND_FACTOR = 4.0  # roundings of a slow motion are correlated: their bound is at least this times their estimate
RANDOM_DRAWS = 4  # sets of roundings drawn at random; the largest errors in them are averaged
NOISE_RATIO = 2.0  # ratio of the noise to the rounding from which on it is reported as noise
SETTLED_SAMPLES = 11  # from as many on, a polynomial's second derivative at the end is less noisy than the spline's
NOISE_WINDOW = 7  # samples: a polynomial of fifth degree passes through six of them, the seventh shows the noise
NOISE_CORRELATION = -0.4  # correlation of neighbours; that of noise is -6 / 7, that of a smooth motion nearly 1
NORMAL_MEDIAN = 0.6745  # of the magnitude of a normal variable of standard deviation 1


class Derivatives(NamedTuple):
    """values: (k, n) as given, or smoothed; first, second: (k, n) their derivatives.

    unsure:    (k, n) the difference between `first` and its value by another method
    uncertain: (2, n) the largest error that rounding and noise may cause in the first and the second derivative
    noise:     (n,) standard deviation of the noise in the values, where it is more than rounding explains; else 0
    """

    values: Array
    first: Array
    second: Array
    unsure: Array
    uncertain: Array
    noise: Array


def derivatives(
    times: Array, values: Array, steps: Array, time_steps: Array, smooth: float | None, order: int
) -> Derivatives:
    """Derivatives at the times (k,) of values (k, n).

    steps, time_steps: (k, n) and (k,) steps in which the values and times were rounded
    smooth:            Hz, see `smoothing_spline`; None: the spline passes through the values
    order:             of the derivative that is wanted, 1 or 2: the ends are settled for it
    """
    from scipy.interpolate import make_interp_spline  # slow to import

    through = make_interp_spline(times, values, k=DEGREE)
    found = _slopes(through, times)
    late = time_steps[:, None] * np.abs(found[0])  # an error of the time changes a value in proportion to its rate
    noise = noise_of(times, values)
    noise[noise <= NOISE_RATIO * np.sqrt((steps**2 + late**2).mean(axis=0) / 12)] = 0.0
    steps = np.maximum(steps, np.sqrt(12) * noise)
    errors = _drawn(steps, late)
    wrong = _slopes(make_interp_spline(times, errors, k=DEGREE), times, RANDOM_DRAWS)
    share = _share(found[order - 1], wrong[order - 1])
    if smooth is None:
        bounds = np.minimum(BOUND_FACTOR * share, 1.0) * (steps + late) / 2
        settled, at_ends = _settle_ends(times, values, bounds, found, order)
        for error in wrong:
            error[[0, -1]] = np.where(settled[:, None], 0.0, error[[0, -1]])
        other = make_interp_spline(times, values, k=3)(times, 1)
    else:
        at_ends = np.zeros(values.shape[1])
        curve = smoothing_spline(times, values, smooth)
        values, found = curve(times), _slopes(curve, times)
        wrong = _slopes(smoothing_spline(times, errors, smooth), times, RANDOM_DRAWS)
        other = smoothing_spline(times, values, max(smooth / 2, 1 / (times[-1] - times[0])))(times, 1)
    uncertain = share * np.array([np.abs(error).max(axis=0).mean(axis=0) for error in wrong])
    uncertain[order - 1] = np.maximum(uncertain[order - 1], at_ends)
    step = float(np.median(np.diff(times)))
    rounding = EXACT_RANGE * np.ptp(values, axis=0) + EXACT_VALUES * np.abs(values).max(axis=0)
    least = rounding / np.array([[step], [step**2]])
    uncertain[uncertain <= least] = 0.0
    return Derivatives(values, found[0], found[1], np.abs(found[0] - other), uncertain, noise)


def _slopes(curve: Any, times: Array, *sets: int) -> list[Array]:
    """First and second derivative of columns at the times; where there are several sets of columns, (k, sets, n)."""
    return [curve(times, order).reshape(len(times), *sets, -1) for order in (1, 2)]


def _drawn(steps: Array, late: Array) -> Array:
    """(k, RANDOM_DRAWS n) random roundings of the values, and of the times, one for each row."""
    draws = np.random.default_rng(0).uniform(-0.5, 0.5, (2, len(steps), RANDOM_DRAWS, steps.shape[1]))
    errors = draws[0] * steps[:, None] + draws[1][..., :1] * late[:, None]
    return np.asarray(errors.reshape(len(steps), -1))


def _share(seen: Array, drawn: Array) -> Array:
    """(n,) from 0 to 1: the roughness of derivatives (k, n), relative to that of random roundings.

    Numbers that are exact in their few digits, such as 0.5 and 1.5, give smoother derivatives than rounded ones.
    """
    # Fourth powers, because roundings that grow slowly and jump once in many samples should count by their jumps.
    rough = (np.diff(seen, n=3, axis=0) ** 4).mean(axis=0) ** 0.25
    expected = (np.diff(drawn, n=3, axis=0) ** 4).mean(axis=(0, 1)) ** 0.25
    return np.asarray(np.where(rough < expected, rough / np.where(expected > 0, expected, 1.0), 1.0))


def _settle_ends(times: Array, values: Array, bounds: Array, found: list[Array], order: int) -> tuple[Array, Array]:
    """Put better derivatives into the first and last row of `found`, where rounding dominates them.

    returns: (2, n) which, and (n,) their possible error: half their interval, and at least the difference from the next
    shorter stretch, which shows where the motion is not a polynomial

    A polynomial of fifth degree is fitted to longer and longer stretches from the end. `bounds` (k, n) of the roundings
    give an interval for the derivative from each. The longest stretch whose interval meets all those before it is used
    (Goldenshluger & Nemirovski 1997). Exact values end the search at once, and the spline's derivatives stay.
    """
    settled, doubt = np.zeros((2, values.shape[1]), bool), np.zeros((2, values.shape[1]))
    for end, direction in ((0, 1), (-1, -1)):
        t, x = direction * (times - times[end])[::direction], (values - values[end])[::direction]
        slack = bounds[::direction]
        low, high = np.full(x.shape[1], -np.inf), np.full(x.shape[1], np.inf)
        before = np.full(x.shape[1], np.nan)
        length = float(FEWEST_SPLINE_SAMPLES)
        while round(length) <= len(t):
            m = round(length)
            rows = _end_rows(t[:m])
            best = rows @ x[:m]
            width = np.abs(rows[order - 1]) @ slack[:m]
            low, high = np.maximum(low, best[order - 1] - width), np.minimum(high, best[order - 1] + width)
            agree = low <= high
            if not agree.any():
                break
            if m >= SETTLED_SAMPLES:
                found[0][end, agree], found[1][end, agree] = direction * best[0, agree], best[1, agree]
                settled[end, agree] = True
                doubt[end, agree] = np.fmax(width / 2, np.abs(best[order - 1] - before))[agree]
            before = best[order - 1]
            length *= STRETCH_RATIO
    return settled, doubt.max(axis=0)


def _end_rows(t: Array) -> Array:
    """(2, m): the rows that give the first and second derivative at t[0] of the fitted polynomial from values at t."""
    from numpy.polynomial import legendre

    fitted = np.linalg.pinv(legendre.legvander(2 * t / t[-1] - 1, DEGREE))
    slopes = [legendre.legval(-1.0, legendre.legder(np.eye(DEGREE + 1), nu)) * (2 / t[-1]) ** nu for nu in (1, 2)]
    return np.asarray(np.stack(slopes) @ fitted)


def noise_of(times: Array, values: Array) -> Array:
    """(n,) standard deviation of the noise in values (k, n) at even or uneven times (k,); 0 for fewer than 7 samples.

    Divided differences of sixth order vanish for polynomials of fifth degree. Divided by the norm of their weights they
    have the standard deviation of the noise. Their median ignores steps of an acceleration, which are few. Where
    neighbours do not alternate, the motion is not a polynomial of fifth degree, and the noise is taken as 0.
    """
    if len(times) < NOISE_WINDOW:
        return np.zeros(values.shape[1])
    windows = np.lib.stride_tricks.sliding_window_view
    t = windows(times, NOISE_WINDOW)
    t = (t - t[:, :1]) / (t[:, -1:] - t[:, :1])
    apart = t[:, :, None] - t[:, None, :] + np.eye(NOISE_WINDOW)
    weights = 1.0 / apart.prod(axis=2)
    weights /= np.sqrt((weights**2).sum(axis=1, keepdims=True))
    left = np.einsum("kw,knw->kn", weights, windows(values, NOISE_WINDOW, axis=0))
    alternate = (left[1:] * left[:-1]).sum(axis=0) < NOISE_CORRELATION * (left**2).sum(axis=0)
    return np.where(alternate, np.median(np.abs(left), axis=0) / NORMAL_MEDIAN, 0.0)
