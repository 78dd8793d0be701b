"""The guard of the viewer: requests that are answered, addresses it listens at, and messages that tabs may send.

A request needs a name of the server, a page of ours, the token and a file that exists; addresses have one spelling.
Tabs may send values within the range of a control and finite places, and nothing that we do not offer: viser stores and
passes on to all tabs whatever a tab sends, even a slider's limits.
"""

from __future__ import annotations

import errno
import ipaddress
import math
import os
import re
import secrets
import socket
from collections.abc import Callable, Collection, Coroutine
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from tauforge.errors import ModelError

TOKEN_BYTES = 16
FIRST_PAGE = "index.html"
HTTP_PORT = 80  # browsers leave it out
HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::(?P<port>[0-9]{1,5}))?")
LOOPBACK = "127.0.0.1"
LOCAL_NAMES = ("localhost", LOOPBACK, "::1")
EVERYWHERE = ("0.0.0.0", "::")
DEFAULT_PORT = 8080
PORTS = 65536
NOT_OURS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)  # an address of another machine, or no IPv6 here
TRIED_PORTS = 20  # from the default on, where none was asked for
FARTHEST_PLACE = 1e4  # m: farther away nothing is meant
PROTOCOL_ERROR = 1002  # of WebSocket

Handler = Callable[[Any], Coroutine[Any, Any, None]]


class Refusal(NamedTuple):
    """Status and reason of a request that gets no answer."""

    status: HTTPStatus
    reason: str


class RequestGuard:
    """Judges the head of every request, be it for a file or for a WebSocket.

    A page on another site can reach a server on the reader's own machine. If it names the server by its address, the
    browser adds the page's Origin. If it has its own name lead here (DNS rebinding), the Host is that name. Both are
    refused.

    A local name may have any port, for an SSH tunnel may begin at another port than the server's. That lets no other
    page in: the Host of a browser's request has the port that it connects to, and the Origin must have the same.

    hosts: the names and addresses of the server
    port:  of the server
    files: paths below the root that may be fetched
    token: what the path must begin with; None on the reader's own machine
    """

    def __init__(self, hosts: Collection[str], port: int, files: Collection[str], token: str | None = None) -> None:
        self.port, self.files, self.token = port, frozenset(files), token
        self.names = {*LOCAL_NAMES, *hosts} - {*EVERYWHERE}
        self.any_address = not {*EVERYWHERE}.isdisjoint(hosts)
        if self.any_address:
            self.names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def file(self, path: str) -> str | None:
        """The file that a request's path means, below the root; None where it is none of ours."""
        try:
            wanted = unquote(urlsplit(path).path)
        except ValueError:  # such as "//["
            return None
        if self.token is not None:
            prefix, _, wanted = wanted.removeprefix("/").partition("/")
            if not secrets.compare_digest(prefix.encode(), self.token.encode()):
                return None
        name = wanted.removeprefix("/") or FIRST_PAGE
        return name if name in self.files else None

    def refusal(self, path: str, hosts: list[str], origins: list[str]) -> Refusal | None:
        """Refusal of a request; None for one that may be answered.

        path: as the request gives it; hosts, origins: all of its Host and Origin headers
        """
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return Refusal(HTTPStatus.FORBIDDEN, "this viewer has another name")
        own_pages = (f"http://{hosts[0]}".lower(), f"https://{hosts[0]}".lower())
        if len(origins) > 1 or (origins and origins[0].lower() not in own_pages):
            return Refusal(HTTPStatus.FORBIDDEN, "pages of other sites may not use this viewer")
        if self.file(path) is None:
            return Refusal(HTTPStatus.NOT_FOUND, "there is nothing here")
        if "?" in path:  # the page would connect to whatever server a link names
            return Refusal(HTTPStatus.NOT_FOUND, "the viewer takes no options in its address")
        return None

    def _is_ours(self, host: str) -> bool:
        found = HOST.fullmatch(host)
        if found is None:
            return False
        name = normalised(found["address"] or found["name"])
        if (":" in name) != (found["address"] is not None):  # only IPv6 has brackets
            return False
        if name in LOCAL_NAMES:
            return int(found["port"] or HTTP_PORT) < PORTS
        known = name in self.names or (self.any_address and address_of(name) is not None)
        return known and int(found["port"] or HTTP_PORT) == self.port


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def normalised(host: str) -> str:
    """An address in its shortest spelling, a name in lower case. ModelError for one that no url can have."""
    text = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not text:
        raise ModelError("expected an address or a name, got ''", field="host")
    if "%" in text:
        problem = f"expected an address without a scope, got {host!r}: browsers open no such address"
        remedy = "Give another address of this machine, or :: for all of them"
        raise ModelError(problem, field="host", remedy=remedy)
    return str(address_of(text) or text.lower())


