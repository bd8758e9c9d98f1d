"""How the referee reads a schema of each dialect: its own rules, keyword by keyword, over the raw document."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
    ValidationError,
    validators,
)

from checker.core.schema import Dialect, Direction
from checker.validation.ecma import ecma_pattern
from checker.validation.formats import is_of_format

Errors = Iterable[ValidationError]
_Check = Callable[[Any, Any, Any, Any], Errors | None]

_STANDARD: Final[Mapping[Dialect, Any]] = {
    Dialect.DRAFT4: Draft4Validator,
    Dialect.DRAFT6: Draft6Validator,
    Dialect.DRAFT7: Draft7Validator,
    Dialect.DRAFT2019: Draft201909Validator,
    Dialect.DRAFT2020: Draft202012Validator,
}
_OPENAPI: Final[Mapping[Dialect, Any]] = {
    Dialect.OPENAPI20: Draft4Validator,
    Dialect.OPENAPI30: Draft4Validator,
    Dialect.OPENAPI31: Draft202012Validator,
}
_NEWEST = "https://json-schema.org/draft/2020-12/schema"
"""Metaschema by which names in schemas of OpenAPI 3.1 are read."""
_NULLABLE: Final = {Dialect.OPENAPI20: "x-nullable", Dialect.OPENAPI30: "nullable"}
_WITH_CONTENT: Final = (Dialect.DRAFT6, Dialect.DRAFT7)
"""Dialects that assert what a text contains."""
_COMPATIBLE: Final = (Dialect.DRAFT2019, Dialect.DRAFT2020, Dialect.OPENAPI31)
"""Dialects that have replaced `dependencies`, but may still read it."""
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_UNREAD = frozenset({"$dynamicRef", "$recursiveRef", "format", "pattern"})
_EXPECTED: Final[Mapping[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(_MAPS, dict),
    **dict.fromkeys(_LISTS, list),
    **dict.fromkeys(("enum", "required"), list),
    **dict.fromkeys(("$ref", "$dynamicRef", "pattern", "format"), str),
    **dict.fromkeys(
        ("minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"),
        (int, float),
    ),
    **dict.fromkeys(("minProperties", "maxProperties", "minContains", "maxContains"), (int, float)),
    **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames"), (dict, bool)),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties"), (dict, bool)),
    **dict.fromkeys(("unevaluatedItems", "additionalItems"), (dict, bool)),
    "items": (dict, bool, list),
    "dependentRequired": dict,
    "type": (str, list),
}


class Reading:
    """Rules for one dialect and direction. Holds what is known of the value in hand: make one for each referee."""

    def __init__(self, dialect: Dialect, direction: Direction, *, validate_formats: bool) -> None:
        self._dialect = dialect
        self._is_response = direction is Direction.RESPONSE
        self._flag = "writeOnly" if self._is_response else "readOnly"
        self._nullable = _NULLABLE.get(dialect)
        self._has_siblings = dialect is Dialect.OPENAPI31
        self._hidden: dict[int, frozenset[str]] = {}
        self.hidden: dict[int, frozenset[str]] = {}
        """Properties that do not travel in this direction, by the identity of the object that may hold them."""
        self._exact: dict[str, _Check] = {
            "multipleOf": _multiple_of,
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
        }
        if validate_formats:
            self._exact["format"] = _format
        if dialect in _WITH_CONTENT:
            self._exact |= {"contentEncoding": _content, "contentMediaType": _content}
        if dialect is Dialect.DRAFT2019:
            self._exact["unevaluatedItems"] = _unevaluated_items
        if dialect in _COMPATIBLE:
            self._exact["dependencies"] = Draft7Validator.VALIDATORS["dependencies"]

    def validator(self) -> Any:
        """Class of `jsonschema` that follows these rules."""
        standard = _STANDARD.get(self._dialect)
        if standard is not None:
            extend: Any = validators.extend
            cls = extend(standard, self._exact)
            cls.descend = _kept(cls.descend, standard)
            return cls
        basis = _OPENAPI[self._dialect]
        checks: dict[str, _Check] = dict(basis.VALIDATORS) | self._exact
        checks |= {
            "minimum": _minimum,
            "maximum": _maximum,
            "exclusiveMinimum": _exclusive_minimum,
            "exclusiveMaximum": _exclusive_maximum,
            "properties": self._properties,
            "required": self._required,
            "oneOf": _one_of(basis),
        }
        unread = _UNREAD - {"$dynamicRef"} if self._has_siblings else _UNREAD
        for name in unread - self._exact.keys():
            checks.pop(name, None)
        create: Any = validators.create
        cls = create(
            meta_schema={"$id": _NEWEST} if self._has_siblings else {},
            validators={name: self._guarded(check) for name, check in checks.items()},
            type_checker=Draft6Validator.TYPE_CHECKER,
            id_of=_id_of if self._has_siblings else lambda schema: None,
            applicable_validators=self._applicable,
        )
        cls.descend = _tolerant(cls.descend)
        return cls

    def _applicable(self, schema: Any) -> Iterable[tuple[str, Any]]:
        if not isinstance(schema, dict):
            return ()
        if isinstance(schema.get("$ref"), str) and not self._has_siblings:
            return (("$ref", schema["$ref"]),)
        return [
            (name, _sound(value) if name in _LISTS else value)
            for name, value in schema.items()
            if self._is_read(name, value)
        ]

    def _is_read(self, name: str, value: Any) -> bool:
        expected = _EXPECTED.get(name)
        if expected is not None and not isinstance(value, expected):
            return False
        if name == "type":
            kinds = value if isinstance(value, list) else [value]
            return bool(kinds) and all(isinstance(k, str) and k in _TYPES for k in kinds)
        if name == "required":
            return all(isinstance(item, str) for item in value)
        if name == "multipleOf":
            return bool(value > 0)
        if name in _LISTS:
            return bool(value)
        return not (name == "items" and self._has_siblings and isinstance(value, list))

    def _guarded(self, check: _Check) -> _Check:
        def guarded(validator: Any, value: Any, instance: Any, schema: Any) -> Errors:
            if instance is None and self._nullable and schema.get(self._nullable) is True:
                return ()
            if isinstance(instance, dict):
                hidden = self._hidden_in(validator, schema, ())
                if hidden:
                    key = id(instance)
                    self.hidden[key] = self.hidden.get(key, frozenset()) | hidden
            return check(validator, value, instance, schema) or ()

        return guarded

    def _hidden_in(self, validator: Any, schema: Any, above: tuple[int, ...]) -> frozenset[str]:
        key = id(schema)
        known = self._hidden.get(key)
        if known is not None:
            return known
        if isinstance(schema.get("$ref"), str) and not self._has_siblings:
            return frozenset()
        found: set[str] = set()
        properties = schema.get("properties")
        for name, value in properties.items() if isinstance(properties, dict) else ():
            if self._is_flagged(validator, value):
                found.add(name)
        parts = schema.get("allOf")
        for part in parts if isinstance(parts, list) and key not in above else ():
            whole = self._followed(validator, part)
            if isinstance(whole, dict):
                found |= self._hidden_in(validator, whole, (*above, key))
        if not above:
            self._hidden[key] = frozenset(found)
        return frozenset(found)

    def _is_flagged(self, validator: Any, schema: Any) -> bool:
        if not isinstance(schema, dict):
            return False
        if schema.get(self._flag) is True:
            return True
        whole = self._followed(validator, schema)
        return isinstance(whole, dict) and whole.get(self._flag) is True

    def _followed(self, validator: Any, schema: Any) -> Any:
        resolver = validator._resolver
        for _ in range(100):
            if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
                return schema
            resolved = resolver.lookup(schema["$ref"])
            schema, resolver = resolved.contents, resolved.resolver
        return schema

    def _properties(self, validator: Any, properties: Any, instance: Any, schema: Any) -> Errors:
        if not isinstance(instance, dict):
            return
        hidden = self.hidden.get(id(instance), frozenset())
        for name, inner in properties.items():
            if name not in instance or not isinstance(inner, dict | bool):
                continue
            if name not in hidden:
                yield from validator.descend(instance[name], inner, path=name, schema_path=name)
            elif self._is_response:
                yield ValidationError(
                    f'"{name}" is for writing only and must not be in a response',
                    validator=self._flag,
                    validator_value=True,
                    instance=instance[name],
                    schema=inner,
                    path=[name],
                    schema_path=[name, self._flag],
                )

    def _required(self, validator: Any, required: Any, instance: Any, schema: Any) -> Errors:
        if not isinstance(instance, dict):
            return
        hidden = self.hidden.get(id(instance), frozenset())
        for name in required:
            if name not in instance and name not in hidden:
                yield ValidationError(f'"{name}" is a required property')


def _id_of(schema: Any) -> str | None:
    name = schema.get("$id") if isinstance(schema, dict) else None
    return name if isinstance(name, str) else None


def _kept(descend: Any, standard: Any) -> Any:
    """The same rules in a schema that names the dialect which is read already: the library would go back to its own."""

    def kept(validator: Any, instance: Any, schema: Any, **steps: Any) -> Any:
        if isinstance(schema, dict) and "$schema" in schema:
            found: Any = validators.validator_for(schema, default=standard)
            if found is standard:
                schema = {name: value for name, value in schema.items() if name != "$schema"}
        return descend(validator, instance, schema, **steps)

    return kept


def _tolerant(descend: Any) -> Any:
    def tolerant(validator: Any, instance: Any, schema: Any, **steps: Any) -> Any:
        # What is no schema constrains nothing.
        if not isinstance(schema, dict | bool):
            return iter(())
        if isinstance(schema, dict) and not isinstance(schema.get("$id", ""), str):
            schema = {name: value for name, value in schema.items() if name != "$id"}
        if schema is False:
            return iter((_nothing_allowed(instance, steps),))
        return descend(validator, instance, schema, **steps)

    return tolerant


def _nothing_allowed(instance: Any, steps: dict[str, Any]) -> ValidationError:
    # The library leaves the last step out of both paths of this error.
    path, schema_path = steps.get("path"), steps.get("schema_path")
    return ValidationError(
        "nothing is allowed here",
        validator=None,  # type: ignore[arg-type]
        validator_value=None,
        instance=instance,
        schema=False,
        path=() if path is None else (path,),
        schema_path=() if schema_path is None else (schema_path,),
    )


def _sound(branches: list[Any]) -> list[Any]:
    return [branch if isinstance(branch, dict | bool) else True for branch in branches]


def _one_of(basis: Any) -> _Check:
    one_of, any_of = basis.VALIDATORS["oneOf"], basis.VALIDATORS["anyOf"]

    def check(validator: Any, branches: Any, instance: Any, schema: Any) -> Errors:
        # The discriminator names the branch; that others fit too is allowed.
        rule = any_of if isinstance(schema.get("discriminator"), dict) else one_of
        found: Errors = rule(validator, branches, instance, schema) or ()
        return found

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _multiple_of(
    validator: Any, step: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
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


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str):
        compiled = ecma_pattern(pattern)
        if compiled is not None and not compiled.finds(instance):
            yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, schemas: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, inner in schemas.items():
        compiled = ecma_pattern(pattern)
        if compiled is None or not isinstance(inner, dict | bool):
            continue
        for name, value in instance.items():
            if len(name) <= compiled.longest and compiled.finds(name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, additional: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
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


def _unevaluated_items(
    validator: Any, inner: Any, instance: Any, schema: Any
) -> list[ValidationError]:
    rule = Draft201909Validator.VALIDATORS["unevaluatedItems"]
    try:
        return list(rule(validator, inner, instance, schema) or ())
    except TypeError:
        # The library counts the items of `items: true`.
        return []


def _content(validator: Any, said: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
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


def _format(validator: Any, name: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not is_of_format(name, instance):
        yield ValidationError(f"{instance!r} is not a {name!r}")


def _minimum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if _is_number(instance):
        is_exclusive = schema.get("exclusiveMinimum") is True
        if instance < bound or (is_exclusive and instance == bound):
            yield ValidationError(f"{instance} is less than the minimum of {bound}")


def _maximum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if _is_number(instance):
        is_exclusive = schema.get("exclusiveMaximum") is True
        if instance > bound or (is_exclusive and instance == bound):
            yield ValidationError(f"{instance} is greater than the maximum of {bound}")


def _exclusive_minimum(
    validator: Any, bound: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if _is_number(bound) and _is_number(instance) and instance <= bound:
        yield ValidationError(f"{instance} is not greater than {bound}")


def _exclusive_maximum(
    validator: Any, bound: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if _is_number(bound) and _is_number(instance) and instance >= bound:
        yield ValidationError(f"{instance} is not less than {bound}")
