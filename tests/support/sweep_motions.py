"""Moves and files of motions for the tests of sweeps."""

from __future__ import annotations

import numpy as np

import tauforge as tf
from tauforge.tables.robot_columns import columns_of

SHIFT = 0.06  # rad or m, of every coordinate
DURATION = 0.3  # s


def home(robot):
    return np.array(robot.positions.coordinates(robot.positions.default))


def move_end(robot):
    return home(robot) + SHIFT * np.cos(np.arange(robot.n))


def move_of(robot, end=None, duration=DURATION):
    move = tf.motion.JointMove(home(robot), move_end(robot) if end is None else end, duration)
    return tf.motion.PoseMotion(move) if robot.positions.pose else move


def move_options(robot, **more):
    end = ",".join(repr(float(x)) for x in move_end(robot))
    return {"end": end, "duration": f"{DURATION}s", **more}


def write_motion(path, robot, motion, samples=61):
    """A CSV file with position, velocity and acceleration at uneven times."""
    times = motion.duration * np.linspace(0, 1, samples) ** 1.2
    columns = columns_of(robot)
    names = [f"{column.name} [{column.unit}]" for group in columns[:3] for column in group]
    rows = np.column_stack([times, *motion.sample(times)])
    np.savetxt(path, rows, delimiter=",", header=",".join(["time [s]", *names]), comments="", fmt="%.17g")
    return str(path)
