"""The outcome of a request: the response of any client, or the reason why there is none."""

import base64
import json
import re
import zlib
from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from functools import cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from msgspec import MsgspecError, Struct
from msgspec.json import decode

from checker.core.media_types import media_type_of
from checker.core.request import BaseUrl, GivenHeaders, SentRequest, WireRequest, header_pairs, latin_fields
from checker.core.user_code import require, require_texts

_USUAL: Final = {
    "accept-encoding": re.compile(r"gzip, deflate(, br)?(, zstd)?\Z"),
    "content-length": re.compile(r"[0-9]+\Z"),
    "user-agent": re.compile(r"(python-(requests|httpx)|Python/|testclient\b|[Ww]erkzeug/)"),
}
"""Headers that clients add by themselves -> pattern of their usual values. These headers do not belong to the request of the user."""


def foreign_parts(response: Any) -> dict[str, Any]:
    """Return the arguments of `Response` for a response of any client. Raises `TypeError` for other objects and for responses that were not read."""
    status = getattr(response, "status_code", None)
    if status is None:
        status = getattr(response, "status", None)
    headers = getattr(response, "headers", None)
    if not isinstance(status, int) or headers is None:
        raise TypeError(f"{type(response).__name__} is not a response of a known HTTP client")
    found = getattr(response, "reason", None) or getattr(response, "reason_phrase", None)
    if found is None:
        whole = getattr(response, "status", "")
        found = whole.partition(" ")[2] if isinstance(whole, str) else ""
    elapsed = _asked(response, "elapsed")
    raw_version = getattr(getattr(response, "raw", None), "version", None)
    if isinstance(raw_version, int):
        http_version = f"{raw_version // 10}.{raw_version % 10}" if raw_version > 9 else str(raw_version)
    else:
        named = _asked(response, "http_version")
        http_version = named.removeprefix("HTTP/") if isinstance(named, str) else "1.1"
    try:
        request = request_of(response)
    except RuntimeError:
        # `httpx` raises for a response that has no request.
        request = None
    return {
        "status_code": status,
        "headers": _header_pairs(response, headers),
        "content": _content(response),
        "elapsed": elapsed.total_seconds() if isinstance(elapsed, timedelta) else 0.0,
        "message": str(found),
        "http_version": http_version,
        "request": request,
    }


def is_decoded(response: Any) -> bool:
    """Whether a client has decoded the `Content-Encoding`. Clients keep the header in this case; test clients of applications do not decode."""
    return not hasattr(response, "get_data") and not hasattr(response, "wsgi_request")


def request_of(response: Any) -> WireRequest | None:
    """Return the request of a response of another client; None if the response does not have it. Raises the `RuntimeError` of `httpx`."""
    ours = getattr(response, "wsgi_request", None)
    if ours is None:
        return foreign_request(getattr(response, "request", None))
    # In Django's test client the request is an environment; the request of the application is another attribute.
    fields = latin_fields(ours.headers.items())
    return WireRequest(ours.method, ours.get_full_path().encode("ascii", "replace"), fields)


def foreign_request(request: Any) -> WireRequest | None:
    """Return a request of another client without the headers that the client adds; None for other objects."""
    method, url = getattr(request, "method", None), getattr(request, "url", None)
    if not isinstance(method, str) or url is None:
        return None
    parts = urlsplit(str(url))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    # `httpx` keeps the part of a body that it has read as `_content`.
    body = getattr(request, "body", None) if hasattr(request, "body") else getattr(request, "_content", None) or None
    pairs = _header_pairs(request, getattr(request, "headers", {}))
    sent = WireRequest(
        method,
        target.encode("ascii", "replace"),
        latin_fields(
            (name, value)
            for name, value in pairs
            if not (name.lower() == "host" and value == parts.netloc) and not is_usual(name.lower(), value)
        ),
        body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else None,
    )
    try:
        origin = BaseUrl.from_url(f"{parts.scheme}://{parts.netloc}")
    except ValueError:
        return sent.shown()
    return sent.shown(origin)


