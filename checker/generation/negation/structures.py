"""Ways to break the keywords of objects, arrays and alternatives. Wrong items and properties are sites of their own."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import combinations, islice
from typing import Any, Final

from checker.core.case import copied
from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.generation.drawing.places import item_of
from checker.generation.negation.mutation_sites import Breaker, Mutation, MutationSite, breaker, first_of, mixed
from checker.generation.normalization import forms
from checker.generation.normalization.complements import broken_at
from checker.generation.normalization.discrimination import discriminated
from checker.generation.normalization.forms import Facet, inverse
from checker.generation.regexes import matcher
from checker.generation.sources import alphabets
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, retried

UNKNOWN: Final = "x-unknown-property"
ARRAY: Final[dict[str, Any]] = {"type": "array"}
OBJECT: Final[dict[str, Any]] = {"type": "object"}
_SIZED: Final = {"minLength": "string", "minItems": "array", "minProperties": "object"}
_REPEATED_FROM = 16  # An array of this many items or more gets copies of its last item, where items need not be unique.


def _too_small(site: MutationSite, keyword: str, least: Any) -> Draw:
    """Return draws with too few characters, items or properties: one less than the limit, or any smaller number."""
    # "One less" comes first, because listed cases take the first draw, and only "one less" shows a limit that is off by one.
    few, highest = int(least) - 1, keyword.replace("min", "max")
    near = {"type": _SIZED[keyword], keyword: few, highest: few}
    return mixed(
        partial(site.replaced, (keyword,), f"{keyword}-near", near),
        partial(site.replaced, (keyword,), f"{keyword}-far", near | {keyword: 0}),
    )


def _required(site: MutationSite, keyword: str, names: Any) -> Iterator[Mutation]:
    for index, name in enumerate(names):
        # Requests need no read-only properties. Authors list names twice, and each name is dropped once.
        if name in site.form.objects.required and name not in names[:index]:
            yield Mutation(site.pointer(keyword), keyword, name, partial(_dropped, site, name))


def _dropped(site: MutationSite, name: str) -> Draw:
    form = site.form
    is_free = not (form.branches or form.forbidden or form.needs_check or form.objects.count.low)
    if is_free and not site.mentions_elsewhere("required"):
        # No other schema requires the property. Compiling an object without it takes six times as long.
        objects = site.valid(dict)

        def without(source: Source) -> dict[str, Any]:
            value: dict[str, Any] = objects(source)
            del value[name]
            return value

        return without
    absent = {"properties": {name: False}, **OBJECT}
    others = [other for other in site.said["required"] if other != name]
    try:
        return site.replaced(("required",), f"required-{name}", absent | {"required": others})
    except Unsatisfiable:
        # Another schema requires the property, too. A value that breaks both schemas is wrong as well.
        others = [other for other in site.form.objects.required if other != name]
        alone = site.made(f"required-{name}-of-all", absent | {"required": others})
        return site.draw((*site.rest("required", everywhere=True), alone))


def _one_property_more(site: MutationSite, keyword: str, value: Any) -> Draw:
    def larger() -> Draw:
        """Return draws of a valid object with one additional property."""
        objects, name = site.valid(dict), unknown_name(site)
        # Only the name should be wrong: the value satisfies what other schemas say about undeclared properties.
        others = tuple(one for one in site.form.objects.additional if one.pointer != site.pointer(keyword))
        item = site.draw(others, item_of(site.place))

        def grown(source: Source) -> dict[str, Any]:
            found: dict[str, Any] = objects(source)
            found[with_room(site, found, name(source))] = item(source)
            return found

        return grown

    anyhow = partial(site.replaced, (keyword,), f"{keyword}-more", OBJECT | {"minProperties": 1})
    if keyword == "additionalProperties":
        # One schema may both require the property and forbid it.
        return first_of(larger, anyhow)
    # Only the validator knows which properties other schemas evaluate, so any object may be wrong.
    return mixed(larger, anyhow, shares=(4, 1))


def with_room(site: MutationSite, value: dict[str, Any], name: str) -> str:
    """Return the name of a property for which the object has room. If it is full, an optional property is removed."""
    objects = site.form.objects
    if objects.count.high is not None and name not in value and len(value) >= objects.count.high:
        optional = [one for one in value if one not in objects.required]
        if optional:
            del value[optional[-1]]
    return name


def unknown_name(site: MutationSite) -> Draw:
    """Return draws of names that are neither declared nor match a pattern. Raises `Unsatisfiable`."""
    objects = site.form.objects
    declared = list(objects.properties)
    taken = objects.properties.keys() | objects.hidden
    patterns = [matcher(pattern) for pattern, _ in objects.pattern_properties]
    is_valid = site.compiler.validator(objects.names)

    def make(source: Source) -> str:
        which = source.choice(3)
        if which == 0:
            return UNKNOWN
        # Readers that ignore case, or compare only the beginning of a name, take these for the declared name.
        if which == 1 and declared:
            name = declared[source.choice(len(declared)) if len(declared) > 1 else 0]
            return (name.swapcase(), name + "_", name + "s", "_" + name)[source.choice(4)]
        return source.string(alphabets.NAME, 1, 24)

    def is_unknown(name: str) -> bool:
        return name not in taken and not any(matches(name) for matches in patterns) and is_valid(name)

    return retried(make, is_unknown, site.compiler.context, site.pointer())


def _too_many_items(site: MutationSite, keyword: str, value: Any) -> Draw:
    most, arrays = int(value), site.form.arrays
    # A small set of values has few distinct items, and unique items must be distinct.
    if most < _REPEATED_FROM or arrays.unique:
        return site.replaced((keyword,), keyword, ARRAY | {"minItems": most + 1})
    if most > site.compiler.max_text // 2:
        raise Unsatisfiable(site.pointer(keyword), f"{most + 1} items are more than can be sent")
    few = len(arrays.prefix) + 1
    draw = site.replaced((keyword,), "maxItems-few", ARRAY | {"minItems": few, "maxItems": max(few, 3)})

    def repeated(source: Source) -> list[Any]:
        items: list[Any] = draw(source)
        # A copy of a valid item is valid, so only the number of items is wrong.
        last = items[-1]
        items.extend(copied(last) for _ in range(most + 1 - len(items)))
        return items

    return repeated


def _duplicated(site: MutationSite, keyword: str, value: Any) -> Draw:
    """Return draws of arrays with two equal items: a copy is appended, or replaces the last item if none can be appended."""
    most, prefix = site.form.arrays.count.high, len(site.form.arrays.prefix)
    if most is not None and most < 2:
        raise Unsatisfiable(site.pointer(keyword), f"no two items among {most}")
    # Items of a prefix have their own schemas, so a copy may be wrong for another reason.
    adds = not (site.form.arrays.is_closed or most == prefix)
    if adds:
        # With the copy, the array has at most `most` items, so `maxItems` holds.
        room = {} if most is None else {"maxItems": most - 1}
        draw = site.narrowed("uniqueItems-few", ARRAY | {"minItems": prefix + 1} | room)
    else:
        draw = site.replaced((keyword,), "uniqueItems-two", ARRAY | {"minItems": 2})

    def equal(source: Source) -> list[Any]:
        items: list[Any] = draw(source)
        last = len(items) - 1
        if adds:
            items.append(copied(items[source.integer(prefix, last) if prefix < last else last]))
        else:
            items[-1] = copied(items[source.choice(last)])
        return items

    return equal


def _unevaluated_item(site: MutationSite, keyword: str, value: Any) -> Draw:
    """Return draws of arrays with more items than any schema declares. An alternative may declare items one by one."""
    alternatives = [one for branches in site.form.branches for one in branches.alternatives]
    declared = max(len(form.arrays.prefix) for form in (site.form, *map(site.compiler.canonical, alternatives)))
    return site.replaced((keyword,), f"{keyword}-more", ARRAY | {"minItems": declared + 1})


_PAIRS = 12
_BROKEN_TOGETHER = 8  # Alternatives that can be broken together.
_STEPS = 500  # Compile budget for breaking all alternatives together: the ways to break each of them are combined.
_KINDS: Final = (
    forms.NULL, forms.BOOLEAN, forms.NUMBER, forms.STRING, forms.ARRAY, forms.OBJECT,
)  # fmt: skip


def _none_of(site: MutationSite, keyword: str, value: Any) -> Iterator[Mutation]:
    """Yield three mutations: no alternative fits, two alternatives of a `oneOf` fit, or the discriminator names no alternative."""
    # A value of another type is cheap to generate and certainly wrong, unlike the complements of all alternatives.
    no_one = partial(first_of, partial(_other_type, site, keyword), partial(_no_alternative, site, keyword))
    yield Mutation(site.pointer(keyword), keyword, value, no_one)
    if keyword == "oneOf" and len(value) > 1:
        yield Mutation(site.pointer(keyword), keyword, value, partial(_two_of, site))
    told = site.facet.raw.get("discriminator") if isinstance(site.facet.raw, dict) else None
    if isinstance(told, dict):
        make = partial(_misnamed, site, keyword)
        yield Mutation(site.pointer("discriminator"), "discriminator", told, make)


def _misnamed(site: MutationSite, keyword: str) -> Draw:
    """Return draws of values of an alternative whose discriminator names no alternative."""
    mine = [one for one in site.form.branches if one.owner is site.facet and one.keyword == keyword]
    pinned = [pins for branches in mine for pins in discriminated(site.compiler.canon, branches)]
    if not pinned or not all(pinned):
        raise Unsatisfiable(site.pointer("discriminator"), "some alternative takes any name")
    # The rest of the value fits an alternative, so only the name is wrong.
    (branches,), raw = mine, site.facet.raw
    assert isinstance(raw, dict)
    rest = site.rest(keyword)
    chosen = list(zip(branches.alternatives, pinned, strict=True))[:_PAIRS]
    valid = mixed(*(partial(site.draw, (*rest, *one, *pins)) for one, pins in chosen))
    name = raw["discriminator"]["propertyName"]

    def misnamed(source: Source) -> Any:
        value = valid(source)
        tag = value[name]
        value[name] = (tag + "_", tag.swapcase(), tag[:-1], "unknown")[source.choice(4)]
        return value

    return misnamed


def _alternatives(site: MutationSite, keyword: str) -> list[Facet]:
    return [site.below(part, keyword, str(index)) for index, part in enumerate(site.said[keyword])]


def _other_type(site: MutationSite, keyword: str) -> Draw:
    taken: set[str] = set()
    for part in _alternatives(site, keyword):
        form = site.compiler.canonical((part,))
        if form.impossible is None:
            taken |= form.types
    kinds = [kind for kind in _KINDS if kind not in taken]
    if not kinds:
        raise Unsatisfiable(site.pointer(keyword), "its alternatives have every type")
    return site.replaced((keyword,), f"{keyword}-types", {"type": kinds})


def _no_alternative(site: MutationSite, keyword: str) -> Draw:
    """Return draws that break each alternative, in the known ways or by random draws."""
    rest, parts = site.rest(keyword), _alternatives(site, keyword)
    if len(parts) <= _BROKEN_TOGETHER:
        with suppress(Unsatisfiable, BudgetSpent), site.compiler.budget.lent(_STEPS):
            return site.draw((*rest, *map(inverse, parts)))
    checks = [site.compiler.validator((part,)) for part in parts]
    return site.retried(site.draw(rest), lambda value: not any(is_valid(value) for is_valid in checks), keyword)


def _two_of(site: MutationSite) -> Draw:
    # The number of pairs is quadratic: 100 alternatives have 4,950.
    rest, pairs = site.rest("oneOf"), islice(combinations(_alternatives(site, "oneOf"), 2), _PAIRS)
    return mixed(*(partial(site.draw, (*rest, one, other)) for one, other in pairs))


_TOGETHER: Final = {
    **dict.fromkeys(("contains", "minContains", "maxContains"), ("contains", "minContains", "maxContains")),
    **dict.fromkeys(("then", "else"), ("if", "then", "else")),
}
"""Keywords that have a meaning only together."""


def _outside(site: MutationSite, keyword: str, value: Any) -> Draw:
    """Return draws that break a keyword in any way that its complement has."""
    rest = site.rest(*_TOGETHER.get(keyword, (keyword,)))
    ways = broken_at(site.facet, dict(site.said), keyword)
    return mixed(*(partial(site.draw, (*rest, *way)) for way in ways))


_is_positive: Callable[[MutationSite, Any], bool] = lambda site, value: value >= 1  # noqa: E731
_is_false: Callable[[MutationSite, Any], bool] = lambda site, value: value is False  # noqa: E731
_OUTSIDE: Final = (
    "maxProperties", "dependentRequired", "dependentSchemas", "dependencies", "contains", "minContains", "maxContains",
    "not", "then", "else",
)  # fmt: skip

STRUCTURES: Final[Mapping[str, Breaker]] = {
    **dict.fromkeys(_SIZED, breaker(_too_small, _is_positive)),
    "required": _required,
    "additionalProperties": breaker(_one_property_more, _is_false),
    "unevaluatedProperties": breaker(_one_property_more, _is_false),
    "maxItems": breaker(_too_many_items),
    "uniqueItems": breaker(_duplicated, lambda site, value: value is True),
    **dict.fromkeys(("items", "additionalItems"), breaker(_outside, _is_false)),
    "unevaluatedItems": breaker(_unevaluated_item, _is_false),
    "anyOf": _none_of,
    "oneOf": _none_of,
    **dict.fromkeys(_OUTSIDE, breaker(_outside)),
}
"""Keyword -> ways to break it."""
