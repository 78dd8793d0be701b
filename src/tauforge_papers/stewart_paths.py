"""The paths that both papers on the Stewart platform follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.motion import Motion, MotionSample, StraightLine
from tauforge.robots.stewart.stewart_platform import StewartPlatform

LEGS = 6
SAMPLES = 601  # of a path: ten for each of Dasgupta's steps


class Path(NamedTuple):
    """States of a motion at times (k,)."""

    name: str
    t: Array
    states: MotionSample  # each (k, 6)

    def forces(self, platform: StewartPlatform, model: str = "exact", corrections: Sequence[str] = ()) -> Array:
        """N, (k, 6)."""
        return platform.inverse_dynamics(*self.states, model=model, corrections=corrections)


def sampled(name: str, motion: Motion, samples: int = SAMPLES) -> Path:
    t = np.linspace(0.0, motion.duration, samples)
    return Path(name, t, motion.sample(t))


_ENDS = ([0.1, 0.0, 0.4, 0.0, 0.0, -0.2], [0.3, 0.0, 0.6, 0.0, 0.0, 0.2])
SLOW = StraightLine(*_ENDS, 6.0, 0.08, 0.08, orientation="angles")  # Dasgupta's path I, Pedrammehr's path 2
FAST = StraightLine(*_ENDS, 0.6, 0.8, 0.8, orientation="angles")  # path II, and 3: ten times the speed
SINGULAR = StraightLine(
    [0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0], 6.0, 0.2, 0.08, orientation="angles"
)  # path III


def constant_velocity(name: str, speed: float, duration: float, samples: int = SAMPLES) -> Path:
    """Pedrammehr's path 1: along x from (0.1, 0, 0.5), the orientation kept, no blends."""
    t = np.linspace(0.0, duration, samples)
    pose, twist = np.tile([0.1, 0.0, 0.5, 0.0, 0.0, 0.0], (samples, 1)), np.zeros((samples, 6))
    pose[:, 0] += speed * t
    twist[:, 0] = speed
    return Path(name, t, MotionSample(pose, twist, np.zeros((samples, 6))))
