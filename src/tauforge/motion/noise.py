"""An estimate of the noise in samples of a smooth motion."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array

WINDOW = 7  # samples: a polynomial of fifth degree passes through six of them, the seventh shows the noise
ALTERNATE = -0.4  # correlation of neighbours; that of noise is -6 / 7, that of a smooth motion nearly 1
MEDIAN = 0.6745  # of the magnitude of a normal variable of standard deviation 1


def noise_of(times: Array, values: Array) -> Array:
    """(n,) standard deviation of the noise in values (k, n) at even or uneven times (k,); 0 for fewer than 7 samples.

    Divided differences of sixth order vanish for polynomials of fifth degree. Divided by the norm of their weights they
    have the standard deviation of the noise. Their median ignores steps of an acceleration, which are few. Where
    neighbours do not alternate, the motion is not a polynomial of fifth degree, and the noise is taken as 0.
    """
    if len(times) < WINDOW:
        return np.zeros(values.shape[1])
    windows = np.lib.stride_tricks.sliding_window_view
    t = windows(times, WINDOW)
    t = (t - t[:, :1]) / (t[:, -1:] - t[:, :1])
    apart = t[:, :, None] - t[:, None, :] + np.eye(WINDOW)
    weights = 1.0 / apart.prod(axis=2)
    weights /= np.sqrt((weights**2).sum(axis=1, keepdims=True))
    left = np.einsum("kw,knw->kn", weights, windows(values, WINDOW, axis=0))
    alternate = (left[1:] * left[:-1]).sum(axis=0) < ALTERNATE * (left**2).sum(axis=0)
    return np.where(alternate, np.median(np.abs(left), axis=0) / MEDIAN, 0.0)
