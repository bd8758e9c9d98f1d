"""How hostile descriptions are made, and what has to be said of them.

Each has a healthy operation `GET /ok` as well, unless nothing of it can be read.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

OK: Final = {"responses": {"200": {"description": "fine"}}}
INFO: Final = {"title": "Hostile", "version": "1"}
TEXT: Final = {"type": "string"}


@dataclass(frozen=True)
class Row:
    """One description."""

    data: Callable[[], bytes]
    refused: str = ""
    """Words of the reason for which none of it can be read."""
    fails: str = ""
    """Words of the reason for which `POST /a` cannot be tested in full."""
    says: str = ""
    """Words of a warning."""
    tested: tuple[str, ...] = ("GET /ok",)
    """Operations that are tested all the same."""


def described(paths: Any, version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    """A description of these paths and of `/ok`."""
    key = "swagger" if version.startswith("2") else "openapi"
    return {key: version, "info": INFO, "paths": {**paths, "/ok": {"get": OK}}, **more}


def written(value: Any) -> bytes:
    return json.dumps(value).encode()


def paths(paths: Any, version: str = "3.0.3", **more: Any) -> Callable[[], bytes]:
    """Makes a description of these paths."""
    return lambda: written(described(paths, version, **more))


def posting(operation: Any, version: str = "3.0.3", **more: Any) -> Callable[[], bytes]:
    """Makes a description with the operation `POST /a`."""
    return paths({"/a": {"post": operation}}, version, **more)


def body(schema: Any, version: str = "3.0.3", **schemas: Any) -> Callable[[], bytes]:
    """Makes a description whose `POST /a` has a required body and answers by the same schema."""
    media = {"content": {"application/json": {"schema": schema}}}
    operation = {"requestBody": {"required": True, **media}, "responses": {"200": {"description": "", **media}}}
    return posting(operation, version, components={"schemas": schemas})


def parameter(**raw: Any) -> Callable[[], bytes]:
    """Makes a description whose `POST /a` has a parameter."""
    return posting({**OK, "parameters": [{"name": "q", "in": "query", **raw}]})


def nested(depth: int, wrap: Callable[[Any], Any], inner: Any) -> Any:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


def yaml(text: str) -> Callable[[], bytes]:
    """Makes a description of YAML: `/ok` and more lines."""
    head = 'openapi: "3.0.3"\ninfo: {title: Hostile, version: "1"}\n'
    ok = 'paths:\n  /ok: {get: {responses: {"200": {description: fine}}}}\n'
    return lambda: (head + ok + text).encode()


def deep_json(depth: int) -> bytes:
    head = b'{"openapi": "3.0.3", "info": {}, "paths": {}, "x-deep": '
    return head + b"[" * depth + b"]" * depth + b"}"


def bomb(levels: int, width: int) -> str:
    lines = ["x-0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"x-{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]" for level in range(1, levels)]
    return "\n".join(lines)


def merges(levels: int) -> str:
    lines = ["x-m0: &m0 {k0: 1}"]
    lines += [
        f"x-m{level}: &m{level} {{<<: [*m{level - 1}, *m{level - 1}], k{level}: 1}}" for level in range(1, levels)
    ]
    return "\n".join(lines)


def schema_bomb() -> bytes:
    lines = ["components:", "  schemas:", "    S0: &s0 {type: string}"]
    lines += [
        f"    S{level}: &s{level} {{type: object, properties: {{a: *s{level - 1}, b: *s{level - 1}}}}}"
        for level in range(1, 16)
    ]
    use = '  /a: {post: {requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/S15"}}}}, responses: {}}}\n'
    return yaml(use + "\n".join(lines))()


def raw(*members: str) -> Callable[[], bytes]:
    """Makes JSON with these members as they are written."""
    head = '{"openapi": "3.0.3", "info": {}, "paths": {"/ok": {"get": {"responses": {}}}}'
    return lambda: (head + "".join(f", {one}" for one in members) + "}").encode()


def maximum(number: str) -> Callable[[], bytes]:
    schema = f'{{"type": "number", "maximum": {number}}}'
    post = f'{{"post": {{"parameters": [{{"name": "q", "in": "query", "required": true, "schema": {schema}}}], "responses": {{}}}}}}'
    return lambda: (
        f'{{"openapi": "3.0.3", "info": {{}}, "paths": {{"/a": {post}, "/ok": {{"get": {{"responses": {{}}}}}}}}}}'
    ).encode()


BOTH: Final = ("GET /ok", "POST /a")
PLAIN: Final = described({})
JSON: Final = json.dumps(PLAIN)

S: Final = "#/components/schemas/"
OBJECT: Final[dict[str, Any]] = {"type": "object"}
