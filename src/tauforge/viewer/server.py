"""A viser server that listens where it is told and answers only whom it should."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tauforge.errors import ModelError
from tauforge.viewer.guard import EVERYWHERE, Guard, is_loopback, new_token

DEFAULT_PORT = 8080
PORTS = 65536
TRIED_PORTS = 20  # from the default on, where none was asked for
_starting = threading.Lock()


def viser_module() -> Any:
    """viser; ModelError with what to install where it is missing."""
    try:
        import viser
        import viser.infra._infra
    except ImportError:
        raise ModelError("the viewer needs viser", remedy="Run pip install tauforge[viewer]") from None
    return viser


class GuardedServer:
    """A running viser server.

    viser: the ViserServer
    url:   what to open
    token: part of the url if other machines can reach it, else None
    """

    def __init__(self, host: str, port: int | None, label: str) -> None:
        module = viser_module()
        self._socket = bound_socket(host, port)
        number = int(self._socket.getsockname()[1])
        self.token = None if is_loopback(host) else new_token()
        self.guard = Guard(host, number, own_files(module), self.token)
        shown = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{number}/" + (f"{self.token}/" if self.token else "")
        try:
            with _starting, _guarded(module, self._socket, self.guard) as used, _quiet(module):
                self.viser = module.ViserServer(host=host, port=number, label=label, verbose=False)
                if not used:  # another viser starts its server in another way: better none than an open one
                    self.viser.stop()
                    raise ModelError(f"viser {module.__version__} cannot be guarded", remedy="Use viser 1.1")
        except BaseException:
            self._socket.close()
            raise
        _forget_requests(module, self.viser)

    def close(self) -> None:
        """Ends all connections. A second time it does nothing."""
        module = viser_module()
        with _starting, _quiet(module):
            self.viser.stop()
        self._socket.close()


def bound_socket(host: str, port: int | None) -> socket.socket:
    """A socket that listens at the address. ModelError where that cannot be had.

    port: None for the first free one from 8080 on
    """
    if port is not None and not (isinstance(port, int) and 0 <= port < PORTS):
        raise ModelError(f"expected a whole number from 0 to {PORTS - 1}, got {port!r}", field="port")
    ports = range(DEFAULT_PORT, DEFAULT_PORT + TRIED_PORTS) if port is None else (port,)
    error: OSError | None = None
    for number in ports:
        try:
            family, _, _, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
            return socket.create_server(address[:2], family=family)
        except (socket.gaierror, UnicodeError):
            raise ModelError(f"this machine does not know the address {host!r}", field="host") from None
        except OSError as problem:
            error = problem
    assert error is not None
    which = f"port {port}" if port is not None else f"any of the ports {ports[0]} to {ports[-1]}"
    raise ModelError(
        f"cannot listen on {which} of {host}: {(error.strerror or str(error)).lower()}",
        field="port",
        remedy="Give another port, or 0 for any free one",
    )


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
        return original.asyncio.server.serve(handler, sock=listening, process_request=checked, **options)

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


def _checked(guard: Guard, process_request: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """What websockets asks before it answers: viser's own answer if the guard lets the request pass."""

    def check(connection: Any, request: Any) -> Any:
        headers = request.headers
        refused = guard.refusal(request.path, headers.get_all("Host"), headers.get_all("Origin"))
        if refused is not None:
            return connection.respond(refused.status, refused.reason + "\n")
        answer = process_request(connection, replace(request, path=f"/{guard.file(request.path)}"))
        if answer is not None:
            for name, value in page_headers(headers["Host"]).items():
                answer.headers[name] = value
        return answer

    return check


def page_headers(host: str) -> dict[str, str]:
    """What the page is told to keep to: it loads nothing from elsewhere and connects to nobody else."""
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


@contextlib.contextmanager
def _quiet(module: Any) -> Iterator[None]:
    """viser prints where it listens, without the token, and that it stopped; we say it ourselves."""
    import rich
    from rich.console import Console

    silent, console = Console(file=io.StringIO()), rich._console
    rich._console = silent
    try:
        yield
    finally:
        rich._console = console


def _forget_requests(module: Any, server: Any) -> None:
    """What a page could ask of viser and we do not offer.

    It opens the server to the world through a tunnel, whatever address it listens on. It puts a file in the place of
    any control's value.
    """
    messages = module._messages
    for message in (messages.ShareUrlRequest, messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)
    for message in (messages.FileTransferStartUpload, messages.FileTransferPart):
        server._websock_server.unregister_handler(message)
