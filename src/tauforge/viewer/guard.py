"""Who may talk to the viewer: the names by which it is called, the pages that call it, the token and the files."""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Collection
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from tauforge.viewer.addresses import EVERYWHERE, LOCAL_NAMES, PORTS, is_address, normalised

TOKEN_BYTES = 16
FIRST_PAGE = "index.html"
HTTP_PORT = 80  # browsers leave it out
HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::(?P<port>[0-9]{1,5}))?")


class Refusal(NamedTuple):
    """Why a request gets no answer."""

    status: HTTPStatus
    reason: str


class Guard:
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
        """None for a request that may be answered.

        path: as the request gives it; hosts, origins: all of its Host and Origin headers
        """
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return Refusal(HTTPStatus.FORBIDDEN, "this viewer has another name")
        if len(origins) > 1 or (origins and not self._same(origins[0], hosts[0])):
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
        known = name in self.names or (self.any_address and is_address(name))
        return known and int(found["port"] or HTTP_PORT) == self.port

    def _same(self, origin: str, host: str) -> bool:
        return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)
