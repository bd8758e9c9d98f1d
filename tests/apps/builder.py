"""Values by a schema: small, always the same, judged by the witness before they leave."""

import math
import re
from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from tests.apps.document import Document, Missing
from tests.apps.patterns import sample
from tests.apps.witness import Witness

_DEEP = 4
"""Below this depth only required properties are built."""
_TOO_DEEP = 25
_ALTERNATIVES = 16
_CANDIDATES = 48

_FORMATS = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:30:45Z",
    "time": "12:30:45Z",
    "duration": "P1D",
    "uuid": "9b2f1a4e-0c3d-4e5f-8a6b-7c8d9e0f1a2b",
    "email": "ann@example.com",
    "uri": "https://example.com/a",
    "url": "https://example.com/a",
    "uri-reference": "/a",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "aGVsbG8=",
    "regex": "a+",
    "json-pointer": "/a",
}
_STRING = {"pattern", "minLength", "maxLength", "format"}
_NUMBER = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_OBJECT = {"properties", "required", "additionalProperties", "minProperties", "maxProperties"}
_ARRAY = {"items", "minItems", "maxItems", "uniqueItems", "prefixItems"}
_LOWER = {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"}
_UPPER = {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"}


class Unbuildable(ValueError):
    """No value of this schema was found."""


class Builder:
    """Builds values of the schemas of one document."""

    def __init__(self, document: Document, *, is_response: bool = True) -> None:
        self._document = document
        self.witness = Witness(document, is_response=is_response)

    def value(self, schema: Any) -> Any:
        """A valid value. Raises `Unbuildable`, or `Missing` when a reference points at nothing."""
        return self._best(schema, ())

    def _best(self, schema: Any, stack: tuple[int, ...]) -> Any:
        if len(stack) > _TOO_DEEP:
            raise Unbuildable("nested without end")
        inner = (*stack, id(self._document.resolved(schema)))
        for value in islice(self._candidates(schema, inner), _CANDIDATES):
            if self.witness.problem(schema, value) is None:
                return value
        raise Unbuildable(str(schema)[:200])

    def _candidates(self, schema: Any, stack: tuple[int, ...]) -> Iterator[Any]:
        if schema is True:
            yield {}
        if not isinstance(schema, dict):
            return
        for flat in islice(self._flattened(schema, ()), _ALTERNATIVES):
            yield from self._of(flat, stack)

    def _flattened(self, schema: Any, seen: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """Alternatives of a schema without references and combinations."""
        if not isinstance(schema, dict):
            yield {}
            return
        reference = schema.get("$ref")
        own = {k: v for k, v in schema.items() if k not in ("$ref", "allOf", "anyOf", "oneOf")}
        groups: list[list[dict[str, Any]]] = []
        if isinstance(reference, str):
            if reference in seen:
                yield {}
                return
            seen = (*seen, reference)
            target = self._document.target(reference)
            if not self._document.has_siblings:
                yield from self._flattened(target, seen)
                return
            groups.append(list(islice(self._flattened(target, seen), _ALTERNATIVES)))
        for part in schema.get("allOf") or ():
            groups.append(list(islice(self._flattened(part, seen), _ALTERNATIVES)))
        for key in ("oneOf", "anyOf"):
            if schema.get(key):
                options = (_named(schema, part, found) for part in schema[key] for found in self._flattened(part, seen))
                groups.append(list(islice(options, _ALTERNATIVES)))
        for chosen in product(*groups):
            merged = own
            for part in chosen:
                merged = _merged(merged, part)
            yield merged

    def _of(self, flat: dict[str, Any], stack: tuple[int, ...]) -> Iterator[Any]:
        if "const" in flat:
            yield flat["const"]
        yield from flat.get("enum") or ()
        if "example" in flat:
            yield flat["example"]
        if isinstance(flat.get("examples"), list):
            yield from flat["examples"]
        for kind in _kinds(flat):
            match kind:
                case "object":
                    yield from self._objects(flat, stack)
                case "array":
                    yield from self._arrays(flat, stack)
                case "string" | "file":
                    yield from _strings(flat)
                case "integer" | "number":
                    yield from _numbers(flat)
                case "boolean":
                    yield from (True, False)
                case "null":
                    yield None
                case _:
                    pass

    def _objects(self, flat: dict[str, Any], stack: tuple[int, ...]) -> Iterator[Any]:
        properties = flat.get("properties") or {}
        required = [name for name in flat.get("required") or () if isinstance(name, str)]
        needed: dict[str, Any] = {}
        for name in required:
            schema = properties.get(name, self._additional(flat))
            if not self.witness.is_hidden(schema):
                needed[name] = self._best(schema, stack)
        full = {**needed, **self._optional(properties, needed, stack)}
        for built in (full, needed):
            least = flat.get("minProperties") or 0
            extra = 0
            while len(built) < least and extra < least:
                extra += 1
                built = {**built, f"extra{extra}": self._best(self._additional(flat), stack)}
            yield built

    def _optional(self, properties: dict[str, Any], needed: dict[str, Any], stack: tuple[int, ...]) -> dict[str, Any]:
        found = {}
        for name, schema in properties.items():
            if name in needed or len(stack) > _DEEP:
                continue
            try:
                is_recursive = id(self._document.resolved(schema)) in stack
                if not is_recursive and not self.witness.is_hidden(schema):
                    found[name] = self._best(schema, stack)
            except (Unbuildable, Missing):
                continue
        return found

    def _additional(self, flat: dict[str, Any]) -> Any:
        schema = flat.get("additionalProperties")
        return schema if isinstance(schema, dict) else {}

    def _arrays(self, flat: dict[str, Any], stack: tuple[int, ...]) -> Iterator[Any]:
        least = flat.get("minItems") or 0
        prefix = flat.get("prefixItems") or ()
        items = flat.get("items", {})
        first = [self._best(schema, stack) for schema in prefix]
        if isinstance(items, dict | bool) and items is not False:
            wanted = max(least - len(first), 0)
            # One item says more than none.
            for count in dict.fromkeys((max(wanted, 1), wanted)):
                try:
                    yield first + self._some(items, count, stack, flat.get("uniqueItems") is True)
                except (Unbuildable, Missing):
                    continue
        yield first
        yield []

    def _some(self, items: Any, count: int, stack: tuple[int, ...], is_unique: bool) -> list[Any]:
        if count == 0:
            return []
        if id(self._document.resolved(items)) in stack and count <= 1:
            raise Unbuildable("recursive")
        best = self._best(items, stack)
        if not is_unique or count == 1:
            return [best] * count
        found = [best]
        for value in islice(self._candidates(items, stack), _CANDIDATES):
            if value not in found and self.witness.problem(items, value) is None:
                found.append(value)
        if len(found) < count:
            raise Unbuildable("too few different items")
        return found[:count]


def _named(schema: dict[str, Any], part: Any, flat: dict[str, Any]) -> dict[str, Any]:
    """An alternative that says its name, where a discriminator asks for it."""
    discriminator = schema.get("discriminator")
    reference = part.get("$ref") if isinstance(part, dict) else None
    if not isinstance(discriminator, dict) or reference is None:
        return flat
    mapping = discriminator.get("mapping") or {}
    last = reference.rpartition("/")[2]
    names = [name for name, target in mapping.items() if target in (reference, last)] or [last]
    name = discriminator["propertyName"]
    return flat | {
        "properties": {**flat.get("properties", {}), name: {"enum": names}},
        "required": [*flat.get("required", ()), name],
    }


def _kinds(flat: dict[str, Any]) -> list[str]:
    kinds = flat.get("type")
    if isinstance(kinds, str):
        return [kinds]
    if isinstance(kinds, list):
        return sorted(kinds, key=lambda kind: kind == "null")
    for kind, keywords in (("object", _OBJECT), ("array", _ARRAY), ("string", _STRING), ("number", _NUMBER)):
        if keywords & flat.keys():
            return [kind, "object", "string", "integer", "array", "boolean", "null"]
    return ["object", "string", "integer", "array", "boolean", "null"]


def _strings(flat: dict[str, Any]) -> Iterator[str]:
    form = flat.get("format")
    if isinstance(form, str) and form in _FORMATS:
        yield _FORMATS[form]
    least, most = flat.get("minLength") or 0, flat.get("maxLength", 1000)
    pattern = flat.get("pattern")
    if isinstance(pattern, str):
        try:
            text = sample(pattern)
        except (re.error, StopIteration, KeyError, IndexError):
            text = "a"
        yield text
        yield text + text[-1:] * (least - len(text))
        yield text[:most]
    for length in (min(most, max(least, 4)), least, min(most, least + 7)):
        yield "text"[:length].ljust(length, "t")
    for length in range(least, min(most, least + 10) + 1):
        yield "z" * length


def _numbers(flat: dict[str, Any]) -> Iterator[int | float]:
    low, high = flat.get("minimum"), flat.get("maximum")
    above, below = flat.get("exclusiveMinimum"), flat.get("exclusiveMaximum")
    low = above if isinstance(above, int | float) and not isinstance(above, bool) else low
    high = below if isinstance(below, int | float) and not isinstance(below, bool) else high
    step = flat.get("multipleOf") or 1
    start = low if low is not None else (min(high, 0) if high is not None else 0)
    first = math.ceil(start / step) * step
    yield from (first + step * number for number in range(6))
    yield from (step * number for number in range(3))
    yield first + 0.5
    if low is not None:
        yield from (low, math.ceil(low), math.floor(low) + 1)
    if high is not None:
        yield from (high, math.floor(high), math.ceil(high) - 1)
        yield ((low if low is not None else high - 1) + high) / 2


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What both ask for, as far as it can be said in one schema; the witness sees the rest."""
    found = dict(one)
    for key, value in other.items():
        if key not in found:
            found[key] = value
        elif key == "properties":
            found[key] = {
                **found[key],
                **{
                    name: {"allOf": [found[key][name], schema]} if name in found[key] else schema
                    for name, schema in value.items()
                },
            }
        elif key == "required":
            found[key] = [*found[key], *value]
        elif key == "enum":
            found[key] = [item for item in found[key] if item in value]
        elif key == "items" and isinstance(value, dict) and isinstance(found[key], dict):
            found[key] = {"allOf": [found[key], value]}
        elif key in _LOWER:
            found[key] = max(found[key], value)
        elif key in _UPPER:
            found[key] = min(found[key], value)
        elif key == "additionalProperties" and value is False:
            found[key] = False
        elif key == "type":
            both = [kind for kind in _kinds(one) if kind in _kinds(other)]
            found[key] = both or value
    return found
