"""A service with ten defects whose error texts are never the same twice."""

import itertools
import json
import random
import string
import threading
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.apps.http import Reply, Request
from tests.apps.serving import Answer

_LANGUAGES = (
    "An order with this note cannot be saved.",
    "Der Auftrag mit dieser Notiz wurde nicht gespeichert.",
    "La commande avec cette note ne peut pas être enregistrée.",
    "El pedido con esta nota no se puede guardar.",
)
_COLUMNS = ("amount", "quantity", "note", "tags", "sort", "page")

DEFECTS = {
    "random identifier": ("POST", "/orders", {"amount": 1001, "quantity": 0}),
    "division": ("POST", "/orders", {"amount": 0, "quantity": 6}),
    "SQL with other clauses": ("GET", "/orders?page=101", None),
    "SQL with other values": ("GET", "/orders?sort=000000", None),
    "address in a trace": ("GET", "/orders/1001", None),
    "translated": ("PUT", "/orders/0", {"note": "é"}),
    "whatever is sent": ("DELETE", "/orders/0", None),
    "missing columns": ("PATCH", "/orders/0", {"note": "0000"}),
    "name of a worker": ("POST", "/notes", {"text": "0000"}),
    "thread and lock": ("GET", "/notes?q=0000", None),
}
"""Name -> the smallest request that shows it."""
DISCLOSING = ("SQL with other clauses", "address in a trace")
"""Names of the defects whose error texts show the inside of the server in the form in which frameworks print it."""

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 5000}


def _query(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema}


def _body(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def document() -> dict[str, Any]:
    """Its description promises nothing of answers: only server errors are failures, and what their texts disclose."""
    responses = {"default": {"description": ""}}
    order_id = {"name": "id", "in": "path", "required": True, "schema": _COUNT}
    order = _body({"amount": _COUNT, "quantity": {"type": "integer", "minimum": 0, "maximum": 9}})
    order["content"]["application/json"]["schema"]["required"] = ["amount", "quantity"]
    listed = [_query("sort", {"type": "string", "pattern": "^[0-9a-z]*$"}), _query("page", _COUNT)]
    changes = _body({"note": _TEXT, "tags": {"type": "array", "items": _TEXT}})
    operations = {
        "/orders": {
            "post": {"requestBody": order, "responses": responses},
            "get": {"parameters": listed, "responses": responses},
        },
        "/orders/{id}": {
            "parameters": [order_id],
            "get": {"responses": responses},
            "put": {"requestBody": _body({"note": _TEXT}, "note"), "responses": responses},
            "delete": {"responses": responses},
            "patch": {"requestBody": changes, "responses": responses},
        },
        "/notes": {
            "post": {"requestBody": _body({"text": _TEXT}, "text"), "responses": responses},
            "get": {"parameters": [_query("q", _TEXT)], "responses": responses},
        },
    }
    return {"openapi": "3.0.3", "info": {"title": "Orders", "version": "1"}, "paths": operations}


def volatile() -> Answer:
    """The service. Its chance is its own: no seed of a client decides what it says."""
    service, lock = _Service(random.Random()), threading.Lock()

    def answered(request: Request) -> Reply:
        with lock:
            return service.answer(request)

    return answered


class _Service:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._languages = itertools.cycle(_LANGUAGES)

    def answer(self, request: Request) -> Reply:
        target = urlsplit(request.target.decode("latin-1"))
        query = {name: values[0] for name, values in parse_qs(target.query).items()}
        body = json.loads(request.body) if request.body else {}
        collection, _, member = target.path.removeprefix("/").partition("/")
        match request.method, collection, bool(member):
            case "POST", "orders", False:
                said = self._created(body)
            case "GET", "orders", False:
                said = self._listed(query)
            case "GET", "orders", True:
                said = self._shown(int(unquote(member)))
            case "PUT", "orders", True:
                said = "" if body["note"].isascii() else next(self._languages)
            case "DELETE", "orders", True:
                said = f"order {self._identifier()} is locked by {self._word()}"
            case "PATCH", "orders", True:
                said = self._patched(body)
            case "POST", "notes", False:
                said = f"worker {self._word()} failed" if len(body["text"]) > 3 else ""
            case _:
                said = self._searched(query.get("q", ""))
        if said:
            return Reply(500, "application/json", json.dumps({"message": said}).encode())
        return Reply(200, "application/json", b"{}")

    def _created(self, body: dict[str, Any]) -> str:
        if body["amount"] > 1000:
            return f"could not store order with ID {self._identifier()}"
        return "ZeroDivisionError: division by zero" if body["quantity"] > 5 else ""

    def _listed(self, query: dict[str, str]) -> str:
        columns = ", ".join(self._chance.sample(_COLUMNS, self._chance.randint(1, 5)))
        if int(query.get("page", "0")) > 100:
            clauses = " AND ".join(f"{name} = ?" for name in query)
            return f"OperationalError: no result [SQL: SELECT {columns} FROM orders WHERE {clauses}]"
        if len(query.get("sort", "")) > 5:
            sort = query["sort"]
            return f"syntax error near {sort[1:-1]}: SELECT {columns} FROM orders ORDER BY {sort}"
        return ""

    def _shown(self, number: int) -> str:
        if number <= 1000:
            return ""
        frames = "".join(f'  File "/srv/{self._word()}.py", line {self._chance.randint(1, 99)}\n' for _ in range(3))
        error = f"AttributeError: <Order object at {hex(self._chance.getrandbits(44))}> has no tag"
        return f"Traceback (most recent call last):\n{frames}{error}"

    def _patched(self, body: dict[str, Any]) -> str:
        if len(body.get("note", "")) <= 3:
            return ""
        missing = [name for name in ("tags", "amount", "quantity", "page") if name not in body]
        return f"IntegrityError: columns without a value: {', '.join(missing)}"

    def _searched(self, text: str) -> str:
        if len(text) <= 3:
            return ""
        lock = f"{self._word()}@{self._chance.getrandbits(32):x}"
        return f"java.lang.IllegalStateException: thread {self._word()} waits for lock {lock}"

    def _identifier(self) -> str:
        letters = string.ascii_uppercase + string.digits
        return "".join(self._chance.choices(letters, k=8))

    def _word(self) -> str:
        return "".join(self._chance.choices(string.ascii_lowercase, k=self._chance.randint(6, 9)))
