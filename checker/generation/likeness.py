"""When two cases look the same as they are sent."""

import json
from collections.abc import Mapping
from typing import Any, Final

from checker.core.case import NOT_SET, Case
from checker.core.operation import Location
from checker.transport.wire.styles import text_of

PARAMETERS = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)
_JSON: Final = json.JSONEncoder(sort_keys=True, default=repr)
"""`json.dumps` would make one for each value."""


def distinct(value: Any) -> Any:
    """Equal for JSON values that are written in the same way: 1 and 1.0 differ, true and 1 too."""
    if isinstance(value, str | int | bool | None):
        return value.__class__, value
    try:
        return _JSON.encode(value)
    except (TypeError, ValueError):
        return repr(value)


def _sent(value: Any) -> str:
    """Text of a value outside of bodies, near enough to tell requests apart."""
    return str(distinct(value)) if isinstance(value, list | dict) else text_of(value)


def likeness(case: Case) -> str:
    """Equal for cases of one operation that are the same request."""
    containers = {location: getattr(case, location.container) for location in PARAMETERS}
    found = likeness_of(containers, case.body, case.media_type)
    return found if case.other_method is None else f"{case.other_method} {found}"


def likeness_of(
    containers: Mapping[Location, Mapping[str, Any]], body: Any, media_type: str | None
) -> str:
    """Likeness of a request that is given as parameters by location and a body, which may be `NOT_SET`."""
    parts = [
        sorted((name, _sent(value)) for name, value in containers.get(location, {}).items())
        for location in PARAMETERS
    ]
    return repr((parts, None if body is NOT_SET else distinct(body), media_type))
