"""Values of headers that HTTP gives a grammar: random text never gets further than the parser of a server."""

from collections.abc import Mapping
from typing import Final

KNOWN: Final = 0.75
"""Probability that such a value takes the place of what is drawn."""
_TAGS = ('"a"', 'W/"a"', "*", '"a", W/"b"', '""')
_DATES = (
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Thu, 29 Feb 2024 23:59:59 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
)
_ADDRESSES = ("192.0.2.1", "2001:db8::1", "192.0.2.1, 198.51.100.2")
_PAGES = ("http://127.0.0.1/", "https://example.com/a?b=c#d")
_LANGUAGES = ("en", "de-CH", "*", "en-GB, en;q=0.8, *;q=0")

STRUCTURED: Final[Mapping[str, tuple[str, ...]]] = {
    # RFC 9110, 5 to 14
    "accept-charset": ("utf-8", "utf-8, iso-8859-1;q=0.5", "*"),
    "accept-encoding": ("gzip", "identity", "*;q=0", "br;q=1.0, gzip;q=0.8"),
    "accept-language": _LANGUAGES,
    "accept-ranges": ("bytes", "none"),
    "allow": ("GET", "GET, HEAD"),
    "authorization": ("Basic YTpi", "Bearer YWJj", "Digest username=a"),
    "content-encoding": ("gzip", "identity"),
    "content-language": ("en", "de, en"),
    "content-location": _PAGES,
    "content-range": ("bytes 0-0/1", "bytes 0-99/*", "bytes */100"),
    "date": _DATES,
    "etag": ('"a"', 'W/"a"', '""'),
    "from": ("a@example.com",),
    "if-match": _TAGS,
    "if-modified-since": _DATES,
    "if-none-match": _TAGS,
    "if-range": ('"a"', _DATES[0], _DATES[-1]),
    "if-unmodified-since": _DATES,
    "last-modified": _DATES,
    "location": _PAGES,
    "max-forwards": ("0", "1"),
    "range": ("bytes=0-0", "bytes=0-", "bytes=-1", "bytes=0-0,-1", "bytes=5-2"),
    "referer": _PAGES,
    "retry-after": ("0", "120", _DATES[-1]),
    "user-agent": ("a/1.0", "a/1.0 (b)"),
    "vary": ("*", "accept"),
    "via": ("1.1 a",),
    # RFC 9111, 5.2; RFC 6266; RFC 6454; RFC 7240; RFC 7239; RFC 8288; RFC 9530
    "cache-control": ("no-cache", "no-store", "max-age=0", "max-stale=1, only-if-cached"),
    "pragma": ("no-cache",),
    "content-disposition": ("inline", 'attachment; filename="a.txt"', "form-data; name=a"),
    "origin": ("null", "https://example.com"),
    "prefer": ("return=minimal", "return=representation", "respond-async, wait=10"),
    "forwarded": ("for=192.0.2.1;proto=http", 'for="[2001:db8::1]"'),
    "link": ("<https://example.com/>; rel=next",),
    "content-digest": ("sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",),
    # By use
    "content-md5": ("1B2M2Y8AsgTpgAmY7PhCfg==",),
    "x-forwarded-for": _ADDRESSES,
    "x-forwarded-host": ("example.com", "example.com:8080"),
    "x-forwarded-proto": ("http", "https"),
    "x-http-method-override": ("GET", "PUT", "DELETE"),
    "x-real-ip": _ADDRESSES[:2],
    "x-requested-with": ("XMLHttpRequest",),
    # W3C Trace Context, 3.2
    "traceparent": ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",),
    "tracestate": ("a=1", "a=1,b@c=2"),
}
"""Name in lower case -> values by its grammar, edges among them."""


def holding(name: str) -> tuple[str, ...]:
    """What holds for whatever is there, of a condition that operations may require (RFC 9110, 13.1.1): all else is refused unread."""
    return ("*",) if name.lower() == "if-match" else ()
