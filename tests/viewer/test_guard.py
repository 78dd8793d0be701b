"""Who may talk to the viewer: names, origins, tokens and paths, without a server."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from tauforge.viewer.guard import RequestGuard, new_token

FILES = {"index.html", "assets/a.js"}
LOCAL = RequestGuard(["127.0.0.1"], 8080, FILES)
TOKEN = "abcDEF-_123"
REMOTE = RequestGuard(["0.0.0.0"], 8080, FILES, TOKEN)
OWN = "127.0.0.1:8080"


def status(guard: RequestGuard, path: str = "/", host: str | list[str] = OWN, origin: str | None = None) -> int:
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
        "127.0.0.1:65536",
        "127.0.0.2:8080",
        "[127.0.0.1]:8080",
        "::1:8080",
        "localhost.evil.example:8080",
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
    assert status(RequestGuard(["127.0.0.1"], 80, FILES), host="127.0.0.1") == HTTPStatus.OK


@pytest.mark.parametrize(
    "host", ["localhost:2222", "127.0.0.1:2222", "[::1]:2222", "[0:0:0:0:0:0:0:1]:2222", "localhost"]
)
def test_a_tunnel_may_begin_at_another_port(host: str) -> None:
    for guard, path in ((LOCAL, "/"), (REMOTE, f"/{TOKEN}/")):
        assert status(guard, path, host) == HTTPStatus.OK
        assert status(guard, path, host, f"http://{host}") == HTTPStatus.OK


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "http://localhost:8080", "http://localhost", "http://127.0.0.1:2222", "null"]
)
def test_a_page_at_another_port_of_this_machine_is_another_site(origin: str) -> None:
    """DNS rebinding needs a foreign name, and a page of another server on this machine has another port."""
    assert status(LOCAL, host="localhost:2222", origin=origin) == HTTPStatus.FORBIDDEN
    assert status(LOCAL, host="evil.example:2222", origin="http://evil.example:2222") == HTTPStatus.FORBIDDEN


def test_other_names_must_have_the_port() -> None:
    named = RequestGuard(["rig.lab", "10.0.0.7"], 8080, FILES, TOKEN)
    for host in ("rig.lab", "10.0.0.7"):
        assert status(named, f"/{TOKEN}/", f"{host}:8080") == HTTPStatus.OK
        assert status(named, f"/{TOKEN}/", f"{host}:8081") == HTTPStatus.FORBIDDEN


def test_an_address_has_many_spellings() -> None:
    guard = RequestGuard(["fd00::1"], 8080, FILES, TOKEN)
    for host in ("[fd00::1]:8080", "[FD00:0::1]:8080", "[fd00:0:0:0:0:0:0:1]:8080"):
        assert status(guard, f"/{TOKEN}/", host) == HTTPStatus.OK
    assert status(guard, f"/{TOKEN}/", "[fd00::2]:8080") == HTTPStatus.FORBIDDEN
