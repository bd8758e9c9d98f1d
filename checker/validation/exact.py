"""Keywords that the referee decides itself: exact decimals, translated patterns, asserted formats."""

import base64
import json
from collections.abc import Hashable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from jsonschema import Draft201909Validator, ValidationError

from checker.validation.ecma import ecma_pattern
from checker.validation.formats import is_of_format


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def multiple_of(validator: Any, step: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`multipleOf`, by the digits as they are written."""
    if not _is_number(instance):
        return
    try:
        # The digits as written: 19.99 is a multiple of 0.01 although the floats are not.
        remainder = Decimal(repr(instance) if isinstance(instance, float) else instance) % Decimal(
            repr(step) if isinstance(step, float) else step
        )
    except InvalidOperation:
        # More digits than decimals carry: integers are exact, anything else cannot be said.
        if not isinstance(instance, int) or not isinstance(step, int):
            return
        remainder = Decimal(1 if instance % step else 0)
    if remainder:
        yield ValidationError(f"{instance} is not a multiple of {step}")


def pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`pattern`, as ECMA-262 reads it."""
    if isinstance(instance, str):
        compiled = ecma_pattern(pattern)
        if compiled is not None and not compiled.finds(instance):
            yield ValidationError(f"{instance!r} does not match {pattern!r}")


def pattern_properties(validator: Any, schemas: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`patternProperties`, as ECMA-262 reads the patterns."""
    if not isinstance(instance, dict):
        return
    for pattern, inner in schemas.items():
        compiled = ecma_pattern(pattern)
        if compiled is None or not isinstance(inner, dict | bool):
            continue
        for name, value in instance.items():
            if len(name) <= compiled.longest and compiled.finds(name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`uniqueItems`, each item looked at once: a server may send any number of them."""
    if wanted is True and isinstance(instance, list):
        seen: set[Hashable] = set()
        for item in instance:
            key = _key(item)
            if key in seen:
                yield ValidationError("there are equal items")
                return
            seen.add(key)


def enum(validator: Any, members: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`enum`. Members that Python calls equal are compared by their keys: `jsonschema` compares each, a minute for 5,000 items of 5,000 members."""
    key = _key(instance)
    if not any(_key(one) == key for one in members if one == instance):
        yield ValidationError(f"{instance!r} is not one of {members!r}")


def _key(value: Any) -> Hashable:
    """Equal for equal values, and for no others: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(value, list):
        return ("array", tuple(map(_key, value)))
    if isinstance(value, dict):
        return ("object", frozenset((name, _key(item)) for name, item in value.items()))
    return (isinstance(value, bool), value)


def additional_properties(validator: Any, additional: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`additionalProperties`; a pattern that cannot be read might cover any name."""
    if not isinstance(instance, dict) or additional is True:
        return
    declared = schema.get("properties")
    patterns = schema.get("patternProperties")
    compiled = [ecma_pattern(p) for p in patterns] if isinstance(patterns, dict) else []
    for name, value in instance.items():
        if isinstance(declared, dict) and name in declared:
            continue
        # A pattern that cannot be read might cover any name.
        if any(pattern is None or pattern.finds(name) for pattern in compiled):
            continue
        if additional is False:
            yield ValidationError(f'"{name}" is not a declared property')
        else:
            yield from validator.descend(value, additional, path=name)


def unevaluated_items(validator: Any, inner: Any, instance: Any, schema: Any) -> list[ValidationError]:
    """`unevaluatedItems` of 2019-09."""
    rule = Draft201909Validator.VALIDATORS["unevaluatedItems"]
    try:
        return list(rule(validator, inner, instance, schema) or ())
    except TypeError:
        # The library counts the items of `items: true`.
        return []


def content(validator: Any, said: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`contentEncoding` and `contentMediaType`, as far as they are base64 and JSON."""
    if not isinstance(instance, str):
        return
    try:
        content: str | bytes = instance
        if schema.get("contentEncoding") == "base64":
            content = base64.b64decode(instance, validate=True)
        if said == "application/json":
            json.loads(content)
    except ValueError:
        yield ValidationError(f"{instance!r} does not contain {said}")


def format(validator: Any, name: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`format`, by our predicates."""
    if not is_of_format(name, instance):
        yield ValidationError(f"{instance!r} is not a {name!r}")


def minimum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`minimum`, open when draft 4 says so."""
    if _is_number(instance):
        is_exclusive = schema.get("exclusiveMinimum") is True
        if instance < bound or (is_exclusive and instance == bound):
            yield ValidationError(f"{instance} is less than the minimum of {bound}")


def maximum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`maximum`, open when draft 4 says so."""
    if _is_number(instance):
        is_exclusive = schema.get("exclusiveMaximum") is True
        if instance > bound or (is_exclusive and instance == bound):
            yield ValidationError(f"{instance} is greater than the maximum of {bound}")


def exclusive_minimum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`exclusiveMinimum` when it is a number."""
    if _is_number(bound) and _is_number(instance) and instance <= bound:
        yield ValidationError(f"{instance} is not greater than {bound}")


def exclusive_maximum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`exclusiveMaximum` when it is a number."""
    if _is_number(bound) and _is_number(instance) and instance >= bound:
        yield ValidationError(f"{instance} is not less than {bound}")
