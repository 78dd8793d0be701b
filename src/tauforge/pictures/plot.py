"""`tf.plot`: a robot in space, by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.charts.with_matplotlib import check_ending, save_figure
from tauforge.errors import ModelError, ShapeError
from tauforge.pictures import in_space
from tauforge.pictures.schematic import schematic as draw_schematic
from tauforge.pictures.solids import bodies_of, extent_with
from tauforge.robots.drawing import Drawing
from tauforge.robots.robot import Robot, check_robot
from tauforge.simulation.checks import position_sizes
from tauforge.validation import real_array

FAINTEST = 0.25  # opacity of the first of several positions


def plot(
    robot: Robot,
    position: ArrayLike | None = None,
    *,
    forces: ArrayLike | None = None,
    frames: bool | Sequence[str] | None = None,
    schematic: bool = False,
    shapes: bool = True,
    axes: Any = None,
) -> Any:
    """A matplotlib Figure with the robot in space: links or legs, joints, mass centres, actuator forces.

    A schematic is a flat line drawing with the names of the frames, for documents: save it as .svg. An arm has the x
    and z axes of its frames, numbered from 0 at the base; a platform has all axes and the numbers of its legs.

    position: (n,) joint coordinates or a pose; of a mechanism (N,), or its independent coordinates; (k, n) for several,
              from faint to strong; default `robot.positions.default`
    forces:   (m,) or (k, m) N m or N: an arrow for each actuator, along its axis or about it. The longest is that of
              the largest force, and of the largest torque
    frames:   True for all frames, or their names, such as ["tool"]; default none, and all in a schematic
    shapes:   whether bodies and meshes of the robot's file are drawn, translucent; a schematic has none
    axes:     matplotlib axes to draw into instead of a new figure, with projection="3d" unless it is a schematic
    """
    check_robot("robot", robot)
    positions = _positions(robot, robot.positions.default if position is None else position)
    if schematic:
        return _schematic(robot, positions, forces, frames, axes)
    drawing = robot.drawing(positions)
    chosen, transforms = _frames(drawing, frames or False), {frame.name: frame.transform for frame in drawing.frames}
    pushes = None if forces is None else _forces(robot, drawing, forces, len(positions))
    own = axes is None
    if own:
        axes = in_space.space_axes(in_space.new_figure(figsize=(6.4, 5.6), layout="constrained"))
        axes.set_title(robot.name, parse_math=False)
    if not hasattr(axes, "set_zlabel"):
        raise ShapeError("axes", expected="matplotlib axes with projection='3d'", got=type(axes).__name__)
    bodies = bodies_of(robot.name, drawing.solids, in_space.MOST_PLOT_FACES) if shapes else []
    low, high = extent_with(bodies, drawing)
    extent = float((high - low).max()) or 1.0
    if own and (high - low)[2] < in_space.FLAT * (high - low).max():  # what lies flat is seen from above
        axes.view_init(elev=in_space.STEEP, azim=axes.azim)
    for k, strength in enumerate(np.linspace(FAINTEST if len(positions) > 1 else 1.0, 1.0, len(positions))):
        in_space.draw_solids(axes, bodies, drawing, k, float(strength))
        in_space.draw_body(axes, drawing, k, float(strength))
        for name in chosen:
            in_space.draw_frame(axes, transforms[name][k], in_space.FRAME_LENGTH * extent, strength)
        if pushes is not None:
            largest, colours = np.abs(pushes).max(axis=0), [in_space.FORCE] * len(drawing.actions)
            in_space.draw_forces(axes, drawing.actions, pushes[k], k, extent, largest, colours)
    in_space.finish(axes, low, high, extent)
    return axes.figure


def _schematic(robot: Robot, positions: Array, forces: object, frames: bool | Sequence[str] | None, axes: Any) -> Any:
    if len(positions) != 1:
        raise ShapeError("position", expected=f"({robot.positions.size},) for a schematic", got=str(positions.shape))
    if forces is not None:
        raise ShapeError("forces", expected="None for a schematic", got=repr(forces))
    if axes is not None and (hasattr(axes, "set_zlabel") or not hasattr(axes, "set_aspect")):
        raise ShapeError("axes", expected="flat matplotlib axes for a schematic", got=type(axes).__name__)
    drawing = robot.drawing(positions[0])
    return draw_schematic(drawing, _frames(drawing, True if frames is None else frames), robot.name, axes)


def save_picture(robot: Robot, path: Path, **options: Any) -> None:
    """As `plot` draws it with these options, in the format that the file's name ends in."""
    check_ending(path)
    save_figure(plot(robot, **options), path)


def _positions(robot: Robot, given: ArrayLike) -> Array:
    """(k, N) from one or several positions, or from their coordinates."""
    numbers = _numbers("position", given)
    rows, sizes = np.atleast_2d(numbers), position_sizes(robot)
    if rows.ndim != 2 or rows.shape[1] not in sizes or not len(rows):
        expected = ", or ".join(f"({size},) or (k, {size})" for size in sizes)
        raise ShapeError("position", expected=expected, got=str(numbers.shape))
    return rows if rows.shape[1] == robot.positions.size else robot.positions.at(rows)


def _numbers(name: str, given: ArrayLike) -> Array:
    array = real_array(name, given)
    if not np.isfinite(array).all():
        raise ShapeError(name, expected="finite numbers", got=str(array[~np.isfinite(array)][0]))
    return array


def _frames(drawing: Drawing, wanted: bool | Sequence[str]) -> list[str]:
    known = [frame.name for frame in drawing.frames]
    if isinstance(wanted, bool):
        return known if wanted else []
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    if unknown := [name for name in names if name not in known]:
        raise ShapeError("frames", expected=f"names among {', '.join(known)}", got=repr(unknown[0]))
    return names


def _forces(robot: Robot, drawing: Drawing, given: ArrayLike, count: int) -> Array:
    m = len(robot.actuators)
    if len(drawing.actions) != m:
        raise ModelError(f"the drawing of {robot.name} does not say where its actuators act", field="forces")
    forces = _numbers("forces", given)
    if forces.shape not in ((m,), (count, m)):
        raise ShapeError("forces", expected=f"({m},) or ({count}, {m})", got=str(forces.shape))
    return np.broadcast_to(forces, (count, m))
