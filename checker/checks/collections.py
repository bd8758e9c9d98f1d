"""Checks that collections follow their query parameters: filters, limits, sort orders and pages."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Final
from urllib.parse import parse_qsl

from msgspec import Struct

from checker.checks.context import CheckContext, Found
from checker.checks.resources import served_body
from checker.core.case import Case
from checker.core.failures import Failure, Severity
from checker.core.operation import Location, Operation, Parameter
from checker.core.request import WireRequest
from checker.core.resource_names import ends_with_variable, normalised, words
from checker.core.response import Response
from checker.core.scalars import is_number
from checker.core.send import Exchanging
from checker.schema.views import Outline, outline_of

_LIMITS: Final = frozenset(
    ("limit", "perpage", "pagesize", "pagelimit", "maxresults", "maxitems", "itemsperpage", "resultsperpage")
)
_TOTALS: Final = frozenset(("total", "totalcount", "totalitems", "totalresults", "totalelements", "totalsize"))
"""Normalised names of fields with the number of all items."""
_PAGES: Final = frozenset(("page", "pagenumber", "pageno", "pagenum"))
_OFFSETS: Final = frozenset(("offset", "skip"))
_SORTS: Final = frozenset(("sort", "sortby", "sortfield", "sortkey", "order", "orderby", "ordering"))
_DIRECTIONS: Final = frozenset(
    ("order", "direction", "dir", "sortorder", "sortdir", "sortdirection", "orderdir", "orderdirection")
)
_DESCENDING: Final = {"asc": False, "ascending": False, "desc": True, "descending": True}
_SORTED_BY: Final = re.compile(r"([-+]?)(\w+?)(?:(?:[:., ]|_|-)(asc|desc|ascending|descending))?", re.IGNORECASE)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?", re.ASCII)
_PINNED: Final = frozenset(("pinned", "ispinned", "sticky", "issticky", "featured", "isfeatured", "promoted"))
"""Names of flags for items that come before the sorted ones."""
_ROUNDED: Final = re.compile(r"\b(?:at least|minimum|min|round(?:ed|s)?|multiple|per|each)\b", re.IGNORECASE)
"""Words that show that a limit may not mean the size of the list. They are searched in its description."""
_ENVELOPES: Final = ("data", "result", "results", "response", "_embedded", "page")
_BESIDE: Final = frozenset(("links", "errors", "warnings", "messages", "included", "columns", "fields", "facets"))
"""Normalised names of lists that are not the items."""
_NAMES: Final = ("id", "_id", "uuid", "guid", "key")
_FEWEST_SORTED: Final = 3  # Distinct values that prove an order: two values may be in either order by chance.
Item = dict[str, Any]


class IgnoredFilter(Failure, code="ST304", title="Filter is ignored"):
    """A collection returns items with other values than the filter's, because the filter has no effect, at all or for this value."""


class ExceededLimit(Failure, code="ST305", title="Limit is exceeded"):
    """A collection returns more items than its limit."""


class UnsortedItems(Failure, code="ST306", title="Items are not sorted"):
    """A collection does not return its items in the requested order."""


class OverlappingPages(Failure, code="ST307", title="Pages overlap", severity=Severity.HIGH, needs_repetition=True):
    """A collection returns an item on two pages."""


class WrongTotal(Failure, code="ST311", title="Total is wrong", needs_repetition=True):
    """A collection states more items than its pages contain."""


class SkippedItems(Failure, code="ST318", title="Pages leave out items", severity=Severity.HIGH, needs_repetition=True):
    """The collection has items between two pages of which the second directly follows the first."""


def takes_queries(operation: Operation) -> bool:
    """Whether an operation returns a collection and has query parameters."""
    is_asked = any(one.location is Location.QUERY for one in operation.parameters)
    return is_asked and not ends_with_variable(operation.path)


def lists_items(case: Case, response: Response) -> bool:
    """Whether a case sends query parameters and its response contains a list."""
    if not case.query:
        return False
    found = _items_of(response)
    return found is not None and bool(found[1])


class _List(Struct, frozen=True):
    """The items of a collection, and the query that selected them."""

    way: tuple[str, ...]  # Names of the properties around the list, from the root of the body.
    items: Sequence[Item]
    query: Mapping[str, str]  # Parameters that were sent once, with their texts.
    parameters: Mapping[str, Parameter]  # The declared parameters among them.


