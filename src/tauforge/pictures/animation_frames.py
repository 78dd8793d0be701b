"""The instants of an animation: positions, forces and targets of a motion or a recording, evenly spread over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError
from tauforge.motion.motion import Motion, positive
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import check_law, counted
from tauforge.simulation.recording import Recording
from tauforge.simulation.rollouts import Rollout
from tauforge.tables.robot_columns import state_columns

MOST_FRAMES = 3_000
Forces = Callable[[Array, Array, Array], Array]  # position, velocity and acceleration (k, n) in, forces (k, m) out
ONE_ROW = (
    "Take one row: tf.Recording(run.time, run.position[0], run.velocity[0], 0 * run.velocity[0], run.force[0], "
    "run.target_position, 0 * run.target_position)"
)


class AnimationFrames(NamedTuple):
    """The state at k instants.

    times:        (k,) s, evenly spaced
    position:     (k, N) rad or m; poses for a platform
    force:        (k, m) N m or N; NaN where there is none
    target:       (k, N) the positions that were wanted, or None
    thinned:      whether there are fewer frames than were asked for
    velocity:     (k, n) rad/s or m/s; twists for a platform
    acceleration: (k, n) rad/s^2 or m/s^2
    """

    times: Array
    position: Array
    force: Array
    target: Array | None
    thinned: bool
    velocity: Array
    acceleration: Array

    @property
    def duration(self) -> float:
        """s, from the first instant to the last."""
        return float(self.times[-1] - self.times[0])


class Pace(NamedTuple):
    """How finely time is divided.

    rate: frames a second
    most: frames at most
    film: every frame lasts, so there are as many as intervals; else a frame is an instant, and one more
    """

    rate: float
    most: int = MOST_FRAMES
    film: bool = False


def animation_frames(
    robot: Robot, shown: object, pace: Pace, forces: Forces | None = None, *, argument: str = "shown"
) -> AnimationFrames:
    """The frames of a motion or a recording; ModelError or ShapeError where it does not fit the robot.

    forces:   of a motion; by default `inverse_dynamics`
    argument: what errors call `shown`
    """
    pace = pace._replace(rate=positive("frames_per_second", pace.rate))
    if isinstance(shown, Motion):
        check_law(None, shown, None, None, robot)
        return _of_motion(robot, shown, pace, forces or robot.forces_without_raising)
    if isinstance(shown, Recording):
        if forces is not None:
            raise ModelError("a recording has forces of its own", field="forces", remedy="Leave out forces")
        check_recording(robot, shown, argument)
        return _of_recording(robot, shown, pace)
    remedy = ONE_ROW if isinstance(shown, Rollout) else None
    raise ModelError(f"expected a Motion or a Recording, got a {type(shown).__name__}", field=argument, remedy=remedy)


def _instants(start: float, end: float, pace: Pace) -> tuple[Array, bool]:
    """Times (k,) s, both ends among them, and whether there would have been too many.

    Frame i of the k in a film is on the screen from i / k to (i + 1) / k of the time. Its instant, i / (k - 1), lies in
    between: the film has the motion's duration, shows both ends, and no frame is early or late by more than itself.
    """
    wanted = (end - start) * pace.rate
    count = max(math.floor(wanted + 1e-9), 2) if pace.film else math.ceil(wanted - 1e-9) + 1
    return np.linspace(start, end, min(count, pace.most)), count > pace.most


def _of_motion(robot: Robot, motion: Motion, pace: Pace, forces: Forces) -> AnimationFrames:
    times, thinned = _instants(0.0, motion.duration, pace)
    coordinates, velocity, acceleration = motion.sample(times)
    position = robot.position_at(coordinates, motion.near(times))
    force = np.asarray(forces(position, velocity, acceleration), float)
    expected = len(times), len(robot.actuators)
    if force.shape != expected:
        raise ShapeError("forces", expected=f"{expected}, a row for every instant", got=str(force.shape))
    return AnimationFrames(times, position, force, None, thinned, velocity, acceleration)


def _of_recording(robot: Robot, recording: Recording, pace: Pace) -> AnimationFrames:
    times, thinned = _instants(float(recording.time[0]), float(recording.time[-1]), pace)
    angles = [k for k, entry in enumerate(robot.position_entries) if entry.wraps]
    position = _between(times, recording.time, recording.position, angles)
    target = None
    if np.isfinite(recording.target_position).all():
        angles = [k for k, coordinate in enumerate(robot.coordinates) if coordinate.wraps]
        target = robot.position_at(_between(times, recording.time, recording.target_position, angles), position)
    force, velocity, acceleration = (
        _between(times, recording.time, rows, [])
        for rows in (recording.force, recording.velocity, recording.acceleration)
    )
    return AnimationFrames(times, position, force, target, thinned, velocity, acceleration)


def _between(times: Array, rows_at: Array, rows: Array, angles: list[int]) -> Array:
    """Rows (k, n) at these times, on straight lines between the given ones; the columns `angles` go the short way."""
    straight = np.array(rows, float)
    straight[:, angles] = np.unwrap(straight[:, angles], axis=0)
    found = np.empty((len(times), straight.shape[1]))  # there may be no columns, where there are no actuators
    for k, column in enumerate(straight.T):
        found[:, k] = np.interp(times, rows_at, column)
    return found


def check_recording(robot: Robot, recording: Recording, argument: str) -> None:
    """That the recording has the robot's coordinates, actuators and name, and finite positions, by errors.

    argument: what they call the recording
    """
    stranger = recording.robot and recording.robot != robot.name
    whose = f"the recording is of {recording.robot}, not of {robot.name}"
    own, rows = state_columns(robot), len(recording.time)
    for name, columns, what in (("position", own.position, "coordinate"), ("force", own.force, "actuator")):
        values = getattr(recording, name)
        if values.shape != (rows, len(columns)):
            if stranger:
                raise ModelError(whose, field=argument, remedy="Give that robot")
            raise ShapeError(
                f"{argument}.{name}",
                expected=f"{rows} rows of {counted(columns, what)}, as {robot.name} has",
                got=str(values.shape),
            )
    names = tuple(column.name for group in own for column in group)
    pairs = [
        (recording.columns, names),
        (recording.units, tuple(column.unit for column in own.position)),
        (recording.force_units, tuple(column.unit for column in own.force)),
    ]
    for theirs, ours in pairs:
        if theirs and theirs != ours:
            x, y = next((x, y) for x, y in zip(theirs, ours, strict=True) if x != y)
            recorded = f"of {recording.robot}" if recording.robot else "of another robot"
            raise ModelError(
                f"the recording {recorded} does not fit {robot.name}: it has {x} where {robot.name} has {y}",
                field=argument,
            )
    if stranger:  # with the same columns: platforms differ in nothing else
        raise ModelError(
            whose,
            field=argument,
            remedy=f"Give that robot; if they are the same, dataclasses.replace(recording, robot={robot.name!r})",
        )
    _check_rows(argument, recording, [column.name for column in own.position])


def _check_rows(argument: str, recording: Recording, names: Sequence[str]) -> None:
    """argument: what errors call the recording; names: of the entries of a position"""
    expected = "finite positions at increasing times"
    if not len(recording.time):
        raise ShapeError(argument, expected=expected, got="no rows")
    lost = np.argwhere(~np.isfinite(recording.position))
    if len(lost):
        row, place = lost[0].tolist()
        value = recording.position[row, place]
        raise ShapeError(argument, expected=expected, got=f"{names[place]} = {value}", row=row)
    back = np.flatnonzero(~(np.diff(recording.time) > 0))
    if len(back):
        row = int(back[0]) + 1
        before, after = recording.time[row - 1 : row + 1].tolist()
        raise ShapeError(argument, expected=expected, got=f"{after:g} s after {before:g} s", row=row)
