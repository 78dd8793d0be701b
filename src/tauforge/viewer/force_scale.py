"""The force that fills a bar and has the longest arrow: the largest so far, for each unit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tauforge.arrays import Array


class ForceScale:
    """largest: N m and N by unit, since it was made or forgotten"""

    def __init__(self, units: Sequence[str]) -> None:
        self._units, self.largest = tuple(units), dict.fromkeys(units, 0.0)

    def forget(self) -> None:
        """A large force of the past, such as that near a singular pose, does not make all later arrows short."""
        self.largest = dict.fromkeys(self._units, 0.0)

    def of(self, forces: Array) -> Array:
        """(m,) the largest force so far of each actuator's unit, these among them; 1 where all are 0."""
        for unit, force in zip(self._units, forces, strict=True):
            if math.isfinite(force):
                self.largest[unit] = max(self.largest[unit], abs(float(force)))
        return np.array([self.largest[unit] or 1.0 for unit in self._units])
