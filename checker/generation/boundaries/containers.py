"""Arrays and objects at the bounds of a size, and with each of the values that a part may have."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import count, islice
from typing import Any, Final

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.resource_names import marks_among
from checker.generation.boundaries.values import Boundary, Scenario, Walk, many_items
from checker.generation.drawing.objects import wants_extra
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.normalization.forms import Canonical, Conjunction
from checker.generation.patterns.regexes import UnsupportedPattern
from checker.generation.patterns.writing import writer
from checker.generation.sources import alphabets
from checker.generation.sources.context import Rejected
from checker.generation.sources.replay import SimplestSource

_MOST: Final = 1_000
"""Items of an array; a longer one is not shown."""
_ANY: Final = "*"
_WORDS: Final = {
    Scenario.ARRAY: "Valid array",
    Scenario.NEAR_ITEMS: "Near-boundary items array",
    Scenario.MOST_ITEMS: "Maximum items array",
}
_REASONS = (Unsatisfiable, BudgetSpent, Rejected)


def usual_array(walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Any:
    """The array of the smallest size. Raises `Unsatisfiable`."""
    if not (form.arrays.count.low or form.arrays.contained or place.min_items or form.needs_check):
        return []
    return walk.narrowed(conjunction, place, "array", {"type": "array"})


def arrays_of(
    walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """The usual array, arrays of other sizes, arrays with other items. Raises `Unsatisfiable`."""
    template = walk.usual(conjunction, place)
    if not isinstance(template, list):
        template = usual_array(walk, form, conjunction, place)
    at, sizes = form.type_pointer or form.pointer, form.arrays.count
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
    if (
        sizes.high is None
        and form.arrays.items
        and not (form.arrays.unique or form.arrays.prefix or form.arrays.contained)
    ):
        with suppress(*_REASONS):
            yield from many_items(walk.usual(form.arrays.items, item_of(place)), place, at)


def _with_items(
    walk: Walk, form: Canonical, template: list[Any], place: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """Each value of each item, in place of one that is there."""
    inner = item_of(place)
    count = len(form.arrays.prefix)
    for index, conjunction in enumerate(form.arrays.prefix):
        before = template[:index]
        try:
            before += [walk.usual(form.arrays.prefix[i], inner) for i in range(len(before), index)]
        except _REASONS:
            break
        yield from _at(walk, (conjunction, inner), (*path, str(index)), before, template)
    if not form.arrays.is_closed and (form.arrays.items or not form.arrays.prefix):
        first = max(count, len(form.arrays.contained))
        before = template[:first]
        try:
            before += [walk.usual(form.arrays.prefix[i], inner) for i in range(len(before), count)]
        except _REASONS:
            return
        yield from _at(walk, (form.arrays.items, inner), (*path, _ANY), before, template)


def _at(
    walk: Walk, child: tuple[Conjunction, TextPlace], path: tuple[str, ...], before: list[Any], template: list[Any]
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


ADDITIONAL: Final = "x-checker-additional"
_LONGEST_NAME: Final = 24
_NAMES: Final = TextPlace("any-name", alphabets.VISIBLE)
"""Properties that are listed one by one."""


def usual_object(walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Any:
    """Return the object with the required properties and the wanted optional ones. Raises `Unsatisfiable`."""
    inner = item_of(place)
    sizes = form.objects.count
    value = _declared(walk, form, inner, max(sizes.low, place.min_items))
    for name in [name for name in value if name not in form.objects.required]:
        if sizes.high is None or len(value) <= sizes.high:
            break
        del value[name]
    low = max(sizes.low, place.min_items)
    if len(value) >= low:
        return value
    if form.objects.names or form.objects.closed_at is not None or low > _MOST:
        # What chance draws has a limit; these are listed without asking.
        found: dict[str, Any] = walk.narrowed(conjunction, place, "object", {"type": "object"})
        return found
    names = (name for name in _additional_names() if name not in value)
    for name in list(islice(names, low - len(value))):
        value[name] = walk.usual(form.objects.of_name(name), inner)
    return value


def _declared(walk: Walk, form: Canonical, inner: TextPlace, low: int) -> dict[str, Any]:
    """Return the declared properties of the usual object: more optional ones than usual where it needs `low` properties."""
    value: dict[str, Any] = {}
    waiting: dict[str, Conjunction] = {}
    for name, child in form.objects.properties.items():
        try:
            if name in form.objects.required or _is_usual(walk, form, name, inner):
                value[name] = walk.usual(child, inner)
            elif not walk.is_lean:
                waiting[name] = child
        except _REASONS:
            if name in form.objects.required:
                raise
    for name in form.objects.required:
        if name not in value:
            value[name] = walk.usual(form.objects.additional, inner)
    for name, child in waiting.items():
        if len(value) >= low:
            break
        with suppress(*_REASONS):
            value[name] = walk.usual(child, inner)
    return value


def _is_usual(walk: Walk, form: Canonical, name: str, inner: TextPlace) -> bool:
    """Whether the usual object has an optional property. Servers alone make marks of pages."""
    if walk.is_lean or name in marks_among(form.objects.properties):
        return False
    has_all = walk.is_full or (walk.completes and not form.objects.required)
    return has_all or walk.is_given(form.objects.properties[name], inner)


def objects_of(
    walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """The usual object and what differs from it in one respect. Raises `Unsatisfiable`."""
    template = walk.usual(conjunction, place)
    if not isinstance(template, dict):
        template = usual_object(walk, form, conjunction, place)
    at, inner = form.type_pointer or form.pointer, item_of(place)
    yield Boundary(template, "Valid object", Scenario.OBJECT, at, None, True)
    required = {name: one for name, one in form.objects.properties.items() if name in form.objects.required}
    rest = {name: one for name, one in form.objects.properties.items() if name not in required}
    # A list may end at its first failure, and optional properties are refused more often.
    yield from _with_each(walk, required, template, inner, path)
    full = template if walk.is_lean else walk.full(conjunction, place)
    yield from _other_sets(form, template, full if isinstance(full, dict) else template, at)
    yield from _with_each(walk, rest, template, inner, path)
    yield from _more(walk, form, template, inner, path)


def _with_each(
    walk: Walk, properties: dict[str, Conjunction], template: dict[str, Any], inner: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """Yield the usual object with each value of each of the properties."""
    for name, child in properties.items():
        # An example need not have all that is declared.
        if name in template or not walk.is_lean:
            text = f"Object with valid '{name}' value: "
            put = partial(_with, template, name)
            yield from _inside(walk, (child, inner), (*path, name), put, text)


def _other_sets(form: Canonical, template: dict[str, Any], full: dict[str, Any], at: str) -> Iterator[Boundary]:
    """Yield objects with other sets of the optional properties."""
    optional = [name for name in full if name not in form.objects.required]
    required = {name: value for name, value in template.items() if name in form.objects.required}
    if not optional:
        return
    if len(optional) > 1 or required:
        for name in optional:
            text = f"Object with all required properties and '{name}'"
            value = _with(required, name, full[name])
            yield Boundary(value, text, Scenario.SOME_OPTIONAL, at, None, True)
    for size in range(2, len(optional)):
        value = required | {name: full[name] for name in optional[:size]}
        text = f"Object with required and {size} optional properties"
        yield Boundary(value, text, Scenario.SOME_OPTIONAL, at, None, True)
    text = "Object with all properties"
    yield Boundary(full, text, Scenario.SOME_OPTIONAL, at, None, True)
    text = "Object with only required properties"
    yield Boundary(required, text, Scenario.ONLY_REQUIRED, at, "required", True)


def _more(
    walk: Walk, form: Canonical, template: dict[str, Any], inner: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """With one property that is not declared."""
    is_open = form.objects.closed_at is None and wants_extra(form, walk.compiler)
    if is_open and (form.objects.declares_additional or not form.objects.properties):
        text = "Object with additional property: "
        name = _extra_name(walk, form, template)
        put = partial(_with, template, name)
        yield from _inside(walk, (form.objects.of_name(name), inner), (*path, _ANY), put, text)
    for pattern, facet in form.objects.pattern_properties:
        try:
            written = writer(pattern, alphabets.VISIBLE.intervals)
        except UnsupportedPattern:
            continue
        name = written.write(SimplestSource(), 0, max(written.low, _LONGEST_NAME))
        if name not in form.objects.properties and name not in form.objects.hidden:
            text = f"Object with pattern key '{name}' ('{pattern}') value: "
            put = partial(_with, template, name)
            yield from _inside(walk, ((facet,), inner), (*path, name), put, text)


def _extra_name(walk: Walk, form: Canonical, template: dict[str, Any]) -> str:
    """The name of a property that is not declared, as `propertyNames` has it where that is said."""
    usual = next(name for name in _additional_names() if name not in template)
    if not form.objects.names or walk.compiler.validator(form.objects.names)(usual):
        return usual
    try:
        wanted = {"type": "string", "minLength": 1}
        name: str = walk.narrowed(form.objects.names, _NAMES, "name", wanted)
    except _REASONS:
        return usual
    return name


def _additional_names() -> Iterator[str]:
    yield ADDITIONAL
    for number in count(1):
        yield f"{ADDITIONAL}{number}"


def _inside(
    walk: Walk, child: tuple[Conjunction, TextPlace], path: tuple[str, ...], put: Any, text: str
) -> Iterator[Boundary]:
    try:
        for found in walk.values(*child, path):
            yield found.inside(put, text)
    except _REASONS:
        return


def _with(value: dict[str, Any], name: str, item: Any) -> dict[str, Any]:
    return {**value, name: item}
