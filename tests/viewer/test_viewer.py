"""The viewer's server as others on the network meet it: addresses, headers, paths, messages."""

from __future__ import annotations

import http.client
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tauforge as tf
from tauforge.viewer.guard import RequestGuard, bound_socket
from tauforge.viewer.viewer import _guarded, viser_module

pytest.importorskip("viser")
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

SECRETS = (
    "/../../../../pyproject.toml",
    "/..%2f..%2fpyproject.toml",
    "/%2e%2e/__init__.py",
    "//etc/passwd",
    "/etc/passwd",
)
PROTOCOL = "viser-v"


@pytest.fixture(scope="module")
def viewer() -> Iterator[tf.Viewer]:
    with tf.view(tf.load("planar-2r"), port=0) as one:
        yield one


@pytest.fixture(scope="module")
def exposed() -> Iterator[tf.Viewer]:
    with tf.view(tf.load("planar-2r"), port=0, host="0.0.0.0") as one:
        yield one


def port_of(viewer: tf.Viewer) -> int:
    return viewer.server.guard.port


def get(viewer: tf.Viewer, path: str = "/", **headers: str) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(viewer), timeout=20)
    connection.putrequest("GET", path, skip_host="Host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return found


def talk(viewer: tf.Viewer, path: str = "", **headers: str) -> int:
    """101 where a WebSocket is opened, else the status of the refusal."""
    import viser

    protocol: Any = f"{PROTOCOL}{viser.__version__}"
    origin: Any = headers.pop("Origin", None)
    try:
        with connect(
            f"ws://127.0.0.1:{port_of(viewer)}{path}", origin=origin, subprotocols=[protocol], max_size=None
        ) as one:
            one.recv(timeout=20)
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


@pytest.mark.fault(17)
def test_only_this_machine_can_reach_it(viewer: tf.Viewer) -> None:
    table = Path("/proc/self/net/tcp")
    if not table.exists():
        pytest.skip("the system has no /proc/net/tcp")
    rows = [line.split() for line in table.read_text().splitlines()[1:]]
    listening = [row[1].split(":") for row in rows if row[3] == "0A"]
    assert [address for address, port in listening if int(port, 16) == port_of(viewer)] == ["0100007F"]
    six = Path("/proc/self/net/tcp6").read_text().splitlines()[1:]
    assert not [line for line in six if int(line.split()[1].split(":")[1], 16) == port_of(viewer)]


def test_the_page_comes_with_its_rules(viewer: tf.Viewer) -> None:
    status, body, headers = get(viewer)
    assert status == 200
    assert body.startswith(b"<!doctype html>")
    assert f"connect-src 'self' ws://127.0.0.1:{port_of(viewer)}" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert talk(viewer) == 101
    assert talk(viewer, Origin=f"http://127.0.0.1:{port_of(viewer)}") == 101


@pytest.mark.fault(17)
def test_foreign_names_and_origins_are_refused(viewer: tf.Viewer) -> None:
    assert get(viewer, Host="evil.example")[0] == 403
    assert get(viewer, Host=f"evil.example:{port_of(viewer)}")[0] == 403
    assert get(viewer, Origin="http://evil.example")[0] == 403
    assert talk(viewer, Origin="http://evil.example") == 403
    assert talk(viewer, Origin="null") == 403


@pytest.mark.fault(17)
@pytest.mark.parametrize("path", SECRETS)
def test_no_other_file_can_be_fetched(viewer: tf.Viewer, exposed: tf.Viewer, path: str) -> None:
    assert get(viewer, path)[0] == 404
    assert get(exposed, f"/{exposed.server.token}{path}")[0] == 404


@pytest.mark.fault(17)
def test_other_machines_need_the_token(exposed: tf.Viewer) -> None:
    token = exposed.server.token
    assert token
    assert exposed.url.endswith(f":{port_of(exposed)}/{token}/")
    for path in ("/", "/index.html", f"/{token[:-1]}/", "/x/"):
        assert get(exposed, path)[0] == 404
        assert talk(exposed, path) == 404
    assert get(exposed, f"/{token}/")[0] == 200
    assert talk(exposed, f"/{token}") == 101
    assert talk(exposed, f"/{token}", Origin="http://evil.example") == 403


def test_a_server_that_starts_meanwhile_is_left_alone() -> None:
    """Only viser's call for our port gets our socket and our guard."""
    viser = viser_module()
    asked = []
    serve = viser.infra._infra.websockets.asyncio.server.serve
    with bound_socket("127.0.0.1", 0) as listening, pytest.MonkeyPatch.context() as patch:
        number = listening.getsockname()[1]
        websockets = viser.infra._infra.websockets
        patch.setattr(websockets.asyncio.server, "serve", lambda *given, **options: asked.append((given, options)))
        with _guarded(viser, listening, RequestGuard(["127.0.0.1"], number, ["index.html"])) as used:
            theirs = viser.infra._infra.websockets.asyncio.server.serve
            theirs(None, "0.0.0.0", number + 1, process_request=None)
            assert not used
            theirs(None, "0.0.0.0", number, process_request=None)
            assert used
    assert asked[0][0] == (None, "0.0.0.0", number + 1)
    assert asked[1][1]["sock"] is listening
    assert viser.infra._infra.websockets.asyncio.server.serve is serve


def test_it_says_nothing_itself(capfd: pytest.CaptureFixture[str]) -> None:
    with tf.view(tf.load("planar-2r"), port=0) as viewer:
        assert get(viewer)[0] == 200
        assert repr(viewer) == f"Viewer('{viewer.url}')"
        assert viewer.url in viewer._repr_html_()
    assert "closed" in repr(viewer)
    assert "iframe" not in viewer._repr_html_()
    assert capfd.readouterr() == ("", "")


@pytest.mark.fault(17)
def test_peers_that_say_nothing_or_nonsense_are_not_spoken_of(capfd: pytest.CaptureFixture[str]) -> None:
    """A port scan must not fill the terminal with tracebacks."""
    with tf.view(tf.load("planar-2r"), port=0) as viewer:
        for said in (b"", b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n", b"SSH-2.0-x\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port_of(viewer)), timeout=20) as peer:
                peer.sendall(said)
        assert get(viewer)[0] == 200
    assert capfd.readouterr() == ("", "")