def collection_conformance(context: CheckContext) -> Exchanging[Found]:
    """Fail on items that the query of a valid request excludes.

    A limit is exceeded by one additional item, unless its description mentions a minimum. An order is judged if the items
    are sorted by numbers or by times of one format, with at least three distinct values. A filter is a parameter with the
    name and type of a described property of the items: a boolean, an enumeration with values of the property, or an
    identifier. A filter is ignored if the items include its value and others, and a request for another value returns the
    same items, or if two requests for other values return only items with their value. Each of these failures must also
    occur without the other optional parameters, which may have precedence (`all=true`). Pages overlap if an item of a later
    page is also on the first page, and the later page has not changed since. A total is wrong if a request without a filter
    returns fewer items than the limit and the total, and the next page is empty.
    """
    case, response = context.case, context.response
    if case.other_method or (case.meta is not None and case.meta.mode.is_negative):
        return True
    listed = _list_of(case, response)
    if listed is None or context.tools is None:
        return True
    found: list[Failure] = []
    for name in [one.unique_key for one in (*_over_limit(context, listed), *_unsorted(listed))]:
        alone = _list_of(case, (yield _asking(context, {}, name)))
        again = [] if alone is None else [*_over_limit(context, alone), *_unsorted(alone)]
        found += [one for one in again if one.unique_key == name]
    found += yield from _ignored_filters(context, listed)
    found += yield from _overlapping(context, listed)
    found += yield from _beyond_pages(context, listed)
    found += yield from _between_pages(context, listed)
    return found


def _list_of(case: Case, response: object) -> _List | None:
    """Return the only list of objects in a body; None if there is none, or several."""
    request, found = response.request if isinstance(response, Response) else None, _items_of(response)
    if request is None or found is None or not found[1]:
        return None
    pairs = parse_qsl(request.target.partition(b"?")[2].decode("latin-1"), keep_blank_values=True)
    names = [name for name, _ in pairs]
    query = {name: text for name, text in pairs if names.count(name) == 1}
    described = {one.name: one for one in case.operation.parameters if one.location is Location.QUERY}
    return _List(*found, query, {name: described[name] for name in query if name in described})


def _items_of(response: object) -> tuple[tuple[str, ...], Sequence[Item]] | None:
    return _items_in(served_body(response), ())


def _items_in(body: Any, way: tuple[str, ...]) -> tuple[tuple[str, ...], Sequence[Item]] | None:
    if isinstance(body, list):
        return (way, body) if all(isinstance(one, dict) for one in body) else None
    if not isinstance(body, dict):
        return None
    lists = [name for name, value in body.items() if isinstance(value, list)]
    if len(lists) == 1 and normalised(lists[0]) not in _BESIDE:
        return _items_in(body[lists[0]], (*way, lists[0]))
    inner = [name for name in _ENVELOPES if isinstance(body.get(name), dict)]
    return _items_in(body[inner[0]], (*way, inner[0])) if not lists and len(inner) == 1 and len(way) < 2 else None


def _outline(context: CheckContext, listed: _List) -> Outline | None:
    """Return the outline of the list; None if it has no schema."""
    if context.plan.schema is None:
        return None
    found = outline_of(context.plan.schema)
    for name in listed.way:
        found = found.property(name)
    return found


def _number(listed: _List, names: frozenset[str]) -> tuple[Parameter, int] | None:
    """Return the only sent parameter with one of these normalised names, and its number; None if there is none."""
    found = [one for name, one in listed.parameters.items() if normalised(name) in names]
    text = listed.query[found[0].name] if len(found) == 1 else ""
    return (found[0], int(text)) if text.isdecimal() and text.isascii() and len(text) < 10 else None


def _over_limit(context: CheckContext, listed: _List) -> Iterator[Failure]:
    limit, outline = _number(listed, _LIMITS), _outline(context, listed)
    if limit is None or not 0 < limit[1] < len(listed.items) or (outline and outline.first("minItems")):
        return
    about = limit[0].definition.get("description") if limit[0].pointer else None
    if not (isinstance(about, str) and _ROUNDED.search(about)):
        name, most = limit[0].name, limit[1]
        yield ExceededLimit(f"Received: {len(listed.items)} items\nExpected: at most `{name}={most}`", unique_key=name)


