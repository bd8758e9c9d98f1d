"""A service of four collections that accepts exactly the valid requests, and one habit of real services that is switched on."""

import json
from collections.abc import Iterator
from itertools import count, islice
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, unquote

from jsonschema import Draft202012Validator

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

COLLECTIONS = ("bookings", "guests", "invoices", "rooms")
HABITS = (
    "refuses_unknown_tenants",
    "orders_dates",
    "has_private_ids",
    "answers_later",
    "links_only",
    "repeats_ids_in_bodies",
    "excludes_parameters",
)
ITEM = {
    "type": "object",
    "required": ["name", "startsOn", "endsOn"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "startsOn": {"type": "string", "format": "date"},
        "endsOn": {"type": "string", "format": "date"},
        "count": {"type": "integer", "minimum": 0, "maximum": 9},
    },
    "additionalProperties": False,
}
_TENANT = {"name": "X-Tenant", "in": "header", "schema": {"type": "string"}}
_PAGE = [
    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 50}},
    {"name": "after", "in": "query", "schema": {"type": "string", "format": "date"}},
    {"name": "before", "in": "query", "schema": {"type": "string", "format": "date"}},
]
_REFUSED = {status: {"description": "no"} for status in ("400", "404", "405", "409", "415", "422")}


def _content(schema: dict[str, Any], media_type: str) -> dict[str, Any]:
    return {"content": {media_type: {"schema": schema}}}