def test_a_tunnel_with_another_port_reaches_the_page(viewer: tf.Viewer) -> None:
    assert get(viewer, Host="localhost:2222", Origin="http://localhost:2222")[0] == 200
    assert get(viewer, Host="localhost:2222", Origin=f"http://localhost:{port_of(viewer)}")[0] == 403
    headers = get(viewer, Host="localhost:2222")[2]
    assert "connect-src 'self' ws://localhost:2222 " in headers["Content-Security-Policy"]


def test_a_closed_viewer_frees_its_port() -> None:
    viewer = tf.view(tf.load("planar-2r"), port=0)
    viewer.close()
    viewer.close()
    with pytest.raises(ConnectionError):
        get(viewer)
    bound_socket("127.0.0.1", port_of(viewer)).close()
    viewer.wait()  # returns at once


class TestErrors:
    def test_a_port_that_is_taken(self, viewer: tf.Viewer) -> None:
        words = rf"port: cannot listen on port {port_of(viewer)} of 127\.0\.0\.1: address already in use. Give"
        with pytest.raises(tf.ModelError, match=words):
            tf.view(tf.load("planar-2r"), port=port_of(viewer))

    @pytest.mark.parametrize("port", [70000, -1, 80.0, "http"])
    def test_a_port_that_none_has(self, port: Any) -> None:
        with pytest.raises(tf.ModelError, match=f"port: expected a whole number from 0 to 65535, got {port!r}$"):
            tf.view(tf.load("planar-2r"), port=port)

    def test_an_address_that_is_not_known(self) -> None:
        with pytest.raises(tf.ModelError, match=r"host: this machine does not know the address 'no\.such\.invalid'"):
            tf.view(tf.load("planar-2r"), port=0, host="no.such.invalid")

    def test_the_first_free_port_is_taken_where_none_is_asked_for(self) -> None:
        first, second = (bound_socket("127.0.0.1", None) for _ in range(2))
        assert first.getsockname()[1] != second.getsockname()[1]
        first.close()
        second.close()

    def test_a_recording_of_another_robot(self) -> None:
        arm = tf.load("planar-2r")
        run = tf.simulate(arm, None, duration=0.1, initial=([0, 0], [0, 0]))
        with pytest.raises(tf.ModelError, match=r"^recording: the recording is of planar-2r, not of scara\. Give that"):
            tf.view(tf.load("scara"), run, port=0)
        with pytest.raises(tf.ModelError, match="the recording is of planar-2r, not of another"):
            tf.view(arm.replace(name="another"), run, port=0)

    def test_something_that_is_no_robot(self) -> None:
        robot: Any = "puma560"
        with pytest.raises(tf.ModelError, match="robot: expected a robot"):
            tf.view(robot, port=0)

    def test_no_viser(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "viser", None)
        with pytest.raises(tf.ModelError, match=r"the viewer needs viser.*pip install .*\[viewer\]"):
            tf.view(tf.load("planar-2r"), port=0)

    def test_another_viser_that_cannot_be_guarded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is better not to start than to listen without the guard."""
        import viser.infra._infra as infra

        serve = infra.websockets.asyncio.server.serve

        def elsewhere(self: Any, ready: Any) -> None:
            infra.websockets = original  # as if it had other ways to start a server
            worker(self, ready)

        original, worker = infra.websockets, infra.WebsockServer._background_worker
        monkeypatch.setattr(infra.WebsockServer, "_background_worker", elsewhere)
        with pytest.raises(tf.ModelError, match="cannot be guarded"):
            tf.view(tf.load("planar-2r"), port=0)
        assert infra.websockets.asyncio.server.serve is serve

    def test_no_browser(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import webbrowser

        def none(url: str) -> bool:
            raise webbrowser.Error("none")

        monkeypatch.setattr(webbrowser, "open", none)
        with (
            pytest.warns(UserWarning, match="no browser could be opened; the robot is at http://127"),
            tf.view(tf.load("planar-2r"), port=0, open_browser=True),
        ):
            pass


def test_a_socket_is_not_left_behind(viewer: tf.Viewer) -> None:
    """After a refusal nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(tf.ModelError):
        tf.view(tf.load("planar-2r"), {"odd": tf.load("scara")}, port=port)  # type: ignore[dict-item]
    bound_socket("127.0.0.1", port).close()
