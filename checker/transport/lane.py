"""One reused libcurl handle: loads a request into it, reads the outcome out of it."""

import re
from functools import lru_cache

import pycurl

from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.transport.connection_setup import configure_connection, milliseconds
from checker.transport.connections import Connections
from checker.transport.header_lines import Unsendable, header_lines, is_broken
from checker.transport.settings import HttpSettings, travelling

WEIRD_REPLY = 8
"""CURLE_WEIRD_SERVER_REPLY, which pycurl does not name."""
_TOO_LARGE = 100
"""CURLE_TOO_LARGE, likewise: the headers are longer than libcurl takes."""
_OVERFLOW = "response headers"
"""What libcurl says when those of several interim answers are too long together, with the code of a reset connection."""

_UNKNOWN_CALLER = "certificate required"
"""Of the alert of that name (RFC 8446, 6.2)."""

_LONGEST_REASON = 4096
_STATUS_LINE = re.compile(
    rb"HTTP/([0-9](?:\.[0-9])?)[ \t]+([0-9]{3})(?![^\s])(.{,%d})" % _LONGEST_REASON
)
"""libcurl is more generous: what it takes for a status may have 5,000 digits. A record keeps less of a reason phrase, after masking."""

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
    # A header line that libcurl cannot file under any name: a trailer that is folded, with nothing above it.
    pycurl.E_BAD_FUNCTION_ARGUMENT: FailureKind.MALFORMED,
    _TOO_LARGE: FailureKind.TOO_LARGE,
}


def fault(code: int, text: str, settings: HttpSettings) -> tuple[FailureKind, str]:
    """Kind and sentence for libcurl's error `code` and its own `text`."""
    if _UNKNOWN_CALLER in text.lower():
        # With TLS 1.3 that comes when the request has been sent, as the answer to it.
        return FailureKind.OTHER, "it asks for a client certificate; give it with `--request-cert`"
    kind = _KINDS.get(code, FailureKind.OTHER)
    if code == pycurl.E_RECV_ERROR and "chunk" in text.lower():
        # The same code as for a reset connection.
        kind = FailureKind.MALFORMED
    elif code == pycurl.E_RECV_ERROR and _OVERFLOW in text:
        kind = FailureKind.TOO_LARGE
    match kind:
        case FailureKind.TOO_LARGE:
            return (
                kind,
                "its header and trailer lines are too long or too many: at most 300 KB and 5000 of them are read",
            )
        case FailureKind.MALFORMED if code == pycurl.E_UNSUPPORTED_PROTOCOL:
            return kind, f"it does not begin with a status line of HTTP/1.1 ({text})"
        case FailureKind.TIMEOUT:
            return kind, f"no complete response within {settings.request_timeout_s:g} s"
        case FailureKind.DROPPED if code == pycurl.E_PARTIAL_FILE:
            return kind, "the connection was closed in the middle of the response"
        case FailureKind.DROPPED:
            return kind, "the connection was closed without a complete response"
        case _:
            return kind, text or kind.value


@lru_cache(maxsize=256)
def status_of(line: bytes) -> tuple[str, int, str] | None:
    """Version, status and reason phrase of a status line; None for a line that is none (RFC 9112, 4)."""
    found = _STATUS_LINE.match(line)
    if found is None:
        return None
    version, status, reason = found.groups()
    return version.decode(), int(status), (reason or b"").decode("latin-1").strip()


_CUT = -1
"""What a write callback returns to stop a transfer."""
_BLANK = frozenset((b"\r\n", b"\n"))
_LENGTH_DIGITS = 18
"""Of a length that may be meant: nobody sends more than 2^63 bytes, and Python reads no number of 5,000 digits."""


