"""Values against the schemas of the demo's document: OpenAPI 3.0 schemas compiled to closures.

Every keyword that the document uses is enforced; one that is not known here stops the service at its start, so that
the document cannot promise more than the service checks.
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from checker.demo.formats import FORMATS, INTEGER_BOUNDS

Rule = Callable[[Any, str], "Flaw | None"]
"""Takes a value and its JSON Pointer; gives what is wrong with it."""


class Flaw(Struct, frozen=True):
    """Why and where a value breaks its schema."""

    message: str
    pointer: str


_ANNOTATIONS = frozenset({"description", "example", "default", "title", "exclusiveMinimum"})


class Validator:
    """Compiled schemas of one document; references are compiled once, when they are first met."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._named: dict[str, Rule] = {}

    def resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        """The schema, parameter or response that a `$ref` stands for, or the node itself."""
        while "$ref" in node:
            target: Any = self._document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = target
        return node

    def compile(self, schema: dict[str, Any]) -> Rule:
        """The rule of a schema."""
        if "$ref" in schema:
            return self._compile_reference(schema["$ref"])
        rules: list[Rule] = []
        for keyword, argument in schema.items():
            if keyword in _BUILDERS:
                rules.append(_BUILDERS[keyword](argument, schema))
            elif keyword in _APPLICATORS:
                rules.append(_APPLICATORS[keyword](self, argument, schema))
            elif keyword not in _ANNOTATIONS and keyword != "nullable":
                raise ValueError(f"the demo's document uses the unknown keyword {keyword!r}")
        return _nullable(_all_of(rules)) if schema.get("nullable") else _all_of(rules)

    def _compile_reference(self, reference: str) -> Rule:
        named = self._named
        if reference not in named:
            # A placeholder first: the schema may refer to itself.
            named[reference] = lambda value, pointer: named[reference](value, pointer)
            named[reference] = self.compile(self.resolve({"$ref": reference}))
        # Late, so that a rule compiled within the recursion sees the final one.
        return lambda value, pointer: named[reference](value, pointer)


def _all_of(rules: list[Rule]) -> Rule:
    if len(rules) == 1:
        return rules[0]

    def check(value: Any, pointer: str) -> Flaw | None:
        for rule in rules:
            flaw = rule(value, pointer)
            if flaw is not None:
                return flaw
        return None

    return check


def _nullable(rule: Rule) -> Rule:
    return lambda value, pointer: None if value is None else rule(value, pointer)


def _when(kind: str, is_right: Callable[[Any], bool], message: str) -> Rule:
    """A rule that says something about values of one type only."""
    is_kind = _TYPES[kind]

    def check(value: Any, pointer: str) -> Flaw | None:
        return Flaw(message, pointer) if is_kind(value) and not is_right(value) else None

    return check


# Not 5.0: under OpenAPI 3.0 (JSON Schema draft 4) an integer is written without a fraction. Not True: a bool is an int.
_TYPES: dict[str, Callable[[Any], bool]] = {
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "boolean": lambda value: type(value) is bool,
    "string": lambda value: type(value) is str,
    "array": lambda value: type(value) is list,
    "object": lambda value: type(value) is dict,
}


def _type(name: str, _: dict[str, Any]) -> Rule:
    is_kind = _TYPES[name]
    return lambda value, pointer: (
        None if is_kind(value) else Flaw(f"is not of type {name}", pointer)
    )


def _enum(members: list[Any], _: dict[str, Any]) -> Rule:
    # By type too: to Python, 1, 1.0 and True are the same.
    allowed = {(type(member), member) for member in members}

    def check(value: Any, pointer: str) -> Flaw | None:
        is_scalar = not isinstance(value, (list, dict))
        is_member = is_scalar and (type(value), value) in allowed
        return None if is_member else Flaw("is not one of the allowed values", pointer)

    return check


def _minimum(bound: float, schema: dict[str, Any]) -> Rule:
    if schema.get("exclusiveMinimum"):
        return _when("number", lambda value: value > bound, f"is not more than {bound}")
    return _when("number", lambda value: value >= bound, f"is less than {bound}")


def _maximum(bound: float, _: dict[str, Any]) -> Rule:
    return _when("number", lambda value: value <= bound, f"is more than {bound}")


def _multiple_of(step: float, _: dict[str, Any]) -> Rule:
    # The steps of the document are whole or halves: exact in binary, so that the remainder is exact.
    return _when("number", lambda value: value % step == 0, f"is not a multiple of {step}")


def _pattern(pattern: str, _: dict[str, Any]) -> Rule:
    # Python's `$` also matches before a final line feed, that of ECMA 262 does not.
    anchored = pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
    search = re.compile(anchored).search
    return _when("string", lambda value: search(value) is not None, f"does not match {pattern}")


