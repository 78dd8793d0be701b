"""The tab "Play" of the panel: play, pause, scrub, speed, curves with a cursor, and files to save."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, TauforgeError
from tauforge.pictures import animate
from tauforge.robots.robot import Robot
from tauforge.simulation.recording import Recording
from tauforge.tables.robot_columns import TIME, columns_of
from tauforge.tables.table import write_csv
from tauforge.validation import listed
from tauforge.viewer import colours
from tauforge.viewer.panel import from_user
from tauforge.viewer.playback import PLAY_SPEEDS, Clip
from tauforge.viewer.surroundings import frame

if TYPE_CHECKING:
    from tauforge.viewer.session import Session


TICK = 0.01  # s
CHART_HEIGHT = 170  # pixels
MARKS_LISTED = 4
NO_CLIP_HINT = "Give a motion or a recording: `tauforge view ROBOT --motion m.csv` or `--recording run.npz`."
CHART_POINTS = 400
CURSOR = "#d3222a"
PICTURE_SIDE = 1600  # pixels, at most
RENDER_SECONDS = 20.0
ANIMATIONS = ("html", "gif", "mp4")


class PlaybackPanel:
    """Controls, charts and exports; without clips only what needs none."""

    def __init__(self, server: Any, robot: Robot, clips: Sequence[Clip], session: Session) -> None:
        self._gui, self.robot, self._session = server.gui, robot, session
        self._charts: list[tuple[Chart, Any]] = []
        self._clip: Clip | None = None
        if not clips:
            server.gui.add_markdown(NO_CLIP_HINT)
            add_exports(server, session, playing=False)
            return
        named = {clip.name: clip for clip in clips}
        self.choice = server.gui.add_dropdown("Motion", tuple(named), initial_value=clips[0].name)
        self.choice.on_update(from_user(lambda name: session.choose(named[name])))
        self.button = server.gui.add_button("Play")
        self.button.on_click(from_user(lambda _: session.play(not session.clock.playing)))
        server.gui.add_button("Frame all", hint="The whole motion in sight").on_click(self._framed)
        start, end = clips[0].start, max(clips[0].end, clips[0].start + TICK)
        self.scrub = server.gui.add_slider("Time (s)", start, end, TICK, start)
        self.scrub.on_update(from_user(session.go))
        self.time = server.gui.add_html("")
        self.speed = server.gui.add_dropdown("Speed", PLAY_SPEEDS, initial_value="1")
        self.speed.on_update(from_user(lambda text: session.set_speed(float(text))))
        self._folder = server.gui.add_folder("Charts")
        add_exports(server, session, playing=True)

    def show_clip(self, clip: Clip) -> None:
        """Replaces the charts by those of a clip."""
        for _, node in self._charts:
            node.remove()
        self._clip, self._charts = clip, []
        self.scrub.min, self.scrub.max = clip.start, max(clip.end, clip.start + TICK)
        with self._folder:
            for chart in charts_of(self.robot, clip):
                look = {"height": CHART_HEIGHT, "scales": {"x": {"time": False}}, "legend": {"show": False}}
                node = self._gui.add_uplot(chart.data(clip.start), chart.series(), title=chart.title, **look)
                self._charts.append((chart, node))

    def show_forces(self, clip: Clip, time: float) -> None:
        """Shows the same clip with the forces of other loads."""
        self._clip = clip
        nodes = [node for _, node in self._charts]
        self._charts = list(zip(charts_of(self.robot, clip), nodes, strict=True))
        for chart, node in self._charts:
            node.data = chart.data(time)

    def show_time(self, time: float, playing: bool) -> None:
        """Updates scrub bar, text, button and cursors."""
        if (clip := self._clip) is None:
            return
        self.scrub.value = round(time, 2)
        self.time.content = time_html(time, clip)
        self.button.label = "Pause" if playing else "Play"
        for chart, node in self._charts:
            node.data = chart.data(time)

    async def _framed(self, event: Any) -> None:
        if event.client is not None and self._clip is not None:
            frame(event.client.camera, *self._clip.extent)


def time_html(time: float, clip: Clip) -> str:
    """Text about the time, singular positions of the motion, and pictures of a long run that are left out."""
    lines = [f'<span data-key="time">{time:.2f} / {clip.end:.2f} s</span>']
    marked = clip.singular_times
    if len(marked.times):
        times = listed((f"{t:.2f} s" for t in marked.times), MARKS_LISTED)
        lines.append(f'<span style="color:{colours.OVER}">{marked.words} at {times}</span>')
    if clip.frames.thinned:
        count, step = len(clip.frames.times), 1e3 * clip.frames.duration / (len(clip.frames.times) - 1)
        lines.append(f"<span data-thinned>a long run: {count:,} pictures of it, one every {step:.0f} ms</span>")
    return f'<div style="padding:0 .9em;font-size:12px">{"<br>".join(lines)}</div>'


class Chart(NamedTuple):
    """Curves over time.

    title:  with the unit
    names:  of the curves
    times:  (k,) s
    curves: (c, k)
    """

    title: str
    names: tuple[str, ...]
    times: Array
    curves: Array

    def data(self, time: float) -> tuple[Array, ...]:
        """Times, the curves, and the cursor: a needle that stands on the bottom line. uPlot cannot skip a NaN."""
        low, high = float(self.curves.min()), float(self.curves.max())
        cursor = np.full(len(self.times), low)
        cursor[min(int(np.searchsorted(self.times, time)), len(self.times) - 1)] = high if high > low else low + 1.0
        return (self.times, *self.curves, cursor)

    def series(self) -> tuple[dict[str, Any], ...]:
        """uPlot's descriptions of what `data` gives."""
        lines = (*zip(self.names, cycle(colours.CURVES), strict=False), ("now", CURSOR))
        looks = ({"label": name, "stroke": colour, "width": 1.5, "points": {"show": False}} for name, colour in lines)
        return ({"label": "time (s)"}, *looks)


