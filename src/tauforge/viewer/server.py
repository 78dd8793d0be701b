"""A viser server that listens where it is told and answers only whom it should, with our additions to its page.

Browsers are told that the page loads nothing from elsewhere and connects to nobody else. Our scripts do what viser does
not do for its server: it tells of clicks, not of where the mouse is; parts of the scene can cover its handle; its panel
cannot begin folded.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tauforge.errors import ModelError
from tauforge.extras import extra_for
from tauforge.viewer.guard import (
    FIRST_PAGE,
    Guard,
    bound_socket,
    is_loopback,
    keep_to_controls,
    name_in_url,
    new_token,
    normalised,
    screened,
)

_starting = threading.Lock()
END = b"</body>"
SCRIPTS = ("names.js", "handle.js", "phone.js")


def viser_module() -> Any:
    """viser; ModelError with what to install where it is missing."""
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
        self.host = host = normalised(host)
        self._socket = bound_socket(host, port)
        bound, number = self._socket.getsockname()[:2]
        self.token = None if is_loopback(bound) else new_token()
        self.guard = Guard((host, bound), number, own_files(module), self.token)
        self.url = f"http://{name_in_url(host, bound)}:{number}/" + (f"{self.token}/" if self.token else "")
        try:
            with _starting, _guarded(module, self._socket, self.guard) as used, _quiet():
                self.viser = module.ViserServer(host=host, port=number, label=label, verbose=False)
                if not used:  # another viser starts its server in another way: better none than an open one
                    self.viser.stop()
                    raise ModelError(f"viser {module.__version__} cannot be guarded", remedy="Use viser 1.1")
        except BaseException:
            self._socket.close()
            raise
        keep_to_controls(module, self.viser)

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
def _guarded(module: Any, listening: socket.socket, guard: Guard) -> Iterator[list[bool]]:
    """While it lasts, a server that viser starts uses the socket and asks the guard; the list tells whether one did.

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
        checked = _checked(guard, process_request)
        return original.asyncio.server.serve(
            screened(module, handler), sock=listening, process_request=checked, logger=_connections(), **options
        )

    infra.websockets = _Overlay(
        original, asyncio=_Overlay(original.asyncio, server=_Overlay(original.asyncio.server, serve=serve))
    )
    try:
        yield used
    finally:
        infra.websockets = original


def _connections() -> logging.Logger:
    """Where websockets notes what peers do wrong, such as connecting without a word. It is not said in the terminal."""
    logger = logging.getLogger("tauforge.viewer.connections")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


class _Overlay(SimpleNamespace):
    """A module with a few names replaced."""

    def __init__(self, module: Any, **replaced: Any) -> None:
        super().__init__(**replaced)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _checked(guard: Guard, process_request: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """What websockets asks before it answers: viser's own answer if the guard lets the request pass."""

    def check(connection: Any, request: Any) -> Any:
        headers = request.headers
        refused = guard.refusal(request.path, headers.get_all("Host"), headers.get_all("Origin"))
        if refused is not None:
            return connection.respond(refused.status, refused.reason + "\n")
        file = guard.file(request.path)
        answer = process_request(connection, replace(request, path=f"/{file}"))
        if answer is not None:
            if file == FIRST_PAGE:
                add_scripts(answer)
            for name, value in page_headers(headers["Host"]).items():
                answer.headers[name] = value
        return answer

    return check


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """viser prints where it listens, without the token, and that it stopped; we say it ourselves."""
    import rich
    from rich.console import Console

    silent, console = Console(file=io.StringIO()), rich._console
    rich._console = silent
    try:
        yield
    finally:
        rich._console = console


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
    """Into the answer of websockets that has viser's first page; anything else is left as it is."""
    packed = answer.headers.get("Content-Encoding") == "gzip"
    body = with_scripts(answer.body, packed)
    answer.body = body
    del answer.headers["Content-Length"]
    answer.headers["Content-Length"] = str(len(body))


@functools.lru_cache(maxsize=2)
def with_scripts(page: bytes, packed: bool) -> bytes:
    """A page with the scripts at its end; the same page where it has no end.

    packed: whether the page is compressed by gzip
    """
    before, end, after = (gzip.decompress(page) if packed else page).rpartition(END)
    if not end:
        return page
    folder = files("tauforge.viewer") / "page"
    scripts = [b"<script>" + (folder / name).read_bytes() + b"</script>" for name in SCRIPTS]
    whole = b"".join((before, *scripts, end, after))
    return gzip.compress(whole) if packed else whole
