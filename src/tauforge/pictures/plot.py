"""`tf.plot`: a robot in space, by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError
from tauforge.files import written_whole
from tauforge.pictures.force_lines import force_line
from tauforge.robots.drawing import Action, Drawing
from tauforge.robots.robot import Robot, check_robot

# colour, width in points; parts of other names look like links
STROKES = {
    "link": ("#2f5d8a", 6.0),
    "leg": ("#2f5d8a", 4.0),
    "base": ("#6b7280", 3.0),
    "platform": ("#b45309", 3.0),
}
OUTLINES = ("base", "platform")  # whose segments go round an area
JOINT, CENTRE, FORCE = "#1f2937", "#0f766e", "#c2261b"
AXES = ("#c2261b", "#15803d", "#1d4ed8")  # x, y, z of a frame
MARGIN = 0.08  # of the extent
FRAME = 0.1  # of the extent
DOTS_PER_INCH = 150
ZOOM = 0.88  # leaves room for the labels of the axes
ENDINGS = (".png", ".svg", ".pdf")
FAINTEST = 0.25  # opacity of the first of several positions


def plot(
    robot: Robot,
    position: ArrayLike | None = None,
    *,
    forces: ArrayLike | None = None,
    frames: bool | Sequence[str] = False,
    axes: Any = None,
) -> Any:
    """A matplotlib Figure with the robot in space: links or legs, joints, mass centres, actuator forces.

    position: (n,) joint coordinates or a pose; (k, n) for several, from faint to strong; default
              `robot.pictured_position`
    forces:   (m,) or (k, m) N m or N: an arrow for each actuator, along its axis or about it. The longest is that of
              the largest force, and of the largest torque
    frames:   True for all frames, or their names, such as ["tool"]
    axes:     matplotlib axes with projection="3d" to draw into, instead of a new figure
    """
    check_robot("robot", robot)
    positions = np.atleast_2d(_numbers("position", robot.pictured_position if position is None else position))
    if positions.ndim != 2 or positions.shape[1] != robot.n or not len(positions):
        raise ShapeError("position", expected=f"({robot.n},) or (k, {robot.n})", got=str(positions.shape))
    drawing = robot.drawing(positions)
    chosen = _frames(drawing, frames)
    pushes = None if forces is None else _forces(robot, drawing, forces, len(positions))
    axes = _new_axes(robot.name) if axes is None else axes
    if not hasattr(axes, "set_zlabel"):
        raise ShapeError("axes", expected="matplotlib axes with projection='3d'", got=type(axes).__name__)
    low, high = drawing.extent
    size = float((high - low).max()) or 1.0
    for k, strength in enumerate(np.linspace(FAINTEST if len(positions) > 1 else 1.0, 1.0, len(positions))):
        _draw_body(axes, drawing, k, float(strength))
        for name in chosen:
            _draw_frame(axes, next(f.transform for f in drawing.frames if f.name == name)[k], FRAME * size, strength)
        if pushes is not None:
            _draw_forces(axes, drawing.actions, pushes[k], k, size, np.abs(pushes).max(axis=0))
    _finish(axes, low, high, size)
    return axes.figure


def save_picture(robot: Robot, path: Path) -> None:
    """The robot at its pictured position, by the ending of the file's name."""
    if path.suffix.lower() not in ENDINGS:
        raise ModelError(f"expected a file name that ends in {', '.join(ENDINGS)}, got {path.name!r}", field="picture")
    figure = plot(robot)
    with written_whole(path) as file:
        figure.savefig(file, format=path.suffix.lower()[1:], dpi=DOTS_PER_INCH)


def _numbers(name: str, given: ArrayLike) -> Array:
    try:
        array = np.asarray(given, float)
    except (TypeError, ValueError):
        raise ShapeError(name, expected="numbers", got=repr(given)) from None
    if not np.isfinite(array).all():
        raise ShapeError(name, expected="finite numbers", got=str(array[~np.isfinite(array)][0]))
    return array


def _frames(drawing: Drawing, wanted: bool | Sequence[str]) -> list[str]:
    known = [frame.name for frame in drawing.frames]
    if isinstance(wanted, bool):
        return known if wanted else []
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        if name not in known:
            raise ShapeError("frames", expected=f"names among {', '.join(known)}", got=repr(name))
    return names


