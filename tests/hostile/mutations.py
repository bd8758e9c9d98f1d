"""Raw answers that go wrong in every part: status line, headers, framing, codings, body. A number says which."""

import gzip
import random
import zlib
from collections.abc import Callable, Sequence

_TEN = b"9999999999"
_JSON = b'{"id": 1, "name": "x", "tags": ["a", "b"], "inner": {"on": true}}'
_XML = b'<?xml version="1.0"?><thing id="1"><name>x</name></thing>'
_EVENTS = b"id: 1\nevent: x\nretry: 10\ndata: {}\n\ndata: 1\ndata: 2\n\n"

_STATUS_LINES: Sequence[bytes] = (
    b"HTTP/1.1 200 OK", b"HTTP/1.1 201 Created", b"HTTP/1.1 404 Not Found", b"HTTP/1.1 500 Oops",
    b"HTTP/1.0 200 OK", b"HTTP/1.1 204 No Content", b"HTTP/1.1 304 Not Modified",
    b"HTTP/1.1 206 Partial Content", b"HTTP/1.1 302 Found", b"HTTP/1.1 101 Switching Protocols",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK",
    b"HTTP/1.1 0 Zero", b"HTTP/1.1 000 Zero", b"HTTP/1.1 99 Low", b"HTTP/1.1 099 Low", b"HTTP/1.1 999 High",
    b"HTTP/1.1 1000 Higher", b"HTTP/1.1 -1 Minus", b"HTTP/1.1 20\xb2 Squared", b"HTTP/1.1 \xb2\xb2\xb2 Squared",
    b"HTTP/1.1 two hundred", b"HTTP/1.1", b"HTTP/1.1 ", b"HTTP/1.1 200", b"HTTP/1.1  200  OK", b"HTTP/1.1\t200\tOK",
    b"HTTP/2 200", b"HTTP/9.9 200 OK", b"HTTP/0.9 200 OK", b"HTTP/ 200 OK", b"http/1.1 200 ok", b"ICY 200 OK",
    b"RTSP/1.0 200 OK", b"HTTP/1.1 200 " + b"R" * 3000, b"HTTP/1.1 200 \x1b]0;owned\x07", b"HTTP/1.1 200 \xff\xfe\x85",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n", b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", b"", b"\r\n", b"<html>", b"HTTP/1.1 " + _TEN * 50,
)  # fmt: skip
_HEADERS: Sequence[bytes] = (
    b"Content-Type: application/json", b"Content-Type: application/json", b"Content-Type: text/plain; charset=utf-16",
    b"Content-Type: application/xml", b"Content-Type: text/event-stream", b"Content-Type: application/x-ndjson",
    b"Content-Type: text/plain; charset=idna", b"Content-Type: text/plain; charset=punycode",
    b"Content-Type: text/plain; charset=undefined", b"Content-Type: text/plain; charset=\xe9",
    b"Content-Type: text/plain; charset*0*=x; charset*" + _TEN * 500 + b"=y", b"Content-Type: text/plain; charset*=x''%ff",
    b"Content-Type: ;;;", b"Content-Type:", b"Content-Type", b"Content-Type : text/plain", b"Content-Type: a/b\r\n folded/c",
    b"Content-Type: application/json; " + b"a" * 4000, b"Content-Type: application/json;" + b" " * 4000 + b"x",
    b"Content-Type: application/json\r\nContent-Type: text/html", b"content-type: APPLICATION/JSON",
    b"X-Number: 12", b"X-Number: " + _TEN * 500, b"X-Number: -", b"X-Number: \xb2", b"X-Number: 1\r\nX-Number: two",
    b"X-List: a,b,,c", b"X-List: " + b"," * 3000, b"X-Json: {\"a\": 1}", b"X-Json: " + b"[" * 3000, b"X-Json: " + _TEN * 500,
    b"X-Object: a,1,b", b"X-Object: a=1,b=%zz,c=%00", b"X-Object: %", b"X-Flag: TRUE", b"Set-Cookie: a=b; Path=/",
    b"Set-Cookie: " + b"=;" * 500, b"Location: /next", b"Location: file:///etc/passwd", b"Location: http://[::1", b"Location: //",
    b"Location: http://\x1b[31m/", b"Date: never", b"Retry-After: " + _TEN * 500, b"WWW-Authenticate: Basic realm=\"",
    b"Connection: close", b"Connection: keep-alive", b"Connection: upgrade", b"Upgrade: h2c", b"Keep-Alive: timeout=" + _TEN,
    b"Alt-Svc: h3=\":1\"", b"Strict-Transport-Security: max-age=" + _TEN * 10, b"Trailer: X-Number",
    b" folded first", b"\tfolded", b"X-Fold: a\r\n b\r\n\tc", b": no name", b"no colon", b"X-\x00: 1", b"X-Nul: a\x00b",
    b"X-Esc: \x1b[2J\x1b]0;owned\x07", b"X-\xff\xfe: \xff", b"X-Long: " + b"l" * 9000, b"X-Cr: a\rb", b"X-\x7f: \x85", b"=?x?=: =?utf-8?b?/w==?=",
)  # fmt: skip
_CODINGS: Sequence[bytes] = (
    b"gzip", b"deflate", b"br", b"zstd", b"identity", b"x-gzip", b"gzip, gzip", b"deflate, gzip", b"gzip, br", b"GZIP",
    b"unknown", b"\xff\xfe", b"gzip;q=1", b"", b"," * 100, b"gzip," * 9 + b"gzip", b"chunked", b"\x1b[31m",
)  # fmt: skip
_LENGTHS: Sequence[bytes] = (
    b"0", b"1", b"5", b"-1", b"+5", b"0x10", b"1e3", b"5, 5", b"5, 6", b"5 5", b"", b" ", b"\xb2", b"9" * 18, b"9" * 19, b"9" * 20,
    b"18446744073709551616", b"9" * 5000, b"0" * 5000 + b"1", b"-" + b"9" * 5000, b"NaN", b"1\x00", b"00012",
)  # fmt: skip
_CHUNK_SIZES: Sequence[bytes] = (
    b"0", b"5", b"ffffffff", b"f" * 16, b"f" * 17, b"f" * 5000, b"-1", b"", b"zz", b"5;ext=1", b"5;" + b"e" * 3000, b"0x5", b" 5", b"5 ",
    b"00000000000000000005", b"\xff",
)  # fmt: skip
_TRAILERS: Sequence[bytes] = (
    b"", b"X-Number: 1\r\n", b"Content-Length: 3\r\n", b"no colon\r\n", b"X: " + b"t" * 5000 + b"\r\n", b" folded\r\n", b"\x00\r\n",
    b"HTTP/1.1 200 OK\r\n", b"Content-Type: text/html\r\n",
)  # fmt: skip
_BODIES: Sequence[bytes] = (
    _JSON, _JSON, _XML, _EVENTS, b"", b"null", b"[]", b"{}", b"1", b'"', b"{", b"\xef\xbb\xbf{}", _JSON.decode().encode("utf-16"),
    b"9" * 5000, b"-" + b"9" * 5000, b"1e999", b"NaN", b'{"id": ' + b"9" * 5000 + b"}", b"[" * 5000, b"[" * 5000 + b"]" * 5000,
    b'{"inner":' * 900 + b"1" + b"}" * 900, b'{"inner":' * 200 + b"{}" + b"}" * 200, b'{"inner":' * 100 + b"1" + b"}" * 100,
    b'"\\ud800"', b'{"\\ud800": "\\udfff"}', b'"\x00"', b"\x00" * 50, b"\xff" * 50, b"a: &a [*a, *a]", b'{"id": 1, "id": "two"}',
    b"<a>" * 3000, b"<a>" * 2000 + b"</a>" * 2000, b'<?xml version="1.0" encoding="utf-7"?><a/>', b'<?xml version="1.0" encoding="idna"?><a/>',
    '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'.encode("utf-16"), b"<a xmlns:b=''/>", b"<a>&#xd800;</a>",
    b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", b"data: 1\n" * 300, b"\n\n\n", b"retry: " + _TEN * 500 + b"\ndata: 1\n\n",
    b"{}\n[]\n" + b"9" * 5000 + b"\n{}", b"\x1e{}\n", b"Traceback (most recent call last):\nKeyError: " + b"a" * 4000 + b"1",
    b"<title>" * 500, b"'" * 3000, b"\x1b[2J\x1b]0;owned\x07", b"x" * 40_000,
)  # fmt: skip
_BITS: Sequence[bytes] = (
    b"\r\n", b"\n", b"\r", b"\x00", b"\r\n\r\n", b" ", b"\t", b":", b";", b",", b"\xff", b"\x1b[31m", b"HTTP/1.1 200 OK\r\n",
    b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"9" * 30, b"-", b"%", b"{", b"\"",
)  # fmt: skip

_CODERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"gzip": lambda body: gzip.compress(body, mtime=0),
    b"x-gzip": lambda body: gzip.compress(body, mtime=0),
    b"deflate": zlib.compress,
    b"deflate, gzip": lambda body: gzip.compress(zlib.compress(body), mtime=0),
    b"gzip, gzip": lambda body: gzip.compress(gzip.compress(body, mtime=0), mtime=0),
}


def mutated(number: int) -> bytes:
    """Answer number so and so: one that could be right, with some things wrong, and its bytes damaged now and then."""
    chance = random.Random(number)
    lines = [chance.choice(_STATUS_LINES[:9]) if chance.random() < 0.6 else chance.choice(_STATUS_LINES)]
    lines += chance.choices(_HEADERS, k=chance.randrange(5))
    body = chance.choice(_BODIES)
    if chance.random() < 0.3:
        coding = chance.choice(_CODINGS)
        lines.append(b"Content-Encoding: " + coding)
        if chance.random() < 0.8:
            body = _CODERS.get(coding, bytes)(body)
    framing, body = chance.choice(_FRAMINGS)(chance, body)
    lines += framing
    chance.shuffle(rest := lines[1:])
    end = chance.choice((b"\r\n", b"\r\n", b"\r\n", b"\n"))
    raw = end.join([lines[0], *rest, b"", b""]) + body
    return raw if chance.random() < 0.5 else _damaged(chance, raw)


