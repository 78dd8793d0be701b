"""The instants of an animation, evenly spread over time, and their data for a page.

An instant has positions, forces and targets of a motion or a recording. The data are names, limits and the drawing of
every frame.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError, UnsupportedFeatureError
from tauforge.motion.motion import Motion, positive
from tauforge.robots.drawing import Drawing, Segment
from tauforge.robots.formulations import forces_by_rows
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import check_law
from tauforge.simulation.recording import Recording, check_recording
from tauforge.simulation.rollout_result import Rollout

MOST_FRAMES = 3_000
Forces = Callable[[Array, Array, Array], Array]  # position, velocity and acceleration (k, n) in, forces (k, m) out
ONE_ROW = (
    "Take one row: tf.Recording(run.time, run.position[0], run.velocity[0], 0 * run.velocity[0], run.force[0], "
    "run.target_position, 0 * run.target_position)"
)
LEAST_CORNERS = 3  # of an outline that is filled
FORCE_DIGITS = 4  # of the largest force, as numbers are printed
MOST_DECIMALS = 6


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
    """Resolution of an animation in time.

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
        return _of_motion(robot, shown, pace, forces or partial(forces_by_rows, robot))
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
    position = robot.positions.at(coordinates, motion.near(times))
    force = np.asarray(forces(position, velocity, acceleration), float)
    expected = len(times), len(robot.actuators)
    if force.shape != expected:
        raise ShapeError("forces", expected=f"{expected}, a row for every instant", got=str(force.shape))
    return AnimationFrames(times, position, force, None, thinned, velocity, acceleration)


def _of_recording(robot: Robot, recording: Recording, pace: Pace) -> AnimationFrames:
    times, thinned = _instants(float(recording.time[0]), float(recording.time[-1]), pace)
    angles = [k for k, entry in enumerate(robot.positions.entries) if entry.wraps]
    position = _between(times, recording.time, recording.position, angles)
    target = None
    if np.isfinite(recording.target_position).all():
        angles = [k for k, coordinate in enumerate(robot.coordinates) if coordinate.wraps]
        target = robot.positions.at(_between(times, recording.time, recording.target_position, angles), position)
    others = (recording.force, recording.velocity, recording.acceleration)
    force, velocity, acceleration = (_between(times, recording.time, rows, []) for rows in others)
    return AnimationFrames(times, position, force, target, thinned, velocity, acceleration)


def _between(times: Array, rows_at: Array, rows: Array, angles: list[int]) -> Array:
    """Rows (k, n) at these times, on straight lines between the given ones; the columns `angles` go the short way."""
    straight = np.array(rows, float)
    straight[:, angles] = np.unwrap(straight[:, angles], axis=0)
    found = np.empty((len(times), straight.shape[1]))  # there may be no columns, where there are no actuators
    for k, column in enumerate(straight.T):
        found[:, k] = np.interp(times, rows_at, column)
    return found


def animation_data(robot: Robot, frames: AnimationFrames) -> dict[str, Any]:
    """Plain data for JSON. Arrays are base64 texts of little-endian 32-bit numbers, in rows of one frame.

    points:   (k, points, 3) m
    segments: (k, segments, 2, 3) m, start and end; `target` likewise
    frames:   (k, frames, 4, 3) axes x, y, z and origin
    actions:  (k, actions, 2, 3) place and axis
    force:    (k, actuators) N m or N
    """
    drawing = drawing_of(robot, frames.position)
    count = len(frames.times)
    arrays = {
        "points": _vectors(count, [(point.place,) for point in drawing.points]),
        "segments": _segments(count, drawing),
        "frames": _vectors(count, [np.moveaxis(frame.transform[..., :3, :], -1, 0) for frame in drawing.frames]),
        "actions": _vectors(count, [(action.place, action.axis) for action in drawing.actions]),
        "force": frames.force,
    }
    if frames.target is not None:
        arrays["target"] = _segments(count, robot.drawing(frames.target))
    return {
        "robot": robot.name,
        "start": float(frames.times[0]),
        "duration": frames.duration,
        "count": count,
        "thinned": frames.thinned,
        "up": upward(robot).tolist(),
        "points": [{"name": point.name, "part": point.part} for point in drawing.points],
        "segments": [{"name": segment.name, "part": segment.part} for segment in drawing.segments],
        "outlines": outlines(drawing.segments),
        "frames": [frame.name for frame in drawing.frames],
        "actions": [{"name": action.name, "turns": action.turns} for action in drawing.actions],
        "actuators": actuator_data(robot, frames.force),
        "arrays": {name: base64.b64encode(values.astype("<f4").tobytes()).decode() for name, values in arrays.items()},
    }


def drawing_of(robot: Robot, positions: Array) -> Drawing:
    """The drawing of one or all positions; UnsupportedFeatureError where there is nothing to draw."""
    drawing = robot.drawing(positions)
    if not drawing.segments and not drawing.points:
        raise UnsupportedFeatureError(f"{robot.name} has no drawing", field="drawing")
    return drawing


def outlines(segments: Sequence[Segment]) -> list[list[int]]:
    """Places of the segments that go around a body: neighbours of one part, each from the last one's end, closed."""
    found, first = [], 0
    for k, segment in enumerate(segments):
        if k > first and (segment.part != segments[first].part or not _meet(segments[k - 1], segment)):
            first = k
        if k - first + 1 >= LEAST_CORNERS and _meet(segment, segments[first]):
            found.append(list(range(first, k + 1)))
            first = k + 1
    return found


def _meet(one: Segment, other: Segment) -> bool:
    return bool(np.array_equal(one.end, other.start))


def _vectors(count: int, parts: Sequence[Iterable[Array]]) -> Array:
    """(k, parts, vectors, 3) of parts that have as many vectors each, (k, 3) or (3,)."""
    rows = [[np.broadcast_to(vector, (count, 3)) for vector in part] for part in parts]
    return np.stack([np.stack(part, axis=1) for part in rows], axis=1) if rows else np.zeros((count, 0))


def _segments(count: int, drawing: Drawing) -> Array:
    return _vectors(count, [(segment.start, segment.end) for segment in drawing.segments])


def upward(robot: Robot) -> Array:
    """Unit vector (3,) against gravity; z without gravity."""
    gravity = np.asarray(robot.gravity, float)
    size = float(np.linalg.norm(gravity))
    return np.asarray(-gravity / size) if size else np.array([0.0, 0.0, 1.0])


def actuator_data(robot: Robot, force: Array) -> list[dict[str, Any]]:
    """Facts about each actuator for pages and films: name, unit, limit (None: it has none), and

    largest:  the size of its largest force
    scale:    that of all actuators with its unit
    decimals: of the printed numbers
    """
    sizes = np.abs(np.where(np.isfinite(force), force, 0.0)).max(axis=0).tolist()
    scales: dict[str, float] = {}
    for actuator, size in zip(robot.actuators, sizes, strict=True):
        scales[actuator.unit] = max(size, scales.get(actuator.unit, 0.0))
    magnitudes = {unit: math.floor(math.log10(size)) if size else FORCE_DIGITS for unit, size in scales.items()}
    return [
        {
            "name": actuator.words,
            "unit": actuator.unit,
            "limit": actuator.max_force if math.isfinite(actuator.max_force) else None,
            "largest": size,
            "scale": scales[actuator.unit],
            "decimals": min(max(FORCE_DIGITS - 1 - magnitudes[actuator.unit], 0), MOST_DECIMALS),
        }
        for actuator, size in zip(robot.actuators, sizes, strict=True)
    ]
