"""Work on what comes again and again: done once for all formats, and once for equal bodies."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from checker.reporting.context import ReportContext

_Shown = TypeVar("_Shown")
_Result = TypeVar("_Result")

_SHORT_BYTES = 16 << 10
_MOST = 256
"""Bodies of one kind that are remembered: some 10 MB of their texts at most."""


def for_all_formats(
    show: Callable[[_Shown, ReportContext], _Result],
) -> Callable[[_Shown, ReportContext], _Result]:
    """Keeps the last result: every format is shown one interaction before any is shown the next.

    Who gets it must not change it.
    """
    latest: tuple[object, object, _Result] | None = None

    @wraps(show)
    def shown(one: _Shown, context: ReportContext) -> _Result:
        nonlocal latest
        if latest is not None and latest[0] is one and latest[1] is context:
            return latest[2]
        found = show(one, context)
        latest = one, context, found
        return found

    return shown


def for_equal_bodies(write: Callable[..., _Result]) -> Callable[..., _Result]:
    """Keeps results for the short bodies that came last: services give the same answers over and over.

    The body is the first argument, and all of them have hashes.
    """
    remembered = lru_cache(maxsize=_MOST)(write)

    @wraps(write)
    def written(content: bytes, *about: object) -> _Result:
        return (remembered if len(content) <= _SHORT_BYTES else write)(content, *about)

    return written
