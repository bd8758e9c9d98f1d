"""Constraints on requests that the refusals of a target state in addition to its description."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from checker.core.case import NOT_SET, Case
from checker.core.request import CONTAINERS, Location
from checker.core.scalars import is_number

ITEMS: Final = "*"  # In a path: every item of an array.
REQUIRED, FORBIDDEN, CLOSED = "required", "forbidden", "closed"
"""Keywords of checker: the place has to exist, must not exist, must not contain anything undeclared."""
SELDOM, MOSTLY = "seldom", "mostly"
"""Keywords of checker: the place is better omitted, or better sent. Usually counts of refusals show this, and not a statement of the target."""
ANY: Final = "any"
"""Keyword of checker: an object has at least one of the named members, or any member if none is named."""
BELOW, EXCLUSIVE, REQUIRES, SAME, PARALLEL = "below", "exclusive", "requires", "same", "parallel"
"""Keywords for values that depend on others: the value is below the named one, excludes the named ones, requires them, equals a variable of the path, or is a list as long as the named ones."""
USUAL: Final = "usual"
"""Keyword of checker, without a statement of the target: a case with this value was accepted, and cases with other values were refused."""
RELATIONS: Final = frozenset((BELOW, EXCLUSIVE, REQUIRES, SAME, PARALLEL))


def _is_multiple(value: float, step: float) -> bool:
    """Whether a number is a multiple by its decimal digits: 19.99 is a multiple of 0.01, although the floats are not. Infinity counts as a multiple."""
    try:
        return Fraction(repr(value)) % Fraction(repr(step)) == 0
    except ValueError:
        return True


_BOUNDS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "minimum": lambda value, limit: value >= limit,
    "maximum": lambda value, limit: value <= limit,
    "exclusiveMinimum": lambda value, limit: value > limit,
    "exclusiveMaximum": lambda value, limit: value < limit,
    "multipleOf": _is_multiple,
}
_SIZES: Final[dict[str, tuple[type, int]]] = {
    "minLength": (str, 1),
    "maxLength": (str, -1),
    "minItems": (list, 1),
    "maxItems": (list, -1),
}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
KEYWORDS: Final = RELATIONS.union(
    (REQUIRED, FORBIDDEN, CLOSED, SELDOM, MOSTLY, USUAL, ANY), _BOUNDS, _SIZES, ("type", "enum", "pattern", "format")
)
# `dict` comes first because nearly all are dictionaries, and the test for an abstract class takes ten times as long.
_MAPPINGS: Final = (dict, Mapping)
_MOST_TEXT = 2_000  # Longest value in characters; longer text is not a plausible constraint.


class Constraint(Struct, frozen=True, order=True, array_like=True):
    """One demand on one part of the requests to an operation."""

    location: str  # `path`, `query`, `header`, `cookie` or `body`.
    path: tuple[str, ...]
    """Name of a parameter, then names within its value; in a body, names from its root. `*` stands for items; empty for the whole body."""
    keyword: str  # A keyword of JSON Schema, or one of the keywords above, for the place itself.
    value: str = "true"  # Value of the keyword, as JSON.

    @property
    def given(self) -> Any:
        """The value of the keyword."""
        return json.loads(self.value)


def constraint(location: Location, path: Iterable[str], keyword: str, value: Any) -> Constraint | None:
    """Return a constraint; None for a value that the keyword cannot have."""
    text = json.dumps(value, sort_keys=True)
    is_bound = keyword in _BOUNDS or keyword in _SIZES
    if is_bound and not is_number(value):
        return None
    if keyword not in KEYWORDS or len(text) > _MOST_TEXT or (keyword == "multipleOf" and value <= 0):
        return None
    return Constraint(location.value, tuple(path), keyword, text)


def written(constraints: Iterable[Constraint]) -> str:
    """Return the constraints as text, each once and in order; empty for none."""
    ordered = sorted(set(constraints))
    if not ordered:
        return ""
    return json.dumps([[one.location, one.path, one.keyword, one.value] for one in ordered])


def read(text: str) -> tuple[Constraint, ...]:
    """Return the constraints of a text that `written` made."""
    if not text:
        return ()
    return tuple(
        Constraint(location, tuple(path), keyword, value) for location, path, keyword, value in json.loads(text)
    )


def is_broken(one: Constraint, case: Case) -> bool | None:
    """Whether a case breaks a constraint; None if that is unknown, such as for a format."""
    if one.keyword == SAME:
        wanted = f"{case.path_parameters.get(one.given)}"
        return any(f"{value}" != wanted for value in values_at(part_of(case, one.location), one.path))
    return is_broken_by(one, part_of(case, one.location))


def is_broken_by(one: Constraint, root: Any) -> bool | None:
    """Whether the value of a case at the location of a constraint breaks it; None if that is unknown."""
    if one.keyword in (CLOSED, SAME, USUAL):
        return None
    if one.keyword in RELATIONS:
        verdicts = [_breaks_relation(one, value) for value in values_at(root, one.path[:-1])]
        return True if True in verdicts else None if None in verdicts else False
    if one.keyword in (REQUIRED, MOSTLY):
        if not one.path:
            return root is NOT_SET
        members = [value for value in values_at(root, one.path[:-1]) if isinstance(value, dict)]
        if any(one.path[-1] not in value for value in members):
            return True
        # Forms treat a text of blanks as a missing value.
        return (
            None
            if any(isinstance(text := value[one.path[-1]], str) and not text.strip() for value in members)
            else False
        )
    if one.keyword == ANY:
        objects = [value for value in values_at(root, one.path) if isinstance(value, dict)]
        return any(value.keys().isdisjoint(one.given or value) for value in objects)
    found = [_breaks(one, value) for value in values_at(root, one.path)]
    return True if True in found else None if None in found else False


def part_of(case: Case, location: str) -> Any:
    """Return the part of a case at a location (`Location`): a mapping by name, or the body."""
    return getattr(case, CONTAINERS[location])


def values_at(value: Any, path: tuple[str, ...], most_items: int | None = None) -> Iterator[Any]:
    """Return all values at a path of names and `ITEMS`; of each array the first `most_items`."""
    for place, name in enumerate(path):
        if name == ITEMS and isinstance(value, list):
            for item in islice(value, most_items):
                yield from values_at(item, path[place + 1 :], most_items)
            return
        if not isinstance(value, _MAPPINGS) or name not in value:
            return
        value = value[name]
    if value is not NOT_SET:
        yield value


_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TIME: Final = re.compile(r"\d\d:\d\d")
_MIDNIGHT: Final = datetime(2000, 1, 1, tzinfo=UTC)


def comparison(low: Any, high: Any) -> int | None:
    """Return -1, 0 or 1 if two numbers, dates or times are in order, equal, or out of order; None for other or different kinds of values."""
    one, other = _orderable(low), _orderable(high)
    numbers = [isinstance(value, int | float) for value in (one, other)]
    if one is None or not (all(numbers) or type(one) is type(other)):
        return None
    return int(one > other) - int(one < other)


def _orderable(value: Any) -> Any:
    """Return a number, a date, a time since midnight, or a moment (these two in UTC if they have no zone); None for other values."""
    if is_number(value):
        return value
    if not isinstance(value, str):
        return None
    try:
        if _DATE.fullmatch(value):
            return date.fromisoformat(value)
        is_time = _TIME.match(value) is not None
        moment = datetime.fromisoformat(f"{_MIDNIGHT.date()}T{value}" if is_time else value.upper())
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return moment - _MIDNIGHT if is_time else moment


def _breaks_relation(one: Constraint, holder: Any) -> bool | None:
    """Whether the values of an object violate a constraint between them; equal values may be in order."""
    name, given = one.path[-1], one.given
    if not isinstance(holder, _MAPPINGS) or name not in holder:
        return False
    if one.keyword == BELOW:
        order = comparison(holder[name], holder.get(given))
        return None if order == 0 else order == 1
    if one.keyword == PARALLEL:
        return len({len(value) for other in (name, *given) if isinstance(value := holder.get(other), list)}) > 1
    present = [other for other in given if other in holder]
    return bool(present) if one.keyword == EXCLUSIVE else len(present) < len(given)


def _breaks(one: Constraint, value: Any) -> bool | None:
    keyword, given = one.keyword, one.given
    if keyword in _BOUNDS:
        return is_number(value) and not _BOUNDS[keyword](value, given)
    if keyword in _SIZES:
        kind, sign = _SIZES[keyword]
        is_sized = isinstance(value, kind)
        if not is_sized:
            return False
        is_wrong: bool = sign * (len(value) - given) < 0
        # Many targets cut off blanks at the ends of a text before they count, so the verdict must not depend on them.
        is_unsure = isinstance(value, str) and is_wrong != (sign * (len(value.strip()) - given) < 0)
        return None if is_unsure else is_wrong
    match keyword:
        case "type":
            return not any(
                name not in _TYPES
                or (isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool)))
                for name in ([given] if isinstance(given, str) else given)
            )
        case "enum":
            return value not in given
        case "pattern":
            try:
                return isinstance(value, str) and re.search(given, value) is None
            except re.error:
                # The pattern has the syntax of another dialect.
                return None
        case "format" if given == "uuid":
            return isinstance(value, str) and _UUID.fullmatch(value) is None
        case "forbidden":
            return True
        case "seldom":
            # For many targets, null means the same as leaving the part out.
            return None if value is None else True
        case _:
            return None


def as_schema(constraints: Iterable[Constraint], declared: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return JSON schemas for the root of a location that express the constraints, whose paths begin below it.

    `declared` are the names that an object at the root may have if nothing undeclared is accepted.
    """
    return [_schema(one, tuple(declared)) for one in constraints]


def _schema(one: Constraint, declared: tuple[str, ...]) -> dict[str, Any]:
    path, given = one.path, one.given
    match one.keyword:
        case "required":
            inner: dict[str, Any] = {"required": [path[-1]]} if path else {}
            path = path[:-1]
        case "forbidden":
            inner = {"not": {}}
        case "any":
            inner = {"anyOf": [{"required": [name]} for name in given]} if given else {"minProperties": 1}
        case "below" | "exclusive" | "requires" | "same" | "parallel" | "usual":
            return {}
        case "closed":
            # Below the root the declared properties are unknown here.
            inner = {} if path or not declared else {"propertyNames": {"enum": list(declared)}}
        case "exclusiveMinimum":
            # The keyword is a boolean in old dialects and a number in new ones; this form means the same in all.
            inner = {"minimum": given, "not": {"enum": [given]}}
        case "exclusiveMaximum":
            inner = {"maximum": given, "not": {"enum": [given]}}
        case keyword:
            inner = {keyword: given}
    for part in reversed(path):
        inner = {"items": inner} if part == ITEMS else {"properties": {part: inner}}
    return inner
