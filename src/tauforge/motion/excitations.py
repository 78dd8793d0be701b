"""Periodic motions: sines, chirps, circles. They start and end in motion, so the ends are not at rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.motion.motion import Motion, coordinates, positive
from tauforge.robots.poses import twists


def spread(name: str, value: Any, centre: Array) -> Array:
    """One number for all coordinates, or one for each."""
    numbers = coordinates(name, [value] if np.ndim(value) == 0 else value)
    if numbers.shape not in ((1,), centre.shape):
        raise ShapeError(name, expected=f"1 or {len(centre)} numbers", got=str(len(numbers)))
    return np.broadcast_to(numbers, centre.shape)


class Sine(Motion):
    """centre + amplitude sin(2 pi frequency t + phase), each (n,) or one number for all coordinates."""

    def __init__(
        self, centre: ArrayLike, amplitude: ArrayLike, frequency: ArrayLike, duration: float, phase: ArrayLike = 0.0
    ) -> None:
        self.centre = coordinates("centre", centre)
        self.amplitude = spread("amplitude", amplitude, self.centre)
        self.frequency, self.phase = spread("frequency", frequency, self.centre), spread("phase", phase, self.centre)
        self.duration = positive("duration", duration)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        w = 2 * np.pi * self.frequency
        angle = np.multiply.outer(t, w) + self.phase
        swing = self.amplitude * np.sin(angle)
        return self.centre + swing, self.amplitude * w * np.cos(angle), -(w**2) * swing


class Chirp(Motion):
    """A sine whose frequency rises linearly from `first` to `last` (Hz); it starts at the centre."""

    def __init__(self, centre: ArrayLike, amplitude: ArrayLike, first: float, last: float, duration: float) -> None:
        self.centre = coordinates("centre", centre)
        self.amplitude = spread("amplitude", amplitude, self.centre)
        self.first, self.last = positive("first", first), positive("last", last)
        self.duration = positive("duration", duration)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        slope = 2 * np.pi * (self.last - self.first) / self.duration
        rate = 2 * np.pi * self.first + slope * t
        angle = 2 * np.pi * self.first * t + slope * t**2 / 2
        s, c = np.sin(angle), np.cos(angle)
        parts = (s, rate * c, slope * c - rate**2 * s)
        position, velocity, acceleration = (np.multiply.outer(part, self.amplitude) for part in parts)
        return self.centre + position, velocity, acceleration


class Circle(Motion):
    """A platform's origin moves on a circle, `turns` times around in the duration, with constant orientation.

    centre: (6,) pose; radius: m; normal: (3,) of the circle's plane, base axes, default z
    """

    of_poses = True

    def __init__(
        self, centre: ArrayLike, radius: float, duration: float, turns: float = 1.0, normal: ArrayLike = (0.0, 0.0, 1.0)
    ) -> None:
        self.centre = coordinates("centre", centre)
        if self.centre.shape != (6,):
            raise ShapeError("centre", expected="(6,), a pose", got=str(self.centre.shape))
        self.radius, self.duration = positive("radius", radius), positive("duration", duration)
        self.turns = float(coordinates("turns", [turns])[0])
        axis = coordinates("normal", normal)
        if axis.shape != (3,) or not axis.any():
            raise ShapeError("normal", expected="3 numbers, not all 0", got=f"{normal!r}")
        axis /= np.linalg.norm(axis)
        first = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
        first /= np.linalg.norm(first)
        self._plane = np.zeros((2, 6))
        self._plane[:, :3] = first, np.cross(axis, first)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        w = 2 * np.pi * self.turns / self.duration
        c, s = np.cos(w * t), np.sin(w * t)
        outward = self.radius * (np.multiply.outer(c, self._plane[0]) + np.multiply.outer(s, self._plane[1]))
        forward = self.radius * (np.multiply.outer(c, self._plane[1]) - np.multiply.outer(s, self._plane[0]))
        pose = self.centre + outward
        return (pose, *twists(pose, w * forward, -(w**2) * outward))
