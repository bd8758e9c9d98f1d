"""Applications called in this process without a socket: ASGI 3 (2.3), WSGI 1.0.1 (PEP 3333), and clients of users."""

import asyncio
import contextlib
import inspect
import io
import re
import sys
import threading
import time
import traceback
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import cache, partial
from http import HTTPStatus
from queue import Empty, SimpleQueue
from typing import Any, Final, Protocol
from urllib.parse import unquote_to_bytes

from checker.config.operation_settings import HttpSettings
from checker.config.user_code import load_attribute
from checker.core.errors import ConfigError, IncorrectUsage, LoaderError
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import Transport
from checker.core.user_code import takes
from checker.transport.factories import TransportFactory
from checker.transport.settings import time_limit_s

Exchange = Callable[[WireRequest, float], Outcome]  # Returns the outcome of a request within a number of seconds.


class BlockingTransport:
    """Implements `checker.core.send.Transport`: requests are answered one after the other."""

    def __init__(
        self, exchange: Exchange, settings: HttpSettings, *, close: Callable[[], object] = lambda: None
    ) -> None:
        """`close` stops the application."""
        self._exchange = exchange
        self._settings = settings
        self._close = close
        self._waiting: deque[tuple[int, WireRequest, float]] = deque()

    def start(self, lane: int, request: WireRequest, *, patience_s: float | None = None) -> None:
        limit_s = time_limit_s(request, self._settings)
        self._waiting.append((lane, request, limit_s if patience_s is None else min(patience_s, limit_s)))

    def flush(self) -> None:
        """Do nothing, because `poll` sends the requests."""

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        """Return the outcome of the oldest request; nothing if none is queued."""
        if not self._waiting:
            return []
        # One request per call, because the worker sends its heartbeat between two calls.
        lane, request, limit_s = self._waiting.popleft()
        return [(lane, self._exchange(request, limit_s))]

    def waited_s(self, lane: int) -> float:
        """Return 0: the transport blocks, so no request is in flight when this is called."""
        return 0.0

    def close(self) -> None:
        self._waiting.clear()
        self._close()


_STARTUP_S = 30.0
_FRAMES = 3  # Innermost frames of a traceback that reports show.
_PORT = 80
_CLIENT: Final = ("127.0.0.1", 50000)
_ENDED: Final = (Exception, SystemExit)
"""Exceptions of an application that are failures of its request. Some would end the process, which is a worker here."""


class Application(Protocol):
    """An application that answers requests in this process."""

    @property
    def origin(self) -> BaseUrl:
        """The host at which requests reach the application."""
        ...

    def send(self, request: WireRequest, timeout_s: float) -> Outcome:
        """Return the response of the application. An exception becomes a response with status 500 and the traceback.

        If the application was created with `raises`, the response also contains the exception.
        """
        ...


