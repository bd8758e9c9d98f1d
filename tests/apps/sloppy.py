"""An application with twelve mistakes that show in 144 places, most of them everywhere."""

from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

NAMES = (
    "apples", "birches", "cedars", "elms", "figs", "larches", "limes", "maples", "oaks", "pears", "pines", "plums",
    "poplars", "willows", "yews", "zelkovas",
)  # fmt: skip
BUGGY, PICKY, LISTED = "apples", "birches", "cedars"

_JSON = {"application/json": {"schema": {"$ref": "#/components/schemas/Tree"}}}
_HEADERS = {"X-Trace": {"required": True, "schema": {"type": "string"}}, "X-Left": {"schema": {"type": "integer"}}}
_NOTHING = {"description": ""}


def _path(name: str) -> dict[str, Any]:
    fine = {"description": "", "content": _JSON}
    limit = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}}
    return {
        "get": {
            "parameters": [limit] if name == PICKY else [],
            "responses": {"200": {**fine, "headers": _HEADERS}, "500": _NOTHING},
        },
        "post": {"responses": {"201": fine}},
        "put": {"responses": {"200": fine}},
        "patch": {"responses": {"204": _NOTHING}},
        "delete": {"responses": {"204": _NOTHING, "500": _NOTHING}},
    }


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Trees", "version": "1"},
    "components": {
        "schemas": {
            "Tree": {
                "type": "object",
                "required": ["id", "height"],
                "properties": {"id": {"type": "integer"}, "height": {"type": "number"}},
            }
        }
    },
    "paths": {f"/{name}": _path(name) for name in NAMES},
}


def answer(request: Request) -> Reply:
    """One answer. The comments count the mistakes."""
    path = request.target.decode().partition("?")[0]
    name = path.strip("/")
    match request.method:
        case "GET" if name == BUGGY:
            # 1: one operation alone falls over.
            return json_reply({"error": "no"}, 500)
        case "GET":
            # 2: `id` is text. 3: `X-Trace` is missing. 4: `X-Left` is no number. 5: `limit=0` is taken.
            tree = {"id": "one", "height": 1.5}
            reply = json_reply(tree)
            return Reply(200, reply.media_type, reply.body, (("X-Left", "many"),))
        case "POST":
            # 6: what `Content-Type` says is no media type.
            return Reply(201, "json", b'{"id": 1, "height": 1.5}')
        case "PUT":
            # 7: another media type.
            return Reply(200, "text/html", b"<p>done</p>")
        case "PATCH":
            # 8: a status that nobody described.
            return Reply(202)
        case "DELETE":
            # 9: one mistake of the database behind all of them.
            return Reply(500, "text/plain", b"OperationalError: database table is locked")
        case "OPTIONS" if name == LISTED:
            # 10: methods that are not described.
            return Reply(200, headers=(("Allow", "GET, POST, PUT, PATCH, DELETE, LINK"),))
        case "OPTIONS":
            return Reply(200, headers=(("Allow", "GET, POST, PUT, PATCH, DELETE"),))
        case "HEAD" | "TRACE":
            # 11: no `Allow`.
            return Reply(405)
        case _:
            # 12: other methods are taken for something.
            return Reply(422)