class Lane:
    """A handle with the request that is on it."""

    def __init__(
        self, index: int, origin: BaseUrl, settings: HttpSettings, connections: Connections
    ) -> None:
        self.index = index
        self._connections = connections
        self.busy = False
        """From `start` until the outcome is handed out."""
        self.is_flying = False
        """While libcurl has the handle."""
        self.started = 0.0
        self.stalled_before_s = 0.0
        self.request = WireRequest("GET", b"/", [])
        self.curl = pycurl.Curl()
        self._origin = origin
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
        """Set what stays as it is from request to request, and forget what the last one left."""
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
        curl.setopt(pycurl.TIMEOUT_MS, milliseconds(settings.request_timeout_s))
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, milliseconds(settings.connect_timeout_s))
        # Servers close idle connections after 2 s and more: a request that meets the close would look dropped.
        curl.setopt(pycurl.MAXAGE_CONN, 1)
        # Only for a case that carries `Expect` itself: then curl waits for a 100 before the body.
        curl.setopt(pycurl.EXPECT_100_TIMEOUT_MS, 100)
        curl.setopt(pycurl.HEADERFUNCTION, self._lines.append)
        curl.setopt(pycurl.WRITEFUNCTION, self._write)
        curl.setopt(pycurl.SOCKOPTFUNCTION, self._on_socket)
        curl.setopt(pycurl.PREREQFUNCTION, self._before_send)
        configure_connection(curl, settings)

    def limit_wait(self, seconds: float | None) -> None:
        """Limit the time of the next requests, if that is less than the settings give."""
        limit_s = self._settings.request_timeout_s
        if seconds is not None and seconds >= limit_s:
            seconds = None
        if seconds != self._patience_s:
            self._patience_s = seconds
            self.curl.setopt(
                pycurl.TIMEOUT_MS, milliseconds(limit_s if seconds is None else seconds)
            )

    def load(self, request: WireRequest, patience_s: float | None = None) -> None:
        """Put a request on the handle; only what differs from the last one is set. Raises `Unsendable`."""
        if request.via is not self._via or patience_s != self._patience_s:
            self._adapt(request, patience_s)
        target, method = request.target, request.method
        if self._target_prefix:
            target = self._target_prefix + target
        # Lines that came with the request are whole.
        written, lines, keeps_connection = target, request.lines, True
        if lines is None:
            lines, keeps_connection = header_lines(request)
            written += b"".join(lines)
        if method != self._method:
            written += _spelt(method)
        if is_broken(written):
            raise Unsendable(
                "NUL, CR or LF in the method, target or a header would break the message apart"
            )
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

    def _adapt(self, request: WireRequest, patience_s: float | None) -> None:
        """Travel as the settings of another operation say. Connections are kept; libcurl knows which of them fit."""
        if request.via is not self._via:
            self.curl.reset()
            self._configure(travelling(request, self._usual))
            self._via = request.via
        self.limit_wait(patience_s)

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
            # The old body cannot be unset; HTTPGET makes curl forget that there was one.
            curl.setopt(pycurl.HTTPGET, 1)
        if is_head and not self._is_head:
            curl.setopt(pycurl.NOBODY, 1)
        self._has_body, self._is_head = body is not None, is_head

    def wants_another_connection(self) -> bool:
        """True once after a transfer that sent nothing, because its connection was closed while idle.

        The handle is ready to be added again.
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
        # Called each time that curl is about to send. It sends a second time, unasked, when a reused connection
        # dies unanswered: but the server may have acted already, so that is an outcome.
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
        """Acknowledge the part of a response that has arrived, once for each response: the server may hold the rest back."""
        if self._lines and not self._is_acknowledged:
            self._is_acknowledged = True
            self._connections.acknowledge(self._local_port)

    @property
    def is_event_stream(self) -> bool:
        """True when the headers of an event stream have arrived."""
        return any(
            line[:13].lower() == b"content-type:" and b"text/event-stream" in line.lower()
            for line in self._lines
        )

    @property
    def has_enough_events(self) -> bool:
        """Whether as many events of a stream have arrived as are listened to. A blank line ends each."""
        text = b"".join(self._chunks).replace(b"\r\n", b"\n")
        return text.count(b"\n\n") >= self._settings.max_stream_events

    def arrived(self, elapsed_s: float) -> Outcome:
        """Return the outcome of a transfer that libcurl calls complete."""
        lines = self._lines
        if lines and lines[-1] not in _BLANK and not _has_blank(_last_block(lines)):
            return self.failure(elapsed_s, pycurl.E_PARTIAL_FILE, "")
        return self.response(elapsed_s) or NetworkFailure(
            *fault(WEIRD_REPLY, "no status line with a status of three digits", self._settings),
            elapsed_s,
        )

    def sample(self, elapsed_s: float) -> Outcome:
        """Return the part of an endless transfer that has arrived, as a truncated response."""
        return self.response(elapsed_s, is_cut=True) or self.failure(
            elapsed_s, pycurl.E_OPERATION_TIMEDOUT, ""
        )

    def failure(self, elapsed_s: float, code: int, text: str) -> Outcome:
        """Return the outcome of a transfer that ended with libcurl's error `code`."""
        if code == pycurl.E_WRITE_ERROR and self._size > self._settings.max_response_bytes:
            return self.sample(elapsed_s)
        if code == pycurl.E_OPERATION_TIMEDOUT and self.is_event_stream:
            return self.sample(elapsed_s)
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
        """Return the response of a transfer, which may be cut; None without a status line."""
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
        size = None
        if is_cut:
            size = max(_content_length(lines), self._size, len(content))
            content = content[: self._settings.max_response_bytes]
            size = max(size, len(content) + 1)
        return Response.from_lines(
            status,
            # A copy: the lane clears its own list for the next request.
            lines[:],
            content,
            elapsed=elapsed_s,
            request=self.request,
            message=reason,
            http_version=version,
            content_size=size,
            verify=self._settings.verify is not False,
        )


def _spelt(method: str) -> bytes:
    if not method.isascii():
        raise Unsendable(f"libcurl sends no method beyond ASCII: {method!r}")
    return method.encode()


def _target_prefix(origin: BaseUrl, settings: HttpSettings) -> bytes:
    """Return the prefix of every target: an HTTP proxy wants it absolute (RFC 9112, 3.2.2)."""
    proxy = settings.proxy or ""
    is_tunnel = origin.scheme == "https" or proxy.startswith("socks")
    return b"" if not proxy or is_tunnel else origin.plain.url.encode("ascii")


def _last_block(lines: list[bytes]) -> list[bytes]:
    """Lines from the last status line on: 100, 103 and a proxy's answer stand before it."""
    for index in range(len(lines) - 1, 0, -1):
        if lines[index].startswith(b"HTTP/") and lines[index - 1] in _BLANK:
            return lines[index:]
    return lines


def _has_blank(lines: list[bytes]) -> bool:
    """Whether a block of header lines is whole."""
    return not _BLANK.isdisjoint(lines)


def _content_length(lines: list[bytes]) -> int:
    for line in lines:
        if line[:15].lower() == b"content-length:":
            text = line[15:].strip()
            return int(text) if text.isdigit() and len(text) <= _LENGTH_DIGITS else 0
    return 0