def is_usual(name: str, value: str) -> bool:
    """Whether a client adds this header (name in lower case) by itself, so that no user has set it."""
    usual = _USUAL.get(name)
    return usual is not None and usual.match(value) is not None


def _header_pairs(response: Any, headers: Any) -> list[tuple[str, str]]:
    # `requests` joins repeated headers; the urllib3 response keeps them separate.
    for source in (getattr(getattr(response, "raw", None), "headers", None), headers):
        for method in ("multi_items", "iteritems", "items"):
            items = getattr(source, method, None)
            if items is not None:
                return [(str(name), str(value)) for name, value in items()]
    return []


def _content(response: Any) -> bytes:
    content = getattr(response, "content", None)
    if not isinstance(content, bytes | bytearray | None):
        # In aiohttp this is a stream, and the part that was read is kept elsewhere.
        content = getattr(response, "_body", None)
        if content is None:
            raise TypeError("the response was not read; `await response.read()` before it is judged")
    if content is None:
        content = response.get_data() if hasattr(response, "get_data") else b""
    return bytes(content)


def _asked(response: Any, name: str) -> Any:
    try:
        return getattr(response, name, None)
    except RuntimeError:
        # `httpx` raises for a response that has no request.
        return None


CONTENT_ENCODING: Final = "content-encoding"
_NAME_LENGTH: Final = len(CONTENT_ENCODING)
MOST_DECODED: Final = 1 << 20  # Most bytes of a decoded body, as many as are kept of an uncompressed one.
_MOST_CODINGS: Final = 8
_MOST_MEMBERS: Final = 128  # Maximum number of members in one gzip body: each member copies the data that follows it.
_GZIP, _ZLIB, _RAW = 31, 15, -15
_FORMATS: Final = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB}


class Decoded(Struct, frozen=True):
    """The content of a body without its codings."""

    content: bytes
    is_cut: bool  # True if this is only its beginning.


class Undecoded(Struct, frozen=True):
    """The reason why a body cannot be decoded."""

    message: str
    is_damaged: bool  # True if the body contradicts its `Content-Encoding`; False if checker cannot decode that one.


