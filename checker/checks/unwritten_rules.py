"""Rules that services have and descriptions cannot say: whether a valid request may break one of them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, Final

from checker.core.case import Case
from checker.core.request import Location
from checker.core.resource_names import is_cursor, words
from checker.core.scenarios import Scenario

_ORDERED: Final = (
    {"from", "start", "begin", "since", "after", "min", "minimum", "lower"},
    {"to", "until", "end", "stop", "finish", "before", "max", "maximum", "upper"},
)
_LIMITS: Final = ({"gte", "gt"}, {"lte", "lt"})
_DISTINCT: Final = (
    {"from", "source", "sender", "old"},
    {"to", "target", "destination", "recipient", "receiver", "new"},
)
_CLOCK: Final = re.compile(r"\d\d:\d\d(:\d\d)?")
_MOMENT: Final = re.compile(
    r"\d{4}-\d\d-\d\d([Tt ])\d\d:\d\d:(\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_ENDS_OF_TIME: Final = frozenset(("0001-01-01", "9999-12-31"))
_MANY: Final = 1_000
"""Items of a list, beyond which services may have a limit that they did not describe."""
_NESTED: Final = 32
"""Levels, beyond which parsers may have a limit."""
_POISON: Final = "__proto__"
"""What parsers in JavaScript refuse, so that no object inherits from what somebody sent."""
_MOST: Final = 50
"""Members of an object that are compared."""
_DEEP: Final = 4
_ODD: Final[Mapping[str | None, str]] = {
    Scenario.SIGNS: "nobody said whether such signs are taken: they may be wrong in a search, or unwanted in a name",
    Scenario.UNUSUAL: "many services take no such values, though they are valid",
}
"""Scenario of what nobody is used to -> why it may be refused."""
_JSON_PATCH: Final = "application/json-patch+json"


def may_break_one(case: Case) -> str:
    """Return the unwritten rule that a request may break; empty if it breaks none of the common ones.

    Signs that mean something in other languages, a page cursor that no server made, an end that does not come after its
    beginning, a source that is its own target, a body that is about another thing than its path, a number beyond those of 64
    bits, a moment that many calendars do not have, more items or levels than anybody needs, a property
    that would change prototypes, a list of changes to what may not be there.
    """
    scenario = None if case.meta is None else case.meta.phase.data.get("scenario")
    if scenario in _ODD:
        return _ODD[scenario]
    mark = _unknown_mark(case)
    if mark:
        return f"only the service knows which values {mark} has"
    for name, value in case.path_parameters.items():
        named = case.body.get(name, value) if isinstance(case.body, dict) else value
        if str(named) != str(value):
            return f"{name} of the body is not {name} of the path"
    if case.media_type == _JSON_PATCH:
        return "what a JSON Patch changes has to be there (RFC 6902)"
    unusual = _unusual(case)
    if unusual:
        return f"many services take no {unusual}"
    for members in _objects(case):
        if _POISON in members:
            return f"many services read no object that has a `{_POISON}`"
        for first, last in _pairs(members):
            return f"nobody said whether {first} has to be less than {last}, or another one"
    return ""


def _unknown_mark(case: Case) -> str:
    """Return the place of a page cursor that no server made; empty if there is none."""
    given = () if case.meta is None else case.meta.bindings
    bound = {(one.location, one.name) for one in given}
    for location in (Location.QUERY, Location.HEADER):
        for name in getattr(case, location.container):
            if is_cursor(name) and (location, name) not in bound:
                return f"{location} {name}"
    return ""


def _unusual(case: Case) -> str:
    """Return the value of a request that services refuse although it is valid; empty if there is none."""
    for value in (*case.path_parameters.values(), *_values(case)):
        if _is_wide(value):
            return "numbers beyond those of 64 bits"
        if isinstance(value, str) and _is_odd_moment(value):
            return "leap seconds, small letters in times, or moments before the year 1 or after 9999 in UTC"
        if isinstance(value, list) and len(value) > _MANY:
            return f"more than {_MANY} items"
    return "values that are nested so deep" if _depth(case.body) > _NESTED else ""


def _is_odd_moment(value: str) -> bool:
    found = _MOMENT.fullmatch(value)
    if found is None:
        return False
    is_at_end = value[:10] in _ENDS_OF_TIME and found[3] not in ("Z", "z")
    return found[1] != "T" or found[2] == "60" or found[3] == "z" or is_at_end


def _depth(value: object) -> int:
    """Levels of lists and objects in each other."""
    level, depth = [value], 0
    while level:
        below: list[object] = []
        for one in level:
            if isinstance(one, dict):
                below += one.values()
            elif isinstance(one, list):
                below += one
        level, depth = below, depth + 1
    return depth - 1


def _is_wide(value: object) -> bool:
    return isinstance(value, int | float) and not -(2**63) <= value < 2**63


def _objects(case: Case) -> Iterator[Mapping[str, Any]]:
    return (one for one in _values(case) if isinstance(one, dict))


def _values(case: Case) -> Iterator[Any]:
    """The query, the body, and what stands in them."""
    waiting: list[tuple[Any, int]] = [({**case.query}, 0), (case.body, 0)]
    while waiting:
        value, depth = waiting.pop()
        yield value
        below: Iterable[Any] = ()
        if isinstance(value, dict):
            below = value.values()
        elif isinstance(value, list):
            below = value
        if depth < _DEEP:
            waiting += [(one, depth + 1) for one in below]


def _pairs(members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names of two members of which the first should be less than the second, or another one, and is not."""
    names = list(members)[:_MOST]
    for first in names:
        for last in names:
            if first == last:
                continue
            one, two = members[first], members[last]
            if (_differ_by(first, last, _ORDERED, _LIMITS) and _is_reversed(one, two)) or (
                one == two and _differ_by(first, last, _DISTINCT)
            ):
                yield first, last


def _differ_by(first: str, last: str, *pairs: tuple[set[str], set[str]]) -> bool:
    """Whether two names are the same but for one word, which says which of both comes first."""
    one, two = words(first), words(last)
    if len(one) != len(two):
        return False
    differing = [pair for pair in zip(one, two, strict=True) if pair[0] != pair[1]]
    if len(differing) != 1:
        return False
    ((before, after),) = differing
    return any(before in firsts and after in lasts for firsts, lasts in pairs)


def _is_reversed(first: Any, last: Any) -> bool:
    one, two = _comparable(first), _comparable(last)
    return one is not None and two is not None and one[0] == two[0] and one[1] >= two[1]


def _comparable(value: Any) -> tuple[str, Any] | None:
    """(kind, what may be compared with others of the kind) of a number or a time."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return "number", value
    if not isinstance(value, str):
        return None
    if _CLOCK.match(value):
        return _parsed(time, value, "time")
    if len(value) <= len("2000-01-01"):
        return _parsed(date, value, "date")
    found = _parsed(datetime, value, "moment")
    if found is None:
        return None
    moment = found[1]
    return "moment", moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _parsed(kind: Any, value: str, name: str) -> tuple[str, Any] | None:
    try:
        found = kind.fromisoformat(value)
    except ValueError:
        return None
    return name, found.replace(tzinfo=None) if name == "time" else found
