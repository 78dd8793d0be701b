"""`tf.view`: a robot live in the browser, from a viser server that answers only whom it should.

Browsers are told that the page loads nothing from elsewhere and connects to nobody else. Our scripts do what viser does
not do for its server: it tells of clicks, not of where the mouse is; parts of the scene can cover its handle; its panel
cannot begin folded.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gzip
import html
import logging
import socket
import threading
import warnings
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tauforge.errors import ModelError
from tauforge.extras import extra_for
from tauforge.motion.motion import Motion
from tauforge.plugins import plugins
from tauforge.robots.robot import Robot, check_robot
from tauforge.simulation.recording import Recording
from tauforge.viewer import guard as guarding
from tauforge.viewer.evaluation import Evaluation
from tauforge.viewer.guard import LOOPBACK, RequestGuard
from tauforge.viewer.playback import clip_of
from tauforge.viewer.session import Session
from tauforge.viewer.surroundings import surroundings

FRAME_HEIGHT = 600  # pixels in a notebook
CONNECTIONS = logging.getLogger("tauforge.viewer.connections")  # faults of peers, such as connecting without a word
CONNECTIONS.propagate = False  # they are not said in the terminal
CONNECTIONS.addHandler(logging.NullHandler())


class Viewer(contextlib.AbstractContextManager["Viewer"]):
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
        """Waits until it is closed."""
        while not self._closed.wait(0.5):  # a wait without an end would not hear Ctrl-C on every platform
            pass

    def __exit__(self, *_: object) -> None:
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
    given = recording if isinstance(recording, Mapping) else {}
    if recording is not None and not isinstance(recording, Mapping):
        given = {"recording" if isinstance(recording, Recording) else "motion": recording}
    known = {name: shown for motions in plugins("tauforge.motions").values() for name, shown in motions(robot).items()}
    clips = [clip_of(robot, name, shown) for name, shown in given.items()]
    clips += [clip_of(robot, name, shown) for name, shown in known.items() if name not in given]
    evaluation = Evaluation(robot)
    server = GuardedServer(host, port, robot.name)
    try:
        gui = server.viser.gui
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
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


_starting = threading.Lock()
END = b"</body>"
VIEWER_SCRIPTS = ("names.js", "handle.js", "phone.js")


def viser_module() -> Any:
    """Imports viser; ModelError with what to install where it is missing."""
    with extra_for("the viewer needs", "viewer"):
        import viser
        import viser.infra._infra
    return viser


class GuardedServer:
    """A running viser server.

    viser: the ViserServer
    host:  the address or name that was asked for, in one spelling
    url:   what to open
    token: part of the url if other machines can reach it, else None
    """

    def __init__(self, host: str, port: int | None, label: str) -> None:
        module = viser_module()
        self.host = host = guarding.normalised(host)
        self._socket = guarding.bound_socket(host, port)
        bound, number = self._socket.getsockname()[:2]
        self.token = None if guarding.is_loopback(bound) else guarding.new_token()
        self.guard = RequestGuard((host, bound), number, own_files(module), self.token)
        self.url = f"http://{guarding.name_in_url(host, bound)}:{number}/" + (f"{self.token}/" if self.token else "")
        try:
            with _starting, _guarded(module, self._socket, self.guard) as used, _quiet():
                self.viser = module.ViserServer(host=host, port=number, label=label, verbose=False)
                if not used:  # another viser starts its server in another way: better none than an open one
                    self.viser.stop()
                    raise ModelError(f"viser {module.__version__} cannot be guarded", remedy="Use viser 1.1")
        except BaseException:
            self._socket.close()
            raise
        guarding.keep_to_controls(module, self.viser)

    def close(self) -> None:
        """Ends all connections. A second time it does nothing."""
        with _starting, _quiet():
            self.viser.stop()
        self._socket.close()


def own_files(module: Any) -> set[str]:
    """The files of viser's page, as paths below its root."""
    root = Path(module.__file__).parent / "client" / "build"
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


@contextlib.contextmanager
def _guarded(module: Any, listening: socket.socket, guard: RequestGuard) -> Iterator[list[bool]]:
    """Makes a server that viser starts use the socket and ask the guard; the list tells whether one did.

    viser has no way to give its server a socket or a check of its own: it calls `websockets.asyncio.server.serve` with
    its own. A guard in front of it would leave viser's own port open to everyone on the machine, and to every page that
    finds it. So the name `websockets` in viser's module leads, while the server starts, to a `serve` that adds ours.
    """
    infra = module.infra._infra
    original, used = infra.websockets, []

    def serve(handler: Any, host: str, port: int, *, process_request: Any, **options: Any) -> Any:
        if port != guard.port:  # another server of viser's, which the program starts at the same time
            return original.asyncio.server.serve(handler, host, port, process_request=process_request, **options)
        used.append(True)
        options |= {"sock": listening, "process_request": _checked(guard, process_request), "logger": CONNECTIONS}
        return original.asyncio.server.serve(guarding.screened(module, handler), **options)

    infra.websockets = _Overlay(
        original, asyncio=_Overlay(original.asyncio, server=_Overlay(original.asyncio.server, serve=serve))
    )
    try:
        yield used
    finally:
        infra.websockets = original


class _Overlay(SimpleNamespace):
    """A module with a few names replaced."""

    def __init__(self, module: Any, **replaced: Any) -> None:
        super().__init__(**replaced)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _checked(guard: RequestGuard, process_request: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Check that websockets makes before it answers: viser's own answer if the guard lets the request pass."""

    def check(connection: Any, request: Any) -> Any:
        headers = request.headers
        refused = guard.refusal(request.path, headers.get_all("Host"), headers.get_all("Origin"))
        if refused is not None:
            return connection.respond(refused.status, refused.reason + "\n")
        file = guard.file(request.path)
        answer = process_request(connection, replace(request, path=f"/{file}"))
        if answer is not None:
            if file == guarding.FIRST_PAGE:
                add_scripts(answer)
            answer.headers.update(page_headers(headers["Host"]))
        return answer

    return check


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences viser, which prints where it listens, without the token, and that it stopped; we say it ourselves."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def page_headers(host: str) -> dict[str, str]:
    """The headers of every file of the page, for the name by which it was called."""
    inline = "'self' 'unsafe-inline' data: blob:"
    policy = {
        "default-src": inline,
        "script-src": f"{inline} 'unsafe-eval'",  # the page unpacks itself, and runs WebAssembly
        "connect-src": f"'self' ws://{host} wss://{host} data: blob:",
        "form-action": "'none'",
        "frame-ancestors": "'self' http://localhost:* http://127.0.0.1:*",  # notebooks of this machine
        "base-uri": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Referrer-Policy": "no-referrer",  # the address has the token
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }


def add_scripts(answer: Any) -> None:
    """Adds our scripts to the answer of websockets that has viser's first page."""
    packed = answer.headers.get("Content-Encoding") == "gzip"
    answer.body = with_scripts(answer.body, packed)
    del answer.headers["Content-Length"]
    answer.headers["Content-Length"] = str(len(answer.body))


@functools.lru_cache(maxsize=2)
def with_scripts(page: bytes, packed: bool) -> bytes:
    """A page with the scripts at its end; the same page where it has no end.

    packed: whether the page is compressed by gzip
    """
    before, end, after = (gzip.decompress(page) if packed else page).rpartition(END)
    if not end:
        return page
    folder = files("tauforge.viewer") / "page"
    scripts = [b"<script>" + (folder / name).read_bytes() + b"</script>" for name in VIEWER_SCRIPTS]
    whole = b"".join((before, *scripts, end, after))
    return gzip.compress(whole) if packed else whole