class AsgiApplication:
    """An ASGI application on its own event loop in its own thread, started with its lifespan."""

    origin: Final = BaseUrl("http", "testserver", _PORT, "")

    def __init__(
        self, app: Callable[..., Awaitable[None]], *, startup_s: float = _STARTUP_S, raises: bool = False
    ) -> None:
        """Raises `LoaderError` if the application says that it cannot start, or says nothing within `startup_s`."""
        self._app = app
        self._raises = raises
        self._loop = asyncio.new_event_loop()
        self._state: dict[str, Any] = {}
        threading.Thread(target=_run, args=(self._loop,), daemon=True, name="asgi").start()
        try:
            orders, lifespan = self._wait(self._start(), startup_s)
        except Empty:
            _give_up(self._loop)
            raise LoaderError(
                f"the ASGI application did not start within {startup_s:g} seconds; see what its lifespan waits for"
            ) from None
        except LoaderError:
            _give_up(self._loop)
            raise
        weakref.finalize(self, _stop, self._loop, orders, lifespan)

    def send(self, request: WireRequest, timeout_s: float) -> Outcome:
        started = time.perf_counter()
        try:
            response: Response = self._wait(self._exchange(request), timeout_s)
        except Empty:
            return _too_slow(timeout_s)
        response.elapsed = time.perf_counter() - started
        return response

    def _wait(self, work: Coroutine[Any, Any, Any], timeout_s: float) -> Any:
        """Return the result of a coroutine on the loop. Raises its error, and `Empty` after it was cancelled at the time limit."""
        tasks: list[asyncio.Task[None]] = []
        ends: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

        async def run() -> None:
            # `asyncio.run_coroutine_threadsafe` takes twice the CPU time: it copies the result between two futures.
            try:
                ends.put((await work, None))
            except BaseException as error:  # noqa: BLE001 - it is raised in the waiting thread
                ends.put((None, error))

        self._loop.call_soon_threadsafe(lambda: tasks.append(self._loop.create_task(run())))
        try:
            result, error = ends.get(timeout=timeout_s)
        except BaseException:
            self._loop.call_soon_threadsafe(lambda: tasks[0].cancel())
            raise
        if error is not None:
            raise error
        return result

    async def _start(self) -> tuple["_Orders", asyncio.Task[None]]:
        """Run the lifespan up to its start. Applications without a lifespan are allowed. Raises `LoaderError`."""
        orders: _Orders = asyncio.Queue()
        orders.put_nowait({"type": "lifespan.startup"})
        is_up, failures = asyncio.Event(), list[str]()
        # The task of the lifespan keeps both alive, and `self` would never be collected.
        app, state = self._app, self._state

        async def told(message: dict[str, Any]) -> None:
            if message["type"] == "lifespan.startup.failed":
                failures.append(message.get("message", ""))
            if message["type"].startswith("lifespan.startup"):
                is_up.set()

        async def live() -> None:
            scope = {"type": "lifespan", "asgi": _VERSIONS, "state": state}
            with contextlib.suppress(Exception):
                await app(scope, orders.get, told)
            is_up.set()

        lifespan = self._loop.create_task(live())
        await is_up.wait()
        if failures:
            # Frameworks send the whole traceback. Its last line is the exception.
            lines = failures[0].strip().splitlines() or ["it does not say why"]
            raise LoaderError(f"the ASGI application failed to start: {lines[-1]}; correct its lifespan", lines[:-1])
        return orders, lifespan

    async def _exchange(self, request: WireRequest) -> Response:
        path, _, query = request.target.partition(b"?")
        scope = {
            "type": "http",
            "asgi": _VERSIONS,
            "http_version": "1.1",
            "method": request.method,
            "scheme": self.origin.scheme,
            "path": unquote_to_bytes(path).decode("utf-8", "replace"),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in _headers(request, self.origin)],
            "client": _CLIENT,
            "server": (self.origin.host, self.origin.port),
            "state": dict(self._state),
        }
        events = [{"type": "http.request", "body": request.body or b"", "more_body": False}]
        status, headers, parts = 500, [], []

        is_over = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if events:
                return events.pop()
            # Streaming applications wait for the client to disconnect.
            await is_over.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status, headers = message["status"], list(message.get("headers", ()))
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    is_over.set()

        try:
            await self._app(scope, receive, send)
        except _ENDED as error:
            return _failed(request, error, raises=self._raises)
        texts = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
        return _response(request, status, texts, b"".join(parts))


