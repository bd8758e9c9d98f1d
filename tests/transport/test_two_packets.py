"""Responses whose head and body arrive in two packets are acknowledged at once, so that the server does not hold the body back."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import pytest

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Outcome, Response
from checker.core.send import send_alone
from checker.transport.http import HttpLanes
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="the option is of Linux")

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
GET = WireRequest("GET", b"/", [])


@dataclass
class TwoPackets:
    """A server of one connection. With `is_split` it sends the body of each response when it is told to."""

    is_split: bool = True
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    may_send_body: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    heads: int = 0

    @property
    def origin(self) -> BaseUrl:
        return BaseUrl("http", "127.0.0.1", self.listener.getsockname()[1], "")

    def serve(self) -> None:
        connection, _ = self.listener.accept()
        with connection:
            while connection.recv(1 << 16):
                if not self.is_split:
                    connection.sendall(HEAD + b"ok")
                    continue
                connection.sendall(HEAD)
                self.heads += 1
                self.may_send_body.acquire()
                connection.sendall(b"ok")


@pytest.fixture
def server() -> Iterator[TwoPackets]:
    one = TwoPackets()
    thread = threading.Thread(target=one.serve, daemon=True)
    thread.start()
    yield one
    one.listener.close()
    thread.join()


def response(lanes: HttpLanes, server: TwoPackets, *, acknowledged: int) -> Outcome:
    """Return the response to one request whose body is sent once the head was acknowledged."""
    lanes.start(0, GET)
    lanes.flush()
    done: list[tuple[int, Outcome]] = []

    def polled() -> list[tuple[int, Outcome]]:
        done.extend(lanes.poll(0.01))
        return done

    wait_until(lambda: polled() or lanes.acknowledged >= acknowledged)
    assert not done
    server.may_send_body.release()
    wait_until(polled)
    return done[0][1]


def test_each_response_in_two_packets_is_acknowledged_once_on_a_reused_connection(server: TwoPackets) -> None:
    with closing(HttpLanes(server.origin, HttpSettings(), 1)) as lanes:
        for number in range(1, 4):
            outcome = response(lanes, server, acknowledged=number)
            assert isinstance(outcome, Response), outcome
            assert outcome.content == b"ok"
            assert lanes.acknowledged == number == server.heads


def test_a_response_in_one_packet_costs_no_socket_option(server: TwoPackets) -> None:
    server.is_split = False
    with closing(HttpLanes(server.origin, HttpSettings(), 1)) as lanes:
        for _ in range(20):
            assert isinstance(send_alone(lanes, GET), Response)
        assert lanes.acknowledged == 0
