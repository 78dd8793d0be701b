"""Numbers that are shaken at every operation, to see how much of a result is rounding.

A formula is run several times at once, and every operation of every run has a random error of the size of rounding. The
results differ by about what rounding does to them (Vignes 1993, stochastic arithmetic). That proves no bound, but it
sees cancellation, elimination and bad scaling as they are, where a condition number sees the last two of one matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np

from tauforge.algebra.scalars import BINARY, FoldingScalar, Scalar, arctangent, function, is_zero, select
from tauforge.arrays import Array

RUNS = 6  # that the largest difference of so few is far below the usual one has a chance of less than 1 %
DIFFERENT = 997  # errors; a prime, so that they do not repeat with the steps of a formula
EPSILON = float(np.finfo(float).eps)

Errors = Iterator[Array]


def errors() -> Errors:
    """What results of operations are multiplied by, (RUNS, 1) each: 1 in the first run, else 1 but for rounding."""
    units = np.random.default_rng(0).integers(-1, 2, (DIFFERENT, RUNS, 1))
    units[:, 0] = 0
    return cycle(1.0 + EPSILON * units)


class Shaken(FoldingScalar):
    """One number in all runs, (RUNS, k) for k states or (RUNS, 1)."""

    __slots__ = ("errors", "value")

    def __init__(self, value: Any, errors: Errors) -> None:
        self.value, self.errors = value * next(errors), errors

    def _binary(self, name: str, a: Scalar, b: Scalar) -> Shaken:
        operation = arctangent if name == "atan2" else BINARY[name]
        return Shaken(operation(_bare(a), _bare(b)), self.errors)

    def _unary(self, name: str) -> Shaken:
        return Shaken(-self.value if name == "neg" else function(name, self.value), self.errors)

    def _select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Shaken:
        return Shaken(select(_bare(a), _bare(b), _bare(x), _bare(y)), self.errors)


def _bare(x: Scalar) -> Any:
    return x.value if isinstance(x, Shaken) else x


def shaken(values: Array, errors: Errors) -> list[Scalar]:
    """The columns of values (k, n), each known to rounding; a number that is zero stays one."""
    return [0.0 if len(values) == 1 and is_zero(float(x[0])) else Shaken(x, errors) for x in values.T]


def runs(results: Scalar, states: int) -> Array:
    """(RUNS, states, n) of n results."""
    return np.stack([np.broadcast_to(_bare(x), (RUNS, states)) for x in results], axis=-1)
