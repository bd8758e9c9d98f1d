"""Short ways to write descriptions, and what a defect is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.defects.book import PROBLEM


@dataclass(frozen=True)
class Defect:
    """Something wrong on purpose."""

    id: str
    label: str
    """Of the operation that a report names."""
    check: str
    steps: int = 1
    """Requests that it takes to see it."""


def said(schema: Any = None, **more: Any) -> dict[str, Any]:
    """A response with JSON, or without a body."""
    response: dict[str, Any] = {"description": "-", **more}
    if schema is not None:
        response["content"] = {"application/json": {"schema": schema}}
    return response


def answers(responses: Mapping[int, Any], *refusals: int) -> dict[str, Any]:
    """Responses of an operation: what succeeds, and the statuses of refusals."""
    found = {str(status): response for status, response in responses.items()}
    return found | {str(status): said(PROBLEM) for status in refusals}


def body(schema: Any, *, required: bool = True) -> dict[str, Any]:
    """A request body in JSON."""
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def parameter(place: str, name: str, schema: Any, *, required: bool = False) -> dict[str, Any]:
    """A parameter of an operation."""
    return {"in": place, "name": name, "required": required or place == "path", "schema": schema}


def described(title: str, paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A whole description, OpenAPI 3.1 unless told otherwise."""
    return {"openapi": more.pop("version", "3.1.0"), "info": {"title": title, "version": "1"}, "paths": paths, **more}


def ref(name: str) -> dict[str, str]:
    """A reference to a schema of the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def thing(required: str, **properties: Any) -> dict[str, Any]:
    """The schema of an object; names of required members are given in one text."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": required.split()} if required else {})


INTEGER = {"type": "integer"}
STRING = {"type": "string"}
BOOLEAN = {"type": "boolean"}
NAME = {"type": "string", "minLength": 1, "maxLength": 40}
SLUG = {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,15}$"}
COUNT = {"type": "integer", "minimum": 0, "maximum": 1000}
NUMBERED = {"type": "integer", "minimum": 1, "maximum": 1000000}
