"""Answers that are too much: of bytes, of bytes once decoded, of levels, digits and names."""

import gzip
import zlib
from functools import cache

from tests.hostile.behaviours import (
    CUT,
    CUT_DECODED,
    FINE,
    SERVER_ERROR,
    TOO_DEEP,
    TOO_MANY_DIGITS,
    UNDECODED,
    VIOLATES,
    Behaviour,
    chunk,
    endless,
    head,
    json_answer,
    made,
)

_MIB = 1 << 20
_TYPE = b"Content-Type: application/json"


def _packed(body: bytes, coding: bytes) -> bytes:
    return json_answer(body, b"Content-Encoding: " + coding)


@cache
def _bomb() -> bytes:
    """128 MiB of zeros as gzip, made without having them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(_MIB)) for _ in range(128)), packer.flush()])


BODIES = (
    Behaviour("body-endless", endless(head(_TYPE, b"Connection: close"), b"a" * 65536), (CUT,)),
    Behaviour("body-endless-in-chunks", endless(head(_TYPE, b"Transfer-Encoding: chunked"), chunk(b"a" * 65536)), (CUT,)),
    Behaviour("body-endless-in-tiny-chunks", endless(head(_TYPE, b"Transfer-Encoding: chunked"), chunk(b"a" * 64) * 1000), (CUT,)),
    Behaviour("body-endless-events", endless(head(b"Content-Type: text/event-stream"), b"data: 1\n\n" * 5000), ("Undocumented Content-Type",)),
    Behaviour("body-as-large-as-promised", endless(head(_TYPE, b"Content-Length: 9000000000000"), b"a" * 65536), (CUT,)),
    Behaviour("body-of-5000-digits", endless(head(_TYPE, b"Content-Length: " + b"9" * 5000), b"a" * 65536), (CUT,)),
    Behaviour("gzip-bomb", made(lambda: _packed(_bomb(), b"gzip")), (CUT_DECODED,)),
    Behaviour("gzip-bomb-in-gzip", made(lambda: _packed(gzip.compress(_bomb()), b"gzip, gzip")), (CUT_DECODED,)),
    Behaviour("gzip-of-many-members", made(lambda: _packed(gzip.compress(b"") * 50_000, b"gzip")), (CUT_DECODED,)),
    Behaviour("deflate-bomb", made(lambda: _packed(zlib.compress(bytes(64 * _MIB), 9), b"deflate")), (CUT_DECODED,)),
    Behaviour("brotli-unread", _packed(b"\xcf\xff\xff\x7f\xf8'\x00\xe2\xb1@ \xf7\xfe\x9f!", b"br"), (UNDECODED,)),
    Behaviour("zstd-unread", _packed(b"(\xb5/\xfd\xa0\x00\x00\x00@", b"zstd"), (UNDECODED,)),
    Behaviour("codings-many", _packed(FINE, b", ".join([b"gzip"] * 5000))),
)  # fmt: skip
JSON = (
    Behaviour("body-of-a-mebibyte", json_answer(b'"' + b"a" * (_MIB - 2) + b'"'), (VIOLATES,)),
    Behaviour("json-deep-array", json_answer(b"[" * 500_000 + b"]" * 500_000), (TOO_DEEP,)),
    Behaviour("json-deep-open", json_answer(b"[" * _MIB), (TOO_DEEP,)),
    Behaviour("json-deep-object", json_answer(b'{"ok":' * 100_000 + b"1" + b"}" * 100_000), (TOO_DEEP,)),
    Behaviour("json-rather-deep", json_answer(b'{"ok":' * 900 + b"1" + b"}" * 900), (TOO_DEEP,)),
    Behaviour("json-deep-enough", json_answer(b'{"ok":' * 200 + b"1" + b"}" * 200), (VIOLATES,)),
    Behaviour("json-digits", json_answer(b'{"ok": ' + b"9" * 100_000 + b"}"), (TOO_MANY_DIGITS,)),
    Behaviour("json-exponent", json_answer(b'{"ok": 1e999999999}'), (VIOLATES,)),
    Behaviour("json-many-names", json_answer(b"{%b}" % b",".join(b'"%x":0' % n for n in range(20_000))), (VIOLATES,)),
    Behaviour("json-many-wrong", json_answer(b'{"ok": true, "all": [%b]}' % b",".join([b'""'] * 60_000)), (VIOLATES,)),
    Behaviour("json-long-name", json_answer(b'{"%b": {%b}}' % (b"n" * 400_000, b",".join(b'"%x":0' % n for n in range(20_000)))), (VIOLATES,)),
    Behaviour("json-same-name", json_answer(b"{%b}" % b",".join([b'"ok": 1'] * 30_000)), (VIOLATES,)),
)  # fmt: skip
HEADS = (
    Behaviour("media-type-long", head(_TYPE + b"; " + b"a" * 90_000, b"Content-Length: 12") + FINE),
    Behaviour("media-type-spaces", head(_TYPE + b";" + b" " * 90_000 + b"x", b"Content-Length: 12") + FINE),
    Behaviour("reason-long", json_answer(status=b"HTTP/1.1 500 " + b"R" * 90_000), (SERVER_ERROR,)),
    Behaviour("error-of-one-word", json_answer(b"a" * 4000 + b"1", status=b"HTTP/1.1 500 Oops"), (SERVER_ERROR,)),
)  # fmt: skip
