"""What parameters and fields are called by which lists are read page by page, with marks that only the server makes."""

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
_NEXT: Final = ("next", "end", "last")
_MARKS: Final = ("cursor", "token", "marker")


def is_cursor(name: str) -> bool:
    """Whether a parameter takes the mark of a page: `page_token`, `cursor`. It means nothing but to the server that made it."""
    return normalised(name) in _CURSORS


def leads_on(field: str, parameter: str) -> bool:
    """Whether a field of an answer is the mark that a parameter takes for the next page: `next_cursor` for `cursor`."""
    shown, asked = normalised(field), normalised(parameter)
    if shown == asked or shown in [f"{word}{asked}" for word in _NEXT]:
        return True
    return shown.startswith(_NEXT) and shown.endswith(_MARKS)
