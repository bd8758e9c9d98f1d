"""Connections are kept, requests never mix, start and stop are prompt."""

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BufferedReader

import pytest

from checker.demo import Server

from .client import Client
from .test_defects import BOOKING, ID

GET = b"GET /rooms/7 HTTP/1.1\r\nHost: inn\r\n\r\n"
POST = b"POST /quotes HTTP/1.1\r\nHost: inn\r\nContent-Type: application/json\r\n"
QUOTE = b'{"room_id":7,"nights":1,"discount_percent":0}'


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(fixed=True) as running:
        yield running


def exchange(server: Server, *pieces: bytes, count: int = 1) -> list[tuple[int, bytes]]:
    """Statuses and bodies of `count` answers on one connection."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=540) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            peer.sendall(piece)
        stream = peer.makefile("rb")
        return [answer(stream) for _ in range(count)]


def answer(stream: BufferedReader) -> tuple[int, bytes]:
    status = int(stream.readline().split()[1])
    length = 0
    while (line := stream.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return status, stream.read(length)


def sized(body: bytes) -> bytes:
    return POST + b"Content-Length: %d\r\n\r\n" % len(body) + body


def test_pipelined_requests_are_answered_in_order(server: Server) -> None:
    found = exchange(server, (GET + sized(QUOTE)) * 20, count=40)
    assert [status for status, _ in found] == [200] * 40
    assert [b"name" in body for _, body in found] == [True, False] * 20


@pytest.mark.parametrize("target", [b"GET /nowhere", b"GET /rooms/7", b"PUT /quotes", b"POST /guests"])
def test_a_body_nobody_wants_is_still_read(server: Server, target: bytes) -> None:
    request = target + b" HTTP/1.1\r\nHost: inn\r\nContent-Length: %d\r\n\r\n" % len(GET) + GET
    found = exchange(server, request + GET, count=2)
    assert found[1][0] == 200


def test_a_body_that_is_too_large_is_read_and_refused(server: Server) -> None:
    huge = b" " * 3_000_000
    found = exchange(server, sized(huge) + GET, count=2)
    assert [status for status, _ in found] == [413, 200]


def test_head_is_get_without_its_body(server: Server) -> None:
    client = Client(server.url)
    whole, head = client.raw("GET", "/rooms/7"), client.raw("HEAD", "/rooms/7")
    assert (whole.status, whole.headers, b"") == (head.status, head.headers, head.body)
    client.connection.close()


@pytest.mark.parametrize(
    "data",
    [
        *(b"GET / HTTP/4.0\r\n\r\n", b"GET /" + b"a" * 70_000 + b"\r\n"),
        *(POST + b"Content-Length: +5\r\n\r\n", POST + b"Transfer-Encoding: chunked\r\n\r\n"),
    ],
)
def test_malformed_bytes_are_answered_and_the_connection_ends(server: Server, data: bytes) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=540) as peer:
        peer.sendall(data)
        stream = peer.makefile("rb")
        status, body = answer(stream)
        assert status in {400, 411, 414, 505}
        assert json.loads(body)["code"] == "malformed"
        assert stream.read() == b""


@pytest.mark.parametrize("head", [b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"])
def test_the_connection_ends_when_the_client_wants_it(server: Server, head: bytes) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=540) as peer:
        peer.sendall(head)
        stream = peer.makefile("rb")
        assert answer(stream)[0] == 404
        assert stream.read() == b""


def test_many_clients_at_once_see_only_their_own_bookings(server: Server) -> None:
    def live(lane: int) -> None:
        client = Client(server.url)
        for age in range(20):
            guests = [{"name": f"Guest {lane % 2}", "age": age}]
            body = json.dumps(BOOKING | {"guests": guests}).encode()
            made = client.raw("POST", "/bookings", body, Content_Type="application/json", **ID)
            path = f"/bookings/{made.json()['reference']}"
            assert client.raw("GET", path).json()["guests"] == guests
            assert client.raw("DELETE", path).status == 204
            assert client.raw("GET", path).status == 404
        client.connection.close()

    before = server.requests
    with ThreadPoolExecutor(8) as lanes:
        list(lanes.map(live, range(8)))
    assert server.requests - before == 8 * 20 * 4


@pytest.mark.thorough
def test_bookings_are_bounded(server: Server) -> None:
    body = json.dumps(BOOKING).encode()
    request = b"POST /bookings HTTP/1.1\r\nHost: inn\r\nContent-Type: application/json\r\n"
    request += b"X-Request-ID: %s\r\n" % ID["X-Request-ID"].encode()
    request += b"Content-Length: %d\r\n\r\n" % len(body) + body
    made = exchange(server, request * 2500, count=2500)
    assert len({json.loads(each)["reference"] for _, each in made}) == 2500
    client = Client(server.url)
    assert client.raw("GET", "/bookings?limit=1").json()["total"] == 2000
    client.connection.close()


def test_it_starts_and_stops_and_leaves_nothing() -> None:
    before = set(threading.enumerate())
    server = Server()
    client = Client("http://127.0.0.1:1")
    with server:
        client = Client(server.url)
        assert client.raw("GET", "/rooms/7").status == 200
    assert set(threading.enumerate()) <= before
    assert client.connection.sock.recv(1) == b""
    client.connection.close()
    server.stop()
    with server:
        assert server.requests == 1


def test_a_taken_port_is_an_error_and_a_second_start_too(server: Server) -> None:
    port = int(server.url.rsplit(":", 1)[1])
    with pytest.raises(OSError, match="in use"):
        Server(port).start()
    with pytest.raises(RuntimeError, match="running already"):
        server.start()
