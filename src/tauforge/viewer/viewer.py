"""`tf.view`: a robot live in the browser."""

from __future__ import annotations

import atexit
import html
import threading
import warnings
import webbrowser
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from tauforge.motion.motion import Motion
from tauforge.plugins import plugins
from tauforge.robots.robot import Robot, check_robot
from tauforge.simulation.recording import Recording
from tauforge.viewer.evaluation import Evaluation
from tauforge.viewer.guard import LOOPBACK
from tauforge.viewer.playback import clip_of
from tauforge.viewer.server import GuardedServer
from tauforge.viewer.session import Session
from tauforge.viewer.surroundings import surroundings

FRAME_HEIGHT = 600  # pixels in a notebook


class Viewer:
    """A running viewer. It ends with `close`, with the block of `with`, or with the program.

    url:       what to open in a browser
    session:   what it shows, for tests and benchmarks
    """

    def __init__(self, server: GuardedServer, session: Session) -> None:
        self.server, self.session, self.url = server, session, server.url
        self._closed = threading.Event()
        atexit.register(self.close)  # before viser's own, which would say so

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def close(self) -> None:
        """Ends the viewer and all its connections. A second time it does nothing."""
        if not self._closed.is_set():
            self._closed.set()
            atexit.unregister(self.close)
            self.session.close()
            self.server.close()

    def wait(self) -> None:
        """Until it is closed."""
        while not self._closed.wait(0.5):  # a wait without an end would not hear Ctrl-C on every platform
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Viewer({self.url!r}{', closed' if self.is_closed else ''})"

    def _repr_html_(self) -> str:
        """The page itself, for notebooks."""
        if self.is_closed:
            return f"<p>{html.escape(repr(self))}</p>"
        address = html.escape(self.url)
        return f'<iframe src="{address}" style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'


def view(
    robot: Robot,
    recording: Motion | Recording | Mapping[str, Motion | Recording] | None = None,
    *,
    port: int | None = None,
    host: str = LOOPBACK,
    open_browser: bool = False,
) -> Viewer:
    """Shows a robot live in the browser; returns at once.

    recording:    a motion or a recording to play, or several by name. A robot of the catalogue brings the motions that
                  papers try on it.
    port:         to listen on; default the first free one from 8080 on, 0 for any
    host:         127.0.0.1 is for this machine alone. At any other address everybody who knows the viewer's url, which
                  has a random token in it, can see and move the robot; what is sent is not encrypted.
    open_browser: opens the url

    All tabs share one state. ModelError for a port that is taken, a recording of another robot, or where viser is not
    installed; UnsupportedFeatureError for a robot without a drawing.
    """
    check_robot("robot", robot)
    surroundings(robot)
    given = {} if recording is None else recording if isinstance(recording, Mapping) else {_name(recording): recording}
    known = {name: shown for motions in plugins("tauforge.motions").values() for name, shown in motions(robot).items()}
    clips = [clip_of(robot, name, shown) for name, shown in given.items()]
    clips += [clip_of(robot, name, shown) for name, shown in known.items() if name not in given]
    evaluation = Evaluation(robot)
    server = GuardedServer(host, port, robot.name)
    try:
        _set_theme(server)
        viewer = Viewer(server, Session(server.viser, evaluation, clips))
    except BaseException:
        server.close()
        raise
    if open_browser and not opened(viewer.url):
        warnings.warn(f"no browser could be opened; the robot is at {viewer.url}", stacklevel=2)
    return viewer


def opened(url: str) -> bool:
    """Opens a page in the reader's browser; False where there is none."""
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False


def _name(shown: object) -> str:
    return "recording" if isinstance(shown, Recording) else "motion"


def _set_theme(server: GuardedServer) -> None:
    gui = server.viser.gui
    gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
    gui.main_panel.dock_right()
