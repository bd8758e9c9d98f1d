"""A depot: unique names, nested resources, references in bodies, tokens; 20 planted defects, each with a label.

`python -m tests.apps.depot [--fixed] [--port PORT]` serves it.
"""

import json
import re
import sys
import urllib.request
from itertools import count
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from werkzeug.serving import run_simple

from tests.apps.restartable import Restartable
from tests.defects.book import Asked
from tests.defects.frameworks import flask_app
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.words import COUNT, NUMBERED, Defect, answers, body, described, parameter, ref, said, thing

USER, PASSWORD = "keeper", "pw-depot-1"
CONFIG = f"""
[auth.dynamic.openapi.Bearer]
path = "/token"
payload = {{ user = "{USER}", password = "{PASSWORD}" }}
extract_selector = "/access_token"
"""
_CODE = {"type": "string", "pattern": "^[a-z][a-z0-9-]{2,19}$"}
_TEXT = {"type": "string", "maxLength": 40}
_UUID = {"type": "string", "format": "uuid"}
_DAY = {"type": "string", "format": "date"}
_STATE = {"type": "string", "enum": ["open", "shipped", "cancelled"]}
_SITES, _SITE = "/sites", "/sites/{site_id}"
_SHELVES, _SHELF = f"{_SITE}/shelves", f"{_SITE}/shelves/{{shelf_id}}"
_ITEMS, _ITEM = f"{_SHELF}/items", f"{_SHELF}/items/{{item_id}}"
_SUPPLIERS, _SUPPLIER = "/suppliers", "/suppliers/{supplier_id}"
_ORDERS, _ORDER = "/orders", "/orders/{order_id}"
_PATHS = {
    "site": [parameter("path", "site_id", NUMBERED)],
    "shelf": [parameter("path", "site_id", NUMBERED), parameter("path", "shelf_id", NUMBERED)],
    "item": [parameter("path", name, NUMBERED) for name in ("site_id", "shelf_id", "item_id")],
    "supplier": [parameter("path", "supplier_id", _UUID)],
    "order": [parameter("path", "order_id", {"type": "string", "pattern": "^ord-[0-9]{6}$"})],
}
_READ, _WRITE = (400, 401, 404), (400, 401, 404, 409, 415, 422)


def _made(schema: dict[str, Any], name: str) -> dict[str, Any]:
    return {"requestBody": body(schema), "responses": answers({201: said(ref(name))}, *_WRITE)}


def _changed(schema: dict[str, Any], name: str) -> dict[str, Any]:
    return {"requestBody": body(schema), "responses": answers({200: said(ref(name))}, *_WRITE)}


def _shown(schema: Any) -> dict[str, Any]:
    return {"responses": answers({200: said(schema)}, *_READ)}