def charts_of(robot: Robot, clip: Clip) -> list[Chart]:
    """Forces, one chart for each unit; and errors of a recording that had a target.

    The curves of a recording are made from all its rows, not from the pictures of it.
    """
    shown, frames = clip.shown, clip.frames
    if len(frames.times) < 2:
        return []
    forces = [(actuator.words, actuator.unit) for actuator in robot.actuators]
    if not isinstance(shown, Recording):
        return _by_unit("force", forces, frames.times, frames.force)
    found = _by_unit("force", forces, shown.time, shown.force)
    if frames.target is not None:
        error = robot.positions.error(shown.target_position, shown.position)
        found += _by_unit("error", [(c.name, c.unit) for c in robot.coordinates], shown.time, error)
    return found


def _by_unit(what: str, columns: Sequence[tuple[str, str]], times: Array, values: Array) -> list[Chart]:
    charts = []
    for unit in dict.fromkeys(unit for _, unit in columns):
        chosen = [k for k, (_, own) in enumerate(columns) if own == unit]
        names = tuple(columns[k][0] for k in chosen)
        curves = np.array([_bridged(times, values[:, k]) for k in chosen])
        charts.append(Chart(f"{what} ({unit})", names, *with_peaks(times, curves, CHART_POINTS)))
    return charts


