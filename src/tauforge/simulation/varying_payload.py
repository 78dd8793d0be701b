"""A payload that varies in a run: taken up, put down, or filled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.loads import Payload, one_payload

PayloadFunction = Callable[[float], Payload]


class VaryingPayload:
    """A function of the time, s; in every period the payload is that of its begin. It is asked in advance."""

    def __init__(self, given: PayloadFunction, period: float) -> None:
        self._given, self._period = given, period

    def at(self, k: int) -> Payload:
        """In period k."""
        return one_payload(self._given(k * self._period))

    def numbers(self, begin: int = 0, end: int = 1) -> Array:
        """(k, 10) in these periods, as `Payload.numbers`."""
        return np.array([self.at(k).numbers() for k in range(begin, end)])