_GONE = {"responses": answers({204: said()}, *_READ)}
_NEW_SITE = thing("name", name=_CODE, city=_TEXT, docks=COUNT)
_NEW_SHELF = thing("code", code=_CODE, height=COUNT)
_NEW_ITEM = thing("sku quantity", sku=_CODE, quantity=COUNT, expires=_DAY)
_EMAIL = {"type": "string", "pattern": "^[a-z0-9]{3,12}@example[.]com$"}
_NEW_SUPPLIER = thing("email name", email=_EMAIL, name=_TEXT, rating=COUNT)
_NEW_ORDER = thing("supplier_id site_id quantity", supplier_id=_UUID, site_id=NUMBERED, quantity=COUNT)
_LIMIT = [parameter("query", "limit", COUNT)]
DOCUMENT = described(
    "depot",
    {
        "/token": {
            "post": {
                "security": [],
                "requestBody": body(thing("user password", user=_TEXT, password=_TEXT)),
                "responses": answers(
                    {200: said(thing("access_token", access_token={"type": "string"}))}, 400, 401, 415, 422
                ),
            }
        },
        _SITES: {
            "get": {"parameters": _LIMIT, **_shown({"type": "array", "items": ref("Site")})},
            "post": _made(_NEW_SITE, "Site"),
        },
        _SITE: {
            "parameters": _PATHS["site"],
            "get": _shown(ref("Site")),
            "put": _changed(_NEW_SITE, "Site"),
            "delete": _GONE,
        },
        _SHELVES: {
            "parameters": _PATHS["site"],
            "get": _shown({"type": "array", "items": ref("Shelf")}),
            "post": _made(_NEW_SHELF, "Shelf"),
        },
        _SHELF: {
            "parameters": _PATHS["shelf"],
            "get": _shown(ref("Shelf")),
            "patch": _changed(thing("height", height=COUNT), "Shelf"),
            "delete": _GONE,
        },
        _ITEMS: {
            "parameters": _PATHS["shelf"],
            "get": _shown(thing("total", total=COUNT)),
            "post": _made(_NEW_ITEM, "Item"),
        },
        _ITEM: {"parameters": _PATHS["item"], "get": _shown(ref("Item")), "delete": _GONE},
        _SUPPLIERS: {"post": _made(_NEW_SUPPLIER, "Supplier")},
        _SUPPLIER: {
            "parameters": _PATHS["supplier"],
            "get": _shown(ref("Supplier")),
            "put": _changed(_NEW_SUPPLIER, "Supplier"),
            "delete": _GONE,
        },
        _ORDERS: {"post": _made(_NEW_ORDER, "Order")},
        _ORDER: {"parameters": _PATHS["order"], "get": _shown(ref("Order"))},
        f"{_ORDER}/ship": {
            "parameters": _PATHS["order"],
            "post": {"responses": answers({200: said(ref("Order"))}, 400, 401, 404, 409)},
        },
        f"{_ORDER}/cancel": {
            "parameters": _PATHS["order"],
            "post": {"responses": answers({200: said(ref("Order"))}, 400, 401, 404, 409)},
        },
    },
    security=[{"Bearer": []}],
    components={
        "securitySchemes": {"Bearer": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Site": thing("id name", id=NUMBERED, name=_CODE, city=_TEXT, docks=COUNT),
            "Shelf": thing("id site code height", id=NUMBERED, site=NUMBERED, code=_CODE, height=COUNT),
            "Item": thing(
                "id shelf sku quantity", id=NUMBERED, shelf=NUMBERED, sku=_CODE, quantity=COUNT, expires=_DAY
            ),
            "Supplier": thing("id email name", id=_UUID, email={"type": "string"}, name=_TEXT, rating=COUNT),
            "Order": thing(
                "id state supplier_id", id={"type": "string"}, state=_STATE, supplier_id=_UUID, quantity=COUNT
            ),
        },
    },
)
DEFECTS = (
    Defect("sites-limit-zero", f"GET {_SITES}", "not_a_server_error"),
    Defect("site-city-null", f"GET {_SITE}", "response_schema_conformance", steps=2),
    Defect("site-many-docks", f"PUT {_SITE}", "not_a_server_error", steps=2),
    Defect("site-stays", f"DELETE {_SITE}", "use_after_free", steps=3),
    Defect("site-name-unchecked", f"POST {_SITES}", "negative_data_rejection"),
    Defect("shelf-height-text", f"GET {_SHELF}", "response_schema_conformance", steps=3),
    Defect("shelf-grows", f"PATCH {_SHELF}", "not_a_server_error", steps=3),
    Defect("shelf-accepted", f"DELETE {_SHELF}", "status_code_conformance", steps=3),
    Defect("shelves-untyped", f"GET {_SHELVES}", "content_type_conformance", steps=2),
    Defect("items-uncounted", f"GET {_ITEMS}", "response_schema_conformance", steps=3),
    Defect("item-heavy", f"POST {_ITEMS}", "not_a_server_error", steps=3),
    Defect("item-open", f"GET {_ITEM}", "ignored_auth", steps=4),
    Defect("item-of-two", f"DELETE {_ITEM}", "not_a_server_error", steps=5),
    Defect("supplier-rated", f"POST {_SUPPLIERS}", "not_a_server_error"),
    Defect("supplier-nameless", f"PUT {_SUPPLIER}", "response_schema_conformance", steps=2),
    Defect("supplier-haunts", f"GET {_SUPPLIER}", "not_a_server_error", steps=3),
    Defect("order-large", f"POST {_ORDERS}", "not_a_server_error", steps=3),
    Defect("order-unchecked", f"POST {_ORDERS}", "negative_data_rejection", steps=3),
    Defect("order-shipped-twice", f"POST {_ORDER}/ship", "not_a_server_error", steps=5),
    Defect("order-canceled", f"POST {_ORDER}/cancel", "response_schema_conformance", steps=4),
)
ALL = frozenset(defect.id for defect in DEFECTS)


