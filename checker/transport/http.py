"""HTTP over libcurl: requests in flight on several lanes, with one multi handle in one thread.

libcurl reuses a connection without a check if it was idle for less than a second. If the server has closed it, the request
is lost, which looks like a request that crashed the server. So this module checks connections itself.
"""

import math
import os
import re
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Final

import pycurl
from msgspec.structs import replace

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.system import Clock
from checker.transport.connection_setup import configure_connection, milliseconds
from checker.transport.header_lines import Unsendable, header_lines, is_broken
from checker.transport.settings import environment_proxy, travelling

_HANG_UP = getattr(select, "POLLRDHUP", select.POLLHUP)
"""Hang-up by the peer. POLLIN does not show it, because TLS servers send tickets unasked. epoll uses the same number."""
# Checked before each round of requests. epoll finds a closed connection without scanning all of them.
_Watch = getattr(select, "epoll", select.poll)
_QUICK_ACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)  # Linux only.
_MANY = 4096
_NONE: frozenset[int] = frozenset()


class Connections:
    """Open connections of a multi handle by local port. The port is all that libcurl reveals before it sends."""

    def __init__(self) -> None:
        self._watched: dict[int, int] = {}
        """Local port -> descriptor."""
        self._poll = _Watch()
        self._closed: frozenset[int] | None = None
        """Descriptors that were closed at the last `look`."""
        self.may_be_closed = True
        """Whether some connection is known to be closed. If False, `is_closed` need not be called."""
        self.acknowledged = 0
        """Times that `acknowledge` has set a socket option."""

    def remember(self, local_port: int, descriptors: list[int]) -> None:
        """Watch the new descriptor that is bound to the port. The others lost the race to connect."""
        if len(self._watched) >= _MANY:
            # Nearly all of them were closed long ago. An unknown connection counts as open.
            self._watched.clear()
            self._poll = _Watch()
        self._watched.pop(local_port, None)
        # A refused connection attempt releases its descriptor, and the next attempt may get the same number.
        for descriptor in set(descriptors):
            try:
                with socket.socket(fileno=os.dup(descriptor)) as twin:
                    name = twin.getsockname()
            except OSError:
                continue
            if isinstance(name, tuple) and name[1] == local_port:
                # The system may allow no more watches. An unknown connection counts as open.
                with suppress(OSError):
                    self._poll.register(descriptor, _HANG_UP)
                    self._watched[local_port] = descriptor

    def look(self) -> None:
        """Check all connections at once, for calls of `is_closed` until `look_away`: one system call instead of eight."""
        self._closed = self._hung_up()
        self.may_be_closed = bool(self._closed)

    def look_away(self) -> None:
        self._closed = None
        self.may_be_closed = True

    def is_closed(self, local_port: int) -> bool:
        descriptor = self._watched.get(local_port)
        if descriptor is None:
            return False
        return descriptor in (self._hung_up() if self._closed is None else self._closed)

    def acknowledge(self, local_port: int) -> None:
        """Acknowledge received data on the connection from that port at once, until data is sent on it.

        The kernel delays acknowledgements by 40 ms on a connection that sends and receives in turn. A server that writes
        head and body of a response separately may wait for the acknowledgement before it sends the body (Nagle's algorithm).
        `TCP_QUICKACK` does not last: sending the next request ends it.
        """
        descriptor = self._watched.get(local_port)
        if descriptor is None or _QUICK_ACK is None:
            return
        twin = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=descriptor)
        with suppress(OSError):
            twin.setsockopt(socket.IPPROTO_TCP, _QUICK_ACK, 1)
            self.acknowledged += 1
        # libcurl owns the descriptor.
        twin.detach()

    def _hung_up(self) -> frozenset[int]:
        found = self._poll.poll(0)
        if not found:
            return _NONE
        for descriptor, event in found:
            if event & select.POLLNVAL:
                # This process closed it. Its number is reused for a connection that is remembered later.
                self._poll.unregister(descriptor)
        return frozenset(descriptor for descriptor, _ in found)