def codings_of(fields: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the codings in the order in which they were applied, in lower case, without `identity`."""
    values = [value for name, value in fields if len(name) == _NAME_LENGTH and name.lower() == CONTENT_ENCODING]
    # Most responses have no content coding.
    if not values:
        return ()
    named = (part.strip().lower() for part in ",".join(values).split(","))
    return tuple(coding for coding in named if coding not in ("", "identity"))


def decoded(content: bytes, codings: tuple[str, ...], *, is_cut: bool, most: int = MOST_DECODED) -> Decoded | Undecoded:
    """Return the first `most` bytes of a body without its codings; if the body is cut, as much as can be decoded."""
    found = Decoded(content, is_cut)
    if not codings:
        return found
    unknown = [coding for coding in codings if coding not in _FORMATS]
    if unknown or len(codings) > _MOST_CODINGS:
        return Undecoded(f"Content-Encoding: {', '.join(unknown or codings)}", is_damaged=False)
    for coding in reversed(codings):
        try:
            found = _inflated(found, coding, most)
        except (zlib.error, EOFError) as error:
            return Undecoded(f"Content-Encoding: {coding}: {error}", is_damaged=True)
    return found


def readable(content: bytes, codings: tuple[str, ...], *, is_cut: bool) -> Decoded:
    """Return a body without its codings, or as it was received if it cannot be decoded."""
    found = decoded(content, codings, is_cut=is_cut)
    return found if isinstance(found, Decoded) else Decoded(content, is_cut)


def _inflated(coded: Decoded, coding: str, most: int) -> Decoded:
    """Raises `zlib.error`, and `EOFError` for data that ends too early although it is not cut."""
    rest, found = coded.content, b""
    if not rest:
        # Some servers name the coding although nothing was compressed.
        return coded
    bits = _FORMATS[coding]
    if bits == _ZLIB and not (rest[0] & 15 == 8 and (len(rest) == 1 or int.from_bytes(rest[:2], "big") % 31 == 0)):
        # Many servers leave out the wrapper of RFC 1950, which begins with these two bytes (RFC 9110, 8.4.1.2).
        bits = _RAW
    for _ in range(_MOST_MEMBERS):
        member = zlib.decompressobj(bits)
        found += member.decompress(rest, most + 1 - len(found))
        if len(found) > most:
            return Decoded(found[:most], is_cut=True)
        if not member.eof:
            if coded.is_cut:
                return Decoded(found, is_cut=True)
            raise EOFError("the compressed data ends too early")
        rest = member.unused_data
        # Bytes after the last member are padding.
        if bits != _GZIP or not rest.startswith(b"\x1f\x8b"):
            return Decoded(found, coded.is_cut)
    return Decoded(found, is_cut=True)


_CONTENT_TYPE = "content-type"
_CONTENT_TYPE_LENGTH = len(_CONTENT_TYPE)
_CONTENT_TYPE_BYTES = _CONTENT_TYPE.encode()
_LONGEST_CONTENT_TYPE = 1024
"""Characters of a `Content-Type` that are kept. Responses are grouped by it, so it must be short."""
_PARTIAL = 206
_C, _COLON, _ENDS = ord("c"), ord(":"), frozenset(b"\r\n")


class Response:
    """Wrapper over HTTP, ASGI and WSGI responses. Views of the headers and the body are computed on first use."""

    is_decoded = False
    """True if `content` came from a client that had decoded its `Content-Encoding`."""
    redirects = 0
    """Number of redirects that led to the response; `request` is the first request of the chain."""
    earlier: "Earlier" = ()
    """Other exchanges of the same request: redirects, retries, the twin of a request that was sent twice at once."""
    is_traceback = False
    """True if `content` is the traceback of an application in this process, which no client of its server would see."""
    raised: BaseException | None = None
    """The exception of an application in this process, if callers want to see it. The frames of the exception live as long as the response."""

    if TYPE_CHECKING:

        @property
        def request(self) -> SentRequest | None:
            """Return the request of this response, if it is known."""

        @request.setter
        def request(self, value: WireRequest | None) -> None: ...

    def __init__(
        self,
        status_code: int,
        headers: GivenHeaders,
        content: bytes = b"",
        *,
        elapsed: float = 0.0,
        request: Any = None,
        message: str = "",
        http_version: str = "1.1",
        content_size: int | None = None,
        verify: bool = True,
        encoding: str | None = None,
    ) -> None:
        """`headers`: pairs, or a mapping of names to a text or a list. `request`: a `WireRequest`, or a request of another client."""
        raw_headers = header_pairs(headers)
        require(isinstance(status_code, int), "status_code", "a number such as 200", status_code)
        require(isinstance(content, bytes), "content", "bytes", content)
        require_texts(encoding=encoding)
        self.status_code = status_code
        self.raw_headers = raw_headers
        self.header_lines: list[bytes] | None = None
        """Raw lines as they arrived, status line first, blank line and trailers last. None in process."""
        self.content = content
        self.elapsed = elapsed
        is_ours = request is None or isinstance(request, WireRequest)
        self.request = request if is_ours else foreign_request(request)
        self.message = message
        self.http_version = http_version
        self.content_size = len(content) if content_size is None else content_size
        self.is_truncated = self.content_size > len(content)
        """True if `content` is only the beginning of the sent body."""
        self.verify = verify
        self.content_type = _content_type_of(raw_headers)
        """First `Content-Type` as received, or its beginning if it is longer than any type is."""
        if encoding is not None:
            self.encoding = self._named_charset = encoding

    @classmethod
    def from_lines(
        cls,
        status_code: int,
        lines: list[bytes],
        content: bytes,
        *,
        elapsed: float,
        request: WireRequest,
        message: str,
        http_version: str,
        content_size: int | None = None,
        verify: bool = True,
    ) -> "Response":
        """Return the response of raw header lines, status line first."""
        # A response is made for each request, and a call of `__init__` would take as long as all of this.
        response = cls.__new__(cls)
        response.status_code = status_code
        response.header_lines = lines
        response.content = content
        response.elapsed = elapsed
        response.request = request
        response.message = message
        response.http_version = http_version
        size = len(content)
        response.content_size = size if content_size is None else content_size
        response.is_truncated = response.content_size > size
        response.verify = verify
        response.content_type = _content_type_in(lines)
        return response

    @classmethod
    def from_any(cls, response: Any, verify: bool = True) -> "Response":
        """Return a response of `requests`, `httpx`, aiohttp (read), or of a test client of werkzeug, Starlette or Django.

        A `Response` is returned as it is. `verify`: whether the certificate was verified, which responses do not state.
        Raises `TypeError` for other objects.
        """
        if isinstance(response, Response):
            return response
        found = cls(**foreign_parts(response), verify=verify)
        found.is_decoded = is_decoded(response)
        return found

    from_requests = from_httpx = from_httpx2 = from_wsgi = from_any

    @property
    def stream_cut_short(self) -> bool:
        """Whether the response is a stream of events that was closed before its end."""
        content_type = self.content_type or ""
        return self.is_truncated and content_type.lower().startswith("text/event-stream")

    def __repr__(self) -> str:
        return f"<Response [{self.status_code}]>"

    @cached_property
    def raw_headers(self) -> list[tuple[str, str]]:
        """Names and values in order, as received; bytes read as Latin-1."""
        return _parsed(self.header_lines or [])

    @property
    def header_count(self) -> int:
        """Number of header lines, folded ones included."""
        lines = self.header_lines
        return len(self.raw_headers) if lines is None else len(lines)

    @property
    def head(self) -> bytes:
        """Header lines as received; without any, lines made of names and values."""
        lines = self.header_lines
        return head_of(self.raw_headers) if lines is None else b"".join(lines[1:])

    @cached_property
    def headers(self) -> Mapping[str, list[str]]:
        """Lower-cased name -> values in order."""
        found: dict[str, list[str]] = {}
        for name, value in self.raw_headers:
            found.setdefault(name.lower(), []).append(value)
        return found

    @property
    def body_size(self) -> int | None:
        """Body size in bytes; None if there is no content."""
        return self.content_size if self.content_size else None

    @cached_property
    def encoding(self) -> str | None:
        """Return the charset that `Content-Type` names, else the one that the content suggests; None if it is not text."""
        if self._named_charset:
            return self._named_charset
        content = self.readable.content
        if not content:
            return None
        if content.startswith(BOM_UTF8):
            return "utf-8-sig"
        try:
            # If a body is cut, its last character may be cut as well.
            getincrementaldecoder("utf-8")().decode(content, final=not self.readable.is_cut)
        except UnicodeDecodeError:
            # Imported on first use: 31 ms.
            guesses = import_module("charset_normalizer").from_bytes(content, cp_isolation=_LIKELY_ENCODINGS)
            ranks = ((one.chaos, -one.coherence, _LIKELY_ENCODINGS.index(one.encoding)) for one in guesses)
            return next((_LIKELY_ENCODINGS[rank] for *_, rank in sorted(ranks)), None)
        return "utf-8"

    @cached_property
    def _named_charset(self) -> str | None:
        media_type = media_type_of(self.content_type or "")
        name = None if media_type is None else media_type.charset
        try:
            # Python has codecs that are not encodings of text, such as `base64`.
            return name and b"a".decode(name, "replace") and name
        except (LookupError, ValueError):
            return None

    @property
    def decoded(self) -> Decoded | Undecoded:
        """Return the content without its `Content-Encoding`, or the reason why it cannot be decoded."""
        codings = self._codings
        if codings and self.status_code == _PARTIAL:
            return Undecoded("only a part of a compressed body was sent", is_damaged=False)
        return decoded(self.content, codings, is_cut=self.is_truncated)

    @property
    def readable(self) -> Decoded:
        """Return the content without its codings for people to read, or as received if it cannot be decoded."""
        return readable(self.content, self._codings, is_cut=self.is_truncated)

    @property
    def _codings(self) -> tuple[str, ...]:
        return () if self.is_decoded else codings_of(self.raw_headers)

    @property
    def text(self) -> str:
        """Return the content without its `Content-Encoding`, decoded with the named, detected or default encoding.

        Raises `UnicodeDecodeError` for content that is not text in this encoding.
        """
        return self.readable.content.decode(self.encoding or "utf-8")

    def text_lossy(self) -> str:
        """Return the content as text in the named encoding or UTF-8, without raising: undecodable bytes are replaced."""
        return self.readable.content.decode(self._named_charset or "utf-8", "replace")

    @property
    def encoded_body(self) -> str:
        """Base64 of the body as received."""
        return base64.b64encode(self.content).decode("ascii")

    @cached_property
    def _json(self) -> Any:
        content = self.readable.content
        try:
            # msgspec takes a quarter of the time. Python reads more than JSON, such as `NaN`.
            return decode(content)
        except (MsgspecError, ValueError, RecursionError):
            return self._lenient_json(content)

    def _lenient_json(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except json.JSONDecodeError:
            raise
        except UnicodeDecodeError as error:
            # JSON in the charset that the response names. If it is not text in that charset either, the error about
            # UTF-8 is raised as `JSONDecodeError`.
            try:
                text = content.decode(self._named_charset or "utf-8")
            except (LookupError, ValueError):
                lossy = content.decode("utf-8", "replace")
                raise json.JSONDecodeError(f"no text in {error.encoding}: {error.reason}", lossy, 0) from None
            return json.loads(text)
        except RecursionError:
            reason = "nested too deeply"
        except ValueError:
            reason = "a number of too many digits"
        raise json.JSONDecodeError(reason, content.decode("utf-8", "replace"), 0)

    def json(self) -> Any:
        """Return the parsed content, without its `Content-Encoding`.

        It has to be in a Unicode encoding (RFC 8259, 8.1); other content is read in the charset of `Content-Type`. Raises
        `json.JSONDecodeError` for invalid content, and beyond limits of Python.
        """
        return self._json

    def clear_cache(self) -> None:
        """Drop the parsed JSON that `json` keeps."""
        self.__dict__.pop("_json", None)

    def truncated(self, limit: int) -> "Response":
        """Return a copy that keeps at most `limit` bytes; `body_size` still reports the full size."""
        shorter = Response(
            self.status_code,
            self.raw_headers,
            self.content[:limit],
            elapsed=self.elapsed,
            request=self.request,
            message=self.message,
            http_version=self.http_version,
            content_size=self.content_size,
            verify=self.verify,
        )
        shorter.header_lines = self.header_lines
        shorter.is_decoded, shorter.redirects = self.is_decoded, self.redirects
        shorter.earlier = self.earlier
        return shorter


_LIKELY_ENCODINGS: Final = (
    *("cp1252", "latin_1", "utf_8", "utf_16", "utf_32", "cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949"),
    *("cp1250", "iso8859_2", "cp1251", "koi8_r", "koi8_u", "cp866", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("cp1258", "cp874"),
)
"""Most of https://encoding.spec.whatwg.org; the first of equally good guesses counts.

If all codecs of Python were tried, a short text in Latin-1 would be taken for EBCDIC.
"""


def _content_type_of(headers: list[tuple[str, str]]) -> str | None:
    for name, value in headers:
        if len(name) == _CONTENT_TYPE_LENGTH and name.lower() == _CONTENT_TYPE:
            return value[:_LONGEST_CONTENT_TYPE]
    return None


def _content_type_in(lines: list[bytes]) -> str | None:
    """Return the `Content-Type` of raw header lines. It is needed for each response, so all lines are parsed only if it is spelled oddly."""
    for index, line in enumerate(lines):
        first = line[0]
        if first | 32 == _C:
            if line[:_CONTENT_TYPE_LENGTH].lower() == _CONTENT_TYPE_BYTES:
                following = lines[index + 1][:1] if index + 1 < len(lines) else b""
                is_usual = (
                    line[_CONTENT_TYPE_LENGTH] == _COLON
                    and following not in (b" ", b"\t")
                    and len(line) <= _LONGEST_CONTENT_TYPE
                )
                return _field(line)[1] if is_usual else _content_type_of(_parsed(lines))
        elif first in _ENDS:
            break
    return None


def head_of(headers: Iterable[tuple[str, str]]) -> bytes:
    """Return names and values as header lines."""
    lines = (f"{name}: {value}\r\n" for name, value in headers)
    return "".join(lines).encode("latin-1", "backslashreplace")


def headers_of(head: bytes) -> list[tuple[str, str]]:
    """Return the names and values of header lines."""
    *lines, rest = head.split(b"\n")
    return _parsed([b"", *(line + b"\n" for line in lines), *filter(None, (rest,)), b"\r\n"])


_ODD = ("", "")


# The size is limited because lines may have 100 KB.
@lru_cache(maxsize=256)
def _field(line: bytes) -> tuple[str, str]:
    """Return name and value; `_ODD` for a blank or folded line, which has none."""
    return _ODD if line[:1].isspace() else _split(line)


def _split(line: bytes) -> tuple[str, str]:
    name, _, value = line.decode("latin-1").partition(":")
    return name.strip(), value.strip(" \t\r\n")


def _parsed(lines: list[bytes]) -> list[tuple[str, str]]:
    usual = list(map(_field, lines[1:-1]))
    if _ODD not in usual and lines[-1:] == [b"\r\n"]:
        return usual
    fields: list[tuple[str, str]] = []
    for line in lines[1:]:
        if line in (b"\r\n", b"\n"):
            break
        if line[:1] in (b" ", b"\t") and fields:
            # A folded line continues the one above (RFC 9112, 5.2).
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {line.decode('latin-1').strip()}".strip())
        else:
            fields.append(_split(line))
    return fields


class FailureKind(StrEnum):
    """The reason why no complete response arrived."""

    REFUSED = "connection refused"
    DNS = "name not resolved"
    TIMEOUT = "timed out"
    GIVEN_UP = "given up"
    """The run ended before the response arrived. This is no fault of the API."""
    DROPPED = "connection dropped"
    MALFORMED = "malformed response"
    TOO_LARGE = "response too large"
    UNSENDABLE = "request cannot be sent"
    OTHER = "network error"


class NetworkFailure(Struct, frozen=True):
    """A request that got no complete response: an expected outcome, never an exception."""

    kind: FailureKind
    message: str
    elapsed: float
    partial: Response | None = None
    """The part that arrived before the error."""
    may_be_late: bool = False
    """Whether no byte arrived on a reused connection. The server may just have closed the connection, so the request may not be the reason."""
    cause: Exception | None = None
    """The exception that was raised while the response was read: a bug in checker, which fails only this case."""
    earlier: "Earlier" = ()
    """Other exchanges of the same request: redirects, retries, the twin of a request that was sent twice at once."""


Outcome = Response | NetworkFailure  # Outcome of one send: a response, or the failure that stands for it.

Earlier = tuple[tuple[WireRequest, Outcome, float], ...]
"""(request, outcome, time in seconds since the epoch) of followed redirects, and of failures after which the request was sent again."""
