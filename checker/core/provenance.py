"""The parts of a request that are as they were drawn, compared by bytes: user code may change cases."""

from collections.abc import Collection, Iterator, Mapping
from urllib.parse import unquote_plus

from checker.core.locations import Location
from checker.core.meta import ANYTHING
from checker.core.request import WireRequest


def changed(sent: WireRequest, drawn: WireRequest) -> Mapping[str, Collection[str]]:
    """Names of the headers and of the pairs of the query that are not as they were drawn, by location.

    Cookies and bodies are as they were drawn as a whole, or anything in them may be from outside.
    """
    has_other_cookies = sent.header(b"cookie") != drawn.header(b"cookie")
    return {
        Location.HEADER: tuple(_other_headers(sent, drawn)),
        Location.COOKIE: (ANYTHING,) if has_other_cookies else (),
        Location.QUERY: tuple(_other_pairs(sent, drawn)),
        Location.BODY: () if sent.body == drawn.body else (ANYTHING,),
    }


def _other_headers(sent: WireRequest, drawn: WireRequest) -> Iterator[str]:
    known = {(name.lower(), value) for name, value in drawn.headers}
    for name, value in sent.headers:
        if (name.lower(), value) not in known:
            yield name.decode("latin-1")


def _other_pairs(sent: WireRequest, drawn: WireRequest) -> Iterator[str]:
    known = set(_pairs(drawn))
    for pair in _pairs(sent):
        if pair not in known:
            yield unquote_plus(pair.partition("=")[0])


def _pairs(request: WireRequest) -> list[str]:
    return request.target.decode("latin-1").partition("?")[2].split("&")
