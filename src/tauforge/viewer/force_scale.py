"""The force that fills a bar and has the longest arrow: the largest so far, for each unit.

A robot in balance has forces that are rounding alone: beside usual forces they are nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tauforge.arrays import Array

LEAST = 0.01  # of a usual force: what fills a bar at least


class ForceScale:
    """largest: N m and N by unit, since it was made or forgotten

    usual: (m,) N m or N, of the actuators
    """

    def __init__(self, units: Sequence[str], usual: Array) -> None:
        self._units, self.largest = tuple(units), dict.fromkeys(units, 0.0)
        self._least = dict.fromkeys(units, 0.0)
        for unit, force in zip(units, usual, strict=True):
            self._least[unit] = max(self._least[unit], LEAST * float(force))

    def forget(self) -> None:
        """A large force of the past, such as that near a singular pose, does not make all later arrows short."""
        self.largest = dict.fromkeys(self._units, 0.0)

    def of(self, forces: Array) -> Array:
        """(m,) the largest force so far of each actuator's unit, these among them, at least a hundredth of a usual one.

        It is 1 where all are 0.
        """
        for unit, force in zip(self._units, forces, strict=True):
            if math.isfinite(force):
                self.largest[unit] = max(self.largest[unit], abs(float(force)))
        return np.array([max(self.largest[unit], self._least[unit]) or 1.0 for unit in self._units])
