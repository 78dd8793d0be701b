"""What is played: the frames of a motion or a recording, the way of the moved body, and a clock."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.motion.motion import Motion
from tauforge.pictures.animation_frames import AnimationFrames, Forces, Pace, animation_frames
from tauforge.robots.robot import Robot
from tauforge.simulation.recording import Recording
from tauforge.viewer.evaluation import SingularTimes, singular_times

FRAMES_PER_SECOND = 120.0  # finer than the picture, so that slow motion is smooth
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")


class Clip(NamedTuple):
    """Something to play.

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
        """Whether the forces are those of a run, not what the motion needs."""
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
    """ModelError or ShapeError where a motion or a recording does not fit the robot."""
    frames = animation_frames(robot, shown, Pace(FRAMES_PER_SECOND), argument="recording")
    drawing = robot.drawing(frames.position)
    moved = robot.moved_body
    bodies = [frame.transform for frame in drawing.frames if moved is not None and frame.name == moved.name]
    path = bodies[0][..., :3, 3] if bodies else np.zeros((0, 3))
    marked = singular_times(robot, frames)
    at = [np.interp(marked.times, frames.times, column) for column in path.T] if len(path) else [np.zeros(0)] * 3
    return Clip(name, shown, frames, path, drawing.extent, marked, np.column_stack(at))


class Clock:
    """The time of what is played. At the end it stops, or begins again."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end, self.time = start, end, start
        self.speed, self.begins_again, self.playing = 1.0, True, False

    def play(self) -> None:
        """From where it is, or from the start at the end."""
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
