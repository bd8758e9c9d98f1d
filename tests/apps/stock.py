"""A stock of items with planted faults of meaning: each response fits its schema, and some say what is not so."""

import json
from itertools import count
from threading import Lock
from typing import Any, Final
from urllib.parse import parse_qsl

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

STATUSES: Final = ["draft", "open", "sold"]
_FIELDS: Final[dict[str, Any]] = {
    "name": {"type": "string", "minLength": 1, "maxLength": 30},
    "status": {"type": "string", "enum": STATUSES},
    "is_fragile": {"type": "boolean"},
    "owner_id": {"type": "integer", "minimum": 1, "maximum": 5},
    "price": {"type": "integer", "minimum": 0, "maximum": 1000},
}
_MADE: Final[dict[str, Any]] = {"id": {"type": "integer"}, "created_at": {"type": "string", "format": "date-time"}}
_NEW: Final = {
    "type": "object",
    "required": ["name", "status", "price"],
    "properties": _FIELDS,
    "additionalProperties": False,
}
_ITEM: Final = {"type": "object", "required": ["id", *_FIELDS, *_MADE], "properties": {**_MADE, **_FIELDS}}
_ONE: Final = {"$ref": "#/components/schemas/Item"}
_DEFAULTS: Final = {"is_fragile": False, "owner_id": 1}


def _query(name: str, schema: dict[str, Any], about: str = "") -> dict[str, Any]:
    return {"name": name, "in": "query", "description": about, "schema": schema}


