"""What the page of an animation gets: names, limits and the drawing of every frame, as data."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.pictures.animation_frames import AnimationFrames
from tauforge.robots.drawing import Drawing, Segment
from tauforge.robots.robot import Robot

LEAST_CORNERS = 3  # of an outline that is filled
DIGITS = 4  # of the largest force, as numbers are printed
MOST_DECIMALS = 6


def animation_data(robot: Robot, frames: AnimationFrames) -> dict[str, Any]:
    """Plain data for JSON. Arrays are base64 texts of little-endian 32-bit numbers, in rows of one frame.

    points:   (k, points, 3) m
    segments: (k, segments, 2, 3) m, start and end; `target` likewise
    frames:   (k, frames, 4, 3) axes x, y, z and origin
    actions:  (k, actions, 2, 3) place and axis
    force:    (k, actuators) N m or N
    """
    drawing = drawing_of(robot, frames)
    count = len(frames.times)
    arrays = {
        "points": _vectors(count, [(point.place,) for point in drawing.points]),
        "segments": _segments(count, drawing),
        "frames": _vectors(count, [_axes_and_origin(frame.transform) for frame in drawing.frames]),
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
        "up": _up(robot),
        "points": [{"name": point.name, "part": point.part} for point in drawing.points],
        "segments": [{"name": segment.name, "part": segment.part} for segment in drawing.segments],
        "outlines": outlines(drawing.segments),
        "frames": [frame.name for frame in drawing.frames],
        "actions": [{"name": action.name, "turns": action.turns} for action in drawing.actions],
        "actuators": actuator_data(robot, frames.force),
        "arrays": {name: _text(values) for name, values in arrays.items()},
    }


def drawing_of(robot: Robot, frames: AnimationFrames) -> Drawing:
    """The drawing of all frames at once; UnsupportedFeatureError where there is nothing to draw."""
    drawing = robot.drawing(frames.position)
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


def _vectors(count: int, parts: Sequence[tuple[Array, ...]]) -> Array:
    """(k, parts, vectors, 3) of parts that have as many vectors each, (k, 3) or (3,)."""
    rows = [[np.broadcast_to(vector, (count, 3)) for vector in part] for part in parts]
    return np.stack([np.stack(part, axis=1) for part in rows], axis=1) if rows else np.zeros((count, 0))


def _segments(count: int, drawing: Drawing) -> Array:
    return _vectors(count, [(segment.start, segment.end) for segment in drawing.segments])


def _axes_and_origin(transform: Array) -> tuple[Array, ...]:
    return tuple(transform[..., :3, k] for k in range(4))


def _up(robot: Robot) -> list[float]:
    """Unit vector against gravity; z without gravity."""
    gravity = np.asarray(robot.gravity, float)
    size = float(np.linalg.norm(gravity))
    return [float(x) for x in -gravity / size] if size else [0.0, 0.0, 1.0]


def actuator_data(robot: Robot, force: Array) -> list[dict[str, Any]]:
    """What pages and films say of each actuator: name, unit, limit (None: it has none), and

    largest:  the size of its largest force
    scale:    that of all actuators with its unit
    decimals: of the printed numbers
    """
    sizes = [float(size) for size in np.abs(np.where(np.isfinite(force), force, 0.0)).max(axis=0)]
    scales: dict[str, float] = {}
    for actuator, size in zip(robot.actuators, sizes, strict=True):
        scales[actuator.unit] = max(size, scales.get(actuator.unit, 0.0))
    return [
        {
            "name": actuator.words,
            "unit": actuator.unit,
            "limit": actuator.max_force if math.isfinite(actuator.max_force) else None,
            "largest": size,
            "scale": scales[actuator.unit],
            "decimals": _decimals(scales[actuator.unit]),
        }
        for actuator, size in zip(robot.actuators, sizes, strict=True)
    ]


def _decimals(largest: float) -> int:
    if not largest:
        return 0
    return min(max(DIGITS - 1 - math.floor(math.log10(largest)), 0), MOST_DECIMALS)


def _text(values: Array) -> str:
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode("ascii")