WEIRD_REPLY = 8  # CURLE_WEIRD_SERVER_REPLY, which pycurl does not name.
_TOO_LARGE = 100  # CURLE_TOO_LARGE, which pycurl does not name either: the headers are longer than libcurl accepts.
_OVERFLOW = "response headers"
"""libcurl's message for interim responses that are too long together. The error code is that of a reset connection."""

_UNKNOWN_CALLER = "certificate required"  # The TLS alert with this name (RFC 8446, 6.2).

_LONGEST_REASON = 4096
_STATUS_LINE = re.compile(rb"HTTP/([0-9](?:\.[0-9])?)[ \t]+([0-9]{3})(?![^\s])(.{,%d})" % _LONGEST_REASON)
"""Limits on a status line. libcurl accepts a status of 5,000 digits. Records keep a shorter reason phrase, after masking."""

_KINDS = {
    pycurl.E_COULDNT_RESOLVE_PROXY: FailureKind.DNS,
    pycurl.E_COULDNT_RESOLVE_HOST: FailureKind.DNS,
    pycurl.E_COULDNT_CONNECT: FailureKind.REFUSED,
    pycurl.E_OPERATION_TIMEDOUT: FailureKind.TIMEOUT,
    pycurl.E_PARTIAL_FILE: FailureKind.DROPPED,
    pycurl.E_GOT_NOTHING: FailureKind.DROPPED,
    pycurl.E_SEND_ERROR: FailureKind.DROPPED,
    pycurl.E_RECV_ERROR: FailureKind.DROPPED,
    pycurl.E_UNSUPPORTED_PROTOCOL: FailureKind.MALFORMED,
    WEIRD_REPLY: FailureKind.MALFORMED,
    pycurl.E_BAD_CONTENT_ENCODING: FailureKind.MALFORMED,
    # A header line that libcurl cannot attribute: a folded trailer without a line above it.
    pycurl.E_BAD_FUNCTION_ARGUMENT: FailureKind.MALFORMED,
    _TOO_LARGE: FailureKind.TOO_LARGE,
}


def fault(code: int, text: str, settings: HttpSettings) -> tuple[FailureKind, str]:
    """Return kind and sentence for libcurl's error `code` and its own `text`."""
    if _UNKNOWN_CALLER in text.lower():
        # With TLS 1.3 this error arrives in place of a response, after the request was sent.
        return FailureKind.OTHER, "it asks for a client certificate; give it with `--request-cert`"
    kind = _KINDS.get(code, FailureKind.OTHER)
    if code == pycurl.E_RECV_ERROR and "chunk" in text.lower():
        # The same code as for a reset connection.
        kind = FailureKind.MALFORMED
    elif code == pycurl.E_RECV_ERROR and _OVERFLOW in text:
        kind = FailureKind.TOO_LARGE
    match kind:
        case FailureKind.TOO_LARGE:
            most = "at most 300 KB and 5000 of them are read"
            return kind, f"its header and trailer lines are too long or too many: {most}"
        case FailureKind.MALFORMED if code == pycurl.E_UNSUPPORTED_PROTOCOL:
            return kind, f"it does not begin with a status line of HTTP/1.1 ({text})"
        case FailureKind.TIMEOUT:
            return kind, f"no complete response within {settings.timeout_s:g} s"
        case FailureKind.DROPPED if code == pycurl.E_PARTIAL_FILE:
            return kind, "the connection was closed in the middle of the response"
        case FailureKind.DROPPED:
            return kind, "the connection was closed without a complete response"
        case _:
            return kind, text or kind.value


@lru_cache(maxsize=256)
def status_of(line: bytes) -> tuple[str, int, str] | None:
    """Return version, status and reason phrase of a status line; None for any other line (RFC 9112, 4)."""
    found = _STATUS_LINE.match(line)
    if found is None:
        return None
    version, status, reason = found.groups()
    return version.decode(), int(status), (reason or b"").decode("latin-1").strip()


_CUT = -1  # Return value of a write callback that stops a transfer.
_BLANK = frozenset((b"\r\n", b"\n"))
_LENGTH_DIGITS = 18
"""Digits of a plausible length: no body has more than 2^63 bytes, and Python cannot convert 5,000 digits."""