def _unsorted(listed: _List) -> Iterator[Failure]:
    for name, text in listed.query.items():
        asked = _SORTED_BY.fullmatch(text) if normalised(name) in _SORTS and name in listed.parameters else None
        keys = [key for key in listed.items[0] if asked and normalised(key) == normalised(asked[2])]
        if asked is None or len(keys) != 1:
            continue
        # Values except nulls, if all are numbers or times of one format.
        present = [value for value in [item.get(keys[0]) for item in listed.items] if value is not None]
        if all(map(is_number, present)):
            values = present
        else:
            are_times = all(isinstance(value, str) and _TIME.fullmatch(value) for value in present)
            values = present if are_times and len(set(map(len, present))) == 1 else []
        if len(set(values)) < _FEWEST_SORTED or any(
            normalised(key) in _PINNED for item in listed.items for key in item
        ):
            continue
        rising, falling = sorted(values), sorted(values, reverse=True)
        # Whether descending order is requested; None if the request does not tell.
        told = [_DESCENDING[asked[3].lower()]] if asked[3] else [True] if asked[1] == "-" else []
        others = (text for name, text in listed.query.items() if normalised(name) in _DIRECTIONS)
        told += [_DESCENDING[text.lower()] for text in others if text.lower() in _DESCENDING]
        is_descending = told[0] if len(told) == 1 else None
        if values not in ((rising, falling) if is_descending is None else (falling if is_descending else rising,)):
            message = f"Sorted by: `{name}={text}`\nReceived: {keys[0]} {', '.join(map(str, values[:8]))}"
            yield UnsortedItems(message, unique_key=name)


def _ignored_filters(context: CheckContext, listed: _List) -> Exchanging[list[Failure]]:
    found: list[Failure] = []
    outline = _outline(context, listed)
    item = None if outline is None else outline.item(0)
    for name, parameter in listed.parameters.items():
        key = None if item is None else next((one for one in item.names if normalised(one) == normalised(name)), None)
        if item is None or key is None or not _is_filter(parameter, item.property(key)):
            continue
        wanted, values = listed.query[name], [one[key] for one in listed.items if one.get(key) is not None]
        others = [one for one in values if _text(one) != wanted.casefold()]
        valid = list(dict.fromkeys(one for one in others if parameter.is_valid(one)))
        if not valid:
            continue
        first = _items_of((yield _asking(context, {}, name)))
        seen = [] if first is None else _seen(first[1], key)
        fitting = {_text(one[-1]) == wanted.casefold() for one in seen}
        if False not in fitting:
            continue
        second = yield from _filtered(context, name, key, valid[0])
        # If no item has the value, two other filters have to work.
        is_same = second == seen and True in fitting
        # `level=info` may select everything that is at least `info`. Then only the highest of three values selects
        # nothing else.
        if not is_same and not (
            len(valid) > 1
            and _have_only(second, valid[0])
            and _have_only((yield from _filtered(context, name, key, valid[1])), valid[1])
        ):
            continue
        message = f"Filter: `{name}={wanted}`\nReceived: {key} {', '.join([*dict.fromkeys(map(_text, values))][:8])}"
        if is_same:
            message += f"\nThe items for `{name}={_text(valid[0])}` are the same"
        else:
            message += "".join(f"\nAll items for `{name}={_text(one)}` have that value" for one in valid[:2])
        found.append(IgnoredFilter(message, unique_key=name))
    return found


def _filtered(context: CheckContext, name: str, key: str, value: object) -> Exchanging[list[tuple[object, ...]] | None]:
    """Return the items for a value of a filter; None if the response has no list."""
    found = _items_of((yield _asking(context, {name: value}, name)))
    return None if found is None else _seen(found[1], key)


def _have_only(seen: list[tuple[object, ...]] | None, value: object) -> bool:
    return bool(seen) and all(_text(one[-1]) == _text(value) for one in seen or ())


