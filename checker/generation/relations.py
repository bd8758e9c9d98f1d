"""Relations between values of one request: `startsAt` before `endsAt`, one of two filters, the path's id in the body."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, timedelta
from itertools import islice, product
from typing import Any, Final

from msgspec import Struct

from checker.core.case import NOT_SET, Case, copied
from checker.core.constraints import (
    BELOW,
    EXCLUSIVE,
    ITEMS,
    PARALLEL,
    REQUIRES,
    SAME,
    USUAL,
    Constraint,
    comparison,
    constraint,
    is_broken,
    part_of,
    values_at,
)
from checker.core.graphs import grouped
from checker.core.operation import Operation
from checker.core.request import Location
from checker.core.resource_names import ends_with_variable, is_identifier, is_low, is_ordered, variables_of, words
from checker.refusals.relations import Place, is_of_parallel_lists, relations_in
from checker.schema.views import Outline, outline_of

_DEEP: Final = 4
_MOST: Final = 300  # Places of one body that are compared.
_MOST_ALTERNATIVES: Final = 8
"""Branches of `anyOf` and `oneOf` of one value. With more branches, its members are not compared."""
_MOST_NAMES: Final = 60  # Members of one object, or parameters of one location, that are compared.
_LISTS: Final = (frozenset({"array"}), frozenset({"array", "null"}))
_ALL_LISTS: Final = re.compile(r"\ball (?:the )?(?:arrays|lists)\b", re.IGNORECASE)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_DAY: Final = timedelta(days=1)


def relations_of(operation: Operation) -> tuple[Constraint, ...]:
    """Return the relations that names and prose of a description suggest."""
    schema = next((one.schema for some in (operation.parameters, operation.bodies) for one in some), None)
    if schema is None:
        return ()
    known: dict[Operation, tuple[Constraint, ...]] = schema.document.facts.setdefault(relations_of, {})
    if operation not in known:
        found: dict[Constraint, None] = {}
        places: list[Place] = [(one.location, (one.name,)) for one in operation.parameters]
        for body in operation.bodies:
            paths = islice(_paths(outline_of(body.schema), (), _DEEP), _MOST)
            places += [(Location.BODY, path) for path in paths]
        found |= dict.fromkeys(_own_names(operation, places))
        found |= dict.fromkeys(_parallel_lists(operation))
        holders = grouped(((location, path[:-1]), path[-1]) for location, path in dict.fromkeys(places))
        for (location, above), names in holders.items():
            for low, high in product(filter(is_low, names[:_MOST_NAMES]), names[:_MOST_NAMES]):
                # `start_id` and `end_id` name resources, which have no order.
                if not is_ordered(low, high) or is_identifier(words(low)[-1]):
                    continue
                if (one := constraint(location, (*above, low), BELOW, high)) is not None:
                    found[one] = None
        for text in _prose(operation) if len(places) > 1 else ():
            found |= dict.fromkeys(relations_in(text, places, is_refusal=False))
        known[operation] = tuple(found)
    return known[operation]


def _own_names(operation: Operation, places: Collection[Place]) -> Iterator[Constraint]:
    """Yield the members of a body that repeat the last variable of the path: `id`, the variable's name, or `data.id` of JSON:API."""
    if not ends_with_variable(operation.resource_path):
        return
    variable = variables_of(operation.resource_path)[-1]
    names: list[tuple[str, ...]] = [(variable,), ("id",)]
    if (Location.BODY, ("data", "type")) in places:
        names.append(("data", "id"))
    for path in dict.fromkeys(names):
        if (Location.BODY, path) in places:
            yield Constraint(Location.BODY, path, SAME, json.dumps(variable))


def _parallel_lists(operation: Operation) -> Iterator[Constraint]:
    """Yield the constraint on the lists of a body that the prose says have equal lengths."""
    for body in operation.bodies:
        outline = outline_of(body.schema)
        said = outline.first("description")
        lists = [name for name in outline.names if outline.property(name).types in _LISTS]
        if isinstance(said, str) and _ALL_LISTS.search(said) and is_of_parallel_lists(said) and len(lists) > 1:
            yield Constraint(Location.BODY, (lists[0],), PARALLEL, json.dumps(lists[1:]))


