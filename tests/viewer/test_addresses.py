"""Where the viewer listens: spellings of addresses, who can reach them, and what the url says."""

from __future__ import annotations

import socket

import pytest

import tauforge as tf
from tauforge.viewer import guard
from tauforge.viewer.guard import bound_socket, is_loopback, name_in_url, normalised


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("FD00:0::1", "fd00::1"),
        ("0::0", "::"),
        ("[::1]", "::1"),
        ("Rig.Lab", "rig.lab"),
        ("127.1", "127.1"),
    ],
)
def test_addresses_have_one_spelling(given: str, expected: str) -> None:
    assert normalised(given) == expected
    assert normalised(expected) == expected


@pytest.mark.parametrize("host", ["fe80::1%eth0", "[fe80::1%2]"])
def test_scopes_are_refused(host: str) -> None:
    with pytest.raises(tf.ModelError, match=r"host: expected an address without a scope, got '\[?fe80::1%"):
        normalised(host)


@pytest.mark.parametrize("host", ["", "[]"])
def test_no_address_is_refused(host: str) -> None:
    with pytest.raises(tf.ModelError, match="host: expected an address or a name, got ''"):
        normalised(host)


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("x", False),
    ],
)
def test_which_addresses_are_this_machine_alone(host: str, own: bool) -> None:
    assert is_loopback(host) == own


def test_the_url_has_a_name_that_browsers_open(monkeypatch: pytest.MonkeyPatch) -> None:
    assert name_in_url("127.0.0.1", "127.0.0.1") == "127.0.0.1"
    assert name_in_url("fd00::1", "fd00::1") == "[fd00::1]"
    assert name_in_url("rig.lab", "10.0.0.7") == "rig.lab"
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    assert {name_in_url(host, host) for host in ("0.0.0.0", "::")} == {"localhost"}
    assert name_in_url("0", "0.0.0.0") == "localhost"
    monkeypatch.setattr(socket, "gethostname", lambda: "no.such.invalid")
    assert name_in_url("0.0.0.0", "0.0.0.0") == "127.0.0.1"
    monkeypatch.setattr(guard.socket, "has_dualstack_ipv6", lambda: False)
    assert name_in_url("::", "::") == "[::1]"


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="the system has no IPv6")
def test_all_addresses_of_ipv6_are_those_of_ipv4_too() -> None:
    with bound_socket("::", 0) as one:
        with socket.create_connection(("127.0.0.1", one.getsockname()[1]), timeout=20):
            pass
        with socket.create_connection(("::1", one.getsockname()[1]), timeout=20):
            pass


@pytest.mark.fault(17)
@pytest.mark.parametrize("host", ["::", "0", "0.0.0.0"])
def test_every_spelling_of_everywhere_has_a_token(host: str) -> None:
    pytest.importorskip("viser")
    if host == "::" and not socket.has_dualstack_ipv6():
        pytest.skip("the system has no IPv6")
    with tf.view(tf.load("planar-2r"), port=0, host=host) as viewer:
        assert viewer.server.token is not None
        assert viewer.url == f"http://{name_in_url(host, '0.0.0.0')}:{viewer.server.guard.port}/{viewer.server.token}/"


def test_short_spellings_of_loopback_are_loopback() -> None:
    pytest.importorskip("viser")
    with tf.view(tf.load("planar-2r"), port=0, host="127.1") as viewer:
        assert viewer.server.token is None
