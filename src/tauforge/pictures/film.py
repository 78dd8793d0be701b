"""Films: pictures of a robot that moves, in space beside the forces of its actuators, as GIF (Pillow) or MP4 (ffmpeg).

The side of a film that says how large the forces are has a bar for each actuator, and curves over time. All frames of a
GIF have the same 256 colours: what stands still keeps its colour and costs nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.figure import PALETTE
from tauforge.errors import ModelError
from tauforge.pictures import in_space
from tauforge.pictures.animation_frames import AnimationFrames, actuator_data, drawing_of
from tauforge.pictures.solids import bodies_of, extent_with
from tauforge.robots.robot import Robot

FILM_HEIGHT = 5.4  # inches of the page that is drawn: letters grow with the picture
ROBOT_WIDTH = 0.64  # of the width: the part with the robot, where forces stand beside it
FILM_ZOOM = 0.92
MOST_FILM_FACES = 400  # of one solid: they are drawn anew for every frame
WITHIN, NEAR, BEYOND = "#0a8a5f", "#d98200", "#d3222a"  # colours of a force up to 80 % of its limit, up to it, beyond
PANEL_LEFT, PANEL_WIDTH = 0.675, 0.3  # of the figure
BARS = (0.45, 0.52)  # bottom and height of the figure
CHARTS = (0.11, 0.27)
TROUGH, INK, SOFT = "#d9dee5", "#1d2026", "#565c66"
BAR_THICKNESS = 0.26  # of a row
FFMPEG = "ffmpeg"
TICK = 0.01  # s, the unit of time in a GIF
PALETTE_FRAMES = 8  # frames that the colours of a GIF are chosen from
MICRO = 1_000_000
GIF_COLOURS = 256


class Film:
    """Draws frame after frame. What does not move is drawn once.

    size: width and height, pixels
    """

    def __init__(self, robot: Robot, frames: AnimationFrames, size: tuple[int, int], title: str) -> None:
        self.frames, self.size = frames, size
        self.drawing = drawing_of(robot, frames.position)
        self.target = None if frames.target is None else robot.drawing(frames.target)
        self.actuators = actuator_data(robot, frames.force)
        space = ROBOT_WIDTH if self.actuators else 1.0
        width, height = size
        dots = height / FILM_HEIGHT
        # a hundredth of a pixel more, for matplotlib cuts off what rounding leaves below a whole number
        figure = in_space.new_figure(figsize=((width + 0.01) / dots, (height + 0.01) / dots), dpi=dots)
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.axes = in_space.space_axes(figure)
        self.axes.set_position((0.0, 0.03, space, 0.9))
        FigureCanvasAgg(figure)
        self.canvas = figure.canvas
        self.panel = FilmPanel(figure, self.actuators, frames) if self.actuators else None
        figure.text(0.025, 0.96, title, fontsize=13, fontweight="bold", va="center", parse_math=False)
        self.clock = figure.text(space - 0.02, 0.96, "", fontsize=12, va="center", ha="right", animated=True)
        self.bodies = bodies_of(robot.name, self.drawing.solids, MOST_FILM_FACES)
        low, high = extent_with(self.bodies, self.drawing)
        self.extent = float((high - low).max()) or 1.0
        in_space.finish(self.axes, low, high, self.extent, FILM_ZOOM)
        self.canvas.draw()  # which also finds the projection that moving parts need
        self.still = self.canvas.copy_from_bbox(figure.bbox)

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
            in_space.draw_ghost(self.axes, self.target, k)
        in_space.draw_solids(self.axes, self.bodies, self.drawing, k, 1.0)
        in_space.draw_body(self.axes, self.drawing, k, 1.0)
        if self.drawing.actions:
            force = self.frames.force[k]
            colours, largest = self._colours(force), np.array([actuator["largest"] for actuator in self.actuators])
            for action, colour in zip(self.drawing.actions, colours, strict=True):
                if action.turns:
                    in_space.draw_ring(self.axes, action, k, self.extent, colour)
            in_space.draw_forces(self.axes, self.drawing.actions, force, k, self.extent, largest, colours)

    def _colours(self, force: Array) -> list[str]:
        """By the share of the limit where there is one, else those of the list of actuators."""
        found = []
        for k, (actuator, size) in enumerate(zip(self.actuators, np.abs(force), strict=True)):
            limit = actuator["limit"]
            known = limit is not None and (BEYOND if size > limit else NEAR if size > 0.8 * limit else WITHIN)
            found.append(known or PALETTE[k % len(PALETTE)])
        return found


class FilmPanel:
    """Still parts are drawn with the figure, moving ones by `draw`."""

    def __init__(self, figure: Any, actuators: Sequence[dict[str, Any]], frames: AnimationFrames) -> None:
        self.actuators, self.frames = actuators, frames
        # a full bar is the limit if there is one and it holds, else the largest force of the run with this unit
        most = (a["scale"] if a["limit"] is None else max(a["limit"], a["largest"]) for a in actuators)
        self.full = [float(force) or 1.0 for force in most]
        self.bars, self.numbers = self._rows(figure)
        self.cursors = self._charts(figure)

    def draw(self, k: int) -> None:
        """Bars, numbers and the instant of frame k."""
        rows = zip(self.actuators, self.full, self.bars, self.numbers, self.frames.force[k].tolist(), strict=True)
        for actuator, full, bar, number, force in rows:
            known = np.isfinite(force)
            share = force / full if known else 0.0
            bar.set(x=min(share, 0.0), width=abs(share))
            number.set_text(f"{_text(force, actuator['decimals']) if known else 'none'} {actuator['unit']}")
            for artist in (bar, number):
                artist.axes.draw_artist(artist)
        for cursor in self.cursors:
            cursor.set_xdata([self.frames.times[k]] * 2)
            cursor.axes.draw_artist(cursor)

    def _rows(self, figure: Any) -> tuple[list[Any], list[Any]]:
        """A row for each actuator: name and number above a bar that begins in the middle."""
        from matplotlib.patches import Rectangle

        bottom, height = BARS
        axes = figure.add_axes((PANEL_LEFT, bottom, PANEL_WIDTH, height))
        axes.set(xlim=(-1.0, 1.0), ylim=(len(self.actuators), 0.0))
        axes.set_axis_off()
        letters = min(10.0, 60.0 / len(self.actuators) + 2.0)  # points
        bars, numbers = [], []
        for j, actuator in enumerate(self.actuators):
            top = j + 0.62
            axes.add_patch(Rectangle((-1.0, top), 2.0, BAR_THICKNESS, color=TROUGH, linewidth=0))
            bar = Rectangle((0.0, top), 0.0, BAR_THICKNESS, color=PALETTE[j % len(PALETTE)], linewidth=0, animated=True)
            bars.append(axes.add_patch(bar))
            marks = [0.0] if actuator["limit"] is None else [0.0, *np.array([-1, 1]) * actuator["limit"] / self.full[j]]
            axes.vlines(marks, top, top + BAR_THICKNESS, color=INK, linewidth=1.0, zorder=3)
            words = {"y": top - 0.08, "va": "bottom", "fontsize": letters, "color": INK}
            axes.text(x=-1.0, s=actuator["name"], ha="left", parse_math=False, **words)
            numbers.append(axes.text(x=1.0, s="", ha="right", animated=True, **words))
        return bars, numbers

    def _charts(self, figure: Any) -> list[Any]:
        """The forces over time, a chart for each unit, and the line in it that marks the instant."""
        units = list(dict.fromkeys(actuator["unit"] for actuator in self.actuators))
        bottom, height = CHARTS
        gap = 0.25 * PANEL_WIDTH if len(units) > 1 else 0.0
        wide = (PANEL_WIDTH - gap * (len(units) - 1)) / len(units)
        cursors = []
        for i, unit in enumerate(units):
            axes = figure.add_axes((PANEL_LEFT + i * (wide + gap), bottom, wide, height))
            for j, actuator in enumerate(self.actuators):
                if actuator["unit"] == unit:
                    colour = PALETTE[j % len(PALETTE)]
                    axes.plot(self.frames.times, self.frames.force[:, j], color=colour, linewidth=1.4)
            words = {"fontsize": 9, "color": SOFT}
            axes.set_title(f"{'Force' if unit == 'N' else 'Torque'} ({unit})", loc="left", **words)
            axes.set_xlabel("time (s)", labelpad=1.0, **words)
            axes.tick_params(labelsize=8, colors=SOFT)
            axes.spines[["top", "right"]].set_visible(False)
            axes.locator_params(nbins=4)
            axes.grid(color=TROUGH, linewidth=0.7)
            cursors.append(axes.axvline(self.frames.times[0], color=INK, linewidth=1.2, animated=True))
        return cursors


def _text(force: float, decimals: int) -> str:
    """With a sign as long as a digit; adding zero takes the sign from a number that rounds to zero."""
    return f"{round(force, decimals) + 0.0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def write_gif(film: Film, file: BinaryIO) -> None:
    """Plays for ever. Pillow writes it, which comes with matplotlib: ffmpeg is not everywhere, and would dither."""
    chosen = np.unique(np.linspace(0, len(film) - 1, PALETTE_FRAMES).round().astype(int))
    colours = GifColours([film.picture(int(k)) for k in chosen])
    images = map(colours.image, film)
    ends = np.rint(np.linspace(0.0, film.frames.duration / TICK, len(film) + 1))
    lasting = [int(ticks * 1000 * TICK) for ticks in np.diff(ends)]  # ms; never more than a tick behind
    next(images).save(file, "GIF", save_all=True, append_images=images, duration=lasting, loop=0)


def write_mp4(film: Film, file: BinaryIO) -> None:
    """Frames go to ffmpeg through a pipe. It writes into the file itself, for an MP4 is not written front to back."""
    width, height = film.size
    rate = Fraction(len(film) / film.frames.duration).limit_denominator(MICRO)
    command = [FFMPEG, "-loglevel", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-video_size", f"{width}x{height}", "-framerate", str(rate), "-i", "pipe:0"]
    command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", "-y", f"file:{file.name}"]
    with TemporaryFile() as complaints, _running(command, complaints) as program:
        try:
            for picture in film:
                program.stdin.write(picture.tobytes())
            program.stdin.close()
        except BrokenPipeError:  # it has ended, and says why
            pass
        if program.wait():
            complaints.seek(0)
            words = complaints.read().decode(errors="replace").strip() or f"exit code {program.returncode}"
            raise ModelError(f"ffmpeg could not make the film: {words.splitlines()[-1]}")


@contextmanager
def _running(command: list[str], complaints: IO[bytes]) -> Iterator[Any]:
    """The program, which does not outlive the block: an interrupted film leaves nobody who writes into its file."""
    program: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=complaints)
    try:
        yield program
    finally:
        program.kill()
        program.wait()
        with suppress(BrokenPipeError):  # a frame that it has not read
            program.stdin.close()


class GifColours:
    """Chosen from sample pictures, (height, width, 3) bytes each.

    Pillow chooses them. Its search for the nearest one ignores the last bits of each channel, and white would be grey:
    ours does not.
    """

    def __init__(self, samples: Sequence[Array]) -> None:
        from PIL import Image

        chosen = Image.fromarray(np.concatenate(samples)).quantize(GIF_COLOURS).getpalette() or []
        self.palette = np.reshape(chosen, (-1, 3)).astype(np.uint8)
        self._nearest = np.full(1 << 24, -1, np.int16)  # by packed colour; -1 where nobody has asked yet

    def image(self, picture: Array) -> Any:
        """A picture with the nearest of the colours, as an image of Pillow's."""
        from PIL import Image

        red, green, blue = np.moveaxis(picture.astype(np.int32), -1, 0)
        packed = red << 16 | green << 8 | blue
        new = np.unique(packed[self._nearest[packed] < 0])
        channels = np.stack([new >> 16, new >> 8 & 255, new & 255], axis=-1)
        away = channels[:, None] - self.palette.astype(int)
        self._nearest[new] = np.square(away).sum(axis=-1).argmin(axis=-1)
        image = Image.fromarray(self._nearest[packed].astype(np.uint8))
        image.putpalette(self.palette.tobytes())
        return image
