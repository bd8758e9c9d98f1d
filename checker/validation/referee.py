"""The second opinion: jsonschema over the raw document. Slow, exact, and shares nothing with `compiled` but formats."""

import re
from itertools import islice
from typing import Any

from jsonschema import ValidationError
from referencing.exceptions import Unresolvable

from checker.core.contract import SchemaViolation
from checker.core.schema import Direction, Schema
from checker.validation.error_locations import leaf_of, nearest_of, pointer_of
from checker.validation.messages import message_of, nearest_branch
from checker.validation.reading import SchemaReading
from checker.validation.registries import is_own_root, registry_of, spoken_in

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
        """What is wrong with a value, as trees: what is wrong with each alternative stands inside."""
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
    """What is wrong; of alternatives, too, what is wrong with the nearest one."""
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
    reading = SchemaReading(
        schema.dialect, direction, validate_formats=validate_formats, spoken=spoken
    )
    return Referee(schema, reading)
