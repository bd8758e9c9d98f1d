"""Shelves, books and jobs, with defects that only a sequence of requests reaches; each can be left out."""

import itertools
import json
import threading
from collections.abc import Mapping
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

DEFECTS: Mapping[str, str] = {
    "a shelf that was removed": "GET /shelves/{shelf_id}",
    "a book of a shelf that was removed": "GET /shelves/{shelf_id}/books/{isbn}",
    "a shelf that was renamed twice": "PATCH /shelves/{shelf_id}",
    "a receipt by its link": "GET /receipts/{number}",
    "a job by its location": "GET /jobs/{job}",
    "a loan of a book and a reader": "POST /loans",
}
"""What breaks -> the operation whose answer shows it."""
ERROR = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
MISSING = json_reply({"message": "no such thing"}, 404)
BAD = json_reply({"message": "not like that"}, 400)
BROKEN = Reply(500, "text/plain", b"Traceback: planted")


def _object(**properties: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(properties),
        "properties": {name: {"type": kind} for name, kind in properties.items()},
    }


def _responses(status: int, schema: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "done", **more}
    if schema is not None:
        good["content"] = {"application/json": {"schema": schema}}
    bad = {"description": "no", "content": {"application/json": {"schema": ERROR}}}
    return {"responses": {str(status): good, "400": bad, "404": bad}}


def _body(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _named(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


TITLE = {"type": "string", "minLength": 1, "maxLength": 20}
SHELF = _object(id="string", title="string")
BOOK = _object(isbn="string", title="string")
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Library", "version": "1"},
    "paths": {
        "/shelves": {
            "post": _body(title=TITLE) | _responses(201, {"type": "object", "properties": {"data": SHELF}}),
            "get": _responses(200, {"type": "array", "items": SHELF}),
        },
        "/shelves/{shelf_id}": {
            "parameters": _named("shelf_id"),
            "get": _responses(200, SHELF),
            "patch": _body(title=TITLE) | _responses(200, SHELF),
            "delete": _responses(204, None),
        },
        "/shelves/{shelf_id}/books": {
            "parameters": _named("shelf_id"),
            "post": _body(title=TITLE) | _responses(201, BOOK),
        },
        "/shelves/{shelf_id}/books/{isbn}": {"parameters": _named("shelf_id", "isbn"), "get": _responses(200, BOOK)},
        "/readers": {"post": _body(title=TITLE) | _responses(201, _object(id="string"))},
        "/loans": {
            "post": _body(isbn={"type": "string"}, reader_id={"type": "string"})
            | _responses(201, _object(state="string"))
        },
        "/orders": {
            "post": _responses(
                201,
                _object(receipt="object"),
                links={
                    "receipt": {"operationId": "readReceipt", "parameters": {"number": "$response.body#/receipt/no"}}
                },
            )
        },
        "/receipts/{number}": {
            "parameters": _named("number"),
            "get": {"operationId": "readReceipt"} | _responses(200, _object(total="integer")),
        },
        "/jobs": {"post": _responses(202, None)},
        "/jobs/{job}": {"parameters": _named("job"), "get": _responses(200, _object(state="string"))},
    },
}


class Library:
    """Answers by the book, but for the defects that it is given."""

    def __init__(self, defects: Mapping[str, str] = DEFECTS) -> None:
        self.defects = defects
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._things: dict[str, dict[str, Any]] = {}
        """Kind and name -> what is there."""
        self._removed: set[str] = set()

    def __call__(self, request: Request) -> Reply:
        with self._lock:
            path = request.target.decode("latin-1").partition("?")[0].strip("/").split("/")
            match request.method, path:
                case "POST", [("shelves" | "readers" | "jobs" | "orders") as kind]:
                    return self._created(kind, request)
                case "GET", ["shelves"]:
                    shelves = [t for k, t in self._things.items() if k.startswith("shelves/")]
                    return json_reply(shelves[-5:])
                case _, ["shelves", name]:
                    return self._shelf(request, f"shelves/{name}")
                case "POST", ["shelves", name, "books"]:
                    return self._add_book(request, f"shelves/{name}")
                case "GET", ["shelves", name, "books", isbn]:
                    return self._book(f"shelves/{name}", f"books/{isbn}")
                case "POST", ["loans"]:
                    return self._lent(request)
                case "GET", ["receipts", number]:
                    return self._plain(f"receipts/{number}", "a receipt by its link")
                case "GET", ["jobs", number]:
                    return self._plain(f"jobs/{number}", "a job by its location")
                case _:
                    return MISSING

    def _broken(self, name: str, otherwise: Reply) -> Reply:
        return BROKEN if name in self.defects else otherwise

    def _name(self) -> str:
        return f"n{next(self._numbers) * 7919:07d}"

    def _created(self, kind: str, request: Request) -> Reply:
        name = self._name()
        if kind == "orders":
            self._things[f"receipts/{name}"] = {"total": 3}
            return json_reply({"receipt": {"no": name}}, 201)
        if kind == "jobs":
            self._things[f"jobs/{name}"] = {"state": "waiting"}
            return Reply(202, "", b"", (("Location", f"/jobs/{name}"),))
        title = _title(request)
        if title is None:
            return BAD
        thing = self._things[f"{kind}/{name}"] = {"id": name, "title": title}
        return json_reply({"data": thing} if kind == "shelves" else {"id": name}, 201)

    def _shelf(self, request: Request, key: str) -> Reply:
        shelf = self._things.get(key)
        if shelf is None:
            is_removed = key in self._removed and request.method == "GET"
            return self._broken("a shelf that was removed", MISSING) if is_removed else MISSING
        if request.method == "DELETE":
            self._removed.add(key)
            del self._things[key]
            return Reply(204)
        if request.method == "PATCH":
            title = _title(request)
            if title is None:
                return BAD
            renamed = self._things.setdefault(f"renamed/{key}", {"times": 0})
            renamed["times"] += 1
            shelf["title"] = title
            if renamed["times"] > 1:
                return self._broken("a shelf that was renamed twice", json_reply(shelf))
        return json_reply(shelf)

    def _add_book(self, request: Request, shelf: str) -> Reply:
        title = _title(request)
        if title is None:
            return BAD
        if shelf not in self._things:
            return MISSING
        isbn = self._name()
        self._things[f"books/{isbn}"] = {"isbn": isbn, "title": title, "shelf": shelf}
        return json_reply({"isbn": isbn, "title": title}, 201)

    def _book(self, shelf: str, key: str) -> Reply:
        book = self._things.get(key)
        if book is None or book["shelf"] != shelf:
            return MISSING
        if shelf in self._removed:
            return self._broken("a book of a shelf that was removed", MISSING)
        return json_reply(book)

    def _lent(self, request: Request) -> Reply:
        try:
            body = json.loads(request.body)
            book, reader = f"books/{body['isbn']}", f"readers/{body['reader_id']}"
        except (ValueError, KeyError, TypeError):
            return BAD
        if book in self._things and reader in self._things:
            return self._broken("a loan of a book and a reader", json_reply({"state": "lent"}, 201))
        return MISSING

    def _plain(self, key: str, defect: str) -> Reply:
        thing = self._things.get(key)
        return MISSING if thing is None else self._broken(defect, json_reply(thing))


def _title(request: Request) -> str | None:
    try:
        title = json.loads(request.body)["title"]
    except (ValueError, KeyError, TypeError):
        return None
    return title if isinstance(title, str) and 1 <= len(title) <= 20 else None
