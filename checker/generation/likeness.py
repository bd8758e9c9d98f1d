"""When two cases look the same as they are sent."""

import json
from typing import Any

from checker.core.case import NOT_SET, Case
from checker.core.operation import Location
from checker.transport.wire.styles import text_of

PARAMETERS = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)


def distinct(value: Any) -> Any:
    """Equal for JSON values that are written in the same way: 1 and 1.0 differ, true and 1 too."""
    if isinstance(value, str | int | bool | None):
        return value.__class__, value
    try:
        return json.dumps(value, sort_keys=True, default=repr)
    except (TypeError, ValueError):
        return repr(value)


def sent(value: Any) -> str:
    """Text of a value outside of bodies, near enough to tell requests apart."""
    return str(distinct(value)) if isinstance(value, list | dict) else text_of(value)


def likeness(case: Case) -> str:
    """Equal for cases of one operation that are the same request."""
    parts: list[Any] = [
        sorted((name, sent(value)) for name, value in getattr(case, location.container).items())
        for location in PARAMETERS
    ]
    body = None if case.body is NOT_SET else distinct(case.body)
    return repr((parts, body, case.media_type))
