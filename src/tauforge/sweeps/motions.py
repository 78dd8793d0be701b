"""Motions that ready studies follow: CSV files, or a move between two positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.field_docs import with_field_docs
from tauforge.motion.csv_motion import CsvMotion
from tauforge.motion.joint_move import JointMove
from tauforge.motion.motion import Motion, PoseMotion
from tauforge.robots.robot import Robot
from tauforge.sweeps.option_texts import numbers_option, positive_option
from tauforge.sweeps.positions import position_at

SAMPLES = 201  # of a move, at which it is looked at
MOVE_TIME = 1.0  # s, unless an option says otherwise


@with_field_docs
class Sampled(NamedTuple):
    """A motion at some times.

    times:        (k,) s, strictly increasing
    position:     (k, N) rad or m, loops closed; of a platform poses
    velocity:     (k, n); of a platform twists
    acceleration: (k, n)
    """

    times: Array
    position: Array
    velocity: Array
    acceleration: Array


def motions_of(robot: Robot, at: Mapping[str, float], options: Mapping[str, str]) -> dict[str, Motion]:
    """The motions that the options ask for, by their names. Options as in `ready_studies`."""
    if "motions" in options:
        if given := next((name for name in ("end", "duration") if name in options), "at" if at else None):
            raise ModelError(f"the files of motions leave no room for {given}", field="option motions")
        return _files(robot, options)
    if "smooth" in options:
        raise ModelError("only motions from files are smoothed", field="option smooth")
    if "end" not in options:
        raise ModelError(
            "there is no motion", field="option motions", remedy="Give motions=FILE.csv, or end=... of a move"
        )
    end = numbers_option(options, "end", [coordinate.unit for coordinate in robot.coordinates])
    move = JointMove(position_at(robot, at), end, positive_option(options, "duration", "s", MOVE_TIME))
    return {"move": PoseMotion(move) if robot.positions_are_poses else move}


def sampled(robot: Robot, name: str, motion: Motion) -> Sampled:
    """The motion at the times of its file; a move at `SAMPLES` times."""
    times = motion.times if isinstance(motion, CsvMotion) else np.linspace(0.0, motion.duration, SAMPLES)
    coordinates, velocity, acceleration = motion.samples if isinstance(motion, CsvMotion) else motion.sample(times)
    position = robot.positions.at(coordinates, on_failure="nan")
    lost = np.isnan(position).any(axis=-1) & np.isfinite(coordinates).all(axis=-1)
    if lost.any():
        after = times[lost.argmax()] - times[0]
        raise ModelError(
            f"{name}: the loops of {robot.name} do not close {after:.3g} s after its start",
            field="option motions" if isinstance(motion, CsvMotion) else "option end",
            remedy="tauforge.workspace.explain tells about a position; take others",
        )
    return Sampled(times, position, velocity, acceleration)


def _files(robot: Robot, options: Mapping[str, str]) -> dict[str, Motion]:
    smooth = positive_option(options, "smooth", "", 1.0) if "smooth" in options else None
    found: dict[str, Motion] = {}
    for text in options["motions"].split(","):
        path = text.strip()
        if not path:
            raise ModelError("a name is missing", field="option motions", remedy="Write motions=A.csv,B.csv")
        if path in found:
            raise ModelError(f"{path} is given twice", field="option motions", remedy="Give it once")
        found[path] = CsvMotion(path, robot, smooth=smooth)
    return found