class WsgiApplication:
    """A WSGI application, called in this thread."""

    origin: Final = BaseUrl("http", "localhost", _PORT, "")

    def __init__(self, app: Callable[..., Iterable[bytes]], *, raises: bool = False) -> None:
        self._app = app
        self._raises = raises

    def send(self, request: WireRequest, timeout_s: float) -> Outcome:
        """Return the response. The call cannot be interrupted, so a timeout is reported afterwards."""
        started = time.perf_counter()
        found: list[Any] = [500, []]

        def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Any:
            found[:] = [int(status.split(" ", 1)[0]), headers]
            return parts.append

        parts: list[bytes] = []
        try:
            path, _, query = request.target.partition(b"?")
            environment: dict[str, Any] = {
                "REQUEST_METHOD": request.method,
                "SCRIPT_NAME": "",
                "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
                "QUERY_STRING": query.decode("latin-1"),
                "SERVER_NAME": self.origin.host,
                "SERVER_PORT": str(self.origin.port),
                "SERVER_PROTOCOL": "HTTP/1.1",
                "REMOTE_ADDR": _CLIENT[0],
                "wsgi.version": (1, 0),
                "wsgi.url_scheme": self.origin.scheme,
                "wsgi.input": io.BytesIO(request.body or b""),
                "wsgi.errors": sys.stderr,
                "wsgi.multithread": False,
                "wsgi.multiprocess": False,
                "wsgi.run_once": False,
            }
            for name, value in _headers(request, self.origin):
                key = name.decode("latin-1").upper().replace("-", "_")
                key = key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
                text = value.decode("latin-1")
                environment[key] = f"{environment[key]},{text}" if key in environment else text
            answer = self._app(environment, start)
            try:
                parts += answer
            finally:
                getattr(answer, "close", lambda: None)()
        except _ENDED as error:
            return _failed(request, error, raises=self._raises)
        elapsed = time.perf_counter() - started
        if elapsed > timeout_s:
            return _too_slow(timeout_s)
        response = _response(request, found[0], found[1], b"".join(parts))
        response.elapsed = elapsed
        return response


_Orders = asyncio.Queue[dict[str, Any]]
_GOODBYE_S = 5.0


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, then close its resources. Otherwise users' tests would show warnings about these resources."""
    is_over = False
    try:
        while not is_over:
            # asyncio raises this exception from any task, so the task that made the request gets it as well.
            with contextlib.suppress(SystemExit):
                loop.run_forever()
                is_over = True
    finally:
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop, orders: _Orders, lifespan: asyncio.Task[None]) -> None:
    """Let the application end its lifespan, then stop the loop."""

    async def goodbye() -> None:
        orders.put_nowait({"type": "lifespan.shutdown"})
        await asyncio.wait([lifespan], timeout=_GOODBYE_S)

    ended = asyncio.run_coroutine_threadsafe(goodbye(), loop)
    ended.add_done_callback(lambda _: loop.call_soon_threadsafe(loop.stop))
    # Garbage is collected in any thread, and that of the loop cannot wait for itself.
    if asyncio._get_running_loop() is not loop:
        with contextlib.suppress(FutureTimeoutError):
            ended.result(_GOODBYE_S)


