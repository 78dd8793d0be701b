"""A motion as the controller of a sweep sees it: its samples at the control instants, and nothing of its source."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array
from tauforge.motion.motion import Motion, MotionSample
from tauforge.simulation.checks import enough_steps


class HeldTargets(Motion):
    """The samples of a motion at whole multiples of a period; at other times that of the nearest multiple.

    A sweep keeps these and not the motion, because they can be compared and sent to other processes.

    samples: (periods + 1, n) each
    """

    def __init__(self, period: float, of_poses: bool, samples: MotionSample, in_rates: bool = True) -> None:
        self.period, self.of_poses, self.in_rates = period, of_poses, in_rates
        self.position, self.velocity, self.acceleration = samples
        self.duration = period * (len(self.position) - 1)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        at = np.rint(t / self.period).astype(int)
        return self.position[at], self.velocity[at], self.acceleration[at]


def held_targets(motion: Motion, period: float) -> HeldTargets:
    """The motion at control instants, and rest at its end up to the end of the last period."""
    periods = enough_steps("motion", motion.duration, period)
    samples = motion.sample(period * np.arange(periods + 1))
    return HeldTargets(period, motion.of_poses, samples, motion.in_rates)
