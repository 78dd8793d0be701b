"""Leg forces along a path as the paper's figures name them, the parts they consist of, and their steps."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tauforge.analysis.stewart_curves import sign_changes
from tauforge.arrays import Array
from tauforge.motion import StraightLine
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.stewart_legs import switching_times
from tauforge_papers.stewart_paths import Path, sampled

MODEL: Final = "dasgupta1998"
STEP = 0.1  # beside the largest acceleration: no smooth change in one sample
FINE = 60_001  # samples of a path between which its forces change by little, but where the acceleration steps


class Forces(NamedTuple):
    """N, (k, 6) each: as the paper's figures name them."""

    T: Array  # total, by the paper's model
    S: Array  # "static": massless legs, no friction (eq. 41)
    exact: Array

    @property
    def D(self) -> Array:
        """The part of leg inertia, leg weight and friction (eq. 42)."""
        return self.T - self.S

    @property
    def fraction(self) -> Array:
        return self.D / self.T

    @property
    def exact_fraction(self) -> Array:
        return (self.exact - self.S) / self.exact

    @property
    def fractions(self) -> tuple[Array, Array]:
        """By the paper's model and by the exact one."""
        return self.fraction, self.exact_fraction

    @property
    def crossing(self) -> Array:
        """Which legs (6,) pass from pushing to pulling."""
        return np.asarray(sign_changes(self.T).any(axis=0))


def rank_correlation(x: Array, y: Array) -> float:
    """Spearman's."""
    first, second = (np.argsort(np.argsort(values)).astype(float) for values in (x, y))
    return float(np.corrcoef(first, second)[0, 1])


def poles(total: Array, path: Path) -> Array:
    """(k - 1, 6): where a force goes through zero, so that the fraction of it has a pole.

    Where the acceleration steps, the force leaps over zero and the fraction has a jump instead.
    """
    change = np.abs(np.diff(path.states.acceleration, axis=0)).max(axis=1)
    smooth = change < STEP * np.abs(path.states.acceleration).max()
    return np.asarray(sign_changes(total) & smooth[:, None])


def forces(platform: StewartPlatform, path: Path) -> Forces:
    models = (MODEL, "massless-legs", "exact")
    return Forces(*(path.forces(platform, model) for model in models))


class Steps(NamedTuple):
    """Where the planned acceleration steps, for each such time: the largest step over the legs."""

    times: list[float]  # s
    forces: list[float]  # N
    massless: list[float]  # N, of the same leg, with massless legs: what the platform's own inertia makes
    accelerations: list[float]  # m/s^2, of the leg lengths
    elsewhere: float  # N, the largest change from one of FINE samples to the next

    @property
    def largest(self) -> int:
        return int(np.argmax(self.forces))


def steps(platform: StewartPlatform, line: StraightLine, model: str = MODEL) -> Steps:
    times = switching_times(line)
    sides = line.sample(np.array([side for t in times for side in (np.nextafter(t, 0.0), t)]))

    def leaps(values: Array) -> Array:
        return np.asarray(np.abs(values[1::2] - values[::2]))

    step, own = (leaps(platform.inverse_dynamics(*sides, model=one)) for one in (model, "massless-legs"))
    massless = own[np.arange(len(times)), step.argmax(axis=1)]
    accelerations = leaps(platform.leg_motion(*sides).accelerations).max(axis=1)
    path = sampled("", line, FINE)
    changes = np.abs(np.diff(path.forces(platform, model), axis=0)).max(axis=1)
    near = [(path.t[:-1] <= t) & (t <= path.t[1:]) for t in times]
    elsewhere = float(changes[~np.any(near, axis=0)].max())
    return Steps(times, step.max(axis=1).tolist(), massless.tolist(), accelerations.tolist(), elsewhere)


class RandomPoses(NamedTuple):
    """Poses at rest: condition numbers of H and the largest leg force (N), each (k,)."""

    condition: Array
    scaled: Array  # condition number with moments divided by the platform's radius
    force: Array