def with_peaks(times: Array, curves: Array, most: int) -> tuple[Array, Array]:
    """Fewer points that keep all peaks: the smallest and the largest value of every bin, in the order they came.

    times: (k,) s; curves: (c, k); returns at most `most` points of both. A peak moves by no more than its bin.
    """
    if len(times) <= most:
        return times, curves
    edges = np.linspace(0, len(times), most // 2 + 1).astype(int)
    starts, ends = edges[:-1], edges[1:]
    kept = np.empty((len(curves), 2 * len(starts)))
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        piece = curves[:, start:end]
        places = np.sort(np.column_stack([piece.argmin(axis=1), piece.argmax(axis=1)]), axis=1)
        kept[:, 2 * k : 2 * k + 2] = np.take_along_axis(piece, places, axis=1)
    # At the ends of the bins: a curve that only rises or falls in a bin then stays where it is.
    return np.column_stack([times[starts], times[ends - 1]]).ravel(), kept


def _bridged(times: Array, curve: Array) -> Array:
    """A curve with straight lines over what it lacks, such as forces at a singular pose; 0 where it has nothing."""
    known = np.isfinite(curve)
    return np.interp(times, times[known], curve[known]) if known.any() else np.zeros(len(times))


def add_exports(server: Any, session: Session, *, playing: bool) -> None:
    """Adds a button for each kind of file; those of a run only where one is played."""
    kinds = ("png", "csv", *ANIMATIONS) if playing else ("png",)
    with server.gui.add_folder("Save as", expand_by_default=False):
        buttons = server.gui.add_button_group("", [kind.upper() for kind in kinds])

    def save(event: Any) -> None:  # in a thread of viser's pool: this may take a while
        kind = str(event.target.value).lower()
        if event.client is None or kind not in kinds:
            return
        note = event.client.add_notification("Save", f"writing {kind.upper()}", loading=True, with_close_button=False)
        try:
            content = picture(event.client) if kind == "png" else file_of(session, kind)
            event.client.send_file_download(f"{file_name(session.robot)}.{kind}", content, save_immediately=True)
        except (TauforgeError, OSError, RuntimeError) as error:  # a full disk, no answer in time, a tab that is gone
            event.client.add_notification("Not saved", str(error), color="red")
        finally:
            note.remove()

    buttons.on_click(save)


def file_of(session: Session, kind: str) -> bytes:
    """The content of a file about what is played; ModelError where `tf.animate` cannot write it."""
    robot, clip, state = session.robot, session.clip, session.state
    assert clip is not None
    if kind == "csv":
        return csv_of(robot, clip)
    options: dict[str, Any] = {}
    loads = session.evaluation.loads_text(state)
    if loads and not clip.is_recorded:  # a recording has its own
        options = {"forces": session.evaluation.forces_along(state), "title": f"{robot.name}: {loads}"}
    with tempfile.TemporaryDirectory() as folder:
        return animate(robot, clip.shown, Path(folder) / f"run.{kind}", **options).read_bytes()


def csv_of(robot: Robot, clip: Clip) -> bytes:
    """The recording as it saves itself; a motion as a table of time, position, velocity, acceleration and force."""
    text = io.StringIO()
    if isinstance(clip.shown, Recording):
        clip.shown.write_csv(text)
        return text.getvalue().encode()
    own, frames = columns_of(robot), clip.frames
    coordinates = robot.positions.coordinates(frames.position)  # a mechanism's position has more numbers
    rows = np.column_stack([frames.times, coordinates, frames.velocity, frames.acceleration, frames.force])
    write_csv(text, [TIME, *own.position, *own.velocity, *own.acceleration, *own.force], rows)
    return text.getvalue().encode()


def picture(client: Any) -> bytes:
    """The scene as the tab sees it, PNG with a transparent background."""
    import imageio.v3 as imageio

    height, width = client.camera.image_height, client.camera.image_width
    if not height or not width:
        raise ModelError("the tab shows no picture to save")
    scale = min(1.0, PICTURE_SIDE / max(height, width))
    pixels = client.get_render(int(scale * height), int(scale * width), transport_format="png", timeout=RENDER_SECONDS)
    return bytes(imageio.imwrite("<bytes>", pixels, extension=".png"))


def file_name(robot: Robot) -> str:
    """The robot's name, with nothing that file systems refuse."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in robot.name) or "robot"
