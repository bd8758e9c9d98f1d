"""What a behaviour is: bytes or a function that answers, and what is said of it."""

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

Play = Callable[[socket.socket, threading.Event], None]
"""Writes by itself, until it is done, the client is gone (`OSError`), or the event is set."""

FINE = b'{"ok": true}'

# How findings, errors and notes begin.
MALFORMED = "malformed response"
DROPPED = "Server error"
TOO_LARGE = "response too large"
TIMED_OUT = "timed out"
TOO_DEEP = "a response is nested more than 500 levels deep"
TOO_MANY_DIGITS = "a response has a number of more digits than are read"
NO_JSON = "JSON deserialization error"
VIOLATES = "Response violates schema"
SERVER_ERROR = "Server error"
CUT = "a response is longer than"
CUT_DECODED = "a decompressed response is longer than"
UNDECODED = "a response cannot be decoded"
DAMAGED = "Content decoding error"
NO_TYPE = "Missing Content-Type header"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One way to answer every request for a path."""

    name: str
    reply: bytes | Play
    """Bytes are sent whole, then our half of the connection is closed."""
    said: tuple[str, ...] = ()
    """How titles of findings, and sentences of errors and notes, begin, sorted; nothing is said of an ordinary answer."""

    @property
    def label(self) -> str:
        """Of the operation that it answers."""
        return f"GET /{self.name}"


def head(*lines: bytes, status: bytes = b"HTTP/1.1 200 OK") -> bytes:
    """Head of an answer, its blank line included."""
    return b"".join(line + b"\r\n" for line in (status, *lines, b""))


def json_answer(body: bytes = FINE, *lines: bytes, status: bytes = b"HTTP/1.1 200 OK") -> bytes:
    """An answer as it should be, with further header lines."""
    length = b"Content-Length: %d" % len(body)
    return head(b"Content-Type: application/json", length, *lines, status=status) + body


def chunked(*parts: bytes, trailer: bytes = b"") -> bytes:
    """An answer in chunks as they are given."""
    start = head(b"Content-Type: application/json", b"Transfer-Encoding: chunked")
    return start + b"".join(parts) + b"0\r\n" + trailer + b"\r\n"


def chunk(data: bytes) -> bytes:
    """One chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def made(make: Callable[[], bytes]) -> Play:
    """What is dear to make, once somebody asks for it; sent whole, then our half of the connection is closed."""
    once = cache(make)

    def play(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(once())
        connection.shutdown(socket.SHUT_WR)
        while not stopped.is_set() and connection.recv(65536):
            pass

    return play


def endless(start: bytes, more: bytes) -> Play:
    """A beginning, and then more of it as fast as it is taken."""

    def play(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(start)
        while not stopped.is_set():
            connection.sendall(more)

    return play


def dripping(start: bytes, drop: bytes) -> Play:
    """A beginning, and then a drop now and then."""

    def play(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(start)
        while not stopped.wait(0.02):
            connection.sendall(drop)

    return play


def silent(start: bytes = b"") -> Play:
    """A beginning, and then nothing, with the connection open."""

    def play(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(start)
        stopped.wait()

    return play


def reset(start: bytes = b"") -> Play:
    """A beginning, and then a reset."""

    def play(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(start)
        # To linger for no time is how a socket is told to send RST.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        connection.close()

    return play
