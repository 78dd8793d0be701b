"""A straight line with constant acceleration at both ends, as Dasgupta & Mruthyunjaya 1998 plan it (sec. 4.3)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.rotations import Quaternion, quaternion_of, rotation_of
from tauforge.algebra.vectors import Matrix, Vector
from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.motion.motion import Motion, one_pose, positive
from tauforge.robots.poses import twists

ORIENTATIONS = ("rotation", "angles")
SAME_ORIENTATION = 1e-14  # rad: rounding between two equal orientations
HALF_TURN_COSINE = 1e-12  # cosine of half the angle below which both ways round are equally short
NO_SIGN = 1e-9  # component of an axis below which it has no sign
UPRIGHT_COSINE = 1e-12  # cosine of theta_y below which theta_x and theta_z cannot be distinguished
TURN_PARTS = 64  # parts of the way from one to the next of which angles are followed
SHORTEST_PART = 2.0**-45  # of the way: the shortest part; parts get shorter towards a quarter turn of theta_y


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
            np.where(falling, bool(self.rate) - acceleration * left**2 / 2, self.rate * (t - self.blend / 2)),
        )
        rate = np.where(rising, acceleration * t, np.where(falling, acceleration * left, self.rate))
        second = np.where(rising, acceleration, np.where(falling, -acceleration, 0.0))
        spoilt = np.where(np.isnan(t), np.nan, 0.0)
        return fraction + spoilt, rate + spoilt, second + spoilt


class Turn:
    """The short way from angles `start` to the orientation of angles `end`, (3,) each: about a constant axis.

    vector: (3,) rad, base axes: the axis times the angle. For half a turn both ways round are equally short; then the
    axis is the one whose first component that is not 0 is positive.
    """

    def __init__(self, start: Array, end: Array) -> None:
        self.start = start
        self.vector = _rotation_vector(quaternion_of(Vector(*start.tolist())), quaternion_of(Vector(*end.tolist())))
        self._from = rotation_of(Vector(*start.tolist()))
        self._fractions = self._places()
        self._angles = self._followed()

    def angles(self, fraction: Array) -> Array:
        """(..., 3) theta of R = Rz Ry Rx at fractions (...) of the turn.

        They continue from `start` without jumps, past pi and through a quarter turn of theta_y too; at the end they may
        differ by whole turns from the angles of `end`. A turn that starts at a quarter turn of theta_y, where theta_x
        and theta_z have the same axis, continues with another split between these two.
        """
        R = self._rotation(fraction)
        near = np.stack([np.interp(fraction, self._fractions, column) for column in self._angles.T], axis=-1)
        z = np.where(_upright(R), near[..., 2], np.arctan2(R[1, 0], R[0, 0]))
        z = z + np.pi * np.round((near[..., 2] - z) / np.pi)  # half a turn more means theta_y beyond a quarter turn
        found = _angles_with(R, z)
        return np.asarray(found + 2 * np.pi * np.round((near - found) / (2 * np.pi)))

    def _followed(self) -> Array:
        """(k, 3) the angles at the places, each near the previous ones."""
        R = self._rotation(self._fractions)
        told = np.where(_upright(R), 0, np.arange(len(self._fractions)))
        z = np.arctan2(R[1, 0], R[0, 0])[np.maximum.accumulate(told)]  # where it is not determined, the previous one
        z[0] = self.start[2]
        angles = _angles_with(R, np.unwrap(z, period=np.pi))
        angles[0] = self.start
        return np.asarray(np.unwrap(angles, axis=0))

    def _rotation(self, fraction: Array) -> Matrix:
        angle = float(np.linalg.norm(self.vector))
        axis = self.vector / angle if angle else self.vector
        half = 0.5 * angle * fraction
        return Quaternion(np.cos(half), *(a * np.sin(half) for a in axis.tolist())).rotation().times(self._from)

    def _places(self) -> Array:
        """Fractions, from 0 to 1, between which no angle turns by more than a fraction of a radian.

        Only near a quarter turn of theta_y do angles turn faster than the body. There -sin(theta_y), which is
        a + b cos + c sin of the angle of the turn, is largest or smallest.
        """
        angle = float(np.linalg.norm(self.vector))
        places = [np.linspace(0.0, 1.0, TURN_PARTS + 1)]
        if angle:
            e, first = self.vector / angle, np.array([row.x for row in self._from.rows])
            steepest = math.atan2(float(np.cross(e, first)[2]), float(first[2] - (e @ first) * e[2]))
            lengths = 2.0 ** -np.arange(1, -math.log2(SHORTEST_PART))
            for turned in (steepest - np.pi, steepest, steepest + np.pi):
                places += [turned / angle + np.r_[-lengths, 0.0, lengths]]
        every = np.unique(np.concatenate(places))
        return np.asarray(every[(every >= 0.0) & (every <= 1.0)])


def _upright(R: Matrix) -> Array:
    return np.asarray(np.hypot(R[0, 0], R[1, 0]) < UPRIGHT_COSINE)


def _angles_with(R: Matrix, z: Array) -> Array:
    """(..., 3) the angles of a rotation whose theta_z is z."""
    c, s = np.cos(z), np.sin(z)
    y = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    x = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return np.stack([x, y, z], axis=-1)


def _rotation_vector(a: Quaternion, b: Quaternion) -> Array:
    """The rotation vector of the turn that leads from a to b, base axes."""
    w = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z
    before, after = np.array(a[1:]), np.array(b[1:])
    v = a.w * after - before * b.w + np.cross(before, after)
    size = float(np.linalg.norm(v))
    if 2 * size < SAME_ORIENTATION:
        return np.zeros(3)
    leading = next((x for x in v / size if abs(x) > NO_SIGN), 1.0)
    if w < -HALF_TURN_COSINE or (abs(w) <= HALF_TURN_COSINE and leading < 0):
        w, v = -w, -v
    return np.asarray(v * (2 * math.atan2(size, w) / size))
