"""Services whose only defect lies behind a value of another response, each in one way of connecting the two."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import unquote

from tests.apps.http import Reply, Request
from tests.apps.serving import Answer, json_reply

Json = dict[str, Any]
TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer"}
UUID: Json = {"type": "string", "format": "uuid"}
URL: Json = {"type": "string", "format": "uri"}
MISSING = {"404": {"description": "not found"}}
BROKEN = Reply(500, "application/json", b'{"message": "broken"}')
NOT_FOUND = json_reply({}, 404)


@dataclass(frozen=True)
class Reusing:
    """One service."""

    name: str
    paths: Json
    answer: Callable[[], Callable[[str, list[str], Any], Reply]]
    """Makes the handler of a fresh server: (method, segments of the path, JSON of the body) -> response."""
    label: str
    check: str = "not_a_server_error"

    @property
    def document(self) -> Json:
        """Its description."""
        return {"openapi": "3.0.3", "info": {"title": self.name, "version": "1"}, "paths": self.paths}

    def fresh(self) -> Answer:
        """Return the answers of a server without state."""
        handler = self.answer()

        def respond(request: Request) -> Reply:
            path = request.target.decode("latin-1").partition("?")[0]
            try:
                value = json.loads(request.body)
            except ValueError:
                value = None
            segments = [unquote(one) for one in path.strip("/").split("/")]
            if request.method.lower() not in self._methods(path):
                return Reply(405, headers=(("Allow", ", ".join(self._methods(path)).upper()),))
            return handler(request.method, segments, value)

        return respond

    def _methods(self, path: str) -> Mapping[str, Any]:
        parts = path.strip("/").split("/")
        for template, methods in self.paths.items():
            names = template.strip("/").split("/")
            pairs = zip(names, parts, strict=False)
            if len(names) == len(parts) and all(one == other or one[0] == "{" for one, other in pairs):
                found: Json = methods
                return found
        return {}


def thing(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def ok(schema: Json | None = None, status: str = "200", **more: Any) -> Json:
    content = {} if schema is None else {"content": {"application/json": {"schema": schema}}}
    return {status: {"description": "done", **content, **more}}


def body(schema: Json, **more: Any) -> Json:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, **more}}}}


def path(*names: str, schema: Json = TEXT) -> Json:
    return {"parameters": [{"name": name, "in": "path", "required": True, "schema": schema} for name in names]}


def of(value: Any, name: str) -> Any:
    """Return a property of a value that may be anything."""
    return value.get(name) if isinstance(value, dict) else None


SHIP = thing(id=TEXT, mast=TEXT)
FLEET: Json = {"type": "array", "items": SHIP}


def ships(shown: Callable[[list[Json]], Any]) -> Callable[[], Callable[..., Reply]]:
    """A list whose last member cannot be read."""
    rows: list[Json] = [{"id": f"ship-{number}", "mast": "tall"} for number in (1, 2, 3)]

    def handler(method: str, at: list[str], value: Any) -> Reply:
        if len(at) == 1:
            return json_reply(shown(rows))
        if at[1] == rows[-1]["id"]:
            return BROKEN
        return next((json_reply(row) for row in rows if row["id"] == at[1]), NOT_FOUND)

    return lambda: handler


def of_ships(answer: Json) -> Json:
    one = path("shipId") | {"responses": ok(SHIP) | MISSING}
    return {"/ships": {"get": {"responses": ok(answer)}}, "/ships/{shipId}": {"get": one}}


def lines() -> Callable[..., Reply]:
    """Members of another resource's list."""
    orders = [[f"line-{10 * order + number}" for number in (1, 2)] for order in (1, 2)]

    def handler(method: str, at: list[str], value: Any) -> Reply:
        if at == ["orders"]:
            shown = [
                {"id": f"order-{i}", "lines": [{"id": one, "text": "t"} for one in some]}
                for i, some in enumerate(orders)
            ]
            return json_reply({"data": shown})
        if at[1] == orders[-1][-1]:
            return BROKEN
        return json_reply({"id": at[1], "text": "t"}) if at[1] in orders[0] + orders[1] else NOT_FOUND

    return handler


def boxes() -> Callable[..., Reply]:
    """Resources that clients name, two levels deep."""
    shelves: set[str] = set()
    made: set[tuple[str, str]] = set()

    def handler(method: str, at: list[str], value: Any) -> Reply:
        if len(at) == 2:
            if at[1] in shelves:
                return Reply(409)
            shelves.add(at[1])
            return Reply(201)
        if at[1] not in shelves:
            return NOT_FOUND
        if len(at) == 4:
            made.add((at[1], at[3]))
            return Reply(201)
        return BROKEN if (at[1], at[3]) in made else NOT_FOUND

    return handler


def places() -> Callable[..., Reply]:
    """An optional property, below an object, that names a resource of another part of the API."""
    known, numbers = (1011, 2022, 3033), count()

    def handler(method: str, at: list[str], value: Any) -> Reply:
        if at == ["x", "places"]:
            return json_reply({"id": known[next(numbers) % len(known)]}, 201)
        return BROKEN if of(of(value, "address"), "place_id") in known else Reply(201)

    return handler


