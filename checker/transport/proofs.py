"""Credentials into a request that is made already: in place of what it has under the same names."""

from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote_plus

from checker.core.credentials import Credentials
from checker.core.request import WireRequest
from checker.transport.wire.encoding import header_bytes

_COOKIE = b"cookie"


def put(request: WireRequest, credentials: Credentials) -> None:
    """Have a request carry these. Puts later ones in the place of earlier ones."""
    if credentials.headers:
        _put_headers(request, credentials.headers)
    if credentials.query:
        path, _, query = request.target.partition(b"?")
        given = credentials.query
        kept = [pair for pair in query.split(b"&") if pair and _name_of(pair) not in given]
        request.target = path + b"?" + b"&".join([*kept, *_pairs(given)])
    if credentials.cookies:
        sent = request.header(_COOKIE) or b""
        parts = [part for part in sent.split(b"; ") if part]
        given = credentials.cookies
        kept = [part for part in parts if _name_of(part) not in given]
        own = [header_bytes(f"{name}={value}") for name, value in given.items()]
        _put_headers(request, {"Cookie": b"; ".join([*kept, *own]).decode("latin-1")})


def drop(request: WireRequest, credentials: Credentials) -> bool:
    """Take out of a request what it has under the names of these; whether there was anything."""
    before = request.target, list(request.headers)
    path, mark, query = request.target.partition(b"?")
    if credentials.query and mark:
        kept = [pair for pair in query.split(b"&") if _name_of(pair) not in credentials.query]
        request.target = path + b"?" + b"&".join(kept) if kept else path
    names = {header_bytes(name).lower() for name in credentials.headers}
    request.headers = [pair for pair in request.headers if pair[0].lower() not in names]
    sent = request.header(_COOKIE)
    if credentials.cookies and sent is not None:
        parts = [part for part in sent.split(b"; ") if _name_of(part) not in credentials.cookies]
        request.headers = [pair for pair in request.headers if pair[0].lower() != _COOKIE]
        if parts:
            request.headers.append((b"Cookie", b"; ".join(parts)))
    request.lines = None
    return before != (request.target, request.headers)


def _put_headers(request: WireRequest, given: Mapping[str, str]) -> None:
    fields = [(header_bytes(name), header_bytes(value)) for name, value in given.items()]
    names = {name.lower() for name, _ in fields}
    request.headers = [pair for pair in request.headers if pair[0].lower() not in names] + fields
    request.lines = None


def _pairs(given: Mapping[str, str]) -> Iterable[bytes]:
    return (
        f"{quote(name, safe='')}={quote(value, safe='')}".encode() for name, value in given.items()
    )


def _name_of(pair: bytes) -> str:
    return unquote_plus(pair.partition(b"=")[0].decode("latin-1"))
