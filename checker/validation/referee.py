"""The second opinion: jsonschema over the raw document. Slow, exact, and shares nothing with `compiled` but formats."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from jsonschema import ValidationError
from referencing.exceptions import Unresolvable

from checker.core.contract import SchemaViolation
from checker.core.schema import Direction, Document, Schema, UnresolvableReference
from checker.schema.pointers import pointer_child
from checker.validation.messages import message_of, nearest_branch
from checker.validation.reading import SchemaReading, is_own_root, registry_of, spoken_in

_KIND = frozenset({"type", "enum", "const"})


def leaf_of(error: ValidationError) -> ValidationError:
    """The error inside the only branch of `anyOf` or `oneOf` that the value can have been meant for, else the error itself."""
    while error.context:
        branches = _branches(error)
        meant = [errors for errors in branches.values() if not any(map(_is_another_kind, errors))]
        if len(meant) != 1:
            return error
        error = max(meant[0], key=lambda inner: len(inner.path))
    return error


def nearest_of(error: ValidationError) -> tuple[int, ValidationError] | None:
    """The branch that a value fails least, by its place, and what is wrong with it there; None when nothing is.

    One that is meant for values of the same kind comes before others, then fewer errors count, then deeper ones.
    """
    ranked = [
        ((any(map(_is_another_kind, errors)), len(errors), -_depth(errors)), place, errors)
        for place, errors in _branches(error).items()
        if isinstance(place, int)
    ]
    if not ranked:
        return None
    _, place, errors = min(ranked, key=lambda branch: branch[:2])
    return place, leaf_of(max(errors, key=lambda inner: len(inner.path)))


def _branches(error: ValidationError) -> dict[object, list[ValidationError]]:
    """Errors by the alternative that they are of."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0] if inner.schema_path else None, []).append(inner)
    return branches


def _depth(errors: Sequence[ValidationError]) -> int:
    return max(len(inner.path) for inner in errors)


def _is_another_kind(error: ValidationError) -> bool:
    keyword: object = error.validator
    if keyword in _KIND:
        # A wrong tag one level down says as clearly that another branch was meant.
        return len(error.path) == 0 or (keyword != "type" and len(error.path) == 1)
    return keyword is None and len(error.path) == 0


def pointer_of(schema: Schema, path: Sequence[str | int]) -> str:
    """Place of what `path` leads to from a schema; references on the way are followed."""
    node, pointer = schema.raw, schema.pointer
    for token in path:
        try:
            node, pointer = _at_keyword(schema.document, node, pointer, token)
        except UnresolvableReference:
            return pointer
        node = _child(node, token)
        pointer = pointer_child(pointer, str(token))
    return pointer


def _at_keyword(document: Document, node: object, pointer: str, token: str | int) -> tuple[object, str]:
    hops = 0
    while isinstance(node, dict) and token not in node and isinstance(node.get("$ref"), str):
        node, pointer = document.resolve(node["$ref"], at=pointer)
        hops += 1
        if hops > 100:
            break
    return node, pointer


def _child(node: object, token: str | int) -> object:
    if isinstance(node, dict):
        return node.get(token)
    if isinstance(node, list) and isinstance(token, int) and token < len(node):
        value: object = node[token]
        return value
    return None


_RAW_ERRORS = 500


class Referee:
    """A schema as a second, independent validator reads it."""

    def __init__(self, schema: Schema, reading: SchemaReading) -> None:
        registry, base = registry_of(schema)
        self._schema = schema
        self._reading = reading
        options = {} if is_own_root(schema) else {"_resolver": registry.resolver(base)}
        self._validator = reading.validator(schema.raw)(schema.raw, registry=registry, **options)

    def errors(self, value: Any) -> list[SchemaViolation]:
        """Ways in which the value breaks the schema, one for each schema path; empty when it is valid.

        What cannot be decided is valid: a reference to nothing, nesting beyond measure, a schema that contains itself.
        """
        found: dict[tuple[str, ...], SchemaViolation] = {}
        for whole in self.whole_errors(value):
            error = leaf_of(whole)
            path = tuple(one for one in error.absolute_schema_path if isinstance(one, str))
            # Most are of one path: to describe a large value costs more than to find what is wrong with it.
            if path not in found:
                found[path] = self._violation(error, path)
        return list(found.values())

    @property
    def read_only(self) -> frozenset[str]:
        """Names of read-only properties that the value held which was looked at last, in a request."""
        return frozenset(self._reading.held)

    def whole_errors(self, value: Any) -> list[ValidationError]:
        """Return the errors of a value as trees: the errors of each alternative stand inside."""
        self._reading.hidden.clear()
        self._reading.held.clear()
        try:
            return list(islice(self._validator.iter_errors(value), _RAW_ERRORS))
        except (Unresolvable, RecursionError, re.error):
            return []

    def _violation(self, error: ValidationError, schema_path: tuple[str, ...]) -> SchemaViolation:
        path = list(error.absolute_schema_path)
        validator: object = error.validator
        keyword = str(path[-1]) if path and validator is not None else "false"
        return SchemaViolation(
            schema_path=schema_path,
            schema_pointer=self._pointer(path, keyword),
            instance_path=tuple(error.absolute_path),
            keyword=keyword,
            message=_message(keyword, error),
            schema=error.schema,
            value=error.instance,
        )

    def _pointer(self, path: list[str | int], keyword: str) -> str:
        pointer = pointer_of(self._schema, path)
        # The schema `false` is the failing one itself; every other keyword stands in it.
        return pointer if keyword == "false" or not path else pointer.rpartition("/")[0]


def _message(keyword: str, error: ValidationError) -> str:
    """Return the message of an error; of alternatives, that of the nearest one as well."""
    message = message_of(keyword, error.validator_value, error.instance, error.message)
    nearest = nearest_of(error) if keyword in ("anyOf", "oneOf") else None
    if nearest is None:
        return message
    place, inner = nearest
    value: object = inner.validator_value
    reason = message_of(str(inner.validator or "false"), value, inner.instance, inner.message)
    return f"{message}; {nearest_branch(place, error.validator_value, inner.path, reason)}"


def referee(schema: Schema, direction: Direction, *, validate_formats: bool = True) -> Referee:
    """Second opinion on values that travel in one direction."""
    spoken = spoken_in(schema)
    reading = SchemaReading(schema.dialect, direction, validate_formats=validate_formats, spoken=spoken)
    return Referee(schema, reading)
