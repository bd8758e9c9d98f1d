"""What stands in an answer: statuses, codings, redirects, and what a terminal would obey."""

import gzip
import zlib

from tests.hostile.behaviours import (
    DAMAGED,
    FINE,
    MALFORMED,
    NO_JSON,
    SERVER_ERROR,
    UNDECODED,
    VIOLATES,
    Behaviour,
    json_answer,
)

_ESCAPES = b"\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\x08\x7f"
_OOPS = b"HTTP/1.1 500 Oops"


def _packed(body: bytes, coding: bytes) -> bytes:
    return json_answer(body, b"Content-Encoding: " + coding)


def _status(text: bytes) -> bytes:
    return json_answer(status=b"HTTP/1.1 " + text)


def _redirect(location: bytes, status: bytes = b"302 Found") -> bytes:
    return json_answer(FINE, b"Location: " + location, status=b"HTTP/1.1 " + status)


def _charset(name: bytes, body: bytes = FINE) -> bytes:
    return json_answer(body, status=_OOPS).replace(b"/json", b"/json; charset=" + name)


STATUSES = (
    Behaviour("status-0", _status(b"0 Zero"), (MALFORMED,)),
    Behaviour("status-000", _status(b"000 Zero"), (MALFORMED,)),
    Behaviour("status-99", _status(b"99 Low"), (MALFORMED,)),
    Behaviour("status-099", _status(b"099 Low"), (MALFORMED,)),
    Behaviour("status-299", _status(b"299 Fine")),
    Behaviour("status-600", _status(b"600 High"), (SERVER_ERROR,)),
    Behaviour("status-999", _status(b"999 High"), (SERVER_ERROR,)),
    Behaviour("status-1000", _status(b"1000 Higher"), (MALFORMED,)),
    Behaviour("status-minus", _status(b"-200 Minus"), (MALFORMED,)),
    Behaviour("status-words", _status(b"two hundred"), (MALFORMED,)),
    Behaviour("status-superscript", _status(b"20\xb2 Squared"), (MALFORMED,)),
    Behaviour("status-5000-digits", _status(b"9" * 5000), (MALFORMED,)),
    Behaviour("status-missing", json_answer(status=b"HTTP/1.1"), (MALFORMED,)),
    Behaviour("status-without-reason", json_answer(status=b"HTTP/1.1 200")),
)
CODINGS = (
    Behaviour("gzip-right", _packed(gzip.compress(FINE), b"gzip")),
    Behaviour("gzip-damaged", _packed(b"\x1f\x8b\x08\0" + b"x" * 50, b"gzip"), (DAMAGED,)),
    Behaviour("gzip-cut", _packed(gzip.compress(FINE)[:-5], b"gzip"), (DAMAGED,)),
    Behaviour("gzip-promised-only", _packed(FINE + b" ", b"gzip")),
    Behaviour("gzip-twice", _packed(gzip.compress(gzip.compress(FINE)), b"gzip, gzip")),
    Behaviour("gzip-named-twice", _packed(gzip.compress(FINE) + b"", b"gzip, gzip"), (DAMAGED,)),
    Behaviour("deflate-raw", _packed(zlib.compress(FINE)[2:-4], b"deflate")),
    Behaviour("deflate-damaged", _packed(b"\x78\x9c" + b"\xff" * 50, b"deflate"), (DAMAGED,)),
    Behaviour("coding-of-no-body", _packed(b"", b"gzip"), (NO_JSON,)),
    Behaviour("coding-nobody-knows", _packed(FINE + b",", b"rot13"), (UNDECODED,)),
    Behaviour("charset-idna", _charset(b"idna"), (SERVER_ERROR,)),
    Behaviour("charset-punycode", _charset(b"punycode", b"\xff-"), (SERVER_ERROR,)),
    Behaviour("charset-undefined", _charset(b"undefined"), (SERVER_ERROR,)),
    Behaviour("charset-nobody-knows", _charset(b"klingon"), (SERVER_ERROR,)),
    Behaviour("charset-no-name", _charset(b"\xe9\x1b[31m"), (SERVER_ERROR,)),
    Behaviour("charset-in-parts", _charset(b'x; charset*0*=a; charset*' + b"9" * 5000 + b"=b"), (SERVER_ERROR,)),
)  # fmt: skip
REDIRECTS = (
    Behaviour("redirect-to-itself", _redirect(b"/redirect-to-itself")),
    Behaviour("redirect-for-good", _redirect(b"/ordinary", b"308 Permanent Redirect")),
    Behaviour("redirect-to-a-file", _redirect(b"file:///etc/passwd")),
    Behaviour("redirect-to-another-host", _redirect(b"http://192.0.2.1:1/")),
    Behaviour("redirect-to-no-url", _redirect(b"http://[::1")),
    Behaviour("redirect-to-nothing", _redirect(b"")),
    Behaviour("redirect-without-place", _status(b"302 Found")),
    Behaviour("redirect-with-200", _redirect(b"/ordinary", b"200 OK")),
    Behaviour("redirect-to-escapes", _redirect(b"http://" + _ESCAPES)),
    Behaviour("redirect-long", _redirect(b"/" + b"a" * 90_000)),
)
ESCAPES = (
    Behaviour("escape-in-reason", json_answer(status=_OOPS + _ESCAPES), (SERVER_ERROR,)),
    Behaviour("escape-in-header", json_answer(FINE, b"X-A: " + _ESCAPES, status=_OOPS), (SERVER_ERROR,)),
    Behaviour("escape-in-media-type", json_answer().replace(b"/json", b"/" + _ESCAPES), ("Malformed media type",)),
    Behaviour("escape-in-body", json_answer(_ESCAPES, status=_OOPS), (SERVER_ERROR,)),
    Behaviour("escape-in-json", json_answer(b'{"ok": "\\u001b[2J\\u009b31m\\u202e"}'), (VIOLATES,)),
    Behaviour("escape-in-name", json_answer(b'{"\\u001b[2J": 1, "ok": {"\\u202e": 1}}'), (VIOLATES,)),
    Behaviour("escape-in-transfer-coding", json_answer(FINE, b"Transfer-Encoding: " + _ESCAPES), (MALFORMED,)),
    Behaviour("escape-in-coding", _packed(b"x", b"gzip, " + _ESCAPES), (UNDECODED,)),
    Behaviour("direction-in-reason", json_answer("Ω\u202eevil".encode(), status="HTTP/1.1 500 \u202eevil".encode()), (SERVER_ERROR,)),
)  # fmt: skip
