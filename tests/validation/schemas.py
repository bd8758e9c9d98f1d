"""Schemas for the tests, with the smallest document that resolves references."""

from typing import Any
from urllib.parse import unquote

from checker.core.schema import Dialect, Direction, Schema, UnresolvableReference
from checker.validation.compiled import compile_schema
from checker.validation.referee import referee


class Page:
    def __init__(self, root: Any) -> None:
        self.root = root
        self.facts: dict[object, Any] = {}

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        value = self.root
        for token in unquote(reference[1:]).split("/")[1:]:
            try:
                value = value[token.replace("~1", "/").replace("~0", "~")]
            except (KeyError, TypeError):
                raise UnresolvableReference(reference) from None
        return value, unquote(reference).replace("%", "%25")


def schema_of(raw: Any, dialect: Dialect = Dialect.OPENAPI30, **names: Any) -> Schema:
    root = {"it": raw, "names": names} if dialect.value.startswith("openapi") else raw
    pointer = "#/it" if dialect.value.startswith("openapi") else "#"
    return Schema(raw, pointer, dialect, Page(root))


def verdicts(
    schema: Schema, value: Any, direction: Direction = Direction.RESPONSE, *, validate_formats: bool = True
) -> tuple[bool, bool]:
    """What the compiled validator and the referee say."""
    compiled = compile_schema(schema, direction, validate_formats=validate_formats)
    second = referee(schema, direction, validate_formats=validate_formats)
    return compiled.is_valid(value), not second.errors(value)
