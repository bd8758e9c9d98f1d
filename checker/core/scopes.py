"""Parameters beside the path that say in whose part of an API a request is: a tenant, a workspace. What stands in one part is not in another."""

import re
from collections.abc import Iterator
from typing import Final

from checker.core.case import Case
from checker.core.locations import Location
from checker.core.operation import Operation, Place
from checker.core.request import WireRequest
from checker.core.resources import sent_at

_OF_ONE_REQUEST: Final = re.compile(
    r"^(?:accept|content|if|prefer|range|user-agent|origin|date)\b"
    r"|request|correlation|trac|span|idempoten|nonce|transaction|timestamp|signature|digest|etag|version",
    re.IGNORECASE,
)
"""Names of headers that differ from request to request, or say how to answer: not what of."""


def scope_places(one: Operation, other: Operation) -> Iterator[Place]:
    """Return the places where two operations both name their part of the API: headers of one name, and required queries."""
    theirs = {(known.location, known.name.lower()): known for known in other.parameters}
    for mine in one.parameters:
        known = theirs.get((mine.location, mine.name.lower()))
        is_header = mine.location is Location.HEADER and not _OF_ONE_REQUEST.search(mine.name)
        if known is not None and (
            is_header or (mine.location is Location.QUERY and mine.required and known.required)
        ):
            yield mine.location, mine.name


def is_elsewhere(
    case: Case, request: WireRequest | None, other: Case, other_request: WireRequest | None
) -> bool:
    """Whether two cases, sent so, are about different parts of the API: what one made or removed need not be there, or gone, for the other."""
    return any(
        _said(case, request, place) != _said(other, other_request, place)
        for place in scope_places(case.operation, other.operation)
    )


def _said(case: Case, request: WireRequest | None, place: Place) -> object:
    """Return the value that was sent at a place. Headers that a user gave for all requests are part of no case."""
    location, name = place
    if location is not Location.HEADER or request is None:
        return sent_at(case, place)
    wanted = name.lower().encode("latin-1", "replace")
    return next((value for known, value in request.headers if known.lower() == wanted), None)
