"""Set-up shared by all tests: no test reaches the network."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest


class NetworkBlockedError(RuntimeError):
    """A test tried to reach another machine.

    It is no ``OSError``, so that code under test cannot take it for a fault of the network.
    """


def is_loopback(host: object) -> bool:
    """Tell whether a host names this machine, without asking a name server."""
    if host is None or host in ("", b"", "localhost", b"localhost"):
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def check_address(address: Any) -> None:
    """Raise ``NetworkBlockedError`` for an internet address that is not this machine's."""
    if isinstance(address, tuple) and not is_loopback(address[0]):
        raise NetworkBlockedError(f"tests may use loopback addresses only, not {address[0]}")


def guard(method: Any) -> Any:
    """Wrap a method of sockets whose last argument is an address."""

    def guarded(self: socket.socket, *args: Any) -> Any:
        check_address(args[-1])
        return method(self, *args)

    return guarded


def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
    """Look a name up if it is this machine's."""
    check_address((host,))
    return _getaddrinfo(host, *args, **kwargs)


_getaddrinfo = socket.getaddrinfo


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known by which tests name what they show."""
    config.addinivalue_line("markers", "requirement(*ids): ids of tests/requirements.json")


@pytest.fixture(scope="session", autouse=True)
def loopback_only():
    """Block all sockets but those to this machine, in the process of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, guard(getattr(socket.socket, name)))
        patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
        yield