class Lane:
    """A libcurl handle with its current request."""

    def __init__(self, index: int, origin: BaseUrl, settings: HttpSettings, connections: Connections) -> None:
        self.index = index
        self._connections = connections
        self.busy = False
        """True from `start` until the outcome is returned."""
        self.is_flying = False
        """True while libcurl is working on the handle."""
        self.started = 0.0
        self.stalled_before_s = 0.0
        self.request = WireRequest("GET", b"/", [])
        self.curl = pycurl.Curl()
        self._origin = origin
        self._proxy = environment_proxy(origin)
        self._usual = settings
        self._via: object | None = None
        self._lines: list[bytes] = []
        self._chunks: list[bytes] = []
        self._size = 0
        self._sends = 0
        self._opened: list[int] = []
        self._is_stale = False
        self._is_reused = False
        self._is_acknowledged = False
        self._local_port = 0
        self._configure(settings)

    def _configure(self, settings: HttpSettings) -> None:
        """Set the options that are common to all requests, and forget the options of the last request."""
        settings = settings if settings.proxy else settings.with_options(proxy=self._proxy)
        curl, self._settings = self.curl, settings
        self._method = ""
        self._has_body = False
        self._is_head = False
        self._is_fresh = False
        self._keeps_connection = True
        self._patience_s: float | None = None
        self._target_prefix = _target_prefix(self._origin, settings)
        curl.setopt(pycurl.URL, self._origin.plain.url + "/")
        if self._origin.socket:
            curl.setopt(pycurl.UNIX_SOCKET_PATH, self._origin.socket)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.FOLLOWLOCATION, 0)
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        curl.setopt(pycurl.TIMEOUT_MS, milliseconds(settings.timeout_s))
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, milliseconds(settings.connect_timeout_s))
        # Servers close idle connections after 2 s or more. A request at that moment would look like a dropped one.
        curl.setopt(pycurl.MAXAGE_CONN, 1)
        # Has an effect only for a case with an `Expect` header: curl then waits for a 100 before it sends the body.
        curl.setopt(pycurl.EXPECT_100_TIMEOUT_MS, 100)
        curl.setopt(pycurl.HEADERFUNCTION, self._lines.append)
        curl.setopt(pycurl.WRITEFUNCTION, self._write)
        curl.setopt(pycurl.SOCKOPTFUNCTION, self._on_socket)
        curl.setopt(pycurl.PREREQFUNCTION, self._before_send)
        configure_connection(curl, settings)

    def load(self, request: WireRequest, patience_s: float | None = None) -> None:
        """Put a request on the handle; only options that differ from the last request are set. Raises `Unsendable`."""
        if request.via is not self._via or patience_s != self._patience_s:
            # Another operation has other settings and another patience. Connections are kept, because libcurl knows
            # which of them match.
            if request.via is not self._via:
                self.curl.reset()
                self._configure(travelling(request, self._usual))
                self._via = request.via
            limit_s = self._settings.timeout_s
            if patience_s is not None and patience_s >= limit_s:
                patience_s = None
            if patience_s != self._patience_s:
                self._patience_s = patience_s
                self.curl.setopt(pycurl.TIMEOUT_MS, milliseconds(limit_s if patience_s is None else patience_s))
        target, method = request.target, request.method
        if self._target_prefix:
            target = self._target_prefix + target
        # If the request brought its header lines, they are complete.
        written, lines, keeps_connection = target, request.lines, True
        if lines is None:
            lines, keeps_connection = header_lines(request)
            written += b"".join(lines)
        if method != self._method:
            if not method.isascii():
                raise Unsendable(f"libcurl sends no method beyond ASCII: {method!r}")
            written += method.encode()
        if is_broken(written):
            raise Unsendable("NUL, CR or LF in the method, target or a header would break the message apart")
        self.request = request
        self._lines.clear()
        self._chunks.clear()
        self._size = self._sends = 0
        self._is_stale = self._is_reused = self._is_acknowledged = False
        self._opened.clear()
        curl = self.curl
        if request.body is not None or self._has_body or self._is_head or method == "HEAD":
            self._load_body(request)
        if method != self._method:
            curl.setopt(pycurl.CUSTOMREQUEST, method)
            self._method = method
        curl.setopt(pycurl.REQUEST_TARGET, target)
        curl.setopt(pycurl.HTTPHEADER, lines)
        if request.fresh is not self._is_fresh:
            self._is_fresh = request.fresh
            curl.setopt(pycurl.FRESH_CONNECT, self._is_fresh)
        if keeps_connection is not self._keeps_connection:
            curl.setopt(pycurl.FORBID_REUSE, not keeps_connection)
            self._keeps_connection = keeps_connection

    def _load_body(self, request: WireRequest) -> None:
        curl, body, is_head = self.curl, request.body, request.method == "HEAD"
        if is_head and body is not None:
            raise Unsendable("libcurl sends no body with HEAD")
        if self._is_head and not is_head:
            curl.setopt(pycurl.NOBODY, 0)
            if body is None:
                curl.setopt(pycurl.HTTPGET, 1)
        if body is not None:
            curl.setopt(pycurl.POSTFIELDS, body)
        elif self._has_body:
            # The old body cannot be unset, but HTTPGET makes curl forget it.
            curl.setopt(pycurl.HTTPGET, 1)
        if is_head and not self._is_head:
            curl.setopt(pycurl.NOBODY, 1)
        self._has_body, self._is_head = body is not None, is_head

    def wants_another_connection(self) -> bool:
        """Return True if the transfer sent nothing because its reused connection had been closed.

        Only the first call returns True. The caller then adds the handle again, which opens a new connection.
        """
        if not self._is_stale:
            return False
        self._is_stale = False
        self._is_fresh = True
        self.curl.setopt(pycurl.FRESH_CONNECT, 1)
        return True

    def _on_socket(self, descriptor: int, _purpose: int) -> int:
        self._opened.append(descriptor)
        return pycurl.SOCKOPT_OK

    def _before_send(self, _peer: str, _local: str, _port: int, local_port: int) -> int:
        # libcurl calls this before each send. If a reused connection dies without a response, libcurl sends again, but
        # the server may already have acted on the request, so the first outcome counts.
        if self._sends:
            return pycurl.PREREQFUNC_ABORT
        self._local_port = local_port
        if self._opened:
            self._connections.remember(local_port, self._opened)
        elif self._connections.may_be_closed and self._connections.is_closed(local_port):
            self._is_stale = True
            return pycurl.PREREQFUNC_ABORT
        self._sends = 1
        self._is_reused = not self._opened
        return pycurl.PREREQFUNC_OK

    def _write(self, chunk: bytes) -> int | None:
        self._chunks.append(chunk)
        self._size += len(chunk)
        return None if self._size <= self._settings.max_response_bytes else _CUT

    def acknowledge(self) -> None:
        """Acknowledge the first part of a response, once per response: the server may be holding the rest back."""
        if self._lines and not self._is_acknowledged:
            self._is_acknowledged = True
            self._connections.acknowledge(self._local_port)

    @property
    def is_event_stream(self) -> bool:
        """Whether the headers of an event stream have arrived."""
        return any(one[:13].lower() == b"content-type:" and b"text/event-stream" in one.lower() for one in self._lines)

    @property
    def has_enough_events(self) -> bool:
        """Whether enough events of a stream have arrived. A blank line ends each event."""
        text = b"".join(self._chunks).replace(b"\r\n", b"\n")
        return text.count(b"\n\n") >= self._settings.max_stream_events

    def arrived(self, elapsed_s: float) -> Outcome:
        """Return the outcome of a transfer that libcurl reports as complete."""
        lines = self._lines
        # libcurl also reports a transfer as complete if the server closes the connection within the headers.
        if lines and lines[-1] not in _BLANK and _BLANK.isdisjoint(_last_block(lines)):
            return self.failure(elapsed_s, pycurl.E_PARTIAL_FILE, "")
        return self.response(elapsed_s) or NetworkFailure(
            *fault(WEIRD_REPLY, "no status line with a three-digit status code", self._settings), elapsed_s
        )

    def sample(self, elapsed_s: float) -> Outcome:
        """Return the received part of an endless transfer as a truncated response."""
        return self.response(elapsed_s, is_cut=True) or self.failure(elapsed_s, pycurl.E_OPERATION_TIMEDOUT, "")

    def failure(self, elapsed_s: float, code: int, text: str) -> Outcome:
        """Return the outcome of a transfer that ended with libcurl's error `code`."""
        # This process ended the transfer: a response above the limit, or an event stream, is a cut response.
        if code == pycurl.E_WRITE_ERROR and self._size > self._settings.max_response_bytes:
            return self.sample(elapsed_s)
        if code == pycurl.E_OPERATION_TIMEDOUT and self.is_event_stream:
            return self.sample(elapsed_s)
        # The second send was refused or prevented. The request was sent once before that, and its connection broke.
        if self._sends and code in (pycurl.E_COULDNT_CONNECT, pycurl.E_ABORTED_BY_CALLBACK):
            code = pycurl.E_GOT_NOTHING
        kind, message = fault(code, text, self._settings)
        if kind is FailureKind.TIMEOUT and self._patience_s is not None:
            kind = FailureKind.GIVEN_UP
            message = f"no complete response within {self._patience_s:.1f} s"
        partial = self.response(elapsed_s, is_cut=True)
        is_on_used = kind is FailureKind.DROPPED and self._is_reused
        if is_on_used:
            message += " (a connection that had been used before)"
        may_be_late = is_on_used and partial is None
        return NetworkFailure(kind, message, elapsed_s, partial, may_be_late)

    def response(self, elapsed_s: float, *, is_cut: bool = False) -> Response | None:
        """Return the response of a transfer, possibly cut; None without a status line."""
        lines = self._lines
        first = status_of(lines[0]) if lines else None
        if first is not None and (first[1] < 200 or self._settings.proxy):
            lines = _last_block(lines)
            first = status_of(lines[0])
        if first is None:
            return None
        version, status, reason = first
        chunks = self._chunks
        content = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        # The size must show the cut: it is at least one byte more than what is kept, whatever the server declared.
        size = None
        if is_cut:
            text = next((line[15:].strip() for line in lines if line[:15].lower() == b"content-length:"), b"")
            declared = int(text) if text.isdigit() and len(text) <= _LENGTH_DIGITS else 0
            size = max(declared, self._size, len(content))
            content = content[: self._settings.max_response_bytes]
            size = max(size, len(content) + 1)
        return Response.from_lines(
            status,
            # A copy, because the lane clears its list for the next request.
            lines[:],
            content,
            elapsed=elapsed_s,
            request=self.request,
            message=reason,
            http_version=version,
            content_size=size,
            verify=self._settings.verify is not False,
        )


