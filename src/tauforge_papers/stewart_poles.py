"""Singular poses on the way of a platform: where leg forces have poles, and what of them is shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.analysis.stewart_forces import crossings
from tauforge.arrays import Array
from tauforge.motion import CsvMotion
from tauforge.robots.stewart.stewart_platform import StewartPlatform

SEARCHED = 1000  # samples between which a singular pose is looked for, at least
BEYOND_BULK = 3.0  # times the force that nine in ten are below: what is shown where a singular pose is crossed


class Poles(NamedTuple):
    """Times in s of the file at which det H = 0, the times (k,) of the motion, and the largest force shown, N."""

    at: list[float]
    times: Array
    shown: float

    @property
    def marks(self) -> tuple[tuple[float, str], ...]:
        return tuple((time, "") for time in self.at)

    @property
    def y_range(self) -> tuple[float, float] | None:
        """None where there is no pole."""
        return (-self.shown, self.shown) if self.at else None

    @property
    def words(self) -> str:
        """For captions; empty where there is no pole."""
        times = ", ".join(f"{time:.4g}" for time in self.at)
        return f" Cut at {self.shown:.2g} N: det H = 0 at {times} s (broken lines)." if self.at else ""

    def parted(self, forces: Array) -> Array:
        """Forces (k, 6) without the sample nearest to each pole, so that no stroke joins the two sides."""
        found = forces.copy()
        found[[int(np.abs(self.times - time).argmin()) for time in self.at]] = np.nan
        return found


def poles_of(platform: StewartPlatform, motion: CsvMotion, forces: Array) -> Poles:
    """forces: (k, 6) N along the motion."""
    samples = max(SEARCHED, len(motion.times))
    found = crossings(platform, lambda t: motion.sample(t).position, 0.0, motion.duration, samples=samples)
    shown = BEYOND_BULK * float(np.quantile(np.abs(forces).max(axis=1), 0.9))
    return Poles([float(motion.times[0] + one.time) for one in found], motion.times, shown)