def _format(name: str, _: dict[str, Any]) -> Rule:
    if name in INTEGER_BOUNDS:
        low, high = INTEGER_BOUNDS[name]
        return _when("integer", lambda value: low <= value <= high, f"does not fit {name}")
    is_right = FORMATS.get(name)
    if is_right is None:
        return lambda value, pointer: None
    return _when("string", is_right, f"is not a {name}")


def _length(kind: str, *, at_least: bool) -> Callable[[int, dict[str, Any]], Rule]:
    def build(bound: int, _: dict[str, Any]) -> Rule:
        if at_least:
            return _when(kind, lambda value: len(value) >= bound, f"has less than {bound} entries")
        return _when(kind, lambda value: len(value) <= bound, f"has more than {bound} entries")

    return build


def _unique(wanted: bool, _: dict[str, Any]) -> Rule:
    # The arrays of the document that must be unique hold strings; others would need a canonical form.
    def is_unique(items: list[Any]) -> bool:
        texts = [item for item in items if isinstance(item, str)]
        return len(set(texts)) == len(texts)

    return _when("array", lambda value: not wanted or is_unique(value), "has an entry twice")


def _required(names: list[str], _: dict[str, Any]) -> Rule:
    wanted = frozenset(names)
    return _when("object", wanted.issubset, f"lacks one of {', '.join(names)}")


def _items(validator: Validator, schema: dict[str, Any], _: dict[str, Any]) -> Rule:
    rule = validator.compile(schema)

    def check(value: Any, pointer: str) -> Flaw | None:
        if isinstance(value, list):
            for index, item in enumerate(value):
                flaw = rule(item, f"{pointer}/{index}")
                if flaw is not None:
                    return flaw
        return None

    return check


def _properties(validator: Validator, schemas: dict[str, Any], _: dict[str, Any]) -> Rule:
    rules = [(name, validator.compile(schema)) for name, schema in schemas.items()]

    def check(value: Any, pointer: str) -> Flaw | None:
        if isinstance(value, dict):
            for name, rule in rules:
                if name in value:
                    flaw = rule(value[name], f"{pointer}/{name}")
                    if flaw is not None:
                        return flaw
        return None

    return check


def _additional(validator: Validator, extra: Any, schema: dict[str, Any]) -> Rule:
    known = frozenset(schema.get("properties", ()))
    if extra is True:
        return lambda value, pointer: None
    rule = _refuse if extra is False else validator.compile(extra)

    def check(value: Any, pointer: str) -> Flaw | None:
        if isinstance(value, dict) and not known.issuperset(value):
            for name, item in value.items():
                flaw = None if name in known else rule(item, f"{pointer}/{name}")
                if flaw is not None:
                    return flaw
        return None

    return check


def _refuse(_: Any, pointer: str) -> Flaw:
    return Flaw("is not expected", pointer)


def _every(validator: Validator, schemas: list[dict[str, Any]], _: dict[str, Any]) -> Rule:
    return _all_of([validator.compile(schema) for schema in schemas])


def _branches(is_right: Callable[[int], bool], message: str) -> Callable[..., Rule]:
    def build(validator: Validator, schemas: list[dict[str, Any]], _: dict[str, Any]) -> Rule:
        rules = [validator.compile(schema) for schema in schemas]

        def check(value: Any, pointer: str) -> Flaw | None:
            count = sum(rule(value, pointer) is None for rule in rules)
            return None if is_right(count) else Flaw(message, pointer)

        return check

    return build


_BUILDERS: dict[str, Callable[[Any, dict[str, Any]], Rule]] = {
    "type": _type,
    "enum": _enum,
    "minimum": _minimum,
    "maximum": _maximum,
    "multipleOf": _multiple_of,
    "pattern": _pattern,
    "format": _format,
    "minLength": _length("string", at_least=True),
    "maxLength": _length("string", at_least=False),
    "minItems": _length("array", at_least=True),
    "maxItems": _length("array", at_least=False),
    "minProperties": _length("object", at_least=True),
    "maxProperties": _length("object", at_least=False),
    "uniqueItems": _unique,
    "required": _required,
}

_APPLICATORS: dict[str, Callable[[Validator, Any, dict[str, Any]], Rule]] = {
    "items": _items,
    "properties": _properties,
    "additionalProperties": _additional,
    "allOf": _every,
    "anyOf": _branches(lambda count: count > 0, "matches none of the alternatives"),
    "oneOf": _branches(lambda count: count == 1, "does not match exactly one alternative"),
}