def _response(status: int, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    content = {} if schema is None else {"content": {"application/json": {"schema": schema}}}
    return {str(status): {"description": "", **content}}


_REFUSED: Final = {"400": {"description": ""}, "404": {"description": ""}, "405": {"description": ""}}
_BODY: Final = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewItem"}}}}
_ID: Final = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
_LISTED: Final = {"type": "object", "required": ["items"], "properties": {"items": {"type": "array", "items": _ONE}}}
DOCUMENT: Final[dict[str, Any]] = {
    "openapi": "3.0.3",
    "info": {"title": "Stock", "version": "1"},
    "servers": [{"url": "/"}],
    "components": {"schemas": {"Item": _ITEM, "NewItem": _NEW}},
    "paths": {
        "/items": {
            "get": {
                "parameters": [
                    _query("status", {"type": "string", "enum": STATUSES}),
                    _query("is_fragile", {"type": "boolean"}),
                    _query("owner_id", {"type": "integer", "minimum": 1, "maximum": 5}),
                    _query("limit", {"type": "integer", "minimum": 1, "maximum": 20}),
                    _query("page", {"type": "integer", "minimum": 1, "maximum": 5}),
                    _query("sort", {"type": "string", "enum": ["price", "-price", "created_at"]}),
                ],
                "responses": {**_response(200, _LISTED), **_REFUSED},
            },
            "post": {"requestBody": _BODY, "responses": {**_response(201, _ONE), **_REFUSED}},
        },
        "/items/{id}": {
            "get": {"parameters": _ID, "responses": {**_response(200, _ONE), **_REFUSED}},
            "put": {"parameters": _ID, "requestBody": _BODY, "responses": {**_response(200, _ONE), **_REFUSED}},
            "delete": {"parameters": _ID, "responses": {**_response(204), **_REFUSED}},
        },
    },
}
PRICES: Final = (50, 900, 7, 300, 120, 8, 40, 601) * 3


class Stock:
    """Serves the items; `planted` names its faults."""

    def __init__(self, *planted: str) -> None:
        self.planted = frozenset(planted)
        self._lock = Lock()
        self._numbers = count(1)
        self._items: dict[int, dict[str, Any]] = {}
        for number, price in enumerate(PRICES):
            status, owner = STATUSES[number % 3], number % 4 + 1
            self._add({"name": f"item{number}", "status": status, "price": price, "owner_id": owner})
            self._items[number + 1]["is_fragile"] = number % 2 == 0

    def __call__(self, request: Request) -> Reply:
        path, _, query = request.target.decode("latin-1").partition("?")
        with self._lock:
            if path == "/items":
                return self._collection(request, parse_qsl(query, keep_blank_values=True))
            if not path.startswith("/items/"):
                return Reply(404)
            name = path.removeprefix("/items/")
            number = int(name) if name.isdecimal() and name.isascii() and len(name) < 10 else 0
            return self._member(request, number)

    def _collection(self, request: Request, query: list[tuple[str, str]]) -> Reply:
        if request.method == "POST":
            return self._created(request)
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET, POST"),))
        asked = dict(query)
        if len(asked) < len(query) or not all(_is_valid(name, text) for name, text in query):
            return Reply(400)
        return json_reply({"items": self._selected(asked)})

    def _selected(self, asked: dict[str, str]) -> list[dict[str, Any]]:
        found = list(self._items.values())
        for name in ("status", "is_fragile", "owner_id"):
            if name in asked and f"filter {name}" not in self.planted:
                found = [one for one in found if _text(one[name]) == asked[name]]
        by = asked.get("sort", "id")
        if "sort" not in self.planted:
            found.sort(key=lambda one: one[by.lstrip("-")], reverse=by.startswith("-"))
        size, page = int(asked.get("limit", 5)), int(asked.get("page", 1))
        begin = (
            0 if "page ignored" in self.planted else (page - 1) * (size - 1 if "page overlap" in self.planted else size)
        )
        if "page clamped" in self.planted:
            # No fault: the last page stands in place of a missing one.
            begin = min(begin, (len(found) - 1) // size * size if found else 0)
        end = begin + size + ("limit" in self.planted and "limit" in asked)
        return found[max(begin, 0) : end]

    def _created(self, request: Request) -> Reply:
        sent = _body(request)
        if sent is None:
            return Reply(400)
        if "creation ignores is_fragile" in self.planted:
            sent.pop("is_fragile", None)
        made = self._add(sent)
        place = f"/{'item' if 'location' in self.planted else 'items'}/{made['id']}"
        return Reply(201, "application/json", json.dumps(made).encode(), (("Location", place),))

    def _add(self, sent: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        made = {"id": number, "created_at": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z"}
        self._items[number] = {**made, **_DEFAULTS, **sent}
        return self._items[number]

    def _member(self, request: Request, number: int) -> Reply:
        if request.method not in ("GET", "PUT", "DELETE"):
            return Reply(405, headers=(("Allow", "GET, PUT, DELETE"),))
        if number not in self._items:
            return Reply(404)
        if request.method == "DELETE":
            del self._items[number]
            return Reply(204)
        if request.method == "GET":
            return json_reply(self._items[number])
        return self._replaced(request, number)

    def _replaced(self, request: Request, number: int) -> Reply:
        sent, old = _body(request), self._items[number]
        if sent is None:
            if "refused update stored" in self.planted:
                self._items[number] = {**old, **_valid_fields(request)}
            return Reply(400)
        kept = {name: old[name] for name in _MADE}
        changed = {**kept, **_DEFAULTS, **sent}
        self._items[number] = dict(changed)
        if "update loses price" in self.planted:
            self._items[number]["price"] = old["price"]
        if "update ignores name" in self.planted:
            changed = self._items[number] = {**changed, "name": old["name"]}
        return json_reply(changed)


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _is_valid(name: str, text: str) -> bool:
    found = next(
        (one["schema"] for one in DOCUMENT["paths"]["/items"]["get"]["parameters"] if one["name"] == name), None
    )
    if found is None:
        return True
    if found["type"] == "integer":
        is_number = text.isdecimal() and text.isascii() and len(text) < 10 and text == str(int(text))
        return is_number and found["minimum"] <= int(text) <= found["maximum"]
    return text in (found.get("enum") or ("true", "false"))


def _body(request: Request) -> dict[str, Any] | None:
    """The item that a request describes; None if it describes none."""
    try:
        sent = json.loads(request.body)
    except ValueError:
        return None
    if "json" not in request.headers.get("content-type", "") or not isinstance(sent, dict):
        return None
    if not {"name", "status", "price"} <= sent.keys() <= _FIELDS.keys():
        return None
    is_named = isinstance(sent["name"], str) and 1 <= len(sent["name"]) <= 30
    is_of_owner = "owner_id" not in sent or (type(sent["owner_id"]) is int and 1 <= sent["owner_id"] <= 5)
    is_priced = type(sent["price"]) is int and 0 <= sent["price"] <= 1000
    is_flagged = isinstance(sent.get("is_fragile", True), bool)
    return sent if is_named and is_of_owner and is_priced and is_flagged and sent["status"] in STATUSES else None


def _valid_fields(request: Request) -> dict[str, Any]:
    """The fields of a wrong item that are right."""
    try:
        sent = json.loads(request.body)
    except ValueError:
        return {}
    found = sent if isinstance(sent, dict) else {}
    price, name = found.get("price"), found.get("name")
    is_priced, is_named = type(price) is int and 0 <= price <= 1000, isinstance(name, str) and 1 <= len(name) <= 30
    return {**({"price": price} if is_priced else {}), **({"name": name} if is_named else {})}
