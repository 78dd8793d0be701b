"""The motion of the legs along a path, and the derivatives that it must agree with, taken from positions alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tauforge.algebra.vectors import Matrix, Vector
from tauforge.arrays import Array
from tauforge.formulations.stewart.kinematics import LegMotion, leg_motion
from tauforge.formulations.stewart.parameters import motion
from tauforge.motion import MotionSample, StraightLine
from tauforge.robots.stewart.stewart_platform import StewartPlatform

STEP = 5e-4  # of the duration: central differences of the fourth order then leave 1e-8 of a second derivative
DIFFERENCES = 1e-6  # beside the largest value: what the differences may leave


def legs(platform: StewartPlatform, states: MotionSample, *, spin: bool = True) -> list[LegMotion]:
    """Motion of every leg over columns (k,). spin: whether a leg may turn about itself."""
    moving = motion(*([x[:, k] for k in range(6)] for x in states))
    return [leg_motion(leg, moving, spin=spin) for leg in platform.parameters.legs]


def vectors(found: list[Vector]) -> Array:
    """(k, 6, 3) of one vector for each leg."""
    return np.stack([np.stack(np.broadcast_arrays(*v), axis=-1) for v in found], axis=1)


def matrices(found: list[Matrix]) -> Array:
    """(k, 6, 3, 3)."""
    return np.stack([vectors(list(T.rows)) for T in found], axis=1)


class Derivatives(NamedTuple):
    value: Array
    rate: Array
    second: Array


def derivatives(f: Callable[[Array], Array], t: Array, h: float) -> Derivatives:
    """f and its first two derivatives at times (k,), by central differences."""
    far_before, before, now, after, far_after = (f(t + j * h) for j in (-2, -1, 0, 1, 2))
    rate = (far_before - far_after + 8.0 * (after - before)) / (12.0 * h)
    second = (16.0 * (before + after) - far_before - far_after - 30.0 * now) / (12.0 * h * h)
    return Derivatives(now, rate, second)


def turning(rate: Array, axes: Array) -> Array:
    """Angular velocity of axes (..., 3, 3), the columns, from their rate; or acceleration, from their second rate."""
    M = rate @ np.swapaxes(axes, -1, -2)
    skew = (M - np.swapaxes(M, -1, -2)) / 2.0
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def switching_times(line: StraightLine) -> list[float]:
    """When a blend ends or begins (D39): there the acceleration steps."""
    way = np.subtract(line.end, line.start)
    pairs = ((way[:3], line.max_speed), (way[3:], line.max_rate))
    blends = [line.duration - float(np.linalg.norm(x)) / speed for x, speed in pairs]
    return sorted({*blends, *(line.duration - blend for blend in blends)})


def smooth_times(line: StraightLine, count: int) -> Array:
    """Times along the line with no step of the acceleration within reach of the differences."""
    margin = 3 * STEP * line.duration
    t = np.linspace(margin, line.duration - margin, count)
    return np.asarray(t[[min(abs(x - s) for s in switching_times(line)) > margin for x in t]])


def apart(a: Array, b: Array) -> float:
    """The largest difference beside the largest value of b."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def vectors_apart(a: Array, b: Array) -> float:
    """The largest norm of a difference beside the largest norm of b, vectors (..., 3)."""
    difference, largest = (np.linalg.norm(x, axis=-1).max() for x in (a - b, b))
    return float(difference / largest)
