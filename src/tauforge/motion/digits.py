"""The steps in which numbers were rounded, from their digits."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from tauforge.arrays import Array

LOOKED_AT = 1000  # numbers of a column, evenly spread
ENOUGH = 10  # different numbers, of which one surely does not end in 0


def quanta(numbers: Array) -> Array:
    """The steps, at most 1, in which the numbers of columns (k, n) were rounded: the value of their last digit.

    A number is taken to have as many decimals as are seen in numbers of its magnitude or larger. With a fixed number of
    decimals they are the same for all; with a fixed number of digits larger numbers have fewer.
    """
    return np.stack([_steps(column) for column in numbers.T], axis=-1)


def _steps(column: Array) -> Array:
    seen = np.unique(np.abs(column[:: max(1, len(column) // LOOKED_AT)]))
    exponents = [Decimal(repr(x)).normalize().as_tuple().exponent for x in seen.tolist()]
    decimals = np.maximum(-np.array(exponents, float), 0.0)
    most = np.maximum.accumulate(decimals[::-1])[::-1]  # of this magnitude or larger
    decade = 10.0 ** np.floor(np.log10(np.maximum(np.abs(column), np.finfo(float).tiny)))
    return np.asarray(10.0 ** -most[np.minimum(np.searchsorted(seen, decade), max(len(seen) - ENOUGH, 0))])
