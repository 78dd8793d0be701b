"""Who may talk to the viewer: names, origins, tokens and paths, without a server."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from tauforge.viewer.guard import Guard, is_loopback, new_token

FILES = {"index.html", "assets/a.js"}
LOCAL = Guard("127.0.0.1", 8080, FILES)
TOKEN = "abcDEF-_123"
REMOTE = Guard("0.0.0.0", 8080, FILES, TOKEN)
OWN = "127.0.0.1:8080"


def status(guard: Guard, path: str = "/", host: str | list[str] = OWN, origin: str | None = None) -> int:
    refused = guard.refusal(path, [host] if isinstance(host, str) else host, [] if origin is None else [origin])
    return HTTPStatus.OK if refused is None else refused.status


@pytest.mark.parametrize("host", [OWN, "localhost:8080", "LOCALHOST:8080", "[::1]:8080"])
def test_its_own_names_are_answered(host: str) -> None:
    assert status(LOCAL, host=host) == HTTPStatus.OK
    assert status(LOCAL, host=host, origin=f"http://{host}") == HTTPStatus.OK


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8080",
        "127.0.0.1.evil.example:8080",
        "127.0.0.1:8081",
        "127.0.0.1",
        "192.168.1.5:8080",
        "user@127.0.0.1:8080",
        "127.0.0.1:8080/x",
        "127.0.0.1:8080#; script-src *",
        "evil[::1]:8080",
        "[::1]evil:8080",
        "127.0.0.1:port",
        "[::1",
        "",
        [],
        [OWN, OWN],
    ],
)
def test_other_names_are_refused(host: str | list[str]) -> None:
    assert status(LOCAL, host=host) == HTTPStatus.FORBIDDEN


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:9999", "http://localhost:8080", "null", "", "file://", OWN]
)
def test_pages_of_other_sites_are_refused(origin: str) -> None:
    assert status(LOCAL, origin=origin) == HTTPStatus.FORBIDDEN
    assert LOCAL.refusal("/", [OWN], [f"http://{OWN}", "http://evil.example"]) is not None


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    "path",
    [
        "/../secret",
        "/assets/../../secret",
        "/%2e%2e/secret",
        "/..%2fsecret",
        "/..\\secret",
        "//etc/passwd",
        "//[",
        "/etc/passwd",
        "/assets",
        "/assets/",
        "/index.html/",
        "/index.html%00",
        "http://evil.example/secret",
        "/?websocket=ws://evil.example",
        "/index.html?playbackPath=http://evil.example/x",
    ],
)
def test_nothing_but_the_page_can_be_fetched(path: str) -> None:
    assert status(LOCAL, path) == HTTPStatus.NOT_FOUND


def test_the_page_can_be_fetched() -> None:
    for path in ("/", "", "/index.html", "/assets/a.js"):
        assert status(LOCAL, path) == HTTPStatus.OK
    assert LOCAL.file("/") == "index.html"


@pytest.mark.fault(17)
def test_other_machines_need_the_token() -> None:
    for host in (OWN, "192.168.1.5:8080", "[fe80::1]:8080"):
        assert status(REMOTE, f"/{TOKEN}/", host) == HTTPStatus.OK
        assert status(REMOTE, f"/{TOKEN}", host) == HTTPStatus.OK  # as the page's WebSocket asks
    for path in ("/", "/index.html", "/wrong/", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", f"/x/{TOKEN}/", f"/?{TOKEN}"):
        assert status(REMOTE, path) == HTTPStatus.NOT_FOUND
    assert status(REMOTE, f"/{TOKEN}/../secret") == HTTPStatus.NOT_FOUND
    assert status(REMOTE, f"/{TOKEN}/", "evil.example:8080") == HTTPStatus.FORBIDDEN
    assert status(REMOTE, f"/{TOKEN}/", origin="http://evil.example") == HTTPStatus.FORBIDDEN


def test_tokens_are_long_and_never_the_same() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 20


def test_the_usual_port_may_be_left_out() -> None:
    assert status(Guard("127.0.0.1", 80, FILES), host="127.0.0.1") == HTTPStatus.OK


@pytest.mark.parametrize(
    ("host", "own"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("10.0.0.1", False), ("x", False)],
)
def test_which_addresses_are_this_machine_alone(host: str, own: bool) -> None:
    assert is_loopback(host) == own