def _is_filter(parameter: Parameter, described: Outline) -> bool:
    """Whether a parameter with the name of a property filters items by its value."""
    own = outline_of(parameter.schema)
    own_values, values = own.first("enum"), described.first("enum")
    if isinstance(own_values, list):
        return isinstance(values, list) and all(one in values for one in own_values)
    types = own.types - {"null"}
    if types != described.types - {"null"} or len(types) != 1:
        return False
    is_name = words(parameter.name)[-1:] == ("id",) and types <= {"integer", "string"}
    return types == {"boolean"} or is_name


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value).casefold()


def _seen(items: Sequence[Item], key: str) -> list[tuple[object, ...]]:
    return [tuple(item.get(name) for name in (*_NAMES, key)) for item in items]


def _asking(context: CheckContext, query: Mapping[str, Any], alone: str = "") -> WireRequest:
    """Return the request of the case with other values of query parameters. Optional parameters are dropped, except for `alone` and sort directions."""
    asked = copy(context.case)
    needed = {one.name for one in asked.operation.parameters if one.required} | {alone}
    kept = {name: value for name, value in asked.query.items() if name in needed or normalised(name) in _DIRECTIONS}
    asked.query = {**(kept if alone else asked.query), **query}
    return context.make(asked)


def _overlapping(context: CheckContext, listed: _List) -> Exchanging[list[Failure]]:
    """Return the failure of a later page that contains an item of the first page.

    A server may return its only page in place of a missing one, and a mock may return the same page for every request.
    If the pages are equal, a larger limit must return more items.
    """
    later, page, offset = _names_in(listed.items), _number(listed, _PAGES), _number(listed, _OFFSETS)
    if later is None or (page is None) is (offset is None):
        return []
    limits = [
        one
        for one in context.case.operation.parameters
        if one.location is Location.QUERY and normalised(one.name) in _LIMITS
    ]
    size = len(listed.items)
    if page is not None and page[1] > 1:
        name, first = page[0].name, {page[0].name: 1}
    elif offset is not None and offset[1] > 0 and limits and limits[0].is_valid(min(offset[1], size)):
        name, first = offset[0].name, {offset[0].name: 0, limits[0].name: min(offset[1], size)}
    else:
        return []
    found = _items_of((yield _asking(context, first)))
    names = None if found is None else _names_in(found[1])
    limit = _number(listed, _LIMITS)
    most = first.get(limits[0].name if limits else "", size if limit is None else limit[1])
    if names is None or (len(names) > most and (limit is not None or offset is not None)):
        # A limit that does not work is a separate failure.
        return []
    known = set(later)
    both = [one for one in names if one in known]
    if _is_pinned(listed):
        return []
    if both and names == later:
        # A server may return its first page in place of a missing one. `more` proves only that the second page exists.
        if page[1] > 2 if page is not None else offset is not None and offset[1] > size:
            return []
        if not limits or not limits[0].is_valid(size + 1):
            return []
        more = _items_of((yield _asking(context, {**first, limits[0].name: size + 1})))
        both = both if more is not None and len(more[1]) > size else []
    if not both or _names_in((_items_of((yield _asking(context, {}))) or ((), ()))[1]) != later:
        return []
    message = f"Page: `{name}={listed.query[name]}`\nOn the first page as well: {', '.join(map(str, both[:8]))}"
    return [OverlappingPages(message, unique_key=name)]


