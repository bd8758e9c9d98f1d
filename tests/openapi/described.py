"""Descriptions of one operation whose body has a schema, in files if need be, and what both validators say of it."""

import json
from pathlib import Path
from typing import Any

from checker.core.schema import Direction, Schema
from checker.openapi.loaders import open_normalised
from checker.openapi.operation import OpenApiOperation
from checker.openapi.schema import OpenApiSchema
from checker.validation.compiled import compile_schema
from checker.validation.referee import referee

USER = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}


def post(schema: Any) -> dict[str, Any]:
    return {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}


def document(schema: Any, version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {}, "paths": {"/a": post(schema)}, **more}


def written(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder / next(iter(files))


def body(schema: OpenApiSchema) -> Schema:
    operation = schema.find("POST /a")
    assert isinstance(operation, OpenApiOperation), operation
    return operation.bodies[0].schema


def opinions(schema: Schema, value: Any) -> tuple[bool, bool]:
    first = compile_schema(schema, Direction.REQUEST).is_valid(value)
    return first, not referee(schema, Direction.REQUEST).errors(value)


def assert_both(schema: OpenApiSchema, valid: Any, invalid: Any) -> None:
    for one in (schema, open_normalised(schema.normalised())):
        assert opinions(body(one), valid) == (True, True)
        assert opinions(body(one), invalid) == (False, False)
