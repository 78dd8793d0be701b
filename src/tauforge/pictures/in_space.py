"""A robot's drawing in matplotlib's axes with three dimensions: bodies, frames and the forces of actuators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.extras import extra_for
from tauforge.pictures.animation_frames import outlines
from tauforge.pictures.solids import SolidMesh, corners_at
from tauforge.robots.drawing import Action, Drawing

# colour, width in points; parts of other names look like links
STROKES = {
    "link": ("#2f5d8a", 6.0),
    "leg": ("#2f5d8a", 4.0),
    "rod": ("#5f88b4", 3.5),
    "base": ("#6b7280", 3.0),
    "platform": ("#b45309", 3.0),
    "spring": ("#8a6d1f", 1.6),
}
OUTLINES = ("base", "platform")  # whose segments go round an area
JOINT, CENTRE, FORCE = "#1f2937", "#0f766e", "#c2261b"
GHOST = "#7a4fc0"
AXIS_COLOURS = ("#c2261b", "#15803d", "#1d4ed8")  # x, y, z of a frame
PLOT_MARGIN = 0.08  # of the extent
FRAME_LENGTH = 0.1  # of the extent
SOLID = 0.4  # opacity of what the robot looks like: joints and links are seen through it
MOST_PLOT_FACES = 1_500  # of one solid: matplotlib sorts and draws each by itself
FLAT, STEEP = 0.1, 60.0  # height of what is flat, of the extent; degrees
PLOT_ZOOM = 0.88  # leaves room for the labels of the axes
LONGEST_ARROW = 0.22  # of the extent: the arrow of the largest force
TURN = 1.5 * np.pi  # rad that the arrow of the largest torque goes round
ARC_RADIUS = 0.35  # of the longest arrow
ARC_POINTS = 25


def new_figure(**options: Any) -> Any:
    """A matplotlib Figure on its own canvas; pyplot is not used, so no figure stays open."""
    with extra_for("plots need", "plots"):
        from matplotlib.figure import Figure
    return Figure(**options)


def space_axes(figure: Any) -> Any:
    axes: Any = figure.add_subplot(projection="3d", computed_zorder=False)
    axes.view_init(elev=22.0, azim=-55.0)
    return axes


def draw_body(axes: Any, drawing: Drawing, k: int, strength: float) -> None:
    rings = [[drawing.segments[i] for i in ring] for ring in outlines(drawing.segments)]
    for part in OUTLINES:
        for corners in ([segment.start[k] for segment in ring] for ring in rings if ring[0].part == part):
            fan = [(0, i, i + 1) for i in range(1, len(corners) - 1)]
            x, y, z = np.array(corners).T
            axes.plot_trisurf(x, y, z, triangles=fan, color=STROKES[part][0], alpha=0.15 * strength, shade=False)
    for segment in drawing.segments:
        colour, width = STROKES.get(segment.part, STROKES["link"])
        ends = np.stack([segment.start[k], segment.end[k]])
        axes.plot(*ends.T, color=colour, linewidth=width, alpha=strength, solid_capstyle="round")
    for part, mark, colour, size in (("joint", "o", JOINT, 28.0), ("centre of mass", "P", CENTRE, 22.0)):
        if places := [point.place[k] for point in drawing.points if point.part == part]:
            axes.scatter(*np.array(places).T, marker=mark, s=size, color=colour, alpha=strength, depthshade=False)


def draw_solids(axes: Any, bodies: Sequence[SolidMesh], drawing: Drawing, k: int, strength: float) -> None:
    """Translucent solids of the robot. One collection, because matplotlib sorts by depth within one only."""
    if not bodies:
        return
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    corners = corners_at(bodies, drawing, k)
    opacities = [(*body.rgba[:3], SOLID * strength * body.rgba[3]) for body in bodies]
    colours = np.repeat(opacities, [len(each) for each in corners], axis=0)
    surface = Poly3DCollection(np.concatenate(corners), facecolors=colours, linewidths=0, shade=True)
    axes.add_collection3d(surface, autolim=False)


def draw_ghost(axes: Any, drawing: Drawing, k: int) -> None:
    """Faint segments of the robot at its target."""
    for segment in drawing.segments:
        ends = np.stack([segment.start[k], segment.end[k]])
        width = STROKES.get(segment.part, STROKES["link"])[1]
        axes.plot(*ends.T, color=GHOST, linewidth=width, alpha=0.3, solid_capstyle="round")


def draw_frame(axes: Any, transform: Array, length: float, strength: float) -> None:
    origin = transform[:3, 3]
    for axis, colour in zip(transform[:3, :3].T, AXIS_COLOURS, strict=True):
        axes.plot(*np.stack([origin, origin + length * axis]).T, color=colour, linewidth=2.0, alpha=strength)


def draw_forces(
    axes: Any, actions: Sequence[Action], forces: Array, k: int, size: float, largest: Array, colours: Sequence[str]
) -> None:
    """An arrow for each force that is there. Forces and torques have a scale each, for they have no common unit."""
    for turns in (False, True):
        most = max((x for action, x in zip(actions, largest, strict=True) if action.turns == turns), default=0.0)
        if not most:
            continue
        for action, force, colour in zip(actions, forces, colours, strict=True):
            if action.turns == turns and force and np.isfinite(force):
                _draw_arrow(axes, force_line(action.place[k], action.axis[k], turns, force / most, size), colour)


def draw_ring(axes: Any, action: Action, k: int, size: float, colour: str) -> None:
    """The circle that the arrow of a torque follows, so that a small one is seen too."""
    ring = force_line(action.place[k], action.axis[k], True, 2 * np.pi / TURN, size)
    axes.plot(*ring.T, color=colour, linewidth=0.8, alpha=0.5)


def _draw_arrow(axes: Any, points: Array, colour: str) -> None:
    axes.plot(*points.T, color=colour, linewidth=2.2)
    step = points[-1] - points[-2]
    if length := float(np.linalg.norm(step)):
        head = step / length * (0.12 * float(np.linalg.norm(np.ptp(points, axis=0))))
        axes.quiver(*points[-1], *head, color=colour, linewidth=2.2, arrow_length_ratio=1.0, pivot="tip")


def finish(axes: Any, low: Array, high: Array, size: float, zoom: float = PLOT_ZOOM) -> None:
    """One scale for all axes, room on all sides, and the unit."""
    from matplotlib.ticker import MaxNLocator

    margin = PLOT_MARGIN * size
    spans = np.maximum(high - low, 0.25 * size) + 2 * margin
    middle = (low + high) / 2
    for letter, centre, span in zip("xyz", middle, spans, strict=True):
        getattr(axes, f"set_{letter}lim")(centre - span / 2, centre + span / 2)
        getattr(axes, f"set_{letter}label")(f"{letter} (m)")
        getattr(axes, f"{letter}axis").set_major_locator(MaxNLocator(4))
    axes.set_box_aspect(spans, zoom=zoom)


def force_line(place: Array, axis: Array, turns: bool, share: float, size: float) -> Array:
    """Points of the line from its foot to its tip: (2, 3) for a force, (25, 3) for a torque.

    place: (3,) m, where it acts; axis: (3,) unit vector; turns: whether it is a torque
    share: of the largest force, with its sign; size: m, the robot's extent
    """
    if not turns:
        return np.stack([place, place + share * LONGEST_ARROW * size * axis])
    beside = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    beside /= np.linalg.norm(beside)
    angles = np.linspace(0.0, share * TURN, ARC_POINTS)[:, None]
    around = np.cos(angles) * beside + np.sin(angles) * np.cross(axis, beside)
    return np.asarray(place + ARC_RADIUS * LONGEST_ARROW * size * around)