def _between_pages(context: CheckContext, listed: _List) -> Exchanging[list[Failure]]:
    """Return the failure of a page behind a cursor, if one larger page contains items between that page and the page before.

    Both pages are read again after the larger page, and then the larger page again. This shows that the items between
    them existed all the time.
    """
    case, steps, later = context.case, context.sequence, _names_in(listed.items)
    before = next((step for step in reversed(steps) if step.case.operation.label == case.operation.label), None)
    marks = (
        {
            one.name
            for one in case.meta.bindings
            if one.location is Location.QUERY and one.producer == case.operation.label
        }
        if case.meta is not None
        else set()
    )
    limits = [one for one in case.operation.parameters if normalised(one.name) in _LIMITS | {"size"}]
    page = None if before is None else _items_of(before.outcome)
    earlier = None if page is None else _names_in(page[1])
    if before is None or earlier is None or later is None or len(marks) != 1 or len(limits) != 1:
        return []
    mark = next(iter(marks))
    if not isinstance(before.outcome, Response) or listed.query.get(mark, "").encode() not in before.outcome.content:
        return []
    limit = limits[0].name
    most = outline_of(limits[0].schema).first("maximum")
    if not isinstance(most, int) or not {*case.query, *before.case.query} <= {*marks, limit} or _is_pinned(listed):
        return []
    first = yield from _names_at(context, case, marks, {limit: most})
    # The items of the first response between the two pages, if the response contains all of them in this order.
    if first is None or not {*earlier, *later} <= {*first}:
        between = []
    else:
        start, end = first.index(earlier[-1]) + 1, first.index(later[0])
        between = first[start:end]
    if between:
        pages = (
            (yield from _names_at(context, before.case, set(), {})),
            (yield from _names_at(context, case, set(), {})),
        )
        second = yield from _names_at(context, case, marks, {limit: most})
        between = between if pages == (earlier, later) and second == first else []
    if not between:
        return []
    (mark,) = marks
    message = (
        f"Page: `{mark}={listed.query.get(mark)}`\nBetween it and the page before: {', '.join(map(str, between[:8]))}"
    )
    return [SkippedItems(message, unique_key=mark)]


def _names_at(
    context: CheckContext, case: Case, without: set[str], query: Mapping[str, Any]
) -> Exchanging[list[object] | None]:
    """Return the identifiers of the items for a case with other query values; None if the response has no list."""
    asked = copy(case)
    asked.query = {**{name: value for name, value in case.query.items() if name not in without}, **query}
    found = _items_of((yield context.make(asked)))
    return None if found is None else _names_in(found[1])


def _is_pinned(listed: _List) -> bool:
    return any(normalised(key) in _PINNED for item in listed.items for key in item)


def _beyond_pages(context: CheckContext, listed: _List) -> Exchanging[list[Failure]]:
    """Return the failure of a total that counts items which are on no page."""
    around = _around(context.response, listed)
    names = [name for name, value in around.items() if normalised(name) in _TOTALS and type(value) is int]
    operation, size, name = context.case.operation, len(listed.items), names[0] if len(names) == 1 else None
    paging = {
        one.name: one
        for one in operation.parameters
        if one.location is Location.QUERY and normalised(one.name) in (_PAGES | _OFFSETS)
    }
    limits = [one for one in operation.parameters if normalised(one.name) in (_LIMITS | {"size"})]
    if name is None or len(paging) != 1 or len(limits) != 1 or not {*listed.query} <= {*paging, limits[0].name}:
        return []
    (mark,) = paging
    is_page = normalised(mark) in _PAGES
    default = outline_of(limits[0].schema).first("default")
    limit = listed.query.get(limits[0].name, str(default))
    if listed.query.get(mark, "1" if is_page else "0") != ("1" if is_page else "0") or not limit.isdecimal():
        return []
    total = _total_at(context.response, listed, name)
    if not size < min(int(limit), total):
        return []
    beyond = _items_of((yield _asking(context, {mark: 2 if is_page else size})))
    again = yield _asking(context, {})
    shown = _items_of(again)
    is_same = shown is not None and len(shown[1]) == size and _total_at(again, listed, name) == total
    if beyond is None or beyond[1] or not is_same:
        return []
    message = f"Received: {size} items, and no further ones behind them\n`{name}`: {total}"
    return [WrongTotal(message, unique_key=name)]


def _total_at(response: object, listed: _List, name: str) -> int:
    found = _around(response, listed).get(name)
    return found if isinstance(found, int) else 0


def _around(response: object, listed: _List) -> Mapping[str, Any]:
    """Return the object around a list; empty if the list is the whole body."""
    found: Any = served_body(response) if listed.way else None
    for name in listed.way[:-1]:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _names_in(items: Sequence[Item]) -> list[object] | None:
    """Return the identifiers of items; None if they have none, or if some are equal."""
    key = next((name for name in _NAMES if items and name in items[0]), None)
    found = [item.get(key) for item in items] if key is not None else []
    is_named = bool(found) and all(isinstance(one, str | int) for one in found)
    return found if is_named and len(set(found)) == len(found) else None