def _by_length(chance: random.Random, body: bytes) -> tuple[list[bytes], bytes]:
    return [b"Content-Length: %d" % len(body)], body


def _by_wrong_length(chance: random.Random, body: bytes) -> tuple[list[bytes], bytes]:
    return [b"Content-Length: " + one for one in chance.sample(_LENGTHS, chance.randint(1, 2))], body


def _by_chunks(chance: random.Random, body: bytes) -> tuple[list[bytes], bytes]:
    size = chance.randint(1, len(body) + 1)
    parts = [body[at : at + size] for at in range(0, len(body), size)][:200]
    whole = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    trailer = chance.choice(_TRAILERS) if chance.random() < 0.4 else b""
    return [b"Transfer-Encoding: chunked"], whole + b"0\r\n" + trailer + b"\r\n"


def _by_wrong_chunks(chance: random.Random, body: bytes) -> tuple[list[bytes], bytes]:
    size = chance.choice(_CHUNK_SIZES)
    return [b"Transfer-Encoding: chunked"], size + b"\r\n" + body[:5] + b"\r\n0\r\n\r\n"


def _by_close(chance: random.Random, body: bytes) -> tuple[list[bytes], bytes]:
    return [b"Connection: close"], body


def _by_both(chance: random.Random, body: bytes) -> tuple[list[bytes], bytes]:
    coding = chance.choice(
        (b"chunked", b"gzip, chunked", b"chunked, gzip", b"gzip", b"\xff\xfe", b"identity", b"", *_CODINGS)
    )
    return [b"Transfer-Encoding: " + coding, b"Content-Length: %d" % len(body)], body


_FRAMINGS = (_by_length, _by_length, _by_length, _by_wrong_length, _by_chunks, _by_wrong_chunks, _by_close, _by_both)


def _damaged(chance: random.Random, raw: bytes) -> bytes:
    found = bytearray(raw)
    for _ in range(chance.randint(1, 4)):
        # Mostly in the head, where a byte means most.
        at = chance.randrange(min(len(found), 300) + 1) if chance.random() < 0.8 else chance.randrange(len(found) + 1)
        match chance.randrange(5):
            case 0:
                found[at:at] = chance.choice(_BITS)
            case 1:
                del found[at : at + chance.randint(1, 8)]
            case 2:
                found[at : at + 1] = bytes([chance.randrange(256)])
            case 3:
                found[at:at] = found[at : at + chance.randint(1, 40)]
            case _:
                if chance.random() < 0.3:
                    del found[at:]
    return bytes(found)