def address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a number is, None for a name. A number cannot be made to lead elsewhere, as a name can."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """True if only this machine can reach the address."""
    address = address_of(host)
    return host == "localhost" or (address is not None and address.is_loopback)


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
            # "::" is every address of the machine, and most names of machines lead to an IPv4 address.
            both = address[0] == "::" and socket.has_dualstack_ipv6()
            return socket.create_server(address[:2], family=family, dualstack_ipv6=both)
        except (socket.gaierror, UnicodeError):
            raise ModelError(f"this machine does not know the address {host!r}", field="host") from None
        except OSError as problem:
            if problem.errno in NOT_OURS:  # no port would do
                remedy = "Give an address of this machine, or 0.0.0.0 for all of them"
                raise ModelError(f"this machine has no address {host}", field="host", remedy=remedy) from None
            error = problem
    assert error is not None
    reason = os.strerror(error.errno) if error.errno is not None else str(error)
    which = f"port {port}" if port is not None else f"any of the ports {ports[0]} to {ports[-1]}"
    refused = f"cannot listen on {which} of {host}: {reason.lower()}"
    raise ModelError(refused, field="port", remedy="Give another port, or 0 for any free one")


def name_in_url(host: str, bound: str) -> str:
    """The server's name in the address of a browser.

    host: as it was asked for, normalised; bound: the number that is listened on
    """
    if bound not in EVERYWHERE:
        return f"[{host}]" if ":" in host else host
    try:
        socket.getaddrinfo(socket.gethostname(), None)
    except (socket.gaierror, UnicodeError):  # at least this machine can open it
        return LOOPBACK if bound == "0.0.0.0" or socket.has_dualstack_ipv6() else "[::1]"
    return socket.gethostname()


def screened(module: Any, handler: Handler) -> Handler:
    """viser's handler of a connection, which sees only messages of a kind in OFFERED that make sense.

    viser prints the version that a tab claims to have, and warns with whatever text stands in the place of a vector: a
    tab could command the terminal. What is no message at all is passed on: viser ends the connection.
    """
    decode = module.infra._messages.msgspec.msgpack.decode

    async def handle(connection: Any) -> None:
        if connection.subprotocol != f"viser-v{module.__version__}":
            await connection.close(PROTOCOL_ERROR, f"Version mismatch. Server: {module.__version__}")
            return
        receive = connection.recv

        async def next_offered() -> Any:
            while not _is_offered(decode, raw := await receive()):
                pass
            return raw

        connection.recv = next_offered
        await handler(connection)

    return handle


def keep_to_controls(module: Any, server: Any) -> None:
    """Makes a viser server ignore values that its controls do not offer, without a word."""
    handlers = server._websock_server._incoming_handlers
    kind = module._messages.GuiUpdateMessage
    handlers[kind] = [_only_if_sound(server.gui, handler) for handler in handlers[kind]]


def is_sound_value(control: Any, value: object) -> bool:
    """True if a tab may give this value to a slider, a choice, a checkbox or a button."""
    if hasattr(control, "options"):
        return isinstance(value, str) and value in control.options
    if hasattr(control, "min"):
        return _is_number(value) and control.min <= value <= control.max
    return isinstance(value, bool)


def _only_if_sound(gui: Any, handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    async def checked(client: Any, message: Any) -> None:
        control = gui._gui_input_handle_from_uuid.get(message.uuid)
        if control is not None and is_sound_value(control, message.updates["value"]):
            await handler(client, message)

    return checked


def _is_offered(decode: Callable[[Any], Any], raw: object) -> bool:
    try:
        message = decode(raw)
        kind = message["type"]
    except (ValueError, TypeError, KeyError):
        return True
    return isinstance(kind, str) and kind in OFFERED and OFFERED[kind](message)


def _is_sound_update(message: dict[str, Any]) -> bool:
    updates = message.get("updates")
    return isinstance(message.get("uuid"), str) and isinstance(updates, dict) and list(updates) == ["value"]


def _is_sound_click(message: dict[str, Any]) -> bool:
    index = message.get("instance_index")
    return (
        _is_node(message)
        and (index is None or (isinstance(index, int) and not isinstance(index, bool)))
        and _has_vectors(message, ray_origin=3, ray_direction=3, screen_pos=2)
    )


# All that our page says. A page could otherwise open the server to the world through a tunnel, and put files in the
# place of values.
OFFERED: dict[str, Callable[[dict[str, Any]], bool]] = {
    "GuiUpdateMessage": _is_sound_update,
    "TransformControlsUpdateMessage": lambda m: _is_node(m) and _has_vectors(m, position=3, wxyz=4) and any(m["wxyz"]),
    "SceneNodeClickMessage": _is_sound_click,
    "ViewerCameraMessage": lambda m: _has_vectors(m, position=3, wxyz=4, look_at=3, up_direction=3),
    "GetRenderResponseMessage": lambda m: isinstance(m.get("payload"), bytes),
}


def _is_node(message: dict[str, Any]) -> bool:
    return isinstance(message.get("name"), str) and isinstance(message.get("owner"), str)


def _has_vectors(message: dict[str, Any], **counts: int) -> bool:
    return all(_are_numbers(message.get(name), count) for name, count in counts.items())


def _are_numbers(values: object, count: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) == count
        and all(_is_number(x) and abs(x) <= FARTHEST_PLACE for x in values)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
