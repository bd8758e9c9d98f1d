"""HTTP/1.1 as bytes: requests out of a buffer, responses into one (RFC 9110, 9112). No sockets here."""

import re
from http import HTTPStatus

from msgspec import Struct, field

MAX_HEAD = 64 * 1024
MAX_BODY = 1024 * 1024

_METHOD = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TARGET = re.compile(rb"[\x21\x22\x24-\x7e\x80-\xff]+")
_HEADER = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\x00\r\n]*)")
_LENGTH = re.compile(r"[0-9]{1,18}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(;[^\r\n]*)?")
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_REASONS = {status.value: status.phrase for status in HTTPStatus}


class Request(Struct, frozen=True):
    """One whole request. Headers by lower-case name, repeated ones joined with a comma."""

    method: str
    target: bytes
    headers: dict[str, str]
    body: bytes = b""
    keep_alive: bool = True
    is_too_large: bool = False
    """The body was longer than `MAX_BODY`; it was read and dropped."""


class Reply(Struct, frozen=True):
    """One response: status, media type (empty: no body at all), body and further headers."""

    status: int
    media_type: str = ""
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class Broken(Struct, frozen=True):
    """The bytes are no request; the connection cannot be used any further."""

    status: int
    message: str


class _Pending(Struct):
    """A request whose head is read and whose body is on its way."""

    request: Request
    left: int
    """Bytes of the body, or of the current chunk with its line end, that are still to come."""
    is_chunked: bool = False
    in_trailer: bool = False
    size: int = 0
    parts: list[bytes] = field(default_factory=list)

    def take(self, data: bytes) -> None:
        """Keep a piece of the body, unless the whole is too large already."""
        self.size += len(data)
        if self.size <= MAX_BODY:
            self.parts.append(data)
        else:
            self.parts.clear()

    def finish(self) -> Request:
        """The request with its body."""
        head = self.request
        is_too_large = self.size > MAX_BODY
        body = b"" if is_too_large else b"".join(self.parts)
        return Request(head.method, head.target, head.headers, body, head.keep_alive, is_too_large)


class Parser:
    """Requests of one connection: feed bytes in, take requests out, in order."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._pending: _Pending | None = None
        self._continues = False

    def feed(self, data: bytes) -> None:
        """Add bytes as they arrived."""
        self._buffer += data

    def take_continue(self) -> bytes:
        """The interim response that the client waits for, if any, once."""
        wanted, self._continues = self._continues, False
        return _CONTINUE if wanted else b""

    def next(self) -> Request | Broken | None:
        """The next whole request, `None` while it is incomplete, `Broken` when it never can be."""
        if self._pending is None:
            started = self._read_head()
            if not isinstance(started, _Pending):
                return started
            self._pending = started
        pending = self._pending
        done = self._read_chunks(pending) if pending.is_chunked else self._read_exactly(pending)
        if isinstance(done, Broken):
            return done
        if not done:
            return None
        self._pending, self._continues = None, False
        return pending.finish()

    def _read_head(self) -> Request | Broken | _Pending | None:
        buffer = self._buffer
        # RFC 9112, 2.2: empty lines before a request are ignored.
        while buffer.startswith(b"\r\n"):
            del buffer[:2]
        end = buffer.find(b"\r\n\r\n")
        if end < 0 or end > MAX_HEAD:
            too_large = len(buffer) > MAX_HEAD
            return Broken(431, "the head of the request is too large") if too_large else None
        head = bytes(buffer[:end])
        del buffer[: end + 4]
        request = _parse_head(head)
        if isinstance(request, Broken):
            return request
        return self._start_body(request)

    def _start_body(self, request: Request) -> Request | Broken | _Pending:
        coding = request.headers.get("transfer-encoding")
        length = request.headers.get("content-length")
        if coding is None and length is None:
            return request
        if coding is not None and (length is not None or coding.lower() != "chunked"):
            return Broken(400, "the length of the body is not clear")
        if length is not None and _LENGTH.fullmatch(length) is None:
            return Broken(400, "Content-Length is not a number")
        self._continues = request.headers.get("expect", "").lower() == "100-continue"
        return _Pending(request, int(length or 0), is_chunked=coding is not None)

    def _read_exactly(self, pending: _Pending) -> bool:
        if pending.left:
            data = bytes(self._buffer[: pending.left])
            del self._buffer[: pending.left]
            pending.left -= len(data)
            pending.take(data)
        return not pending.left

    def _read_chunks(self, pending: _Pending) -> bool | Broken:
        buffer = self._buffer
        while True:
            if pending.left:
                # The last two bytes are the line end after the chunk.
                data = bytes(buffer[: max(0, pending.left - 2)])
                if data:
                    del buffer[: len(data)]
                    pending.left -= len(data)
                    pending.take(data)
                if len(buffer) < pending.left or pending.left > 2:
                    return False
                if buffer[:2] != b"\r\n":
                    return Broken(400, "a chunk of the body does not end where it says")
                del buffer[:2]
                pending.left = 0
            end = buffer.find(b"\r\n")
            if end < 0:
                too_long = len(buffer) > MAX_HEAD
                return Broken(400, "a line of the chunked body is too long") if too_long else False
            line = bytes(buffer[:end])
            del buffer[: end + 2]
            if pending.in_trailer:
                if not line:
                    return True
                continue
            size = _CHUNK.fullmatch(line)
            if size is None:
                return Broken(400, "a chunk of the body has no size")
            count = int(size[1], 16)
            pending.in_trailer = count == 0
            pending.left = count + 2 if count else 0


def render(reply: Reply, *, keep_alive: bool, has_body: bool = True) -> bytes:
    """The bytes of a response; without `has_body` (an answer to HEAD) the head alone."""
    head = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, '')}\r\n"]
    if reply.media_type:
        head.append(f"Content-Type: {reply.media_type}\r\n")
    if reply.status != HTTPStatus.NO_CONTENT:
        head.append(f"Content-Length: {len(reply.body)}\r\n")
    head.extend(f"{name}: {value}\r\n" for name, value in reply.headers)
    if not keep_alive:
        head.append("Connection: close\r\n")
    head.append("\r\n")
    data = "".join(head).encode("latin-1")
    return data + reply.body if has_body else data


def _parse_head(head: bytes) -> Request | Broken:
    lines = head.split(b"\r\n")
    words = lines[0].split(b" ")
    if len(words) != 3 or not _METHOD.fullmatch(words[0]) or not _TARGET.fullmatch(words[1]):
        return Broken(400, "the request line is malformed")
    if words[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        return Broken(505, "only HTTP/1.1 and HTTP/1.0 are spoken")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        match = _HEADER.fullmatch(line)
        if match is None:
            return Broken(400, "a header line is malformed")
        name, value = match[1].decode("ascii").lower(), match[2].strip(b" \t").decode("latin-1")
        if name in headers:
            separator = "; " if name == "cookie" else ", "
            value = headers[name] + separator + value
        headers[name] = value
    is_current = words[2] == b"HTTP/1.1"
    if is_current and ("host" not in headers or "," in headers["host"]):
        return Broken(400, "exactly one Host header is needed")
    connection = headers.get("connection", "").lower()
    keep_alive = "close" not in connection if is_current else "keep-alive" in connection
    return Request(words[0].decode("ascii"), words[1], headers, keep_alive=keep_alive)
