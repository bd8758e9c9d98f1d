"""Wall time of a request whose response arrives in two packets, against one packet, from the same server in one run.

    python -m benchmarks.two_packets

Rounds alternate. The server leaves Nagle's algorithm on, so it holds the second packet back until the first one is
acknowledged. With delayed acknowledgements that is 40 ms for each request. Required: two packets <= 3 x one packet.
"""

import multiprocessing
import socket
import sys
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Response
from checker.core.send import send_alone
from checker.transport.http import HttpLanes

REQUESTS = 100
ROUNDS = 7
LIMIT = 3.0
BODY = b'{"ok": true}'


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
        for part in (head, BODY) if self.path == "/two" else (head + BODY,):
            self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _serve(listener: socket.socket) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler, bind_and_activate=False)
    server.socket = listener
    server.serve_forever()


def main() -> int:
    """Print the table; exit code 1 when the limit is broken."""
    listener = socket.create_server(("127.0.0.1", 0))
    origin = BaseUrl("http", "127.0.0.1", listener.getsockname()[1], "")
    server = multiprocessing.get_context("fork").Process(target=_serve, args=(listener,))
    server.start()
    try:
        with closing(HttpLanes(origin, HttpSettings(), 1)) as lanes:
            rounds = [(_round(lanes, b"/one"), _round(lanes, b"/two")) for _ in range(ROUNDS)]
    finally:
        server.terminate()
        server.join()
    one, two = (median(column) for column in zip(*rounds, strict=True))
    # Of neighbours, because the machine changes its pace.
    ratio = median(after / before for before, after in rounds)
    verdict = "ok" if ratio <= LIMIT else "TOO SLOW"
    print(f"one packet {one:.2f} ms  two packets {two:.2f} ms  ratio {ratio:.2f}  limit {LIMIT}: {verdict}")
    return int(ratio > LIMIT)


def _round(lanes: HttpLanes, target: bytes) -> float:
    """Return milliseconds for each request."""
    began = time.perf_counter()
    for _ in range(REQUESTS):
        assert isinstance(send_alone(lanes, WireRequest("GET", target, [])), Response)
    return (time.perf_counter() - began) / REQUESTS * 1e3


if __name__ == "__main__":
    sys.exit(main())
