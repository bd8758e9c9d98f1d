"""Create, read, delete: path parameters are named differently than the fields that hold their values."""

import itertools
import json
import threading
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

PARCEL = {
    "type": "object",
    "required": ["tracking", "weight"],
    "properties": {"tracking": {"type": "string"}, "weight": {"type": "integer"}, "note": {"type": "string"}},
}
ERROR = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}


def _responses(*statuses: int) -> dict[str, Any]:
    bodies: dict[int, Any] = {200: PARCEL, 201: PARCEL, 404: ERROR, 400: ERROR}
    return {
        str(status): {
            "description": "as it says",
            **({"content": {"application/json": {"schema": bodies[status]}}} if status in bodies else {}),
        }
        for status in statuses
    }


_SHIPMENT = {"name": "shipment", "in": "path", "required": True, "schema": {"type": "string"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Parcels", "version": "1"},
    "paths": {
        "/parcels": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["weight"],
                                "properties": {
                                    "weight": {"type": "integer", "minimum": 1, "maximum": 1000},
                                    "note": {"type": "string", "maxLength": 20},
                                },
                                "additionalProperties": False,
                            }
                        }
                    },
                },
                "responses": _responses(201, 400),
            }
        },
        "/parcels/{shipment}": {
            "parameters": [_SHIPMENT],
            "get": {"responses": _responses(200, 404)},
            "delete": {"responses": _responses(204, 404)},
        },
        "/weather": {"get": {"responses": _responses(200)}},
    },
}


class Parcels:
    """Answers by the book, but for one planted bug: reading a parcel that was deleted is a 500."""

    def __init__(self, *, is_planted: bool = True) -> None:
        self.is_planted = is_planted
        self.stored: dict[str, dict[str, Any] | None] = {}
        self.reached: set[str] = set()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        with self._lock:
            return self._answer(request)

    def _answer(self, request: Request) -> Reply:
        path = request.target.decode("latin-1").partition("?")[0]
        if path == "/weather":
            return json_reply({"tracking": "none", "weight": 0})
        if path == "/parcels" and request.method == "POST":
            try:
                body = json.loads(request.body)
                weight = int(body["weight"])
            except (ValueError, KeyError, TypeError):
                return json_reply({"message": "bad parcel"}, 400)
            tracking = f"T{next(self._numbers) * 7919:08d}"
            self.stored[tracking] = {"tracking": tracking, "weight": weight}
            self.reached.add("created")
            return json_reply(self.stored[tracking], 201)
        return self._member(request.method, path.removeprefix("/parcels/"))

    def _member(self, method: str, tracking: str) -> Reply:
        missing = json_reply({"message": "no such parcel"}, 404)
        if tracking not in self.stored:
            return missing
        parcel = self.stored[tracking]
        if parcel is None:
            self.reached.add("used after deletion")
            if self.is_planted and method == "GET":
                return Reply(500, "text/plain", b"parcel is gone")
            return missing
        if method == "DELETE":
            self.reached.add("deleted")
            self.stored[tracking] = None
            return Reply(204)
        self.reached.add("read")
        return json_reply(parcel)