def _forces(robot: Robot, drawing: Drawing, given: ArrayLike, count: int) -> Array:
    m = len(robot.actuators)
    if len(drawing.actions) != m:
        raise ModelError(f"the drawing of {robot.name} does not say where its actuators act", field="forces")
    forces = _numbers("forces", given)
    if forces.shape not in ((m,), (count, m)):
        raise ShapeError("forces", expected=f"({m},) or ({count}, {m})", got=str(forces.shape))
    return np.broadcast_to(forces, (count, m))


def _new_axes(title: str) -> Any:
    """On a canvas of its own; pyplot is not used, so no figure stays open."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ModelError("plots need matplotlib", remedy="Run pip install tauforge[plots]") from None
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    axes: Any = figure.add_subplot(projection="3d", computed_zorder=False)
    axes.set_title(title)
    axes.view_init(elev=22.0, azim=-55.0)
    return axes


def _draw_body(axes: Any, drawing: Drawing, k: int, strength: float) -> None:
    for part in OUTLINES:
        corners = [segment.start[k] for segment in drawing.segments if segment.part == part]
        if len(corners) > 2:
            fan = [(0, i, i + 1) for i in range(1, len(corners) - 1)]
            x, y, z = np.array(corners).T
            axes.plot_trisurf(x, y, z, triangles=fan, color=STROKES[part][0], alpha=0.15 * strength, shade=False)
    for segment in drawing.segments:
        colour, width = STROKES.get(segment.part, STROKES["link"])
        ends = np.stack([segment.start[k], segment.end[k]])
        axes.plot(*ends.T, color=colour, linewidth=width, alpha=strength, solid_capstyle="round")
    for part, mark, colour, size in (("joint", "o", JOINT, 28.0), ("centre of mass", "P", CENTRE, 22.0)):
        places = [point.place[k] for point in drawing.points if point.part == part]
        if places:
            axes.scatter(*np.array(places).T, marker=mark, s=size, color=colour, alpha=strength, depthshade=False)


def _draw_frame(axes: Any, transform: Array, length: float, strength: float) -> None:
    origin = transform[:3, 3]
    for axis, colour in zip(transform[:3, :3].T, AXES, strict=True):
        axes.plot(*np.stack([origin, origin + length * axis]).T, color=colour, linewidth=2.0, alpha=strength)


def _draw_forces(axes: Any, actions: Iterable[Action], forces: Array, k: int, size: float, largest: Array) -> None:
    """Forces and torques have a scale each, for they have no common unit."""
    listed = list(actions)
    for turns in (False, True):
        most = max((x for action, x in zip(listed, largest, strict=True) if action.turns == turns), default=0.0)
        if not most:
            continue
        for action, force in zip(listed, forces, strict=True):
            if action.turns == turns and force:
                _draw_arrow(axes, force_line(action.place[k], action.axis[k], turns, force / most, size))


def _draw_arrow(axes: Any, points: Array) -> None:
    axes.plot(*points.T, color=FORCE, linewidth=2.2)
    step = points[-1] - points[-2]
    length = float(np.linalg.norm(step))
    if length:
        head = 0.12 * float(np.linalg.norm(np.ptp(points, axis=0)))
        axes.quiver(
            *points[-1], *(step / length * head), color=FORCE, linewidth=2.2, arrow_length_ratio=1.0, pivot="tip"
        )


def _finish(axes: Any, low: Array, high: Array, size: float) -> None:
    """One scale for all axes, room on all sides, and the unit."""
    margin = MARGIN * size
    spans = np.maximum(high - low, 0.25 * size) + 2 * margin
    middle = (low + high) / 2
    for letter, centre, span in zip("xyz", middle, spans, strict=True):
        getattr(axes, f"set_{letter}lim")(centre - span / 2, centre + span / 2)
        getattr(axes, f"set_{letter}label")(f"{letter} (m)")
        getattr(axes, f"{letter}axis").set_major_locator(_few_ticks())
    axes.set_box_aspect(spans, zoom=ZOOM)


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)
