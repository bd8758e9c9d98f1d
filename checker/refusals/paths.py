"""Paths that are refused as such: servers and firewalls before an application take some characters for an attack."""

import re
from collections.abc import Iterator
from typing import Any, Final

from checker.core.case import Case
from checker.core.constraints import Constraint, constraint
from checker.core.locations import Location

_WITHOUT: Final = ("^[^;]*$", "^[^%]*$", "^[ -~]*$", "^[^<>]*$", "^[^\"'`|^{}]*$")
"""Texts without one kind of characters that some refuse however they are encoded: path parameters, escapes, other scripts, markup."""
_SAYS_NOTHING: Final = frozenset(("timestamp", "status", "error", "path", "requestId"))
"""Names in a body that repeats the status line and says no more."""
_BARE: Final = re.compile(r"(400 ?)?(bad request)?\W*", re.IGNORECASE)


def refused_characters(case: Case, status: int, body: Any) -> Iterator[Constraint]:
    """For a 400 that gives no reason: that each odd kind of character in the path of the case is not to be there.

    `body`: parsed as JSON or as text; None for an empty one or a page. What of the demands is not the reason is dropped as
    soon as a path with it is accepted.
    """
    if status != 400 or not _is_bare(body):
        return
    for name, value in case.path_parameters.items():
        for pattern in _WITHOUT:
            if isinstance(value, str) and re.search(pattern, value) is None:
                found = constraint(Location.PATH, (name,), "pattern", pattern)
                if found is not None:
                    yield found


def _is_bare(body: Any) -> bool:
    if isinstance(body, dict):
        return body.keys() <= _SAYS_NOTHING
    return body is None or (isinstance(body, str) and _BARE.fullmatch(body.strip()) is not None)
