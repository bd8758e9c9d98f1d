"""A TCP server that answers by script, byte for byte, and remembers what it was sent."""

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from checker.core.request import BaseUrl

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CLOSE = b""
"""A reply that closes the connection without a word."""

Reply = bytes | Callable[[socket.socket, threading.Event], None]
"""What answers one request. A callable writes by itself until it is done or the event is set, then the line is cut."""

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass
class Received:
    connection: int
    raw: bytes

    @property
    def head(self) -> list[bytes]:
        return self.raw.partition(b"\r\n\r\n")[0].split(b"\r\n")

    @property
    def body(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[2]

    def values(self, name: bytes) -> list[bytes]:
        fields = (line.partition(b":") for line in self.head[1:])
        return [value[1:] for key, _, value in fields if key.lower() == name.lower()]


@dataclass
class RawServer:
    """Connection number n answers by `scripts[n]`, request by request; then, and beyond, with `OK`."""

    scripts: list[list[Reply]] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    tls: ssl.SSLContext | None = None

    def __post_init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._open: list[socket.socket] = []
        self._threads[0].start()

    @property
    def origin(self) -> BaseUrl:
        scheme = "http" if self.tls is None else "https"
        return BaseUrl(scheme, "127.0.0.1", self._socket.getsockname()[1], "")

    def answer(self, *replies: Reply) -> None:
        """Script of the next connection."""
        self.scripts.append(list(replies))

    def stop(self) -> None:
        if self._stopped.is_set():
            return
        self._stopped.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for connection in self._open:
            connection.close()

    def join_connection(self, number: int) -> None:
        """Wait until that connection is closed from our side."""
        self._threads[number + 1].join()

    def _accept(self) -> None:
        number = 0
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection, number), daemon=True)
            self._threads.append(thread)
            thread.start()
            number += 1

    def _serve(self, connection: socket.socket, number: int) -> None:
        pending = b""
        turn = 0
        try:
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
                self._open[number] = connection
            while True:
                request, pending = _read_request(connection, pending)
                if request is None:
                    return
                self.received.append(Received(number, request))
                script = self.scripts[number] if number < len(self.scripts) else []
                reply = script[turn] if turn < len(script) else OK
                turn += 1
                if callable(reply):
                    reply(connection, self._stopped)
                    break
                if reply == CLOSE:
                    break
                connection.sendall(reply)
                if b"\r\nConnection: close" in reply:
                    break
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


def _read_request(connection: socket.socket, pending: bytes) -> tuple[bytes | None, bytes]:
    while b"\r\n\r\n" not in pending:
        chunk = connection.recv(65536)
        if not chunk:
            return None, b""
        pending += chunk
    head_end = pending.index(b"\r\n\r\n") + 4
    length = _LENGTH.search(pending[:head_end])
    end = head_end + (int(length[1]) if length else 0)
    while len(pending) < end:
        chunk = connection.recv(65536)
        if not chunk:
            return None, b""
        pending += chunk
    return pending[:end], pending[end:]


@pytest.fixture
def server() -> Iterator[RawServer]:
    running = RawServer()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def shared_server() -> Iterator[RawServer]:
    """For properties: always answers `OK`."""
    running = RawServer()
    yield running
    running.stop()