class Depot:
    """The state of one server."""

    def __init__(self, on: frozenset[str]) -> None:
        self.on = on
        self.numbers = {name: count(1) for name in ("site", "shelf", "item", "supplier", "order", "token")}
        self.things: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in self.numbers}
        self.removed: set[str] = set()
        self.tokens: set[str] = set()

    def enter(self, asked: Asked) -> None:
        """Admit a request with a token. Raises `Problem` 401."""
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or token not in self.tokens:
            raise Problem(401, "no valid token")

    def get(self, kind: str, asked: Asked) -> dict[str, Any]:
        """Return the thing that the path names. Raises `Problem` 401 and 404."""
        self.enter(asked)
        return self.find(kind, asked)

    def find(self, kind: str, asked: Asked) -> dict[str, Any]:
        """Return the thing that the path names, for anyone. Raises `Problem` 404."""
        name = asked.path[f"{kind}_id"]
        found = self.things[kind].get(name if kind in ("supplier", "order") else str(int(float(name))))
        above = {"shelf": "site", "item": "shelf"}.get(kind)
        parent = None if above is None else self.find(above, asked)
        if found is None or (parent is not None and found[str(above)] != parent["id"]):
            raise Problem(404, f"no such {kind}")
        return found

    def add(self, kind: str, given: dict[str, Any], unique: str = "", within: str = "") -> dict[str, Any]:
        """Keep a thing under a new identifier. Raises `Problem` 409 if its name is taken."""
        for one in self.things[kind].values() if unique else ():
            if str(one[unique]).lower() == str(given[unique]).lower() and (not within or one[within] == given[within]):
                raise Problem(409, f"{unique} already exists")
        number = next(self.numbers[kind])
        names: dict[str, Any] = {
            "supplier": str(uuid5(NAMESPACE_URL, str(id(self)) + str(number))),
            "order": f"ord-{number + 100000}",
        }
        name = names.get(kind, number)
        self.things[kind][str(name)] = {**given, "id": name}
        return self.things[kind][str(name)]

    def remove(self, kind: str, found: dict[str, Any]) -> None:
        """Forget a thing."""
        del self.things[kind][str(found["id"])]
        self.removed.add(str(found["id"]))

    def below(self, kind: str, above: str, parent: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the things of a parent."""
        return [one for one in self.things[kind].values() if one[above] == parent["id"]]


def build(on: frozenset[str] = ALL) -> Service:
    """The service with these defects, empty."""
    service, depot = Service(DOCUMENT), Depot(on)

    @service.operation("POST /token")
    def entered(asked: Asked) -> Answer:
        if asked.json != {"user": USER, "password": PASSWORD}:
            raise Problem(401, "wrong user or password")
        depot.tokens.add(token := f"tok-{id(depot)}-{next(depot.numbers['token'])}")
        return Answer({"access_token": token})

    _sites(service, depot)
    _shelves(service, depot)
    _items(service, depot)
    _suppliers(service, depot)
    _orders(service, depot)
    return service


def _sites(service: Service, depot: Depot) -> None:
    on = depot.on

    @service.operation(f"GET {_SITES}")
    def listed(asked: Asked) -> Answer:
        depot.enter(asked)
        limit = int(float(asked.one("limit", "20")))
        if "sites-limit-zero" in on and limit == 0:
            return Answer({"detail": "division by zero"}, 500)
        return Answer(list(depot.things["site"].values())[:limit])

    @service.operation(f"POST {_SITES}", lenient=maybe("site-name-unchecked" in on, "body name"))
    def added(asked: Asked) -> Answer:
        depot.enter(asked)
        given = _given(_NEW_SITE, asked)
        is_right = isinstance(given.get("name"), str) and re.fullmatch(_CODE["pattern"], given["name"]) is not None
        return Answer(
            depot.add("site", given if is_right else {**given, "name": f"site-{len(depot.things['site'])}"}, "name"),
            201,
        )

    @service.operation(f"GET {_SITE}")
    def shown(asked: Asked) -> Answer:
        site = depot.get("site", asked)
        return Answer({"city": None, **site} if "site-city-null" in on else site)

    @service.operation(f"PUT {_SITE}")
    def changed(asked: Asked) -> Answer:
        site, given = depot.get("site", asked), _given(_NEW_SITE, asked)
        if any(
            one["name"].lower() == given["name"].lower() for one in depot.things["site"].values() if one is not site
        ):
            raise Problem(409, "name already exists")
        if "site-many-docks" in on and given.get("docks", 0) > 500:
            return Answer({"detail": "overflow"}, 500)
        depot.things["site"][str(site["id"])] = {**given, "id": site["id"]}
        return Answer(depot.things["site"][str(site["id"])])

    @service.operation(f"DELETE {_SITE}")
    def removed(asked: Asked) -> Answer:
        site = depot.get("site", asked)
        if "site-stays" not in on:
            depot.remove("site", site)
        return Answer(status=204)


def _shelves(service: Service, depot: Depot) -> None:
    on = depot.on

    @service.operation(f"GET {_SHELVES}")
    def listed(asked: Asked) -> Answer:
        found = depot.below("shelf", "site", depot.get("site", asked))
        return Answer(found, media_type="text/plain" if "shelves-untyped" in on else "application/json")

    @service.operation(f"POST {_SHELVES}")
    def added(asked: Asked) -> Answer:
        site = depot.get("site", asked)
        given = {"height": 0, **_given(_NEW_SHELF, asked), "site": site["id"]}
        return Answer(depot.add("shelf", given, "code", "site"), 201)

    @service.operation(f"GET {_SHELF}")
    def shown(asked: Asked) -> Answer:
        shelf = depot.get("shelf", asked)
        return Answer({**shelf, "height": str(shelf["height"])} if "shelf-height-text" in on else shelf)

    @service.operation(f"PATCH {_SHELF}")
    def changed(asked: Asked) -> Answer:
        shelf, height = depot.get("shelf", asked), asked.json["height"]
        if "shelf-grows" in on and height > shelf["height"] + 100:
            return Answer({"detail": "too high"}, 500)
        shelf["height"] = height
        return Answer(shelf)

    @service.operation(f"DELETE {_SHELF}")
    def removed(asked: Asked) -> Answer:
        depot.remove("shelf", depot.get("shelf", asked))
        return Answer(status=202 if "shelf-accepted" in on else 204)


def _items(service: Service, depot: Depot) -> None:
    on = depot.on

    @service.operation(f"GET {_ITEMS}")
    def counted(asked: Asked) -> Answer:
        found = depot.below("item", "shelf", depot.get("shelf", asked))
        return Answer({} if "items-uncounted" in on and found else {"total": min(len(found), 1000)})

    @service.operation(f"POST {_ITEMS}")
    def added(asked: Asked) -> Answer:
        shelf, given = depot.get("shelf", asked), _given(_NEW_ITEM, asked)
        if "item-heavy" in on and given["quantity"] > 900:
            return Answer({"detail": "too heavy"}, 500)
        return Answer(depot.add("item", {**given, "shelf": shelf["id"]}), 201)

    @service.operation(f"GET {_ITEM}")
    def shown(asked: Asked) -> Answer:
        return Answer(depot.find("item", asked) if "item-open" in on else depot.get("item", asked))

    @service.operation(f"DELETE {_ITEM}")
    def removed(asked: Asked) -> Answer:
        item = depot.get("item", asked)
        if "item-of-two" in on and len(depot.below("item", "shelf", {"id": item["shelf"]})) > 1:
            return Answer({"detail": "ambiguous"}, 500)
        depot.remove("item", item)
        return Answer(status=204)


def _suppliers(service: Service, depot: Depot) -> None:
    on = depot.on

    @service.operation(f"POST {_SUPPLIERS}")
    def added(asked: Asked) -> Answer:
        depot.enter(asked)
        given = _given(_NEW_SUPPLIER, asked)
        if "supplier-rated" in on and given.get("rating", 0) > 5:
            return Answer({"detail": "five stars"}, 500)
        return Answer(depot.add("supplier", given, "email"), 201)

    @service.operation(f"GET {_SUPPLIER}")
    def shown(asked: Asked) -> Answer:
        depot.enter(asked)
        if "supplier-haunts" in on and asked.path["supplier_id"] in depot.removed:
            return Answer({"detail": "NoneType"}, 500)
        return Answer(depot.find("supplier", asked))

    @service.operation(f"PUT {_SUPPLIER}")
    def changed(asked: Asked) -> Answer:
        supplier, given = depot.get("supplier", asked), _given(_NEW_SUPPLIER, asked)
        others = (one for one in depot.things["supplier"].values() if one is not supplier)
        if any(one["email"].lower() == given["email"].lower() for one in others):
            raise Problem(409, "email already exists")
        supplier = depot.things["supplier"][supplier["id"]] = {**given, "id": supplier["id"]}
        hidden = {key: value for key, value in supplier.items() if key != "name"}
        return Answer(hidden if "supplier-nameless" in on else supplier)

    @service.operation(f"DELETE {_SUPPLIER}")
    def removed(asked: Asked) -> Answer:
        depot.remove("supplier", depot.get("supplier", asked))
        return Answer(status=204)


def _orders(service: Service, depot: Depot) -> None:
    on = depot.on

    @service.operation(f"POST {_ORDERS}", lenient=maybe("order-unchecked" in on, "body quantity"))
    def added(asked: Asked) -> Answer:
        depot.enter(asked)
        given = asked.json
        if given["supplier_id"] not in depot.things["supplier"] or str(given["site_id"]) not in depot.things["site"]:
            raise Problem(404, "no such supplier or site")
        quantity = given.get("quantity", 0)
        is_number = type(quantity) is int and 0 <= quantity <= 1000
        if "order-large" in on and is_number and quantity > 400:
            return Answer({"detail": "out of stock"}, 500)
        shown = {"supplier_id": given["supplier_id"], "quantity": quantity if is_number else 0, "state": "open"}
        return Answer(depot.add("order", shown), 201)

    @service.operation(f"GET {_ORDER}")
    def shown(asked: Asked) -> Answer:
        return Answer(depot.get("order", asked))

    @service.operation(f"POST {_ORDER}/ship")
    def shipped(asked: Asked) -> Answer:
        order = depot.get("order", asked)
        if order["state"] != "open":
            if "order-shipped-twice" in on and order["state"] == "shipped":
                return Answer({"detail": "shipped"}, 500)
            raise Problem(409, "the order is not open")
        order["state"] = "shipped"
        return Answer(order)

    @service.operation(f"POST {_ORDER}/cancel")
    def cancelled(asked: Asked) -> Answer:
        order = depot.get("order", asked)
        if order["state"] != "open":
            raise Problem(409, "the order is not open")
        order["state"] = "cancelled"
        return Answer({**order, "state": "canceled"} if "order-canceled" in on else order)


def _given(schema: dict[str, Any], asked: Asked) -> dict[str, Any]:
    return {name: value for name, value in asked.json.items() if name in schema["properties"]}


def _log_in(url: str) -> dict[str, str]:
    body = json.dumps({"user": USER, "password": PASSWORD}).encode()
    asked = urllib.request.Request(f"{url}/token", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked) as answer:
        token = json.load(answer)["access_token"]
    return {"CHECKER_AUTHORIZATION": f"Bearer {token}", "CHECKER_TOKEN_BEARER": token}


def depot() -> Restartable:
    """The depot with all its defects."""
    return Restartable(DOCUMENT, CONFIG, DEFECTS, build, _log_in)


if __name__ == "__main__":
    port = int(sys.argv[sys.argv.index("--port") + 1]) if "--port" in sys.argv else 8080
    run_simple("127.0.0.1", port, flask_app(build(frozenset() if "--fixed" in sys.argv else ALL)), threaded=True)
