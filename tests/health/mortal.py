"""A server that dies in the middle of a request, and is there again once so many have knocked in vain."""

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.apps.http import Broken, Parser, Reply, Request, render


class _Dies(Exception):
    """No answer, and nobody there any more."""


@dataclass
class Mortal:
    """Serves what `answer` gives; a request of which it gives None is its last."""

    answer: Callable[[Request], Reply | None]
    seen: list[Request] = field(default_factory=list)
    deaths: int = 0
    knocks: int = 0
    """Connections that were tried in vain since it died."""
    is_back_after: int = 4
    port: int = 0
    _server: Any = None
    _thread: threading.Thread | None = None
    _links: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def rise(self) -> None:
        mortal = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                mortal.serve(self.request)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Connections end when it dies."""

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def serve(self, link: socket.socket) -> None:
        parser = Parser()
        with self._lock:
            self._links.append(link)
        while data := link.recv(1 << 16):
            parser.feed(data)
            while (request := parser.next()) is not None:
                if isinstance(request, Broken):
                    return
                self.seen.append(request)
                reply = self.answer(request)
                if reply is None:
                    self.die()
                    return
                link.sendall(render(reply, keep_alive=request.keep_alive, has_body=request.method != "HEAD"))

    def die(self) -> None:
        """Nobody listens before the first connection is closed."""
        self.deaths += 1
        self.knocks = 0
        server, self._server = self._server, None
        # Closed alone it would go on to listen while its thread waits for it.
        server.socket.shutdown(socket.SHUT_RDWR)
        server.socket.close()
        threading.Thread(target=server.shutdown, daemon=True).start()
        with self._lock:
            links, self._links = self._links, []
        for link in links:
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()

    def knock(self) -> None:
        """Somebody tried in vain."""
        self.knocks += 1
        if self._server is None and self.knocks >= self.is_back_after:
            self.rise()

    def end(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


@contextmanager
def mortal(answer: Callable[[Request], Reply | None]) -> Iterator[Mortal]:
    served = Mortal(answer)
    served.rise()
    try:
        yield served
    finally:
        served.end()
