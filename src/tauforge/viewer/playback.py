"""Clips to play: frames of a motion or a recording, the way of the moved body, singular times, and a clock."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.motion.motion import Motion
from tauforge.pictures.animation_frames import AnimationFrames, Forces, Pace, animation_frames
from tauforge.robots.positions import singularity
from tauforge.robots.robot import Robot
from tauforge.simulation.recording import Recording
from tauforge.viewer.colours import IS_SINGULAR, NEARLY_SINGULAR, RED_CONDITION, WARNING_CONDITION
from tauforge.viewer.evaluation import told_condition

FRAMES_PER_SECOND = 120.0  # finer than the picture, so that slow motion is smooth
PEAK_INSTANTS = 129  # about a peak of the condition number
PLAY_SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")


class SingularTimes(NamedTuple):
    """words: what the robot is then; times: (j,) s"""

    words: str
    times: Array


class Clip(NamedTuple):
    """A motion or a recording to play.

    name:           for the list of clips
    shown:          what it was made from
    frames:         its instants
    path:           (k, 3) m, where the moved body's origin is
    extent:         (3,) m each, the smallest and the largest coordinates of the robot on its whole way
    singular_times: when the robot is singular or nearly so
    singular:       (j, 3) m, where the moved body is then
    """

    name: str
    shown: Motion | Recording
    frames: AnimationFrames
    path: Array
    extent: tuple[Array, Array]
    singular_times: SingularTimes
    singular: Array

    @property
    def start(self) -> float:
        """s"""
        return float(self.frames.times[0])

    @property
    def end(self) -> float:
        """s"""
        return float(self.frames.times[-1])

    @property
    def is_recorded(self) -> bool:
        """True if the forces are those of a run, not what the motion needs."""
        return isinstance(self.shown, Recording)

    def with_forces(self, forces: Forces) -> Clip:
        """The same motion with other forces."""
        frames = self.frames
        force = forces(frames.position, frames.velocity, frames.acceleration)
        return self._replace(frames=frames._replace(force=force))

    def frame_at(self, time: float) -> int:
        """The frame nearest to a time."""
        share = (time - self.start) / (self.end - self.start) if self.end > self.start else 0.0
        return int(np.clip(round(share * (len(self.frames.times) - 1)), 0, len(self.frames.times) - 1))


def clip_of(robot: Robot, name: str, shown: Motion | Recording) -> Clip:
    """Makes a clip; ModelError or ShapeError where a motion or a recording does not fit the robot."""
    frames = animation_frames(robot, shown, Pace(FRAMES_PER_SECOND), argument="recording")
    drawing = robot.drawing(frames.position)
    moved = robot.moved_body
    bodies = [frame.transform for frame in drawing.frames if moved is not None and frame.name == moved.name]
    path = bodies[0][..., :3, 3] if bodies else np.zeros((0, 3))
    marked = singular_times(robot, frames)
    at = [np.interp(marked.times, frames.times, column) for column in path.T] if len(path) else [np.zeros(0)] * 3
    return Clip(name, shown, frames, path, drawing.extent, marked, np.column_stack(at))


def singular_times(robot: Robot, frames: AnimationFrames) -> SingularTimes:
    """Times at which a motion crosses singular poses; for a robot without a sign for them, at which it comes near.

    Between frames it goes on straight lines.
    """
    if (values := singularity(robot, frames.position)) is not None:
        return SingularTimes(IS_SINGULAR, _zeros(frames.times, values))
    return SingularTimes(NEARLY_SINGULAR, _red_peaks(robot, frames))


def _zeros(times: Array, values: Array) -> Array:
    """(j,) s, where values (k,) change their sign."""
    crossed = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    before, after = values[crossed], values[crossed + 1]
    step = times[crossed + 1] - times[crossed]
    found = times[crossed] + step * before / (before - after)
    return np.sort(np.concatenate([found, times[values == 0.0]]))


def _red_peaks(robot: Robot, frames: AnimationFrames) -> Array:
    """(j,) s, the largest condition number of every stretch that reaches the red band.

    A robot may be through a singular pose between two frames, so a peak is looked at closely.
    """
    conditions = told_condition(robot, frames.position)
    if conditions is None:
        return np.zeros(0)
    high = np.flatnonzero(conditions >= WARNING_CONDITION)
    stretches = np.split(high, np.flatnonzero(np.diff(high) > 1) + 1) if len(high) else []
    found = []
    for stretch in stretches:
        peak = stretch[conditions[stretch].argmax()]
        first, last = frames.times[max(peak - 1, 0)], frames.times[min(peak + 1, len(frames.times) - 1)]
        times = np.linspace(first, last, PEAK_INSTANTS)
        rows = np.column_stack([np.interp(times, frames.times, column) for column in frames.position.T])
        closed = robot.positions.at(rows, on_failure="nan")
        known = np.isfinite(closed).all(axis=-1)
        if known.any():
            close = np.asarray(told_condition(robot, closed[known]))
            if close.max() >= RED_CONDITION:
                found.append(times[known][close.argmax()])
    return np.array(found)


class Clock:
    """Clock of what is played. At the end it stops, or begins again."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end, self.time = start, end, start
        self.speed, self.begins_again, self.playing = 1.0, True, False

    def play(self) -> None:
        """Starts from where it is, or at the end from the start."""
        self.time = self.start if self.time >= self.end else self.time
        self.playing = self.end > self.start

    def go(self, time: float) -> None:
        self.time = min(max(time, self.start), self.end)

    def advance(self, seconds: float) -> None:
        """Moves on by so much real time."""
        if not self.playing:
            return
        self.time += self.speed * seconds
        if self.time >= self.end and self.begins_again:
            self.time = self.start + (self.time - self.end) % (self.end - self.start)
        elif self.time >= self.end:
            self.time, self.playing = self.end, False