def _paths(outline: Outline, above: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    # Members of alternatives multiply at each level: a value with 60 alternatives took more than ten minutes.
    if not depth or sum(map(len, outline.alternatives())) > _MOST_ALTERNATIVES:
        return
    for name in outline.names:
        yield (*above, name)
        yield from _paths(outline.property(name), (*above, name), depth - 1)
    if "array" in outline.types and len(outline.types) == 1:
        yield from _paths(outline.item(0), (*above, ITEMS), depth - 1)


def _prose(operation: Operation) -> Iterator[str]:
    for text in (operation.definition.get("description"), operation.definition.get("summary")):
        if isinstance(text, str):
            yield text
    raw = operation.definition.get("parameters")
    for one in raw if isinstance(raw, list) else ():
        name, text = (one.get("name"), one.get("description")) if isinstance(one, Mapping) else (None, None)
        if isinstance(name, str) and isinstance(text, str):
            # `Requires "until".` refers to the parameter that it describes.
            yield f"{name} {text[:1].lower()}{text[1:]}"


class Relations(Struct, frozen=True):
    """The relations of one operation."""

    demanded: tuple[Constraint, ...]
    """Relations that the target stated, which all valid cases respect, and values that it accepted, which half of the cases use."""
    suggested: tuple[Constraint, ...]  # Relations that the description suggests.
    is_valid: Callable[[Location, Any, str | None], bool]
    """Whether a part of a request is valid; the last argument is the media type of a body."""

    def repair(self, case: Case, choose: Callable[[int], int], *, all_of_them: bool, kept: str | None = None) -> None:
        """Change a valid case so that it respects relations; suggested ones only with `all_of_them`.

        `choose` returns a number below its argument. The value named `kept` does not change.
        """
        for one in (*self.demanded, *(self.suggested if all_of_them else ())):
            location = Location(one.location)
            if is_broken(one, case) is False:
                continue
            before = part_of(case, location)
            if before is NOT_SET:
                continue
            root = dict(before) if location is not Location.BODY else copied(before)
            for holder in values_at(root, one.path[:-1]):
                if isinstance(holder, dict) and one.path[-1] in holder:
                    _REPAIRS[one.keyword](holder, one, case, choose, kept)
            if root != before and self.is_valid(location, root, case.media_type):
                setattr(case, location.container, root)


def _repair_order(holder: dict[str, Any], one: Constraint, case: Case, choose: object, kept: str | None) -> None:
    low, high = one.path[-1], one.given
    order = comparison(holder[low], holder.get(high))
    if order is None or order < 0:
        return
    if kept == low:
        holder[high] = _moved(holder[low], _DAY)
    elif kept == high:
        holder[low] = _moved(holder[high], -_DAY)
    elif order > 0:
        holder[low], holder[high] = holder[high], holder[low]
    else:
        holder[high] = _moved(holder[high], _DAY)


def _moved(value: Any, by: timedelta) -> Any:
    """Return a date or time moved by `by`; other values unchanged."""
    found = _DATE.match(value) if isinstance(value, str) else None
    try:
        return value if found is None else f"{date.fromisoformat(found[0]) + by}{value[found.end() :]}"
    except (ValueError, OverflowError):
        return value


def _repair_choice(
    holder: dict[str, Any], one: Constraint, case: Case, choose: Callable[[int], int], kept: str | None
) -> None:
    present = [name for name in (one.path[-1], *one.given) if name in holder]
    if len(present) > 1:
        chosen = kept if kept in present else present[choose(len(present))]
        for name in present:
            if name != chosen:
                del holder[name]


def _repair_company(holder: dict[str, Any], one: Constraint, case: Case, choose: object, kept: str | None) -> None:
    if kept != one.path[-1] and any(name not in holder for name in one.given):
        del holder[one.path[-1]]


def _repair_name(holder: dict[str, Any], one: Constraint, case: Case, choose: object, kept: str | None) -> None:
    value = case.path_parameters.get(one.given)
    if value is not None and kept != one.path[-1]:
        holder[one.path[-1]] = f"{value}" if isinstance(holder[one.path[-1]], str) else value


def _repair_value(
    holder: dict[str, Any], one: Constraint, case: Case, choose: Callable[[int], int], kept: str | None
) -> None:
    taken = () if case.meta is None else [binding.name.rpartition("/")[2] for binding in case.meta.bindings]
    if kept != one.path[-1] and one.path[-1] not in taken and choose(2):
        holder[one.path[-1]] = one.given


def _repair_sizes(holder: dict[str, Any], one: Constraint, case: Case, choose: object, kept: str | None) -> None:
    """Make lists as long as the one named `kept`, otherwise as the shortest. If there is no example of an item, a text is added."""
    lists = {name: value for name in (one.path[-1], *one.given) if isinstance(value := holder.get(name), list)}
    size = len(lists[kept]) if kept in lists else min(map(len, lists.values()), default=0)
    for name, value in lists.items():
        last = value[-1] if value else ""
        further = [f"{last}{number}" if isinstance(last, str) else copied(last) for number in range(size - len(value))]
        holder[name] = [*value[:size], *further]


_REPAIRS: Final[Mapping[str, Callable[..., None]]] = {
    BELOW: _repair_order,
    EXCLUSIVE: _repair_choice,
    REQUIRES: _repair_company,
    SAME: _repair_name,
    PARALLEL: _repair_sizes,
    USUAL: _repair_value,
}
