"""Whether an answer itself says that what it shows was deleted: many services keep what is deleted, and mark it."""

import json
import re
from typing import Any, Final

from checker.core.resource_names import normalised
from checker.core.response import Response

_DEPTH: Final = 3
_FLAGS: Final = frozenset(
    ("deleted", "isdeleted", "softdeleted", "removed", "isremoved", "archived", "isarchived")
)
_TIMES: Final = frozenset(
    f"{done}{when}"
    for done in ("deleted", "deletion", "removed", "archived", "trashed")
    for when in ("at", "on", "time", "date", "timestamp")
)
_STATES: Final = frozenset(("state", "status", "lifecycle", "lifecyclestate", "phase"))
_ENDED: Final = re.compile(
    r"(?:(?:pending|scheduled|marked)[ _-]?(?:for[ _-]?)?)?(?:delet|remov|archiv|expir|terminat|trash|cancell?|revok|deactivat)(?:ed|e|ing|ion)"
    r"|inactive|disabled|closed|gone",
    re.IGNORECASE,
)
_WRAPPERS: Final = frozenset(("data", "result", "item", "attributes", "metadata")) | _STATES
"""Names of members that may hold what an answer says of the thing itself."""


def says_deleted(response: Response) -> bool:
    """Whether the content is an object that says that it was deleted: a flag, a time of deletion, a state that is an end."""
    try:
        return _is_tombstone(response.json(), _DEPTH)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return False


def _is_tombstone(value: Any, depth: int) -> bool:
    if not isinstance(value, dict) or not depth:
        return False
    return any(_says(normalised(str(name)), inner, depth) for name, inner in value.items())


def _says(name: str, value: Any, depth: int) -> bool:
    if name in _FLAGS:
        return value is True
    if name in _TIMES:
        return isinstance(value, str | int) and bool(value)
    if name in _STATES and isinstance(value, str):
        return _ENDED.fullmatch(value) is not None
    return name in _WRAPPERS and _is_tombstone(value, depth - 1)
