"""A server on loopback that does to each path what a function says, byte by byte."""

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Behaviour = Callable[[socket.socket, str], None]
"""What is done to a connection whose request for a path was read."""


def raw(content: bytes) -> Behaviour:
    """These bytes, and the end."""
    return lambda peer, path: peer.sendall(content)


def page(content: bytes, *lines: str, status: str = "200 OK") -> Behaviour:
    """A whole answer."""
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Connection: close", *lines]
    return raw("\r\n".join([*head, "", ""]).encode() + content)


def endless(head: bytes, piece: bytes) -> Behaviour:
    """A beginning, and then the same again and again until nobody listens."""

    def answer(peer: socket.socket, path: str) -> None:
        peer.sendall(head)
        while True:
            peer.sendall(piece)

    return answer


def dripping(head: bytes, piece: bytes, pause_s: float = 0.02) -> Behaviour:
    """A beginning, and then never long nothing."""

    def answer(peer: socket.socket, path: str) -> None:
        peer.sendall(head)
        peer.settimeout(pause_s)
        while True:
            with contextlib.suppress(TimeoutError):
                if not peer.recv(1):
                    return
            peer.sendall(piece)

    return answer


def silent(peer: socket.socket, path: str) -> None:
    """Nothing at all, until the other side gives up."""
    while peer.recv(1):
        pass


@contextmanager
def serving(
    behaviours: Mapping[str, Behaviour], seen: list[str] | None = None, *, at_once: Behaviour | None = None
) -> Iterator[str]:
    """URL of a server that does this, the longest beginning of a path that is known deciding. It notes what it was asked for.

    What is done `at_once` waits for no request.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            peer: socket.socket = self.request
            with contextlib.suppress(OSError):
                if at_once is not None:
                    at_once(peer, "")
                    return
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = peer.recv(1 << 16)
                    if not piece:
                        return
                    head += piece
                path = head.split(b" ")[1].decode("latin-1")
                if seen is not None:
                    seen.append(head.decode("latin-1"))
                known = [name for name in behaviours if path.startswith(name)]
                behaviours[max(known, key=len)](peer, path)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
