"""The parts of a request of the Python API that differ from the drawn case, since users change cases."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from checker import __version__
from checker.config.settings import Sanitization
from checker.core import curl
from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.provenance import changed
from checker.core.request import BaseUrl, WireRequest
from checker.transport.prepare import RequestMaker

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


def masked(
    case: Case, request: WireRequest, wanted: Sanitization, credentials: Iterable[str]
) -> WireRequest:
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
