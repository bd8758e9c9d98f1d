"""A small real server for tests: one function answers; every request is kept, byte for byte."""

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from socket import AF_UNIX, SHUT_RDWR
from typing import Any

from tests.apps.http import Broken, Parser, Reply, Request, render

Answer = Callable[[Request], Reply]


def json_reply(value: Any, status: int = 200) -> Reply:
    return Reply(status, "application/json", json.dumps(value).encode())


class Dropping(Exception):
    """Raised by an answer: the server sends these bytes and closes the connection."""

    def __init__(self, sent: bytes = b"") -> None:
        super().__init__()
        self.sent = sent


_TLS = b"\x16\x03"
"""The beginning of a TLS handshake, which a server of plain HTTP refuses at once."""


@dataclass
class App:
    """A running application."""

    url: str
    seen: list[Request] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """What was wrong with bytes that are no request."""

    @property
    def document_url(self) -> str:
        return f"{self.url}/openapi.json"

    def wire(self) -> list[tuple[str, bytes, tuple[tuple[str, str], ...], bytes]]:
        """What arrived for the API itself: method, target, headers, body."""
        return [
            (request.method, request.target, tuple(sorted(request.headers.items())), request.body)
            for request in list(self.seen)
        ]


@contextmanager
def serving(
    answer: Answer, document: dict[str, Any], *, per_connection: int = 1 << 30, socket: str = "", port: int = 0
) -> Iterator[App]:
    """Serve `document` at /openapi.json and everything else by `answer`, on loopback or at a unix socket, until left.

    After so many answers a connection is closed, without a word before; those that are open when it is left are closed then. `port` 0
    is any free one.
    """
    app = App("")
    described = json_reply(document)
    connections: set[Any] = set()

    class Handler(socketserver.BaseRequestHandler):
        def setup(self) -> None:
            connections.add(self.request)

        def finish(self) -> None:
            connections.discard(self.request)

        def handle(self) -> None:
            if not socket:
                self.request.setsockopt(6, 1, 1)
            parser, left = Parser(), per_connection
            while data := self._read():
                if data.startswith(_TLS):
                    return
                parser.feed(data)
                while (request := parser.next()) is not None:
                    if isinstance(request, Broken):
                        app.broken.append(request.message)
                        return
                    if request.target == b"/openapi.json":
                        reply = described
                    else:
                        app.seen.append(request)
                        try:
                            reply = answer(request)
                        except Dropping as dropped:
                            self.request.sendall(dropped.sent)
                            return
                    has_body = request.method != "HEAD"
                    self.request.sendall(render(reply, keep_alive=request.keep_alive, has_body=has_body))
                    left -= 1
                    if not left:
                        return

        def _read(self) -> bytes:
            try:
                found: bytes = self.request.recv(1 << 16)
            except OSError:
                return b""
            return found

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that was killed is no error of the server."""

    class UnixServer(Server):
        address_family = AF_UNIX

        def server_bind(self) -> None:
            self.socket.bind(socket)

    place = ("127.0.0.1", port)
    with UnixServer(place, Handler) if socket else Server(place, Handler) as server:
        app.url = f"unix:{socket}:" if socket else f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield app
        finally:
            server.shutdown()
            thread.join()
            for connection in tuple(connections):
                with suppress(OSError):
                    connection.shutdown(SHUT_RDWR)
