"""A name stands for several addresses, and a server may listen on any of them."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure
from checker.transport.http import Connections, HttpLanes

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
V4, V6 = "127.0.0.1", "::1"


def has_ipv6() -> bool:
    try:
        with socket.create_server((V6, 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback")


def listening(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if address == V6 else socket.AF_INET
    return socket.create_server((address, port), family=family)


def answer(connection: socket.socket) -> None:
    with connection:
        while connection.recv(65536):
            connection.sendall(OK)


def accept(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


@contextmanager
def serving_on(*addresses: str) -> Iterator[int]:
    """Port on which these addresses, and no others, are listened on."""
    with ExitStack() as stack:
        servers = [listening(addresses[0], 0)]
        port = servers[0].getsockname()[1]
        servers += [listening(address, port) for address in addresses[1:]]
        for server in servers:
            stack.callback(server.close)
            stack.callback(server.shutdown, socket.SHUT_RDWR)
            threading.Thread(target=accept, args=(server,), daemon=True).start()
        yield port


def asked(host: str, port: int, *, times: int = 3) -> list[object]:
    """What two lanes bring, the second on a new connection each time."""
    lanes = HttpLanes(BaseUrl("http", host, port, ""), HttpSettings(), 2)
    try:
        outcomes: list[object] = []
        for lane in (*range(2),) * times:
            lanes.start(lane, WireRequest("GET", b"/", [], fresh=lane == 1))
            outcomes += (outcome for _, outcome in lanes.poll(5.0))
        return outcomes
    finally:
        lanes.close()


REACHED = [
    pytest.param((V4,), "localhost", id="IPv4 only, by name"),
    pytest.param((V4,), V4, id="IPv4 only, by number"),
    pytest.param((V6,), "localhost", id="IPv6 only, by name", marks=needs_ipv6),
    pytest.param((V6,), V6, id="IPv6 only, by number", marks=needs_ipv6),
    pytest.param((V4, V6), "localhost", id="both, by name", marks=needs_ipv6),
    pytest.param((V4, V6), V4, id="both, IPv4 by number", marks=needs_ipv6),
    pytest.param((V4, V6), V6, id="both, IPv6 by number", marks=needs_ipv6),
]


@pytest.mark.parametrize(("addresses", "host"), REACHED)
def test_a_server_is_found_wherever_it_listens(addresses: tuple[str, ...], host: str) -> None:
    with serving_on(*addresses) as port:
        outcomes = asked(host, port)
    assert [getattr(outcome, "content", outcome) for outcome in outcomes] == [b"ok"] * 6


@needs_ipv6
@pytest.mark.parametrize(("address", "host"), [(V4, V6), (V6, V4)])
def test_the_other_address_is_refused(address: str, host: str) -> None:
    with serving_on(address) as port:
        outcomes = asked(host, port, times=1)
    for outcome in outcomes:
        assert isinstance(outcome, NetworkFailure)
        assert outcome.kind is FailureKind.REFUSED


def test_a_descriptor_that_was_given_out_twice_is_watched_once() -> None:
    with serving_on(V4) as port, socket.create_connection((V4, port)) as client:
        connections = Connections()
        local_port = client.getsockname()[1]
        # The first attempt to connect failed and gave its number back to the second one.
        connections.remember(local_port, [client.fileno(), client.fileno()])
        assert not connections.is_closed(local_port)
        client.shutdown(socket.SHUT_RDWR)
        assert connections.is_closed(local_port)


def test_what_cannot_be_watched_counts_as_open(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def register(self, descriptor: int, events: int) -> None:
            raise OSError(28, "No space left on device")

    connections = Connections()
    monkeypatch.setattr(connections, "_poll", Full())
    with serving_on(V4) as port, socket.create_connection((V4, port)) as client:
        local_port = client.getsockname()[1]
        connections.remember(local_port, [client.fileno()])
    assert not connections.is_closed(local_port)
