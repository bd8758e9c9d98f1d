"""The JSON Schema of `checker.toml`, made of the table of keys: editors complete and check by it."""

from collections.abc import Collection
from typing import Any, Final

from checker.config.blocks import FILTER_KEYS
from checker.config.kinds import (
    Boolean,
    Choice,
    Either,
    Integer,
    ListOf,
    MapOf,
    Number,
    Table,
    ValueKind,
)
from checker.config.scopes import NOT_IN_PROJECTS, OPERATION_KEYS, not_in_operations
from checker.config.table import SECTIONS, Key, Path, is_of_checks, subsections

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def json_schema() -> Schema:
    """The schema of the whole file."""
    whole = _section((), ())
    block = _section((), _not_in_blocks())
    block["properties"] |= {"enabled": {"type": "boolean", "default": True}} | {
        name: {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        for name in FILTER_KEYS
    }
    block["anyOf"] = [{"required": [name]} for name in FILTER_KEYS]
    blocks = {"type": "array", "items": {"$ref": "#/$defs/operations"}}
    project = _section((), NOT_IN_PROJECTS)
    project["properties"] |= {"title": {"type": "string", "minLength": 1}, "operations": blocks}
    project["required"] = ["title"]
    whole["properties"] |= {
        "operations": blocks,
        "project": {"type": "array", "items": {"$ref": "#/$defs/project"}},
    }
    head = {"$schema": DIALECT, "title": "checker.toml"}
    return head | whole | {"$defs": {"operations": block, "project": project}}


def _not_in_blocks() -> frozenset[Path]:
    others = {(name,) for name in SECTIONS[()] if name not in OPERATION_KEYS}
    return frozenset(others) | not_in_operations()


def _section(path: Path, banned: Collection[Path]) -> Schema:
    found: Schema = {
        name: _key(key)
        for name, key in SECTIONS.get(path, {}).items()
        if (*path, name) not in banned
    }
    for name in subsections(path):
        if (*path, name) not in banned:
            found[name] = _section((*path, name), banned)
    schema: Schema = {"type": "object", "properties": found, "additionalProperties": False}
    if is_of_checks(path):
        # Users' checks.
        schema["additionalProperties"] = {"type": "object"}
    return schema


def _key(key: Key) -> Schema:
    schema = _kind(key.kind)
    return schema if key.default is None else {**schema, "default": key.default}


def _kind(kind: ValueKind) -> Schema:
    match kind:
        case Boolean():
            return {"type": "boolean"}
        case Integer():
            return {"type": "integer"} | _present(minimum=kind.minimum, maximum=kind.maximum)
        case Number():
            bounds = _present(
                exclusiveMinimum=kind.above,
                minimum=kind.minimum,
                maximum=kind.maximum,
                exclusiveMaximum=kind.below,
            )
            return {"type": "number"} | bounds
        case Choice():
            return {"enum": list(kind.values)}
        case ListOf():
            return {"type": "array", "items": _kind(kind.item), "uniqueItems": True}
        case MapOf() | Table():
            return {"type": "object"}
        case Either():
            return {"anyOf": [_kind(one) for one in kind.kinds]}
        case _:
            return {"type": "string"}


def _present(**given: float | None) -> Schema:
    return {name: value for name, value in given.items() if value is not None}
