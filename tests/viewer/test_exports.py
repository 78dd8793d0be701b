"""Files that the viewer saves can be read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import CLOSED, ROUNDING, error
from tauforge.motion.csv_motion import CsvMotion
from tauforge.motion.motion import Motion
from tauforge.robots.robot import Robot
from tauforge.viewer.playback import clip_of
from tauforge.viewer.playback_panel import csv_of


def a_little_way(robot: Robot) -> Motion:
    start = robot.positions.coordinates(np.asarray(robot.positions.default, float))
    if robot.positions.pose:
        return tf.motion.StraightLine(start, start + 0.02, duration=0.5, max_speed=0.1, max_rate=0.1)
    return tf.motion.JointMove(start, start + 0.02, duration=0.5)


@pytest.mark.parametrize("name", ["puma560", "motion-rig", "gripper", "delta", "slider-crank"])
def test_a_motion_saved_as_csv_is_read_again(name: str, tmp_path: Path) -> None:
    """As many numbers in a row as columns, and the same motion: a mechanism's positions have more numbers."""
    robot = tf.load(name)
    clip = clip_of(robot, "move", a_little_way(robot))
    path = tmp_path / "saved.csv"
    path.write_bytes(csv_of(robot, clip))
    rows = [line.split(",") for line in path.read_text().splitlines()]
    assert {len(row) for row in rows} == {1 + 3 * robot.n + len(robot.actuators)}
    motion = CsvMotion(path, robot)
    assert motion.unused == motion.derived == ()
    for read, shown in zip(motion.samples, clip.shown.sample(clip.frames.times), strict=True):
        assert error(read, shown, core=2) < ROUNDING
    again = clip_of(robot, "again", motion)
    assert error(again.frames.position, clip.frames.position, core=2) < CLOSED
