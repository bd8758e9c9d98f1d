"""One schema for each keyword that can be broken, and what the second opinion says of values."""

from collections.abc import Iterator
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.core.schema import Dialect, Direction, Schema
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import body_place
from checker.generation.negation.breaches import Breach, breaches
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Facet
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Budget, DrawContext
from checker.validation.referee import referee
from tests.measuring.documents import JsonDocument

NEW, DRAFT7, DRAFT4, OPENAPI30 = (Dialect.DRAFT2020, Dialect.DRAFT7, Dialect.DRAFT4, Dialect.OPENAPI30)
BODY: Final = body_place(alphabets.text_of(None, allows_nul=True), is_form=False, is_bytes=False)
SCHEMAS: Final[tuple[tuple[str, Any, Dialect], ...]] = (
    ("type", {"type": "object", "properties": {"a": {"type": "integer"}}}, NEW),
    ("type", {"type": ["string", "null"]}, NEW),
    ("type", {"type": "string", "nullable": True}, OPENAPI30),
    ("enum", {"enum": ["red", "green", 5]}, NEW),
    ("enum", {"type": "string", "enum": ["red", "green"]}, NEW),
    ("const", {"properties": {"kind": {"const": "cat"}}, "required": ["kind"]}, NEW),
    ("minimum", {"type": "integer", "minimum": 3}, NEW),
    ("minimum", {"type": "number", "minimum": 0, "exclusiveMinimum": True}, DRAFT4),
    ("maximum", {"type": "number", "maximum": 9.5, "multipleOf": 0.5}, NEW),
    ("exclusiveMinimum", {"type": "integer", "exclusiveMinimum": 3, "maximum": 9}, NEW),
    ("exclusiveMaximum", {"type": "number", "exclusiveMaximum": 1}, NEW),
    ("multipleOf", {"type": "integer", "multipleOf": 7, "minimum": 0, "maximum": 100}, NEW),
    ("multipleOf", {"type": "number", "multipleOf": 0.01}, NEW),
    ("minLength", {"type": "string", "minLength": 4, "pattern": "^[a-z]*$"}, NEW),
    ("maxLength", {"type": "string", "maxLength": 4, "pattern": "^[a-z]+$"}, NEW),
    ("pattern", {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$", "maxLength": 9}, NEW),
    *(
        ("format", {"type": "string", "format": name}, NEW)
        for name in ("uuid", "date", "date-time", "time", "email", "ipv4", "ipv6", "hostname", "uri")
    ),
    ("format", {"type": "integer", "format": "int32"}, OPENAPI30),
    ("contentEncoding", {"type": "string", "contentEncoding": "base64"}, DRAFT7),
    ("contentMediaType", {"type": "string", "contentMediaType": "application/json"}, DRAFT7),
    ("required", {"type": "object", "required": ["a", "b"], "properties": {"a": {}}}, NEW),
    ("additionalProperties", {"type": "object", "additionalProperties": False}, NEW),
    ("minimum", {"type": "object", "additionalProperties": {"minimum": 3}}, NEW),
    ("minimum", {"patternProperties": {"^x-": {"type": "integer", "minimum": 3}}}, NEW),
    ("maxLength", {"type": "object", "propertyNames": {"maxLength": 3}}, NEW),
    ("minProperties", {"type": "object", "minProperties": 2}, NEW),
    ("maxProperties", {"type": "object", "maxProperties": 2}, NEW),
    ("dependentRequired", {"type": "object", "dependentRequired": {"a": ["b", "c"]}}, NEW),
    ("dependencies", {"type": "object", "dependencies": {"a": ["b"]}}, DRAFT7),
    ("minimum", {"type": "object", "dependentSchemas": {"a": {"properties": {"b": {"minimum": 3}}}}}, NEW),
    ("unevaluatedProperties", {"allOf": [{"properties": {"a": {}}}], "type": "object", "unevaluatedProperties": False}, NEW),
    ("items", {"prefixItems": [{"type": "string"}], "items": False, "type": "array"}, NEW),
    ("additionalItems", {"items": [{"type": "string"}], "additionalItems": False, "type": "array"}, DRAFT7),
    ("unevaluatedItems", {"type": "array", "prefixItems": [{}], "unevaluatedItems": False}, NEW),
    ("type", {"type": "array", "items": {"type": "boolean"}, "minItems": 2}, NEW),
    ("type", {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, NEW),
    ("minItems", {"type": "array", "minItems": 3, "items": {"type": "integer"}}, NEW),
    ("maxItems", {"type": "array", "maxItems": 3, "items": {"type": "integer"}}, NEW),
    ("maxItems", {"type": "array", "maxItems": 40, "items": {"type": "integer"}}, NEW),
    ("uniqueItems", {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}, NEW),
    ("uniqueItems", {"type": "array", "uniqueItems": True, "maxItems": 2}, NEW),
    ("contains", {"type": "array", "contains": {"type": "integer"}, "minItems": 1}, NEW),
    ("minContains", {"type": "array", "contains": {"const": 1}, "minContains": 3}, NEW),
    ("maxContains", {"type": "array", "contains": {"type": "integer"}, "maxContains": 2}, NEW),
    ("anyOf", {"anyOf": [{"type": "string"}, {"type": "integer"}]}, NEW),
    ("oneOf", {"oneOf": [{"type": "string", "maxLength": 5}, {"type": "string", "minLength": 3}]}, NEW),
    ("not", {"type": "string", "not": {"maxLength": 3}}, NEW),
    ("then", {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "type": "object"}, NEW),
    ("else", {"if": {"required": ["a"]}, "else": {"required": ["b"]}, "type": "object"}, NEW),
    ("false", {"type": "object", "properties": {"never": False}}, NEW),
    ("minimum", {"allOf": [{"minimum": 3}, {"maximum": 9}], "type": "integer"}, NEW),
    ("minimum", {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer", "minimum": 3}}}, NEW),
)  # fmt: skip
"""A keyword that can be broken alone, a schema, its dialect."""


def schema_of(raw: Any, dialect: Dialect) -> Schema:
    return Schema(raw, "#", dialect, JsonDocument(raw, dialect))


def compiler_of(schema: Schema) -> tuple[Compiler, tuple[Facet]]:
    canon = Canon(schema.document, schema.dialect, Direction.REQUEST)
    return Compiler(canon, DrawContext(), Budget(), {}, 16_384), (Facet(schema.raw, schema.pointer),)


def listed(raw: Any, dialect: Dialect = NEW) -> tuple[Compiler, list[Breach]]:
    compiler, facets = compiler_of(schema_of(raw, dialect))
    return compiler, list(breaches(compiler, facets, BODY))


def values(compiler: Compiler, breach: Breach, count: int) -> Iterator[tuple[Any, Any]]:
    """Whole values and their wrong parts; none when the keyword cannot be broken alone."""
    try:
        draw = breach.compile()
    except Unsatisfiable:
        return
    for seed in range(count):
        compiler.context.begin(None)
        yield draw(RandomSource(seed))


def leaf_keywords(raw: Any, dialect: Dialect, value: Any) -> list[tuple[str, ...]]:
    """For each error of the second opinion, the keywords on the way to it."""
    errors = referee(schema_of(raw, dialect), Direction.REQUEST).errors(_unicode(value))
    return [(*error.schema_path, error.keyword) for error in errors]


def _unicode(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_unicode(item) for item in value]
    if isinstance(value, dict):
        return {_unicode(name): _unicode(item) for name, item in value.items()}
    return value