def _target_prefix(origin: BaseUrl, settings: HttpSettings) -> bytes:
    """Return the prefix of every target. HTTP proxies require the absolute form (RFC 9112, 3.2.2)."""
    proxy = settings.proxy or ""
    is_tunnel = origin.scheme == "https" or proxy.startswith("socks")
    return b"" if not proxy or is_tunnel else origin.plain.url.encode("ascii")


def _last_block(lines: list[bytes]) -> list[bytes]:
    """Return the lines from the last status line on. Responses 100 and 103 and the response of a proxy precede this block."""
    for index in range(len(lines) - 1, 0, -1):
        if lines[index].startswith(b"HTTP/") and lines[index - 1] in _BLANK:
            return lines[index:]
    return lines


_JUST_NOW_S = 30e-6  # Time after a `perform` in which another one would find nothing, in seconds.
_SWEEP_S = 0.25
_MAX_SELECT_S = 1.0
_SPARE_CONNECTIONS = 8
"""Connections that stay open in addition to one per lane, for operations with other settings.

Investigations use new connections, and libcurl keeps the old ones: against a server that fails randomly, a worker had 400
open connections.
"""


class HttpLanes:
    """Implements `checker.core.send.Transport`. Not thread-safe.

    The cheapest order of calls: take all finished lanes, `start` all their next requests, `flush` once, judge, `poll`.
    """

    def __init__(self, origin: BaseUrl, settings: HttpSettings, lanes: int, now: Clock = time.perf_counter) -> None:
        """`now` is a monotonic clock in seconds."""
        self._origin = origin
        self._settings = settings
        self._now = now
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, lanes + _SPARE_CONNECTIONS)
        self._connections = Connections()
        self._lanes: list[Lane] = []
        self._by_handle: dict[pycurl.Curl, Lane] = {}
        self._unsent: list[Lane] = []
        self._pairs: dict[int, tuple[int, list[tuple[WireRequest, Outcome]]]] = {}
        """Lane -> (lane of the caller, outcomes so far) of a request that is sent twice. The second copy has a lane above those of callers."""
        self._own = lanes
        self._flying = 0
        self._done: list[tuple[int, Outcome]] = []
        self.stalled_s = 0.0
        """Seconds in which requests were in flight while the worker was busy elsewhere. `elapsed` excludes them."""
        self._left = 0.0
        self._next_sweep = 0.0
        for _ in range(lanes):
            self._add_lane()

    @property
    def acknowledged(self) -> int:
        """Number of responses whose first part was acknowledged before the rest arrived."""
        return self._connections.acknowledged

    def busy(self) -> int:
        return self._flying + len(self._done)

    def start(self, lane: int, request: WireRequest, *, patience_s: float | None = None) -> None:
        """Queue a request on an idle lane; `flush` sends it.

        A request that cannot be sent is returned by `poll`. The time limit is `patience_s`, if that is shorter than in the
        settings.
        """
        chosen = self._lanes[lane]
        if chosen.busy:
            raise ValueError(f"lane {lane} is busy")
        if request.is_twice and lane < self._own:
            twin = next((one for one in self._lanes[self._own :] if not one.busy), None) or self._add_lane()
            self._pairs[lane] = self._pairs[twin.index] = (lane, [])
            self.start(twin.index, request, patience_s=patience_s)
        chosen.busy = True
        try:
            chosen.load(request, patience_s)
            self._multi.add_handle(chosen.curl)
        except Unsendable as reason:
            self._done.append((chosen.index, NetworkFailure(FailureKind.UNSENDABLE, str(reason), 0.0)))
            return
        except Exception as error:  # noqa: BLE001 - only this code knows which request failed
            text = f"the request could not be sent: {type(error).__name__}: {error}"
            self._done.append((chosen.index, NetworkFailure(FailureKind.OTHER, text, 0.0, cause=error)))
            return
        self._flying += 1
        chosen.is_flying = True
        self._unsent.append(chosen)

    def _add_lane(self) -> Lane:
        lane = Lane(len(self._lanes), self._origin, self._settings, self._connections)
        self._lanes.append(lane)
        self._by_handle[lane.curl] = lane
        return lane

    def flush(self) -> None:
        """Send all queued requests together, with one check of the connections and one call of libcurl."""
        now = self._arrive()
        for lane in self._unsent:
            lane.started = now
            lane.stalled_before_s = self.stalled_s
        self._unsent.clear()
        self._connections.look()
        self._multi.perform()
        self._connections.look_away()
        self._left = self._now()

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        """Return the finished lanes with their outcomes; waits at most `timeout_s` if there are none."""
        deadline = self._now() + timeout_s
        if self._unsent:
            self.flush()
        left = self._left
        now = self._arrive()
        if self._flying:
            if now - left > _JUST_NOW_S:
                self._multi.perform()
            # This also runs right after `flush`, because a near target responds while requests are still being written.
            self._collect()
        while self._flying and not self._done:
            now = self._now()
            if now >= deadline:
                break
            limit_s = deadline - now
            timer_ms = self._multi.timeout()
            wait_s = min(limit_s, _MAX_SELECT_S) if timer_ms < 0 else min(limit_s, timer_ms / 1000)
            if wait_s > 0:
                before = self._now()
                if self._multi.select(wait_s) <= 0 and self._now() - before < wait_s / 2:
                    # There is no descriptor for select(2) (during name lookup, or above 1023), so sleep instead of spinning.
                    time.sleep(min(wait_s, 0.001))
            self._multi.perform()
            self._collect()
            if not self._done:
                self._sweep(self._now())
        self._left = self._now()
        done, self._done = self._done, []
        if self._pairs:
            done = self._joined(done)
        for lane, _ in done:
            self._lanes[lane].busy = False
        return done

    def _joined(self, done: list[tuple[int, Outcome]]) -> list[tuple[int, Outcome]]:
        """Return the finished lanes of callers. A request that was sent twice is finished with its second response."""
        ended = []
        for index, outcome in done:
            if index not in self._pairs:
                ended.append((index, outcome))
                continue
            lane, outcomes = self._pairs.pop(index)
            outcomes.append((self._lanes[index].request, outcome))
            self._lanes[index].busy = index == lane
            if len(outcomes) == 2:
                # The outcome with the lower status counts; the other is among its earlier exchanges.
                (_, better), other = sorted(outcomes, key=lambda one: getattr(one[1], "status_code", math.inf))
                earlier = ((*other, time.time()),)
                if isinstance(better, NetworkFailure):
                    better = replace(better, earlier=earlier)
                else:
                    better.earlier = earlier
                ended.append((lane, better))
        return ended

    def waited_s(self, lane: int) -> float:
        """Return the seconds since the request on a lane was sent, without the time in which the worker was busy elsewhere; 0 if none is in flight."""
        chosen = self._lanes[lane]
        return self._elapsed(chosen, self._now()) if chosen.is_flying else 0.0

    def close(self) -> None:
        for lane in self._lanes:
            if lane.is_flying:
                self._multi.remove_handle(lane.curl)
            lane.curl.close()
        self._lanes.clear()
        self._by_handle.clear()
        self._multi.close()

    def _arrive(self) -> float:
        """Return the time. If requests were in flight, the time since the last call is added to the stall."""
        now = self._now()
        if self._flying > len(self._unsent):
            self.stalled_s += now - self._left
        self._left = now
        return now

    def _collect(self) -> None:
        while True:
            queued, succeeded, failed = self._multi.info_read()
            if succeeded or failed:
                now = self._now()
                # The time of other work is subtracted: a response that waited to be read is not slow.
                ran = now - self.stalled_s
                for curl in succeeded:
                    self._multi.remove_handle(curl)
                    lane = self._by_handle[curl]
                    lane.is_flying = False
                    self._flying -= 1
                    elapsed_s = ran - lane.started + lane.stalled_before_s
                    self._done.append((lane.index, _read(lane.arrived, elapsed_s)))
                for curl, code, text in failed:
                    lane = self._land(curl)
                    if lane.wants_another_connection():
                        self._multi.add_handle(curl)
                        self._flying += 1
                        lane.is_flying = True
                        continue
                    elapsed_s = self._elapsed(lane, now)
                    self._done.append((lane.index, _read(lane.failure, elapsed_s, code, text)))
            if not queued:
                break
        # A response in a single packet is complete by now and needs no socket option.
        for lane in self._lanes if self._flying else ():
            if lane.is_flying:
                lane.acknowledge()

    def _sweep(self, now: float) -> None:
        if now < self._next_sweep:
            return
        self._next_sweep = now + _SWEEP_S
        limit = self._settings.stream_time_s
        for lane in self._lanes:
            if not lane.is_flying or not lane.is_event_stream:
                continue
            if now - lane.started > limit or lane.has_enough_events:
                self._land(lane.curl)
                self._done.append((lane.index, _read(lane.sample, self._elapsed(lane, now))))

    def _land(self, curl: pycurl.Curl) -> Lane:
        self._multi.remove_handle(curl)
        self._flying -= 1
        lane = self._by_handle[curl]
        lane.is_flying = False
        return lane

    def _elapsed(self, lane: Lane, now: float) -> float:
        return now - lane.started - (self.stalled_s - lane.stalled_before_s)


def _read(read: Callable[..., Outcome], elapsed_s: float, *more: object) -> Outcome:
    """Return the outcome of one transfer. Whatever the server sent, no exception is raised."""
    try:
        return read(elapsed_s, *more)
    except Exception as error:  # noqa: BLE001 - only this code knows which response failed
        text = f"the response could not be read: {type(error).__name__}: {error}"
        return NetworkFailure(FailureKind.OTHER, text, elapsed_s, cause=error)
