"""The demo service on loopback: the HTTP server of the standard library in front of the gate and the inn."""

import contextlib
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from checker.demo.gate import MALFORMED, Gate, Incoming, Refusal, document, document_bytes
from checker.demo.inn import DEFECTS, Inn, Reply, problem

_HOST = "127.0.0.1"
_MAX_BODY = 1024 * 1024


class Server:
    """The demo service, from `start` to `stop` or as a context; port 0 takes a free one.

    With `fixed` it has none of the `DEFECTS`. `start` raises `OSError` if the port is in use.
    """

    def __init__(self, port: int = 0, *, fixed: bool = False) -> None:
        self._port = port
        self._service = _Service(fixed=fixed)
        self._listener: _Listener | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Return the base URL, such as `http://127.0.0.1:8080`, once the service has started."""
        return f"http://{_HOST}:{self._port}"

    @property
    def document_url(self) -> str:
        return f"{self.url}/openapi.json"

    @property
    def requests(self) -> int:
        return self._service.answered

    def start(self) -> Self:
        if self._listener is not None:
            raise RuntimeError(f"the demo service is running already, at {self.url}")
        self._listener = _Listener((_HOST, self._port), self._service)
        self._port = self._listener.server_port
        self._thread = threading.Thread(
            target=self._listener.serve_forever, args=(0.05,), name="checker-demo", daemon=True
        )
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close the port and wait for the thread; nothing if the service does not run."""
        listener, thread = self._listener, self._thread
        self._listener = self._thread = None
        if listener is not None and thread is not None:
            listener.shutdown()
            thread.join()
            listener.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Service:
    """The application; it handles one request at a time."""

    def __init__(self, *, fixed: bool) -> None:
        self.answered = 0
        self._lock = threading.Lock()
        planted = frozenset() if fixed else frozenset(defect.id for defect in DEFECTS)
        rules = document()
        if "endless-list" in planted:
            # This defect is a validation that ignores a part of the document.
            for parameter in rules["paths"]["/rooms"]["get"]["parameters"]:
                if parameter["name"] == "limit":
                    del parameter["schema"]["maximum"]
        self._gate = Gate(rules)
        self._inn = Inn(planted)
        self._document = Reply(200, "application/json", document_bytes())

    def reply(self, request: Incoming) -> Reply:
        with self._lock:
            self.answered += 1
            if request.path == b"/openapi.json" and request.method in ("GET", "HEAD"):
                return self._document
            try:
                call = self._gate.admit(request)
            except Refusal as refusal:
                return refusal.reply
            return self._inn.answer(*call)


class _Listener(ThreadingHTTPServer):
    # A worker opens several connections at once; five, the default of the standard library, would refuse some.
    request_queue_size = 256

    # `server_close` waits for the threads of its connections.
    daemon_threads = False

    def __init__(self, address: tuple[str, int], service: _Service) -> None:
        self.service = service
        self._connections: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            self._connections.discard(request)

    def server_close(self) -> None:
        for connection in tuple(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that close early; show all other errors."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # Head and body leave in one packet.
    wbufsize = -1
    server: _Listener

    def __getattr__(self, name: str) -> Any:
        """Handle any method, so that unknown ones get 405 with `Allow` instead of the 501 of the base class."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        # `self.path` has lost the second of two leading slashes.
        target = self.raw_requestline.split(b" ")[1]
        path, _, query = target.partition(b"?")
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdecimal()):
            self.close_connection = True
            self._send(problem(411, MALFORMED, "The body needs a Content-Length."))
            return
        body = self.rfile.read(min(int(length), _MAX_BODY + 1))
        if len(body) > _MAX_BODY:
            left = int(length) - len(body)
            while left > 0 and (read := self.rfile.read(min(left, _MAX_BODY))):
                left -= len(read)
        self._send(
            self.server.service.reply(
                Incoming(
                    self.command,
                    path,
                    query,
                    {
                        name.lower(): ("; " if name.lower() == "cookie" else ", ").join(
                            value.strip(" \t") for value in self.headers.get_all(name, [])
                        )
                        for name in self.headers
                    },
                    body,
                    len(body) > _MAX_BODY,
                )
            )
        )

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Respond to an unreadable request with an error of the document."""
        self.close_connection = True
        # Before it has read the version, the base class assumes HTTP/0.9, whose responses have no head.
        self.request_version = self.protocol_version
        self._send(problem(code, MALFORMED, message or "The request cannot be read."))

    def _send(self, reply: Reply) -> None:
        self.send_response_only(reply.status)
        if reply.media_type:
            self.send_header("Content-Type", reply.media_type)
        if reply.status != 204:
            self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: the console belongs to the run."""
