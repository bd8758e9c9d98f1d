"""Whether one value fits a schema, for users who ask for a single one."""

from typing import Any

from checker.core.schema import Direction, Schema
from checker.validation.compiled import compile_schema
from checker.validation.referee import referee


def problem_of(schema: Schema, value: Any) -> str | None:
    """Return the reason why a value of a request breaks a schema; None when it fits. Raises `UnresolvableReference`, `UnusableSchema`."""
    if compile_schema(schema, Direction.REQUEST).is_valid(value):
        return None
    found = referee(schema, Direction.REQUEST).errors(value)
    return found[0].message if found else "it breaks the schema"
