"""The second opinion: jsonschema over the raw document. Slow, exact, and shares nothing with `compiled` but formats."""

import re
from itertools import islice
from typing import Any, Final

import referencing.jsonschema
from jsonschema import ValidationError
from jsonschema_specifications import REGISTRY
from referencing import Registry, Resource, Specification
from referencing.exceptions import Unresolvable

from checker.core.contract import SchemaViolation
from checker.core.schema import Dialect, Direction, Schema
from checker.validation.dissent import leaf_of, pointer_of
from checker.validation.messages import message_of
from checker.validation.reading import Reading
from checker.validation.scopes import JsonDocument

_BASE_URI = "http://document.invalid/root"
_RAW_ERRORS = 500
_SPECIFICATIONS: Final[dict[Dialect, Specification[Any]]] = {
    Dialect.DRAFT4: referencing.jsonschema.DRAFT4,
    Dialect.DRAFT6: referencing.jsonschema.DRAFT6,
    Dialect.DRAFT7: referencing.jsonschema.DRAFT7,
    Dialect.DRAFT2019: referencing.jsonschema.DRAFT201909,
    Dialect.DRAFT2020: referencing.jsonschema.DRAFT202012,
}


class Referee:
    """A schema as a second, independent validator reads it."""

    def __init__(self, schema: Schema, reading: Reading) -> None:
        # An OpenAPI document is opaque: names and anchors in it are no business of JSON Schema.
        specification = _SPECIFICATIONS.get(schema.dialect, Specification.OPAQUE)
        registry = _registry(schema, specification)
        self._resolver = registry.resolver(_BASE_URI)
        self._schema = schema
        self._reading = reading
        is_own_root = schema.dialect in _SPECIFICATIONS and schema.pointer == "#"
        options = {} if is_own_root else {"_resolver": self._resolver}
        self._validator = reading.validator()(schema.raw, registry=registry, **options)

    def errors(self, value: Any) -> list[SchemaViolation]:
        """Ways in which the value breaks the schema, one for each schema path; empty when it is valid.

        What cannot be decided is valid: a reference to nothing, nesting beyond measure, a schema that contains itself.
        """
        self._reading.hidden.clear()
        found: dict[tuple[str, ...], SchemaViolation] = {}
        try:
            for error in islice(self._validator.iter_errors(value), _RAW_ERRORS):
                violation = self._violation(leaf_of(error))
                found.setdefault(violation.schema_path, violation)
        except (Unresolvable, RecursionError, re.error):
            return []
        return list(found.values())

    def _violation(self, error: ValidationError) -> SchemaViolation:
        path = list(error.absolute_schema_path)
        validator: object = error.validator
        keyword = str(path[-1]) if path and validator is not None else "false"
        return SchemaViolation(
            schema_path=tuple(token for token in path if isinstance(token, str)),
            schema_pointer=self._pointer(path, keyword),
            instance_path=tuple(error.absolute_path),
            keyword=keyword,
            message=message_of(keyword, error.validator_value, error.instance, error.message),
            schema=error.schema,
            value=error.instance,
        )

    def _pointer(self, path: list[str | int], keyword: str) -> str:
        pointer = pointer_of(self._schema, path, self._resolver)
        # The schema `false` is the failing one itself; every other keyword stands in it.
        return pointer if keyword == "false" or not path else pointer.rpartition("/")[0]


def _registry(schema: Schema, specification: Specification[Any]) -> Any:
    document = schema.document
    others = document.others if isinstance(document, JsonDocument) else {}

    def retrieve(uri: str) -> Any:
        if uri in others:
            return Resource.from_contents(others[uri], default_specification=specification)
        return REGISTRY[uri]

    # The registry makes its own error of a `LookupError`.
    registry: Any = Registry
    return registry(retrieve=retrieve).with_resource(
        _BASE_URI, specification.create_resource(document.root)
    )


def referee(schema: Schema, direction: Direction, *, validate_formats: bool = True) -> Referee:
    """Second opinion on values that travel in one direction."""
    return Referee(schema, Reading(schema.dialect, direction, validate_formats=validate_formats))