class Habitual:
    """The service with one habit, or with none; `served` holds the operations with a 2xx response."""

    def __init__(self, habit: str = "") -> None:
        assert habit in ("", *HABITS)
        self.habit = habit
        self.served: set[str] = set()
        self.valid = self.refused = 0
        self._stored: dict[str, dict[str, Any]] = {name: {} for name in COLLECTIONS}
        self._jobs: dict[str, list[str]] = {}
        self._numbers = count(1)
        self._lock = Lock()

    def document(self) -> dict[str, Any]:
        """The description, which does not speak of the habit."""
        paths: dict[str, Any] = {}
        shared = [_TENANT] if self.habit == "refuses_unknown_tenants" else []
        for name in COLLECTIONS:
            identifier = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
            body = {"requestBody": {"required": True, **_content(self._body(name), self._media_type)}}
            answers = {"200": {"description": "", **_content({"type": "object"}, self._media_type)}, **_REFUSED}
            made = {("202" if self.habit == "answers_later" else "201"): answers["200"], **_REFUSED}
            paths[f"/{name}"] = {
                "get": {"parameters": [*shared, *_PAGE], "responses": answers},
                "post": {"parameters": shared, **body, "responses": made},
            }
            paths[f"/{name}/{{id}}"] = {
                "get": {"parameters": [*shared, identifier], "responses": answers},
                "patch": {"parameters": [*shared, identifier], **body, "responses": answers},
                "delete": {"parameters": [*shared, identifier], "responses": {"204": {"description": ""}, **_REFUSED}},
            }
        if self.habit == "answers_later":
            job = {"name": "job", "in": "path", "required": True, "schema": {"type": "string"}}
            answers = {"200": {"description": ""}, "303": {"description": "done"}, **_REFUSED}
            paths["/jobs/{job}"] = {"get": {"parameters": [job], "responses": answers}}
        return {"openapi": "3.0.3", "info": {"title": "Habits", "version": "1"}, "paths": paths}

    def operations(self) -> set[str]:
        """Labels of all operations."""
        return {f"{method.upper()} {path}" for path, item in self.document()["paths"].items() for method in item}

    def __call__(self, request: Request) -> Reply:
        path, _, query = request.target.decode().partition("?")
        name, *rest = unquote(path).strip("/").split("/")
        with self._lock:
            if self.habit == "answers_later" and name == "jobs" and len(rest) == 1:
                return self._kept(request, f"{request.method} /jobs/{{job}}", self._job(request.method, rest[0]))
            if name not in COLLECTIONS or len(rest) > 1:
                return json_reply({"detail": "not found"}, 404)
            label = f"{request.method} /{name}" + ("/{id}" if rest else "")
            if label not in self.operations():
                return Reply(405, headers=(("Allow", "GET, PATCH, DELETE" if rest else "GET, POST"),))
            return self._kept(request, label, self._answered(request, name, rest, query))

    def _kept(self, request: Request, label: str, reply: Reply) -> Reply:
        if 200 <= reply.status < 300:
            self.served.add(label)
        return reply

    def _answered(self, request: Request, name: str, rest: list[str], query: str) -> Reply:
        for problem in self._problems(request, name, rest, query):
            return problem
        stored = self._stored[name]
        if not rest and request.method == "GET":
            limit = parse_qs(query).get("limit", ["50"])[0]
            return self._reply({"items": [self._shown(name, one) for one in islice(stored, int(limit))]})
        if not rest:
            identifier = self._identifier(name)
            stored[identifier] = json.loads(request.body)
            if self.habit != "answers_later":
                return self._reply(self._shown(name, identifier), 201)
            self._jobs[job := f"job-{next(self._numbers)}"] = [f"/{name}/{identifier}"] * 2
            return Reply(202, "application/json", b"{}", headers=(("Location", f"/jobs/{job}"),))
        if request.method == "DELETE":
            del stored[rest[0]]
            return Reply(204)
        return self._reply(self._shown(name, rest[0]))

    def _problems(self, request: Request, name: str, rest: list[str], query: str) -> Iterator[Reply]:
        if self.habit == "refuses_unknown_tenants" and request.headers.get("x-tenant", "main") != "main":
            yield json_reply({"detail": "Unknown tenant in header X-Tenant"}, 400)
        given = parse_qs(query, keep_blank_values=True)
        for parameter in _PAGE if not rest and request.method == "GET" else ():
            schema: dict[str, Any] = parameter["schema"]  # type: ignore[assignment]
            for text in given.get(str(parameter["name"]), []):
                value = int(text) if schema["type"] == "integer" and text.isdecimal() else text
                if list(
                    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).iter_errors(value)
                ):
                    yield json_reply({"detail": f"{parameter['name']} is wrong"}, 422)
        if self.habit == "excludes_parameters" and {"after", "before"} <= given.keys():
            yield json_reply({"detail": "Only one of after, before may be given"}, 400)
        if rest and rest[0] not in self._stored[name]:
            yield json_reply({"detail": "not found"}, 404)
        if request.method in ("POST", "PATCH"):
            yield from self._problems_of_body(request, name, rest)

    def _problems_of_body(self, request: Request, name: str, rest: list[str]) -> Iterator[Reply]:
        if request.headers.get("content-type", "").partition(";")[0] != self._media_type:
            yield json_reply({"detail": "unsupported media type"}, 415)
            return
        try:
            body = json.loads(request.body)
        except ValueError:
            yield json_reply({"detail": "no JSON"}, 400)
            return
        errors = Draft202012Validator(self._body(name), format_checker=Draft202012Validator.FORMAT_CHECKER).iter_errors(
            body
        )
        for error in errors:
            yield json_reply({"detail": error.message[:200]}, 422)
            return
        item = body["data"]["attributes"] if self.habit == "repeats_ids_in_bodies" else body
        if self.habit == "orders_dates" and item["endsOn"] < item["startsOn"]:
            yield json_reply({"detail": "endsOn must not be before startsOn"}, 422)
        if self.habit == "repeats_ids_in_bodies" and rest and body["data"].get("id") != rest[0]:
            yield json_reply({"errors": [{"detail": "data.id must equal the id of the path"}]}, 409)

    def _job(self, method: str, job: str) -> Reply:
        if method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        if job not in self._jobs:
            return json_reply({"detail": "not found"}, 404)
        place = self._jobs[job].pop()
        if self._jobs[job]:
            return json_reply({"state": "running"})
        self._jobs[job].append(place)
        return Reply(303, headers=(("Location", place),))

    @property
    def _media_type(self) -> str:
        return "application/vnd.api+json" if self.habit == "repeats_ids_in_bodies" else "application/json"

    def _body(self, name: str) -> dict[str, Any]:
        if self.habit != "repeats_ids_in_bodies":
            return ITEM
        data = {"type": {"type": "string", "enum": [name]}, "id": {"type": "string"}, "attributes": ITEM}
        resource = {
            "type": "object",
            "required": ["type", "attributes"],
            "properties": data,
            "additionalProperties": False,
        }
        return {"type": "object", "required": ["data"], "properties": {"data": resource}, "additionalProperties": False}

    def _identifier(self, name: str) -> str:
        number = next(self._numbers)
        return f"urn:inn:{name}:{number:04x}" if self.habit == "has_private_ids" else f"{number * 7919:06x}"

    def _shown(self, name: str, identifier: str) -> dict[str, Any]:
        if self.habit == "links_only":
            return {"_links": {"self": {"href": f"/{name}/{identifier}"}}, "name": "x"}
        if self.habit == "repeats_ids_in_bodies":
            return {
                "data": {
                    "type": name,
                    "id": identifier,
                    "attributes": self._stored[name][identifier]["data"]["attributes"],
                }
            }
        return {"id": identifier, **self._stored[name][identifier]}

    def _reply(self, value: Any, status: int = 200) -> Reply:
        return Reply(status, self._media_type, json.dumps(value).encode())
