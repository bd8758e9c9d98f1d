"""Excerpts of a broken schema."""

from checker.core.blocks import Truncation, excerpt, indented
from checker.core.contract import SchemaViolation


def excerpts(violation: SchemaViolation, truncation: Truncation) -> str:
    """The broken schema with its place, and the value, shortened."""
    lines = [
        f"Schema at {violation.schema_pointer}:",
        "",
        indented(excerpt(violation.schema, truncation)),
        "",
        "Value:",
        "",
        indented(excerpt(violation.value, truncation)),
    ]
    return "\n".join(lines)
