"""Play, pause, scrub, speed, charts and files: the part of the panel about motions and recordings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tauforge.robots.robot import Robot
from tauforge.viewer import colours
from tauforge.viewer.camera import frame
from tauforge.viewer.charts import Chart, charts_of
from tauforge.viewer.exports import add_exports
from tauforge.viewer.panel import from_user
from tauforge.viewer.playback import SPEEDS, Clip

if TYPE_CHECKING:
    from tauforge.viewer.session import Session

TICK = 0.01  # s
CHART_HEIGHT = 170  # pixels
MARKS_LISTED = 4
NOTHING = "Give a motion or a recording: `tauforge view ROBOT --motion m.csv` or `--recording run.npz`."


class PlaybackPanel:
    """Its parts are there even without clips, but for what needs one."""

    def __init__(self, server: Any, robot: Robot, clips: Sequence[Clip], session: Session) -> None:
        self._gui, self.robot, self._session = server.gui, robot, session
        self._charts: list[tuple[Chart, Any]] = []
        self._clip: Clip | None = None
        if not clips:
            server.gui.add_markdown(NOTHING)
            add_exports(server, session, playing=False)
            return
        named = {clip.name: clip for clip in clips}
        self.choice = server.gui.add_dropdown("Motion", tuple(named), initial_value=clips[0].name)
        self.choice.on_update(from_user(lambda name: session.choose(named[name])))
        self.button = server.gui.add_button("Play")
        self.button.on_click(from_user(lambda _: session.play(not session.clock.playing)))
        server.gui.add_button("Frame all", hint="The whole motion in sight").on_click(self._framed)
        first = clips[0]
        self.scrub = server.gui.add_slider(
            "Time (s)", first.start, max(first.end, first.start + TICK), TICK, first.start
        )
        self.scrub.on_update(from_user(session.go))
        self.time = server.gui.add_html("")
        self.speed = server.gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        self.speed.on_update(from_user(lambda text: session.set_speed(float(text))))
        self._folder = server.gui.add_folder("Charts")
        add_exports(server, session, playing=True)

    def show_clip(self, clip: Clip) -> None:
        """New charts."""
        for _, node in self._charts:
            node.remove()
        self._clip, self._charts = clip, []
        self.scrub.min, self.scrub.max = clip.start, max(clip.end, clip.start + TICK)
        with self._folder:
            for chart in charts_of(self.robot, clip):
                node = self._gui.add_uplot(
                    chart.data(clip.start),
                    chart.series(),
                    title=chart.title,
                    height=CHART_HEIGHT,
                    scales={"x": {"time": False}},
                    legend={"show": False},
                )
                self._charts.append((chart, node))

    def show_forces(self, clip: Clip, time: float) -> None:
        """The same clip with the forces of other loads."""
        self._clip = clip
        nodes = [node for _, node in self._charts]
        self._charts = list(zip(charts_of(self.robot, clip), nodes, strict=True))
        for chart, node in self._charts:
            node.data = chart.data(time)

    def show_time(self, time: float, playing: bool) -> None:
        """Scrub bar, text, button and cursors."""
        clip = self._clip
        if clip is None:
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
    """The time, where the motion is singular, and what of a long run is not shown."""
    lines = [f'<span data-key="time">{time:.2f} / {clip.end:.2f} s</span>']
    marked = clip.singular_times
    if len(marked.times):
        listed = ", ".join(f"{t:.2f} s" for t in marked.times[:MARKS_LISTED])
        more = f" and {len(marked.times) - MARKS_LISTED} more" if len(marked.times) > MARKS_LISTED else ""
        lines.append(f'<span style="color:{colours.OVER}">{marked.words} at {listed}{more}</span>')
    if clip.frames.thinned:
        count, step = len(clip.frames.times), 1e3 * clip.frames.duration / (len(clip.frames.times) - 1)
        lines.append(f"<span data-thinned>a long run: {count:,} pictures of it, one every {step:.0f} ms</span>")
    return f'<div style="padding:0 .9em;font-size:12px">{"<br>".join(lines)}</div>'