def _give_up(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all tasks of a loop, then stop it."""

    async def cancel() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=_GOODBYE_S)

    asyncio.run_coroutine_threadsafe(cancel(), loop).result()
    loop.call_soon_threadsafe(loop.stop)


_UNDERLINE: Final = re.compile(r"^ +[~^]+\n", re.MULTILINE)
"""Lines that underline code in a traceback are left out: reports show ten lines, and these must include the innermost frame."""
_PHRASES: Final = {one.value: one.phrase for one in HTTPStatus}
_VERSIONS: Final = {"version": "3.0", "spec_version": "2.3"}


def _headers(request: WireRequest, origin: BaseUrl) -> list[tuple[bytes, bytes]]:
    """Return the headers of the request and the headers that a client adds."""
    found = list(request.headers)
    if request.header(b"Host") is None:
        found.insert(0, (b"Host", origin.host.encode()))
    if request.body is not None and request.header(b"Content-Length") is None:
        found.append((b"Content-Length", b"%d" % len(request.body)))
    return found


def _response(request: WireRequest, status: int, headers: list[tuple[str, str]], content: bytes) -> Response:
    return Response(status, headers, content, request=request, message=_PHRASES.get(status, ""))


def _failed(request: WireRequest, error: BaseException, *, raises: bool) -> Response:
    """Return a response for an exception. The message comes first, because reports show only the beginning, then the place."""
    said = "".join(traceback.format_exception_only(error))
    # The outermost frames belong to the checker, the next ones to the framework.
    told = traceback.TracebackException.from_exception(error, limit=-_FRAMES)
    place = _UNDERLINE.sub("", "".join(told.format()))
    content = f"{said}\n{place}".encode("utf-8", "backslashreplace")
    response = _response(request, 500, [("Content-Type", "text/plain; charset=utf-8")], content)
    response.is_traceback = True
    response.raised = error if raises else None
    return response


def _too_slow(timeout_s: float) -> NetworkFailure:
    return NetworkFailure(FailureKind.TIMEOUT, f"no response within {timeout_s:g} seconds", timeout_s)


def transport_to(start: Callable[[], Application]) -> TransportFactory:
    """Return the factory of transports to an application, which `start` returns in each worker."""

    def connect(origin: BaseUrl, settings: HttpSettings, lanes: int) -> Transport:
        return BlockingTransport(start().send, settings)

    return connect


def asgi(app: Callable[..., Awaitable[None]]) -> TransportFactory:
    """Return the factory of transports to an ASGI application. Each worker starts it."""
    return transport_to(partial(AsgiApplication, app))


def wsgi(app: Callable[..., Iterable[bytes]]) -> TransportFactory:
    """Return the factory of transports to a WSGI application. Each worker calls it."""
    return transport_to(partial(WsgiApplication, app))


def protocols_of(app: Any) -> tuple[bool, bool]:
    """Return whether an object can be an application of ASGI, and of WSGI. Raises `IncorrectUsage` if it can be neither."""
    if not callable(app):
        raise IncorrectUsage(f"an application must be callable, got {app!r:.80}")
    is_async = any(inspect.iscoroutinefunction(one) for one in (app, type(app).__call__))
    found = takes(app, 3), takes(app, 2) and not is_async
    if not any(found):
        raise IncorrectUsage(
            f"{app!r:.80} is no application: ASGI calls one with (scope, receive, send), WSGI with (environ, start_response); "
            "call a factory yourself, and start applications of other protocols as servers"
        )
    return found


def application_of(app: Any, *, raises: bool = False) -> Application:
    """Return an object as a started application, ASGI or WSGI; `raises` as in `Application.send`.

    Raises `LoaderError`, `IncorrectUsage` for an object that is no application.
    """
    is_asgi, _ = protocols_of(app)
    return AsgiApplication(app, raises=raises) if is_asgi else WsgiApplication(app, raises=raises)


@cache
def application_named(name: str) -> Application:
    """Return the started application, ASGI or WSGI, that `module:variable` names. There is one per process. Raises `ConfigError`."""
    found = load_attribute(name, what="application")
    if not callable(found):
        raise ConfigError(f"{name!r} is {type(found).__name__}; name an ASGI or WSGI application, such as 'main:app'")
    return application_of(found)


def application_transport(name: str) -> TransportFactory:
    """Return the factory of transports to the application of that name. Raises `ConfigError`."""
    application = application_named(name)
    return transport_to(lambda: application)


def site_of(name: str) -> str:
    """Return the scheme and host that requests to the application of that name carry. Raises `ConfigError`."""
    return application_named(name).origin.url


def document_of(
    application: Application, path: str, headers: Iterable[tuple[str, str]], http: HttpSettings
) -> Callable[[WireRequest], Response]:
    """Return a function that requests the document at a path. It raises `LoaderError` without a response."""
    sent = [(key.encode(), value.encode()) for key, value in headers]

    def exchange(request: WireRequest) -> Response:
        request.headers += sent
        outcome = application.send(request, time_limit_s(request, http))
        if isinstance(outcome, Response):
            return outcome
        raise LoaderError(f"{path} of the application cannot be loaded: {outcome.message}")

    return exchange


def nothing_sent(origin: BaseUrl, settings: HttpSettings, lanes: int) -> Transport:
    """Return a transport for dry runs: it answers every request with 204 and sends nothing."""
    return BlockingTransport(lambda request, _: Response(204, [], b"", request=request, message="No Content"), settings)
