"""Where the viewer listens: addresses in one spelling, who can reach them, and a socket at one of them."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket

from tauforge.errors import ModelError

LOOPBACK = "127.0.0.1"
LOCAL_NAMES = ("localhost", LOOPBACK, "::1")
EVERYWHERE = ("0.0.0.0", "::")
DEFAULT_PORT = 8080
PORTS = 65536
NOT_OURS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)  # an address of another machine, or no IPv6 here
TRIED_PORTS = 20  # from the default on, where none was asked for


def normalised(host: str) -> str:
    """An address in its shortest spelling, a name in lower case. ModelError for one that no url can have."""
    text = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not text:
        raise ModelError("expected an address or a name, got ''", field="host")
    if "%" in text:
        raise ModelError(
            f"expected an address without a scope, got {host!r}: browsers open no such address",
            field="host",
            remedy="Give another address of this machine, or :: for all of them",
        )
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return text.lower()


def is_address(name: str) -> bool:
    """Whether it is a number. It cannot be made to lead elsewhere, as a name can."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


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
                raise ModelError(
                    f"this machine has no address {host}",
                    field="host",
                    remedy="Give an address of this machine, or 0.0.0.0 for all of them",
                ) from None
            error = problem
    assert error is not None
    which = f"port {port}" if port is not None else f"any of the ports {ports[0]} to {ports[-1]}"
    raise ModelError(
        f"cannot listen on {which} of {host}: {_reason(error)}",
        field="port",
        remedy="Give another port, or 0 for any free one",
    )


def _reason(error: OSError) -> str:
    """What the system says, without what Python adds to it."""
    return (os.strerror(error.errno) if error.errno is not None else str(error)).lower()


def name_in_url(host: str, bound: str) -> str:
    """What a browser calls the server.

    host: as it was asked for, normalised; bound: the number that is listened on
    """
    if bound not in EVERYWHERE:
        return f"[{host}]" if ":" in host else host
    try:
        socket.getaddrinfo(socket.gethostname(), None)
    except (socket.gaierror, UnicodeError):  # at least this machine can open it
        return LOOPBACK if bound == "0.0.0.0" or socket.has_dualstack_ipv6() else "[::1]"
    return socket.gethostname()
