"""A server that answers request `/N` with the bytes that a function gives for N, then hangs up."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Bytes = Callable[[int], bytes]


@contextmanager
def answering(answer: Bytes) -> Iterator[int]:
    """Port of a server on loopback that runs until it is left."""
    server = socket.create_server(("127.0.0.1", 0), backlog=128)
    threading.Thread(target=_accept, args=(server, answer), daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def _accept(server: socket.socket, answer: Bytes) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(connection, answer), daemon=True).start()


def _serve(connection: socket.socket, answer: Bytes) -> None:
    with connection:
        try:
            while request := connection.recv(65536):
                connection.sendall(answer(int(request.split(b" ", 2)[1][1:])))
                # Half of it: what is on its way still arrives, and whoever waits for more is told that there is none.
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            # The client had seen enough.
            return
