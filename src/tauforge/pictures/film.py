"""Pictures of a robot that moves, one after another: the robot in space beside the forces of its actuators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.line_styles import PALETTE
from tauforge.pictures.animation_data import actuator_data, drawing_of
from tauforge.pictures.animation_frames import AnimationFrames
from tauforge.pictures.film_panel import FilmPanel
from tauforge.pictures.in_space import (
    draw_body,
    draw_forces,
    draw_ghost,
    draw_ring,
    draw_solids,
    finish,
    new_figure,
    space_axes,
)
from tauforge.pictures.solids import bodies_of, extent_with
from tauforge.robots.robot import Robot

HEIGHT = 5.4  # inches of the page that is drawn: letters grow with the picture
SPACE = 0.64  # of the width: the part with the robot, where forces stand beside it
ZOOM = 0.92
MOST_FACES = 400  # of one solid: they are drawn anew for every frame
WITHIN, NEAR, BEYOND = "#0a8a5f", "#d98200", "#d3222a"  # colours of a force up to 80 % of its limit, up to it, beyond


class Film:
    """Draws frame after frame. What does not move is drawn once.

    size: width and height, pixels
    """

    def __init__(self, robot: Robot, frames: AnimationFrames, size: tuple[int, int], title: str) -> None:
        self.frames, self.size = frames, size
        self.drawing = drawing_of(robot, frames)
        self.target = None if frames.target is None else robot.drawing(frames.target)
        self.actuators = actuator_data(robot, frames.force)
        self._space = SPACE if self.actuators else 1.0
        self.canvas, self.axes = self._stage()
        self.panel = FilmPanel(self.canvas.figure, self.actuators, frames) if self.actuators else None
        self.clock = self._titled(title)
        self.bodies = bodies_of(robot.name, self.drawing.solids, MOST_FACES)
        low, high = extent_with(self.bodies, self.drawing)
        self.extent = float((high - low).max()) or 1.0
        finish(self.axes, low, high, self.extent, ZOOM)
        self.canvas.draw()  # which also finds the projection that moving parts need
        self.still = self.canvas.copy_from_bbox(self.canvas.figure.bbox)

    def __len__(self) -> int:
        return len(self.frames.times)

    def __iter__(self) -> Iterator[Array]:
        return (self.picture(k) for k in range(len(self)))

    def picture(self, k: int) -> Array:
        """Frame k, (height, width, 3) bytes: red, green, blue."""
        self.canvas.restore_region(self.still)
        before = set(self.axes.get_children())
        self._draw_robot(k)
        moving = [artist for artist in self.axes.get_children() if artist not in before]
        for artist in moving:
            if hasattr(artist, "do_3d_projection"):
                artist.do_3d_projection()
            self.axes.draw_artist(artist)
            artist.remove()
        if self.panel is not None:
            self.panel.draw(k)
        self.clock.set_text(f"{self.frames.times[k]:.2f} s")
        self.canvas.figure.draw_artist(self.clock)
        return np.array(self.canvas.buffer_rgba())[..., :3]

    def _draw_robot(self, k: int) -> None:
        if self.target is not None:
            draw_ghost(self.axes, self.target, k)
        draw_solids(self.axes, self.bodies, self.drawing, k, 1.0)
        draw_body(self.axes, self.drawing, k, 1.0)
        if self.drawing.actions:
            force = self.frames.force[k]
            colours, largest = self._colours(force), np.array([actuator["largest"] for actuator in self.actuators])
            for action, colour in zip(self.drawing.actions, colours, strict=True):
                if action.turns:
                    draw_ring(self.axes, action, k, self.extent, colour)
            draw_forces(self.axes, self.drawing.actions, force, k, self.extent, largest, colours)

    def _colours(self, force: Array) -> list[str]:
        """By the share of the limit where there is one, else those of the list of actuators."""
        found = []
        for k, (actuator, size) in enumerate(zip(self.actuators, np.abs(force), strict=True)):
            limit = actuator["limit"]
            if limit is None:
                found.append(PALETTE[k % len(PALETTE)])
            else:
                found.append(BEYOND if size > limit else NEAR if size > 0.8 * limit else WITHIN)
        return found

    def _stage(self) -> tuple[Any, Any]:
        """A canvas with exactly as many pixels as wanted, and the axes of the robot."""
        width, height = self.size
        dots = height / HEIGHT
        # a hundredth of a pixel more, for matplotlib cuts off what rounding leaves below a whole number
        figure = new_figure(figsize=((width + 0.01) / dots, (height + 0.01) / dots), dpi=dots)
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        axes = space_axes(figure)
        axes.set_position((0.0, 0.03, self._space, 0.9))
        return FigureCanvasAgg(figure), axes

    def _titled(self, title: str) -> Any:
        """Returns the text of the time, which moves."""
        figure = self.canvas.figure
        figure.text(0.025, 0.96, title, fontsize=13, fontweight="bold", va="center", parse_math=False)
        return figure.text(self._space - 0.02, 0.96, "", fontsize=12, va="center", ha="right", animated=True)
