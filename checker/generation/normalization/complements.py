"""The complement of a schema, pushed inward: each keyword that can be broken gives one way to break it.

The ways are sound: what satisfies one of them breaks the schema. Of many names or places one is taken.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, Final

from msgspec import Struct

from checker.generation.normalization.forms import INTEGER, NUMBER, TYPES, Conjunction, Facet, inverse, made
from checker.generation.patterns.regexes import UnsupportedPattern, matcher
from checker.generation.patterns.writing import writer
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource
from checker.validation.formats import ASSERTED_FORMATS, INTEGER_RANGES

OTHER_VALUE, OTHER_STEP, OTHER_TEXT, OTHER_FORMAT, DUPLICATES = (
    "other-value", "other-step", "other-text", "other-format", "duplicates",
)  # fmt: skip
"""Keywords of made facets for which JSON Schema has only `not`."""
COINED: Final = frozenset({OTHER_VALUE, OTHER_STEP, OTHER_TEXT, OTHER_FORMAT, DUPLICATES})
"""All of them."""


class Complements(Struct, frozen=True):
    """The ways to break a schema."""

    alternatives: tuple[Conjunction, ...]
    is_whole: bool
    """False when there are ways that cannot be said."""


class _Unknown(Exception):
    """There are ways, but they cannot be said."""


Breaking = Callable[[Facet, dict[str, Any], Any], Iterator[Conjunction]]
"""The ways to break one keyword, from its schema, all that is well-formed in it, and its value."""


def complement(facet: Facet, raw: dict[str, Any]) -> Complements:
    """Return the ways to break the keywords of a schema; `raw` is what is well-formed in it, references excluded."""
    found: list[Conjunction] = []
    is_whole = True
    for keyword, value in raw.items():
        breaking = _BREAKING.get(keyword)
        if breaking is None:
            is_whole = is_whole and keyword in _SILENT
            continue
        try:
            found.extend(breaking(facet, raw, value))
        except _Unknown:
            is_whole = False
    return Complements(tuple(found), is_whole)


def broken_at(facet: Facet, raw: dict[str, Any], keyword: str) -> tuple[Conjunction, ...]:
    """The ways to break one of the keywords; none when they cannot be said."""
    breaking = _BREAKING.get(keyword)
    if breaking is None:
        return ()
    try:
        return tuple(breaking(facet, raw, raw[keyword]))
    except _Unknown:
        return ()


def _made(facet: Facet, kind: str, name: str, raw: dict[str, Any]) -> Conjunction:
    return (made(facet, f"{facet.tag}!{name}", {"type": kind, **raw} if kind else raw),)


def _type(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    names = {value} if isinstance(value, str) else set(value)
    names |= {INTEGER} if NUMBER in names else set()
    others = [name for name in TYPES if name not in names]
    if INTEGER in names and NUMBER in others:
        others.remove(NUMBER)
        yield _made(facet, NUMBER, "fraction", {OTHER_STEP: [1]})
    if others:
        yield _made(facet, "", "type", {"type": others})


def _const(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    yield _made(facet, "", "const", {OTHER_VALUE: [value]})


def _enum(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    yield _made(facet, "", "enum", {OTHER_VALUE: value})


def _bound(other: str, flag: str) -> Breaking:
    """Beyond a bound: what is beyond an open one includes the bound itself."""

    def breaking(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
        keyword = other if raw.get(flag) is True else f"exclusive{other.capitalize()}"
        yield _made(facet, NUMBER, f"{other} {flag}", {keyword: value})

    return breaking


def _open_bound(other: str) -> Breaking:
    def breaking(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
        if not isinstance(value, bool):
            yield _made(facet, NUMBER, other, {other: value})

    return breaking


def _multiple(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    yield _made(facet, NUMBER, "step", {OTHER_STEP: [value]})


def _pattern(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    yield _made(facet, "string", "pattern", {OTHER_TEXT: [value]})


def _format(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if value in INTEGER_RANGES:
        low, high = INTEGER_RANGES[value]
        yield _made(facet, NUMBER, "below", {"exclusiveMaximum": low})
        yield _made(facet, NUMBER, "above", {"exclusiveMinimum": high})
    elif value in ASSERTED_FORMATS:
        yield _made(facet, "string", "format", {OTHER_FORMAT: [value]})


def _at_least(kind: str, noun: str) -> Breaking:
    def breaking(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
        if value > 0:
            yield _made(facet, kind, "few", {f"max{noun}": int(value) - 1})

    return breaking


def _at_most(kind: str, noun: str) -> Breaking:
    def breaking(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
        yield _made(facet, kind, "many", {f"min{noun}": int(value) + 1})

    return breaking


def _unique(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if value is True:
        yield _made(facet, "array", "twice", {"minItems": 2, DUPLICATES: True})


def _required(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    for name in dict.fromkeys(value):
        yield _made(facet, "object", f"without {name}", {"properties": {name: False}})


def _with_wrong(facet: Facet, name: str, schema: Facet) -> Conjunction:
    wrong = {"required": [name], "properties": {name: inverse(schema)}}
    return _made(facet, "object", f"wrong {name}", wrong)


def _properties(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    for name, schema in value.items():
        if not _admits_all(schema):
            yield _with_wrong(facet, name, facet.below(schema, "properties", name))


def _pattern_properties(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    for pattern, schema in value.items():
        if not _admits_all(schema):
            name = _name_like(pattern)
            yield _with_wrong(facet, name, facet.below(schema, "patternProperties", pattern))


def _name_like(pattern: str) -> str:
    try:
        written = writer(pattern, alphabets.VISIBLE.intervals)
    except UnsupportedPattern:
        raise _Unknown from None
    name = written.write(RandomSource(0), 0, max(written.low, 24))
    if not matcher(pattern)(name):
        raise _Unknown
    return name


def _additional(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if _admits_all(value):
        return
    patterns = [matcher(pattern) for pattern in raw.get("patternProperties") or {}]
    for name in _NEW_NAMES:
        if name not in (raw.get("properties") or {}) and not any(fits(name) for fits in patterns):
            yield _with_wrong(facet, name, facet.below(value, "additionalProperties"))
            return
    raise _Unknown


def _items(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if isinstance(value, list):
        yield from _prefix(facet, value, "items")
        if "additionalItems" in raw and not _admits_all(raw["additionalItems"]):
            rest = facet.below(raw["additionalItems"], "additionalItems")
            yield _item_at(facet, len(value), rest)
        return
    if _admits_all(value):
        return
    wrong = facet.below(value, "items")
    count = len(raw.get("prefixItems") or ())
    if count:
        yield _item_at(facet, count, wrong)
    else:
        yield _made(facet, "array", "wrong item", {"contains": inverse(wrong)})


def _prefix_items(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    yield from _prefix(facet, value, "prefixItems")


def _prefix(facet: Facet, schemas: list[Any], keyword: str) -> Iterator[Conjunction]:
    for index, schema in enumerate(schemas):
        if not _admits_all(schema):
            yield _item_at(facet, index, facet.below(schema, keyword, str(index)))


def _item_at(facet: Facet, index: int, schema: Facet) -> Conjunction:
    items = [*([True] * index), inverse(schema)]
    return _made(facet, "array", f"wrong {index}", {"prefixItems": items, "minItems": index + 1})


def _contains(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    wanted = facet.below(value, "contains")
    if raw.get("minContains", 1) > 0:
        yield _made(facet, "array", "without", {"items": inverse(wanted)})
    if "maxContains" in raw:
        many = {"items": wanted, "minItems": int(raw["maxContains"]) + 1}
        yield _made(facet, "array", "with many", many)


def _all_of(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    for index, part in enumerate(value):
        yield (inverse(facet.below(part, "allOf", str(index))),)


def _any_of(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    yield tuple(inverse(facet.below(part, "anyOf", str(index))) for index, part in enumerate(value))


def _one_of(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    parts = [facet.below(part, "oneOf", str(index)) for index, part in enumerate(value)]
    yield tuple(map(inverse, parts))
    if len(parts) > _MANY:
        raise _Unknown
    yield from combinations(parts, 2)


def _not(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    yield (facet.below(value, "not"),)


def _if(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    condition = facet.below(value, "if")
    if "then" in raw:
        yield condition, inverse(facet.below(raw["then"], "then"))
    if "else" in raw:
        yield inverse(condition), inverse(facet.below(raw["else"], "else"))


def _dependents(keyword: str) -> Breaking:
    def breaking(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
        for name, asked in value.items():
            if isinstance(asked, list):
                for other in asked:
                    lonely = {"required": [name], "properties": {other: False}}
                    yield _made(facet, "object", f"{name} without {other}", lonely)
            else:
                there = _made(facet, "object", f"with {name}", {"required": [name]})
                yield *there, inverse(facet.below(asked, keyword, name))

    return breaking


def _names(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if value is False:
        yield _made(facet, "object", "named", {"minProperties": 1})
    elif not _admits_all(value):
        wrong = inverse(facet.below(value, "propertyNames"))
        yield _made(facet, "object", "misnamed", {"propertyNames": wrong, "minProperties": 1})


def _admits_all(schema: object) -> bool:
    return schema is True or schema == {}


_MANY = 6
_NEW_NAMES: Final = ("other", "x", "0", "Another name", "~")
_SILENT: Final = frozenset(
    ("then", "else", "minContains", "maxContains", "additionalItems", "contentEncoding", "contentMediaType")
)  # fmt: skip
"""Keywords that others answer for."""
_BREAKING: Final[dict[str, Breaking]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _bound("maximum", "exclusiveMinimum"),
    "maximum": _bound("minimum", "exclusiveMaximum"),
    "exclusiveMinimum": _open_bound("maximum"),
    "exclusiveMaximum": _open_bound("minimum"),
    "multipleOf": _multiple,
    "pattern": _pattern,
    "format": _format,
    "minLength": _at_least("string", "Length"),
    "maxLength": _at_most("string", "Length"),
    "minItems": _at_least("array", "Items"),
    "maxItems": _at_most("array", "Items"),
    "minProperties": _at_least("object", "Properties"),
    "maxProperties": _at_most("object", "Properties"),
    "uniqueItems": _unique,
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "propertyNames": _names,
    "items": _items,
    "prefixItems": _prefix_items,
    "contains": _contains,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "dependentRequired": _dependents("dependentRequired"),
    "dependentSchemas": _dependents("dependentSchemas"),
    "dependencies": _dependents("dependencies"),
}
