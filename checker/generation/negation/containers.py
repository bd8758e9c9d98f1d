"""Mutations that break the keywords of objects and arrays. Wrong items and properties are found at their own sites."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from checker.core.case import copied
from checker.core.errors import Unsatisfiable
from checker.generation.drawing.places import item_of
from checker.generation.negation.branches import dependent_schemas
from checker.generation.negation.mutation_sites import Breaker, Mutation, MutationSite, first_of, mixed, too_small
from checker.generation.normalization import forms
from checker.generation.normalization.forms import inverse
from checker.generation.patterns.regexes import matcher
from checker.generation.sources import alphabets
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, retried

UNKNOWN: Final = "x-unknown-property"
_OBJECT: Final = {"type": "object"}
_DEPENDENT: Final = ("dependentRequired", "dependencies")
_MOST = 300
"""Properties beyond a maximum that are drawn."""


def _required(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    """One way for each name."""
    for index, name in enumerate(value):
        if name in spot.form.objects.required and name not in value[:index]:
            make = partial(_dropped, spot, name)
            yield Mutation(spot.pointer("required"), "required", name, make)


def _dropped(spot: MutationSite, name: str) -> Draw:
    absent = {"properties": {name: False}, "type": "object"}
    others = [other for other in spot.said["required"] if other != name]
    try:
        return spot.replaced(("required",), f"required-{name}", absent | {"required": others})
    except Unsatisfiable:
        others = [other for other in spot.form.objects.required if other != name]
        made = spot.made(f"required-{name}-of-all", absent | {"required": others})
        return spot.draw((*spot.rest_of_all("required"), made))


def _too_many(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    yield Mutation(spot.pointer("maxProperties"), "maxProperties", value, partial(_beyond, spot, int(value)))


def _beyond(spot: MutationSite, most: int) -> Draw:
    if most > _MOST:
        raise Unsatisfiable(spot.pointer("maxProperties"), f"{most + 1} properties are too many")
    return spot.replaced(("maxProperties",), "maxProperties", _OBJECT | {"minProperties": most + 1})


def _forbidden(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    """`false` for properties that are not declared."""
    if value is False:
        yield Mutation(spot.pointer(keyword), keyword, value, partial(_one_more, spot, keyword))


def _one_more(spot: MutationSite, keyword: str) -> Draw:
    def larger() -> Draw:
        """A valid object, and one more property."""
        draw = spot.draw((*spot.rest(), with_room(spot, f"{keyword}-room")))
        name = unknown_name(spot)
        mine = spot.pointer(keyword)
        others = tuple(facet for facet in spot.form.objects.additional if facet.pointer != mine)
        item = spot.compiler.compile(others, item_of(spot.place))

        def grown(source: Source) -> dict[str, Any]:
            found: dict[str, Any] = draw(source)
            found[name(source)] = item(source)
            return found

        return grown

    more = _OBJECT | {"minProperties": 1}
    anyhow = partial(spot.replaced, (keyword,), f"{keyword}-more", more)
    if keyword == "additionalProperties":
        # What asks for a property may be what forbids it.
        return first_of(larger, anyhow)
    # What is evaluated elsewhere is known to the validator alone: any object may do.
    return mixed(larger, anyhow, shares=(4, 1))


def with_room(spot: MutationSite, name: str) -> forms.Facet:
    """Objects that may have one property more."""
    most = spot.form.objects.count.high
    if most == 0:
        raise Unsatisfiable(spot.pointer("maxProperties"), "there is no room for a property")
    return spot.made(name, _OBJECT | ({} if most is None else {"maxProperties": most - 1}))


def unknown_name(spot: MutationSite) -> Draw:
    """Draws names that are neither declared nor matched by a pattern. Raises `Unsatisfiable`."""
    form = spot.form
    declared = list(form.objects.properties)
    taken = form.objects.properties.keys() | form.objects.hidden
    patterns = [matcher(pattern) for pattern, _ in form.objects.pattern_properties]
    is_valid = spot.compiler.validator(form.objects.names)

    def make(source: Source) -> str:
        which = source.choice(3)
        if which == 0:
            return UNKNOWN
        if which == 1 and declared:
            name = declared[source.choice(len(declared)) if len(declared) > 1 else 0]
            return (name.swapcase(), name + "_", name + "s", "_" + name)[source.choice(4)]
        return source.string(alphabets.NAME, 1, 24)

    def is_unknown(name: str) -> bool:
        return name not in taken and not any(matches(name) for matches in patterns) and is_valid(name)

    return retried(make, is_unknown, spot.compiler.context, spot.pointer())


def _dependents(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    """One way for each name that another one asks for."""
    for name, what in value.items():
        for other in what if isinstance(what, list) else ():
            if other != name:
                make = partial(_alone, spot, keyword, name, other)
                yield Mutation(spot.pointer(keyword, name), keyword, other, make)
    if keyword == "dependencies":
        yield from dependent_schemas(spot, value, keyword=keyword)


def _alone(spot: MutationSite, keyword: str, name: str, other: str) -> Draw:
    """The property is there and what it asks for is not."""
    table = dict(spot.said[keyword])
    names = [one for one in table.pop(name) if one != other]
    made = {
        "type": "object",
        "required": [name, *names],
        "properties": {other: False},
        **({keyword: _kept(spot, keyword, table)} if table else {}),
    }
    return spot.replaced((keyword,), f"{keyword}-{name}-{other}", made)


def _kept(spot: MutationSite, keyword: str, table: dict[str, Any]) -> dict[str, Any]:
    return {name: what if isinstance(what, list) else spot.below(what, keyword, name) for name, what in table.items()}


OBJECTS: Final[Mapping[str, Breaker]] = {
    "required": _required,
    "minProperties": partial(too_small, lowest="minProperties", highest="maxProperties"),
    "maxProperties": _too_many,
    "additionalProperties": partial(_forbidden, keyword="additionalProperties"),
    "unevaluatedProperties": partial(_forbidden, keyword="unevaluatedProperties"),
    **{name: partial(_dependents, keyword=name) for name in _DEPENDENT},
}
"""Keyword -> ways to break it."""


_ARRAY: Final = {"type": "array"}
_CONTAINS: Final = ("contains", "minContains", "maxContains")
_REPEATED_FROM = 16
"""From so many items on they are copies of each other, if they may be."""


def _too_many_items(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    yield Mutation(spot.pointer("maxItems"), "maxItems", value, partial(_beyond_items, spot, int(value)))


def _beyond_items(spot: MutationSite, most: int) -> Draw:
    if most < _REPEATED_FROM or spot.form.arrays.unique:
        return spot.replaced(("maxItems",), "maxItems", _ARRAY | {"minItems": most + 1})
    if most > spot.compiler.max_text // 2:
        raise Unsatisfiable(spot.pointer("maxItems"), f"{most + 1} items are more than can be sent")
    few = len(spot.form.arrays.prefix) + 1
    draw = spot.replaced(("maxItems",), "maxItems-few", _ARRAY | {"minItems": few, "maxItems": max(few, 3)})

    def repeated(source: Source) -> list[Any]:
        items: list[Any] = draw(source)
        last = items[-1]
        items.extend(copied(last) for _ in range(most + 1 - len(items)))
        return items

    return repeated


def _same_twice(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if value is True:
        yield Mutation(spot.pointer("uniqueItems"), "uniqueItems", value, partial(_duplicated, spot))


def _duplicated(spot: MutationSite) -> Draw:
    most = spot.form.arrays.count.high
    prefix = len(spot.form.arrays.prefix)
    if most is not None and most < 2:
        raise Unsatisfiable(spot.pointer("uniqueItems"), f"no two items among {most}")

    def grown() -> Draw:
        """One item more, the same as one that is there."""
        room = {} if most is None else {"maxItems": most - 1}
        draw = spot.draw((*spot.rest(), spot.made("uniqueItems-few", _ARRAY | {"minItems": prefix + 1} | room)))

        def longer(source: Source) -> list[Any]:
            items: list[Any] = draw(source)
            last = len(items) - 1
            which = source.integer(prefix, last) if prefix < last else last
            items.append(copied(items[which]))
            return items

        return longer

    def overwritten() -> Draw:
        draw = spot.replaced(("uniqueItems",), "uniqueItems-two", _ARRAY | {"minItems": 2})

        def equal(source: Source) -> list[Any]:
            items: list[Any] = draw(source)
            items[-1] = copied(items[source.choice(len(items) - 1)])
            return items

        return equal

    return grown() if not (spot.form.arrays.is_closed or most == prefix) else overwritten()


def _contains(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if spot.said.get("minContains", 1) >= 1:
        yield Mutation(spot.pointer("contains"), "contains", value, partial(_without, spot, value))


def _without(spot: MutationSite, inner: Any) -> Draw:
    """Arrays in which no item is as wanted."""
    none = _ARRAY | {"items": inverse(spot.below(inner, "contains"))}
    return spot.draw((*spot.rest(*_CONTAINS), spot.made("contains", none)))


def _contains_few(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if value > 1 and "contains" in spot.said:
        yield Mutation(spot.pointer("minContains"), "minContains", value, partial(_some, spot, int(value) - 1))


def _some(spot: MutationSite, most: int) -> Draw:
    """Arrays in which some items are as wanted, but too few."""
    inner = spot.below(spot.said["contains"], "contains")
    is_wanted = spot.compiler.validator((inner,))
    some = {"contains": inner, "minContains": most, "maxContains": most, "minItems": most}
    draw = spot.draw((*spot.rest(*_CONTAINS), spot.made("minContains", _ARRAY | some)))
    return retried(
        draw, lambda items: 0 < sum(map(is_wanted, items)) <= most, spot.compiler.context, spot.pointer("minContains")
    )


def _contains_many(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if "contains" in spot.said:
        many = int(value) + 1
        inner = spot.below(spot.said["contains"], "contains")
        made = spot.made("maxContains", _ARRAY | {"contains": inner, "minContains": many, "minItems": many})
        yield Mutation(
            spot.pointer("maxContains"), "maxContains", value, lambda: spot.draw((*spot.rest(*_CONTAINS), made))
        )


def _nothing_more(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    """`false` for what comes after the first items."""
    if value is False and (keyword != "items" or "prefixItems" in spot.said):
        yield Mutation(spot.pointer(keyword), keyword, value, partial(_one_more_item, spot, keyword))


def _one_more_item(spot: MutationSite, keyword: str) -> Draw:
    count = len(spot.form.arrays.prefix)

    def longer() -> Draw:
        """All that is declared, and one more."""
        sizes = {"minItems": count, "maxItems": count}
        draw = spot.draw((*spot.rest(), spot.made(f"{keyword}-all", _ARRAY | sizes)))
        mine = spot.pointer(keyword)
        others = tuple(facet for facet in spot.form.arrays.items if facet.pointer != mine)
        item = spot.compiler.compile(others, spot.place)

        def grown(source: Source) -> list[Any]:
            items: list[Any] = draw(source)
            items.append(item(source))
            return items

        return grown

    more = _ARRAY | {"minItems": _declared(spot) + 1}
    return mixed(longer, partial(spot.replaced, (keyword,), f"{keyword}-more", more), shares=(4, 1))


def _declared(spot: MutationSite) -> int:
    """Items that are declared one by one, be it in an alternative."""
    counts = [len(spot.form.arrays.prefix)]
    for branches in spot.form.branches:
        for alternative in branches.alternatives:
            counts.append(len(spot.compiler.canonical(alternative).arrays.prefix))
    return max(counts)


ARRAYS: Final[Mapping[str, Breaker]] = {
    "minItems": partial(too_small, lowest="minItems", highest="maxItems"),
    "maxItems": _too_many_items,
    "uniqueItems": _same_twice,
    "contains": _contains,
    "minContains": _contains_few,
    "maxContains": _contains_many,
    "items": partial(_nothing_more, keyword="items"),
    "additionalItems": partial(_nothing_more, keyword="additionalItems"),
    "unevaluatedItems": partial(_nothing_more, keyword="unevaluatedItems"),
}
"""Keyword -> ways to break it."""
