"""Arrays at the bounds of a size, and with each of the values that an item may have."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.generation.boundaries import unusual
from checker.generation.boundaries.values import Boundary, Scenario
from checker.generation.boundaries.walking import Walk
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.normalization.forms import Canonical, Conjunction
from checker.generation.sources.context import Rejected

_MOST: Final = 1_000
"""Items of an array; a longer one is not shown."""
_ANY: Final = "*"
_WORDS: Final = {
    Scenario.ARRAY: "Valid array",
    Scenario.NEAR_ITEMS: "Near-boundary items array",
    Scenario.MOST_ITEMS: "Maximum items array",
}
_REASONS = (Unsatisfiable, BudgetSpent, Rejected)


def usual(walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Any:
    """The array of the smallest size. Raises `Unsatisfiable`."""
    if not (form.item_count.low or form.contained or place.min_items or form.needs_check):
        return []
    return walk.narrowed(conjunction, place, "array", {"type": "array"})


def values(
    walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """The usual array, arrays of other sizes, arrays with other items. Raises `Unsatisfiable`."""
    template = walk.usual(conjunction, place)
    if not isinstance(template, list):
        template = usual(walk, form, conjunction, place)
    at, sizes = form.type_pointer or form.pointer, form.item_count
    yield Boundary(template, _WORDS[Scenario.ARRAY], Scenario.ARRAY, at, None, True)
    count = len(template)
    low_at, high_at = sizes.low_pointer or at, sizes.high_pointer
    wanted = [(count + 1, Scenario.NEAR_ITEMS if count else Scenario.ARRAY, low_at, "minItems")]
    if sizes.high is not None:
        wanted.append((sizes.high, Scenario.MOST_ITEMS, high_at, "maxItems"))
        wanted.append((sizes.high - 1, Scenario.NEAR_ITEMS, high_at, "maxItems"))
        wanted.append((sizes.high - 2, Scenario.ARRAY, at, ""))
    wanted.append((count + 2, Scenario.ARRAY, at, ""))
    for size, scenario, pointer, keyword in wanted:
        if size > _MOST:
            walk.is_cut = True
        elif size > count and (sizes.high is None or size <= sizes.high):
            sized = {"type": "array", "minItems": size, "maxItems": size}
            try:
                value = walk.narrowed(conjunction, place, f"array {size}", sized)
            except _REASONS:
                continue
            yield Boundary(value, _WORDS[scenario], scenario, pointer, keyword or None, True)
    yield from _with_items(walk, form, template, place, path)
    if sizes.high is None and form.items and not (form.unique or form.prefix or form.contained):
        with suppress(*_REASONS):
            yield from unusual.many_items(walk.usual(form.items, item_of(place)), place, at)


def _with_items(
    walk: Walk, form: Canonical, template: list[Any], place: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """Each value of each item, in place of one that is there."""
    inner = item_of(place)
    count = len(form.prefix)
    for index, conjunction in enumerate(form.prefix):
        before = template[:index]
        try:
            before += [walk.usual(form.prefix[i], inner) for i in range(len(before), index)]
        except _REASONS:
            break
        yield from _at(walk, (conjunction, inner), (*path, str(index)), before, template)
    if not form.no_items and (form.items or not form.prefix):
        first = max(count, len(form.contained))
        before = template[:first]
        try:
            before += [walk.usual(form.prefix[i], inner) for i in range(len(before), count)]
        except _REASONS:
            return
        yield from _at(walk, (form.items, inner), (*path, _ANY), before, template)


def _at(
    walk: Walk,
    child: tuple[Conjunction, TextPlace],
    path: tuple[str, ...],
    before: list[Any],
    template: list[Any],
) -> Iterator[Boundary]:
    after = template[len(before) + 1 :]

    def put(value: Any) -> list[Any]:
        return [*before, value, *after]

    try:
        for found in walk.values(*child, path):
            if found.scenario is Scenario.ENUM:
                text = "Array with an enum item: "
            else:
                text = "Array with valid item: "
            yield found.inside(put, text)
    except _REASONS:
        return
