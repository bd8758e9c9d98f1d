"""The demo service on loopback: one thread, one selector, connections kept alive."""

import contextlib
import selectors
import socket
import threading
from types import TracebackType
from typing import Self

from checker.demo.defects import DEFECTS
from checker.demo.description import document, document_bytes
from checker.demo.gate import Gate, OperationCall, problem
from checker.demo.http import Broken, Parser, Reply, Request, render
from checker.demo.inn import Inn

_HOST = "127.0.0.1"
_RECEIVE_BYTES = 256 * 1024
_MAX_UNSENT = 1024 * 1024
"""Bytes that may wait for a client that does not read, before nothing more is read from it."""


class Server:
    """The demo service, from `start` to `stop` or as a context; port 0 takes a free one.

    With `fixed` it has none of the `DEFECTS`. A port that is taken is an `OSError`.
    """

    def __init__(self, port: int = 0, *, fixed: bool = False) -> None:
        self._port = port
        self._service = _Service(fixed=fixed)
        self._loop: _Loop | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it listens, such as `http://127.0.0.1:8080`; known once it has started."""
        return f"http://{_HOST}:{self._port}"

    @property
    def document_url(self) -> str:
        """Where its OpenAPI document is."""
        return f"{self.url}/openapi.json"

    @property
    def requests(self) -> int:
        """Requests answered until now, malformed ones included."""
        return self._service.answered

    def start(self) -> Self:
        """Listen, and serve from a thread."""
        loop = self._open()
        self._thread = threading.Thread(target=loop.run, name="checker-demo", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close all connections and wait for the thread; nothing if it does not run."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None:
            loop.wake()
            if thread is not None:
                thread.join()
            loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self) -> None:
        """Serve from this thread until Ctrl-C."""
        loop = self._open()
        try:
            with contextlib.suppress(KeyboardInterrupt):
                loop.run()
        finally:
            self.stop()

    def _open(self) -> "_Loop":
        if self._loop is not None:
            raise RuntimeError(f"the demo service is running already, at {self.url}")
        listener = socket.create_server((_HOST, self._port), backlog=256)
        self._port = listener.getsockname()[1]
        self._loop = _Loop(listener, self._service)
        return self._loop


def serve(port: int, *, fixed: bool = False) -> None:
    """Serve on a port of loopback until Ctrl-C."""
    Server(port, fixed=fixed)._run()


class _Service:
    """Requests to responses; used by one thread at a time."""

    def __init__(self, *, fixed: bool) -> None:
        self.answered = 0
        planted = frozenset() if fixed else frozenset(defect.id for defect in DEFECTS)
        rules = document()
        if "endless-list" in planted:
            # This defect is a gate that enforces less than the document says.
            for parameter in rules["paths"]["/rooms"]["get"]["parameters"]:
                if parameter["name"] == "limit":
                    del parameter["schema"]["maximum"]
        self._gate = Gate(rules)
        self._inn = Inn(planted)
        self._document = Reply(200, "application/json", document_bytes())

    def respond(self, request: Request | Broken) -> bytes:
        """The bytes that answer one request."""
        self.answered += 1
        if isinstance(request, Broken):
            return render(problem(request.status, "malformed", request.message), keep_alive=False)
        has_body = request.method != "HEAD"
        return render(self._reply(request), keep_alive=request.keep_alive, has_body=has_body)

    def _reply(self, request: Request) -> Reply:
        if request.target.partition(b"?")[0] == b"/openapi.json":
            if request.method in ("GET", "HEAD"):
                return self._document
            refusal = problem(405, "method_not_allowed", "Allowed here: GET, HEAD.")
            return Reply(405, refusal.media_type, refusal.body, (("Allow", "GET, HEAD"),))
        call = self._gate.admit(request)
        return self._inn.answer(call) if isinstance(call, OperationCall) else call


class _Connection:
    """One client: what it sent and was not answered, what it was answered and has not read."""

    def __init__(self, peer: socket.socket) -> None:
        peer.setblocking(False)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.peer = peer
        self._parser = Parser()
        self._unsent = bytearray()
        self._is_ending = False

    def advance(self, service: _Service, *, readable: bool) -> int:
        """Read, answer and send what is possible now; the events to wait for next, 0 when it is over."""
        try:
            if readable and not self._receive():
                return 0
            while self._answer(service):
                self._send()
            self._send()
        except BlockingIOError:
            pass
        except OSError:
            return 0
        if not self._unsent:
            return selectors.EVENT_READ
        if len(self._unsent) > _MAX_UNSENT:
            return selectors.EVENT_WRITE
        return selectors.EVENT_READ | selectors.EVENT_WRITE

    def _receive(self) -> bool:
        data = self.peer.recv(_RECEIVE_BYTES)
        if not self._is_ending:
            self._parser.feed(data)
        return bool(data)

    def _answer(self, service: _Service) -> bool:
        """Answer what has arrived; whether more was left for later because the client does not read."""
        while not self._is_ending and len(self._unsent) <= _MAX_UNSENT:
            request = self._parser.next()
            if request is None:
                self._unsent += self._parser.take_continue()
                return False
            self._unsent += service.respond(request)
            self._is_ending = isinstance(request, Broken) or not request.keep_alive
        return not self._is_ending

    def _send(self) -> None:
        if self._unsent:
            sent = self.peer.send(self._unsent)
            del self._unsent[:sent]
            if self._is_ending and not self._unsent:
                # Not close: with unread bytes that would be a reset, which can overtake the answer.
                self.peer.shutdown(socket.SHUT_WR)


class _Loop:
    """LeaseReport for the listener and all connections at once; another thread may only `wake` it."""

    def __init__(self, listener: socket.socket, service: _Service) -> None:
        self._service = service
        self._listener = listener
        listener.setblocking(False)
        self._alarm, self._bell = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(self._alarm, selectors.EVENT_READ)
        self._connections: set[_Connection] = set()

    def wake(self) -> None:
        """End `run` soon."""
        self._bell.send(b"!")

    def run(self) -> None:
        """Serve until woken."""
        while True:
            for key, events in self._selector.select():
                if key.fileobj is self._alarm:
                    return
                if key.data is None:
                    self._accept()
                else:
                    self._advance(
                        key.data, key.events, readable=bool(events & selectors.EVENT_READ)
                    )

    def close(self) -> None:
        """Close every socket."""
        for connection in self._connections:
            connection.peer.close()
        self._connections.clear()
        for each in (self._listener, self._alarm, self._bell):
            each.close()
        self._selector.close()

    def _accept(self) -> None:
        try:
            peer, _ = self._listener.accept()
        except OSError:
            # The client left before it was served, or this process is out of files for now.
            return
        connection = _Connection(peer)
        self._connections.add(connection)
        self._selector.register(peer, selectors.EVENT_READ, connection)

    def _advance(self, connection: _Connection, waited: int, *, readable: bool) -> None:
        events = connection.advance(self._service, readable=readable)
        if not events:
            self._selector.unregister(connection.peer)
            connection.peer.close()
            self._connections.discard(connection)
        elif events != waited:
            self._selector.modify(connection.peer, events, connection)
