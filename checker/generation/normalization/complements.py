"""The complement of a schema: each keyword that can be broken gives one way to break it.

The ways are sound: a value of one of them breaks the schema. If a keyword has many names or places, only one of them is broken.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any, Final

from checker.generation.normalization.forms import INTEGER, NUMBER, TYPES, Conjunction, Facet, inverse, made
from checker.generation.regex_writing import names_like
from checker.generation.regexes import UnsupportedPattern, matcher
from checker.generation.sources.choices import RandomSource
from checker.validation.formats import ASSERTED_FORMATS, INTEGER_RANGES

OTHER_VALUE, OTHER_STEP, OTHER_TEXT, OTHER_FORMAT, DUPLICATES = (
    "other-value", "other-step", "other-text", "other-format", "duplicates",
)  # fmt: skip
"""Internal keywords for constraints that JSON Schema can only express by `not`."""
COINED: Final = frozenset({OTHER_VALUE, OTHER_STEP, OTHER_TEXT, OTHER_FORMAT, DUPLICATES})
"""The set of these internal keywords."""


class _Unknown(Exception):
    """The keyword can be broken, but no schema describes how."""


Breaking = Callable[[Facet, dict[str, Any], Any], Iterator[Conjunction]]
"""Yields the ways to break one keyword. Arguments: its schema, the valid keywords of the schema, its value."""


def complement(facet: Facet, raw: dict[str, Any]) -> tuple[tuple[Conjunction, ...], bool]:
    """Return the ways to break the keywords of a schema, and whether the list is complete. `raw` has its valid keywords without references."""
    found: list[Conjunction] = []
    is_whole = True
    # Drawing values and filtering them by `not` finds nothing if nearly all values are forbidden.
    for keyword, value in raw.items():
        breaking = _BREAKING.get(keyword)
        if breaking is None:
            is_whole = is_whole and keyword in _SILENT
            continue
        try:
            found.extend(breaking(facet, raw, value))
        except _Unknown:
            is_whole = False
    return tuple(found), is_whole


def broken_at(facet: Facet, raw: dict[str, Any], keyword: str) -> tuple[Conjunction, ...]:
    """Return ways to break one of the keywords. Ways that no schema describes are left out."""
    found: list[Conjunction] = []
    if keyword in _BREAKING:
        with suppress(_Unknown):
            # `extend` keeps the ways found before `_Unknown` is raised.
            found.extend(_BREAKING[keyword](facet, raw, raw[keyword]))
    return tuple(found)


def _made(facet: Facet, kind: str, name: str, raw: dict[str, Any]) -> Conjunction:
    return (made(facet, f"{facet.tag}!{name}", {"type": kind, **raw} if kind else raw),)


def _type(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    names = {value} if isinstance(value, str) else set(value)
    # Every integer is a number, so integers do not break the type `number`.
    names |= {INTEGER} if NUMBER in names else set()
    others = [name for name in TYPES if name not in names]
    if INTEGER in names and NUMBER in others:
        others.remove(NUMBER)
        yield _made(facet, NUMBER, "fraction", {OTHER_STEP: [1]})
    if others:
        yield _made(facet, "", "type", {"type": others})


def _simple(kind: str, name: str, broken: Callable[[Any], dict[str, Any] | None]) -> Breaking:
    """Return a function that breaks a keyword of one type by one schema, which depends only on the value of the keyword; None if impossible."""

    def breaking(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
        found = broken(value)
        if found is not None:
            yield _made(facet, kind, name, found)

    return breaking


def _sizes(kind: str, noun: str) -> dict[str, Breaking]:
    return {
        f"min{noun}": _simple(kind, "few", lambda value: {f"max{noun}": int(value) - 1} if value > 0 else None),
        f"max{noun}": _simple(kind, "many", lambda value: {f"min{noun}": int(value) + 1}),
    }


def _bound(other: str, flag: str) -> Breaking:
    """Return a function that breaks a bound. For an exclusive bound, the bound itself is invalid, too."""

    def breaking(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
        keyword = other if raw.get(flag) is True else f"exclusive{other.capitalize()}"
        yield _made(facet, NUMBER, f"{other} {flag}", {keyword: value})

    return breaking


def _format(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if value in INTEGER_RANGES:
        low, high = INTEGER_RANGES[value]
        yield _made(facet, NUMBER, "below", {"exclusiveMaximum": low})
        yield _made(facet, NUMBER, "above", {"exclusiveMinimum": high})
    elif value in ASSERTED_FORMATS:
        yield _made(facet, "string", "format", {OTHER_FORMAT: [value]})


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
            try:
                name: str = names_like(pattern)(RandomSource(0))
            except UnsupportedPattern:
                raise _Unknown from None
            if not matcher(pattern)(name):
                raise _Unknown
            yield _with_wrong(facet, name, facet.below(schema, "patternProperties", pattern))


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
        return
    if _admits_all(value):
        return
    wrong = facet.below(value, "items")
    count = len(raw.get("prefixItems") or ())
    if count:
        yield _item_at(facet, count, wrong)
    else:
        yield _made(facet, "array", "wrong item", {"contains": inverse(wrong)})


def _additional_items(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    items = raw.get("items")
    if isinstance(items, list) and not _admits_all(value):
        yield _item_at(facet, len(items), facet.below(value, "additionalItems"))


def _prefix(facet: Facet, schemas: list[Any], keyword: str) -> Iterator[Conjunction]:
    for index, schema in enumerate(schemas):
        if not _admits_all(schema):
            yield _item_at(facet, index, facet.below(schema, keyword, str(index)))


def _item_at(facet: Facet, index: int, schema: Facet) -> Conjunction:
    items = [*([True] * index), inverse(schema)]
    return _made(facet, "array", f"wrong {index}", {"prefixItems": items, "minItems": index + 1})


def _contains(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if raw.get("minContains", 1) > 0:
        yield _made(facet, "array", "without", {"items": inverse(facet.below(value, "contains"))})


def _few_contained(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    most = int(value) - 1
    if most > 0 and "contains" in raw:
        wanted = facet.below(raw["contains"], "contains")
        few = {"contains": wanted, "minContains": most, "maxContains": most, "minItems": most}
        yield _made(facet, "array", "with few", few)


def _many_contained(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if "contains" in raw:
        many = {"items": facet.below(raw["contains"], "contains"), "minItems": int(value) + 1}
        yield _made(facet, "array", "with many", many)


def _parts(facet: Facet, keyword: str, value: Any) -> list[Facet]:
    return [facet.below(part, keyword, str(index)) for index, part in enumerate(value)]


def _one_of(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    parts = _parts(facet, "oneOf", value)
    yield tuple(map(inverse, parts))
    # The number of pairs grows with the square of the alternatives.
    if len(parts) > _MANY:
        raise _Unknown
    yield from combinations(parts, 2)


def _then(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if "if" in raw:
        yield facet.below(raw["if"], "if"), inverse(facet.below(value, "then"))


def _else(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
    if "if" in raw:
        yield inverse(facet.below(raw["if"], "if")), inverse(facet.below(value, "else"))


def _dependents(keyword: str) -> Breaking:
    def breaking(facet: Facet, raw: dict[str, Any], value: Any) -> Iterator[Conjunction]:
        is_whole = True
        for name, asked in value.items():
            if isinstance(asked, list):
                is_whole = is_whole and len(asked) <= 1
                for other in asked:
                    # One of the required names is missing. The others are present, so that only one keyword is broken.
                    needed = [name, *(one for one in asked if one not in (other, name))]
                    lonely = {"required": needed, "properties": {other: False}}
                    yield _made(facet, "object", f"{name} without {other}", lonely)
            else:
                there = _made(facet, "object", f"with {name}", {"required": [name]})
                yield *there, inverse(facet.below(asked, keyword, name))
        if not is_whole:
            raise _Unknown

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
    ("if", "contentEncoding", "contentMediaType")
)  # fmt: skip
"""Keywords that are broken by another keyword's rule."""
_BREAKING: Final[dict[str, Breaking]] = {
    "type": _type,
    "enum": _simple("", "enum", lambda value: {OTHER_VALUE: value}),
    "const": _simple("", "const", lambda value: {OTHER_VALUE: [value]}),
    "minimum": _bound("maximum", "exclusiveMinimum"),
    "maximum": _bound("minimum", "exclusiveMaximum"),
    "exclusiveMinimum": _simple(
        NUMBER, "maximum", lambda value: None if isinstance(value, bool) else {"maximum": value}
    ),
    "exclusiveMaximum": _simple(
        NUMBER, "minimum", lambda value: None if isinstance(value, bool) else {"minimum": value}
    ),
    "multipleOf": _simple(NUMBER, "step", lambda value: {OTHER_STEP: [value]}),
    "pattern": _simple("string", "pattern", lambda value: {OTHER_TEXT: [value]}),
    "format": _format,
    **_sizes("string", "Length"),
    **_sizes("array", "Items"),
    **_sizes("object", "Properties"),
    "uniqueItems": _simple(
        "array", "twice", lambda value: {"minItems": 2, DUPLICATES: True} if value is True else None
    ),
    "required": lambda facet, raw, value: (
        _made(facet, "object", f"without {name}", {"properties": {name: False}}) for name in dict.fromkeys(value)
    ),
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "propertyNames": _names,
    "items": _items,
    "prefixItems": lambda facet, raw, value: _prefix(facet, value, "prefixItems"),
    "additionalItems": _additional_items,
    "contains": _contains,
    "minContains": _few_contained,
    "maxContains": _many_contained,
    "allOf": lambda facet, raw, value: ((inverse(part),) for part in _parts(facet, "allOf", value)),
    "anyOf": lambda facet, raw, value: iter([tuple(map(inverse, _parts(facet, "anyOf", value)))]),
    "oneOf": _one_of,
    "not": lambda facet, raw, value: iter([(facet.below(value, "not"),)]),
    "then": _then,
    "else": _else,
    "dependentRequired": _dependents("dependentRequired"),
    "dependentSchemas": _dependents("dependentSchemas"),
    "dependencies": _dependents("dependencies"),
}
