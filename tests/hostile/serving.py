"""The server of the behaviours, one path each."""

import contextlib
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.hostile.behaviours import Behaviour

_TLS = b"\x16\x03"
"""How a client begins that asks whether this server wants TLS, because it was hung up on: this one speaks none."""
_FLAG = {
    "type": "object",
    "required": ["ok"],
    "properties": {"ok": {"type": "boolean"}, "all": {"items": {"type": "integer"}}},
}


def described(behaviours: Sequence[Behaviour]) -> dict[str, Any]:
    """A description with an operation for each behaviour: a boolean in JSON, or anything with another status."""
    promised = {"description": "", "content": {"application/json": {"schema": _FLAG}}}
    responses = {"200": promised, "default": {"description": ""}}
    paths = {f"/{one.name}": {"get": {"responses": responses}} for one in behaviours}
    return {"openapi": "3.1.0", "info": {"title": "Hostile", "version": "1"}, "paths": paths}


@contextmanager
def hostile(behaviours: Sequence[Behaviour]) -> Iterator[str]:
    """URL of a server that behaves like that, until it is left."""
    server = _Server(behaviours)
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.stop()


class _Server:
    def __init__(self, behaviours: Sequence[Behaviour]) -> None:
        self._replies = {f"/{one.name}".encode(): one.reply for one in behaviours}
        self._stopped = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        # A client that has seen enough hangs up.
        with connection, contextlib.suppress(OSError):
            while request := connection.recv(65536):
                if request.startswith(_TLS):
                    return
                reply = self._replies.get(request.split(b" ", 2)[1].partition(b"?")[0])
                if reply is None:
                    # A check of liveness asks for the root, which this server does not serve.
                    return
                if not isinstance(reply, bytes):
                    reply(connection, self._stopped)
                    return
                connection.sendall(reply)
                connection.shutdown(socket.SHUT_WR)
