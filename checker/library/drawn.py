"""The parts of a request of the Python API that differ from the drawn case, since users change cases."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote_plus

from checker import __version__
from checker.config.settings import Sanitization
from checker.core import curl
from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.meta import ANYTHING
from checker.core.request import BaseUrl, Location, WireRequest
from checker.transport.prepare import RequestMaker


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


_NOWHERE = BaseUrl.from_url("http://localhost")


def from_outside(case: Case, request: WireRequest) -> Mapping[str, Collection[str]]:
    """Return the parts that differ from the drawn case, by location; empty for a case made by hand."""
    meta = case.meta
    if meta is None or case.drawn is None:
        return {}
    drawn = Case.of_parts(case.operation, case.id, case.drawn, meta)
    try:
        as_drawn = RequestMaker(_NOWHERE, version=__version__).make(drawn)
    except CheckerError:
        return {}
    others = changed(request, as_drawn)
    return {place: (*meta.outside(place), *others.get(place, ())) for place in meta.components}


def masked(case: Case, request: WireRequest, wanted: Sanitization, credentials: Iterable[str]) -> WireRequest:
    """A request for a case as it may be shown; `credentials` are the places of security schemes."""
    if not wanted.enabled:
        return request
    rules = replace(wanted.redaction, credentials=frozenset(credentials))
    return rules.knowing(from_outside(case, request)).request(request)


Place = tuple[BaseUrl, bool]
"""Where requests go that do not say it, and whether certificates are verified there."""


def command_of(request: WireRequest, place: Place, *, lossy: bool = False) -> str:
    """Return the command that sends a request again; with `lossy` it is for reading."""
    origin, verify = place
    return curl.render(request, request.origin or origin, verify=verify, lossy=lossy)


def with_headers(request: WireRequest | None, headers: Mapping[str, Any]) -> WireRequest | None:
    """Return a request with the given headers, where it has none of that name."""
    if request is None or not headers:
        return request
    more = [
        (name.encode("latin-1", "replace"), str(value).encode("latin-1", "replace"))
        for name, value in headers.items()
        if request.header(name.encode("latin-1", "replace")) is None
    ]
    return replace(request, headers=[*request.headers, *more])
