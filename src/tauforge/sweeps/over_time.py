"""Numbers along a motion summed up over its time. Each row is summed by itself and in order, whatever is beside it."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array


def shares_of_time(times: Array) -> Array:
    """(k,) weights of the trapezoidal rule at times (k,) s, strictly increasing; their sum is 1."""
    steps = np.diff(times)
    found = np.zeros(len(times))
    found[:-1] += steps / 2
    found[1:] += steps / 2
    return np.asarray(found / (times[-1] - times[0]))


def root_mean_square(values: Array, shares: Array) -> Array:
    """(..., n) over the times of values (..., k, n), weighted by shares (k,).

    The sums go from the first time to the last. NumPy's own sums take an order that depends on the shape of the whole
    array, and then a point's result would depend on the block in which it is computed.
    """
    return np.asarray(np.sqrt(np.cumsum(values**2 * shares[:, None], axis=-2)[..., -1, :]))


def largest_size(values: Array) -> Array:
    """(..., n) over the times of values (..., k, n); NaN where one is."""
    return np.asarray(np.abs(values).max(axis=-2))
