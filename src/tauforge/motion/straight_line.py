"""A straight line with constant acceleration at both ends, as Dasgupta & Mruthyunjaya 1998 plan it (sec. 4.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.motion.motion import Motion, one_pose, positive
from tauforge.motion.turn import Turn
from tauforge.robots.poses import twists

ORIENTATIONS = ("rotation", "angles")


class StraightLine(Motion):
    """From one pose to another in a given time: a line and a turn at once, each with a top speed of its own.

    start, end:  (6,) x, y, z, theta_x, theta_y, theta_z
    duration:    s
    max_speed:   m/s, of the position
    max_rate:    rad/s, of the turn
    orientation: "rotation": the short way round, about one axis; max_rate is the angular speed |omega|
                 "angles": each of the three angles is interpolated, as in the paper; max_rate is the magnitude of the
                 vector of their rates (not of omega)

    With "rotation" the angles of `position` continue from those of `start`, past pi and through theta_y = pi/2 too. So
    at the end they may differ from `end` by whole turns, or be other angles of the same orientation. For half a turn
    both ways round are equally short: the axis is the one whose first component that is not 0 is positive.

    The motion has constant acceleration, constant speed and constant deceleration: tau_t = duration - distance / speed
    (D39), and a_t = speed / tau_t along the line (D40). At a switching instant the acceleration is that of the right
    side, at the end that of the left. Before and after, the motion rests at its ends.
    """

    of_poses = True

    def __init__(
        self,
        start: ArrayLike,
        end: ArrayLike,
        duration: float,
        max_speed: float,
        max_rate: float,
        *,
        orientation: str = "rotation",
    ) -> None:
        self.start, self.end = one_pose("start", start), one_pose("end", end)
        self.duration = positive("duration", duration)
        self.max_speed, self.max_rate = positive("max_speed", max_speed), positive("max_rate", max_rate)
        if orientation not in ORIENTATIONS:
            raise ShapeError("orientation", expected=f"one of {', '.join(ORIENTATIONS)}", got=repr(orientation))
        self.orientation = orientation
        way = self.end - self.start
        self._turn = Turn(self.start[3:], self.end[3:]) if orientation == "rotation" else None
        turned = way[3:] if self._turn is None else self._turn.vector
        self._parts = (
            _Blend.planned("max_speed", way[:3], self.max_speed, self.duration),
            _Blend.planned("max_rate", turned, self.max_rate, self.duration),
        )

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        planned = [(part.along(t, self.duration), part.way) for part in self._parts]
        position, rates, accelerations = (
            np.concatenate([np.multiply.outer(part[k], way) for part, way in planned], axis=-1) for k in range(3)
        )
        pose = self.start + position
        if self._turn is None:
            return (pose, *twists(pose, rates, accelerations))
        pose[..., 3:] = self._turn.angles(planned[1][0][0])
        return pose, rates, accelerations  # about a constant axis, omega is the rate of the turn

    def __repr__(self) -> str:
        return (
            f"StraightLine({self.start.tolist()}, {self.end.tolist()}, duration={self.duration}, "
            f"max_speed={self.max_speed}, max_rate={self.max_rate}, orientation={self.orientation!r})"
        )


class _Blend(NamedTuple):
    """Fraction of a way as a function of time: parabola, line, parabola."""

    way: Array
    blend: float  # tau_t, s
    rate: float  # of the fraction, 1/s

    @classmethod
    def planned(cls, name: str, way: Array, speed: float, duration: float) -> _Blend:
        length = float(np.linalg.norm(way))
        if length == 0:
            return cls(way, duration / 2, 0.0)
        least, most = length / duration, 2 * length / duration
        if not least < speed <= most * (1 + 1e-12):
            raise ShapeError(
                name,
                expected=f"a value above {least:.6g}, the mean, and at most {most:.6g}, which leaves no time at"
                f" constant speed, for {length:.6g} in {duration:.6g} s",
                got=f"{speed:.6g}",
                hint=f"Or choose a duration from {length / speed:.6g} s to {2 * length / speed:.6g} s",
            )
        return cls(way, min(duration - length / speed, duration / 2), speed / length)

    def along(self, t: Array, duration: float) -> tuple[Array, Array, Array]:
        acceleration = self.rate / self.blend
        end = duration - self.blend
        rising, falling = t < self.blend, t >= end
        left = duration - t
        fraction = np.where(
            rising,
            acceleration * t**2 / 2,
            np.where(falling, self.total - acceleration * left**2 / 2, self.rate * (t - self.blend / 2)),
        )
        rate = np.where(rising, acceleration * t, np.where(falling, acceleration * left, self.rate))
        second = np.where(rising, acceleration, np.where(falling, -acceleration, 0.0))
        spoilt = np.where(np.isnan(t), np.nan, 0.0)
        return fraction + spoilt, rate + spoilt, second + spoilt

    @property
    def total(self) -> float:
        return 1.0 if self.rate else 0.0
