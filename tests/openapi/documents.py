"""Small documents for the tests."""

from typing import Any

from checker.core.operation import BrokenOperation
from checker.core.schema import SchemaWarning
from checker.openapi.contract import OpenApiContract
from checker.openapi.loaders import from_dict
from checker.openapi.operation import OpenApiOperation
from checker.openapi.schema import OpenApiSchema


def opened(version: str, paths: Any, **more: Any) -> OpenApiSchema:
    key = "swagger" if version.startswith("2") else "openapi"
    return from_dict({key: version, "info": {"title": "T", "version": "1"}, "paths": paths, **more})


def operation(
    definition: Any, *, version: str = "3.0.3", path: str = "/a", method: str = "get", **more: Any
) -> OpenApiOperation:
    item = more.pop("item", {})
    found = opened(version, {path: {**item, method: definition}}, **more).find(f"{method.upper()} {path}")
    assert isinstance(found, OpenApiOperation), found
    return found


def broken(definition: Any, *, version: str = "3.0.3", path: str = "/a", **more: Any) -> str:
    (found,) = opened(version, {path: {"post": definition}}, **more).get_all_operations()
    assert isinstance(found, BrokenOperation)
    return found.error


def contract(responses: Any, method: str = "get", **more: Any) -> OpenApiContract:
    return operation({"responses": responses, **more.pop("own", {})}, method=method, **more).contract


def warnings_of(schema: OpenApiSchema) -> tuple[SchemaWarning, ...]:
    """All warnings about a description and its operations."""
    read = [one for one in schema.get_all_operations() if not isinstance(one, BrokenOperation)]
    return (*(one.warning for one in schema.dropped()), *(warning for one in read for warning in one.warnings()))
