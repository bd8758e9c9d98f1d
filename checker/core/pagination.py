"""Usual names of parameters and fields for cursor pagination; only the server makes cursors."""

from collections.abc import Collection, Iterable
from typing import Final

from checker.core.resource_names import normalised

_CURSORS: Final = frozenset(
    [
        "aftercursor",
        "beforecursor",
        "continuation",
        "continuationtoken",
        "cursor",
        "endingbefore",
        "nextcursor",
        "nextmarker",
        "nextpagetoken",
        "nexttoken",
        "pagecursor",
        "pagetoken",
        "paginationtoken",
        "scrollid",
        "searchafter",
        "skiptoken",
        "startingafter",
    ]
)
_OF_CONNECTIONS: Final = ({"after", "first"}, {"before", "last"})
"""What stands beside each other where lists are connections: a mark, and how many come behind or before it."""
_COUNTS: Final = frozenset(
    ["first", "last", "limit", "offset", "page", "pagenumber", "pagesize", "perpage", "skip", "take", "top"]
)  # fmt: skip
USUAL_COUNTS: Final = range(1, 101)
"""What hardly any server refuses of a size of pages."""
_NEXT: Final = ("next", "end", "last")
_MARKS: Final = ("cursor", "token", "marker")


def is_cursor(name: str) -> bool:
    """Whether a parameter takes the mark of a page: `page_token`, `cursor`. It means nothing but to the server that made it."""
    return normalised(name) in _CURSORS


def marks_among(names: Collection[str]) -> frozenset[str]:
    """Return the members of one object, or arguments of one field, that take cursors: `cursor`, and `after` beside `first` (Relay)."""
    of_connections = [pair & set(names) for pair in _OF_CONNECTIONS if pair <= set(names)]
    beside = set().union(*of_connections) - _COUNTS
    return frozenset(beside.union(name for name in names if is_cursor(name)))


def is_count(name: str) -> bool:
    """Whether something says how many items a page has, or where it begins: `first`, `pageSize`, `offset`."""
    return normalised(name) in _COUNTS


def next_mark(parameter: str, fields: Iterable[str]) -> str | None:
    """Return the field of a response whose value is the cursor of the next page: `next_cursor` for `cursor`."""
    asked = normalised(parameter)
    ranked = [(_rank(normalised(field), asked), field) for field in fields]
    best = min((one for one in ranked if one[0]), key=lambda one: one[0], default=None)
    return None if best is None else best[1]


def _rank(shown: str, asked: str) -> int:
    """1 for the surest, 0 for what is none."""
    if shown in [f"{word}{asked}" for word in _NEXT] or (
        shown == asked and asked.startswith(_NEXT)
    ):
        return 1
    if shown.startswith(_NEXT) and shown.endswith(_MARKS):
        return 2
    return 3 if shown == asked else 0
