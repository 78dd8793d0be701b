"""What the tests of the command line share: running it, and motions to run it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
from typer.testing import CliRunner

import tauforge as tf
from tauforge.cli.app import app
from tauforge.tables.robot_columns import TIME, columns_of
from tauforge.tables.table import write_csv


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done


def parsed(*arguments, code=0):
    """The JSON of a command: the whole of its stdout."""
    return json.loads(run(*arguments, "--json", code=code).stdout)


def error_of(*arguments, code=2):
    done = run(*arguments, code=code)
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert done.stderr.rsplit("note: ", 1)[-1].count("error: ") == 1
    return done.stderr


def shell(*arguments, **options):
    """As from a shell, in a process of its own."""
    environment = {**os.environ, "TAUFORGE_KERNELS": "0", **options.pop("env", {})}
    command = [sys.executable, "-m", "tauforge", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, **options)


def saved(path, header, rows):
    with path.open("w", newline="") as file:
        write_csv(file, header, rows)
    return path


def arm_motion(folder):
    """A file with a move of the PUMA, 51 states of 1 s."""
    t = np.linspace(0, 1, 51)
    move = tf.motion.JointMove(np.zeros(6), [0.5, -0.4, 0.3, 0.2, -0.3, 0.4], 1.0).sample(t)
    own = columns_of(tf.load("puma560"))
    header = [TIME, *own.position, *own.velocity, *own.acceleration]
    return saved(folder / "arm.csv", header, np.column_stack([t, *move]))


def rig_motion(folder):
    """A file with poses alone of the motion rig, less than a period of a swing."""
    t = np.linspace(0, 0.9, 91)
    home = np.array([0, 0, 1.0, 0, 0, 0])
    pose = tf.motion.Sine(home, [0.05, 0.04, 0.03, 0.05, 0.06, 0.02], 1.0, 1.0, 0.3).sample(t).position
    return saved(folder / "rig.csv", [TIME, *columns_of(tf.load("motion-rig")).position], np.column_stack([t, pose]))