def firms() -> Callable[..., Reply]:
    """A link into a body: the response to it lacks a property."""
    known: set[str] = set()

    def handler(method: str, at: list[str], value: Any) -> Reply:
        if at == ["firms"]:
            known.add(name := f"firm-{7919 * (len(known) + 1)}")
            return json_reply({"id": name, "name": str(of(value, "name"))}, 201)
        firm = of(value, "firm_id")
        if not isinstance(firm, str) or firm not in known:
            return NOT_FOUND
        return json_reply({"id": "1", "firm_id": firm}, 201)

    return handler


def visits() -> Callable[..., Reply]:
    """A property of the same name in another body, which has an example."""
    known: set[str] = set()

    def handler(method: str, at: list[str], value: Any) -> Reply:
        visit = of(value, "visitId")
        if not isinstance(visit, str):
            return Reply(400)
        if at == ["visits"]:
            known.add(visit)
            return json_reply({"visitId": visit}, 201)
        return BROKEN if visit in known else NOT_FOUND

    return handler


def calls() -> Callable[..., Reply]:
    """A URL that another operation shows."""
    url = "https://hooks.partner.example/in/7f3a"

    def handler(method: str, at: list[str], value: Any) -> Reply:
        if at == ["partners"]:
            return json_reply({"url": url})
        return BROKEN if of(value, "callback_url") == url else json_reply({})

    return handler


def goods() -> Callable[..., Reply]:
    """A name that a PUT made: what it shows breaks its schema."""
    known: set[str] = set()

    def handler(method: str, at: list[str], value: Any) -> Reply:
        if method == "PUT":
            known.add(at[1])
            return Reply(201)
        return json_reply({"name": None}) if at[1] in known else NOT_FOUND

    return handler


LINK = {"job": {"operationId": "hire", "parameters": {"firm_id": "$response.body#/id"}}}
EXAMPLE = {"one": {"value": {"visitId": "3f0c2d1e-5b6a-4c7d-8e9f-0a1b2c3d4e5f"}}}
JOB = thing(id=TEXT, firm_id=TEXT, title=TEXT)
MADE = {"responses": ok(status="201") | {"409": {"description": "exists"}} | MISSING}
SERVICES = (
    Reusing("list", of_ships(FLEET), ships(lambda rows: rows), "GET /ships/{shipId}"),
    Reusing("envelope", of_ships(thing(data=FLEET)), ships(lambda rows: {"data": rows}), "GET /ships/{shipId}"),
    Reusing(
        "nested list",
        {
            "/orders": {
                "get": {
                    "responses": ok(
                        thing(
                            data={
                                "type": "array",
                                "items": thing(id=TEXT, lines={"type": "array", "items": thing(id=TEXT, text=TEXT)}),
                            }
                        )
                    )
                }
            },
            "/lines/{lineId}": {"get": path("lineId") | {"responses": ok(thing(id=TEXT, text=TEXT)) | MISSING}},
        },
        lines,
        "GET /lines/{lineId}",
    ),
    Reusing(
        "named by the client",
        {
            "/shelves/{shelfName}": {"post": path("shelfName", schema=UUID) | MADE},
            "/shelves/{shelfName}/boxes/{boxName}": {"post": path("shelfName", "boxName", schema=UUID) | MADE},
            "/shelves/{shelfName}/boxes/{boxName}/seal": {
                "post": path("shelfName", "boxName", schema=UUID) | {"responses": ok() | MISSING}
            },
        },
        boxes,
        "POST /shelves/{shelfName}/boxes/{boxName}/seal",
    ),
    Reusing(
        "optional and nested",
        {
            "/x/places": {"post": {"responses": ok(thing(id=WHOLE), "201")}},
            "/y/teams": {
                "post": body(
                    {
                        "type": "object",
                        "properties": {
                            "name": TEXT,
                            "address": {"type": "object", "properties": {"place_id": WHOLE, "note": TEXT}},
                        },
                        "required": ["address"],
                    }
                )
                | {"responses": ok(status="201")}
            },
        },
        places,
        "POST /y/teams",
    ),
    Reusing(
        "link into a body",
        {
            "/firms": {
                "post": body(thing(name=TEXT)) | {"responses": ok(thing(id=TEXT, name=TEXT), "201", links=LINK)}
            },
            "/jobs": {
                "post": {"operationId": "hire"}
                | body(thing(firm_id=TEXT, title=TEXT))
                | {"responses": ok(JOB, "201") | MISSING}
            },
        },
        firms,
        "POST /jobs",
        "response_schema_conformance",
    ),
    Reusing(
        "same name as an example",
        {
            "/visits": {
                "post": body(thing(visitId=UUID), examples=EXAMPLE) | {"responses": ok(thing(visitId=UUID), "201")}
            },
            "/notes/add": {"post": body(thing(visitId=UUID)) | {"responses": ok() | MISSING}},
        },
        visits,
        "POST /notes/add",
    ),
    Reusing(
        "URL",
        {
            "/partners": {"get": {"responses": ok(thing(url=URL))}},
            "/calls": {"post": body(thing(callback_url=URL)) | {"responses": ok()}},
        },
        calls,
        "POST /calls",
    ),
    Reusing(
        "name of a PUT",
        {
            "/goods/{goodName}": {
                "put": path("goodName") | {"responses": ok(status="201")},
                "get": path("goodName") | {"responses": ok(thing(name=TEXT)) | MISSING},
            }
        },
        goods,
        "GET /goods/{goodName}",
        "response_schema_conformance",
    ),
)
