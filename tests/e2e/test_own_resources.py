"""A failure reproduces with its own requests on a fresh server, however the resources that it names came to be."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from checker.reporting.findings import marks_of
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

CHECKS = "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true\n"
OPEN = {"default": {"description": ""}}


def _parameter(kind: str) -> dict[str, Any]:
    return {"name": "id", "in": "path", "required": True, "schema": {"type": kind}}


def _response(schema: dict[str, Any]) -> dict[str, Any]:
    return {"default": {"description": "", "content": {"application/json": {"schema": schema}}}}


NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}}
BODY = {"required": True, "content": {"application/json": {"schema": NAMED}}}


class Things:
    """Things, whose sizes are a server error. `created` returns the name of a new one, and what its response states; None refuses."""

    def __init__(self, created: Callable[[Request, set[str]], tuple[str, Any] | None], *there: str) -> None:
        self.created = created
        self.there = set(there)

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        if path.endswith("/size"):
            is_there = path.removeprefix("/things/").removesuffix("/size") in self.there
            return json_reply({}, 500 if is_there else 404)
        if request.method == "GET" and path == "/things":
            return json_reply([{"id": name} for name in sorted(self.there)])
        made = self.created(request, self.there)
        if made is None:
            return json_reply({}, 409)
        self.there.add(made[0])
        return json_reply(made[1], 201)


def _nothing(request: Request, there: set[str]) -> None:
    """The things are those of the start."""


def _counted(request: Request, there: set[str]) -> tuple[str, Any]:
    return str(len(there) + 1), {"data": {"number": len(there) + 1}}


def _drawn(request: Request, there: set[str]) -> tuple[str, Any]:
    name = f"{len(there):08d}-thing"
    return name, {"id": name}


def _unique(request: Request, there: set[str]) -> tuple[str, Any] | None:
    try:
        name = json.loads(request.body)["name"]
    except (ValueError, TypeError, KeyError):
        return None
    return (name, {}) if isinstance(name, str) and name and name not in there else None


def _put(request: Request, there: set[str]) -> tuple[str, Any]:
    return request.target.decode().removeprefix("/things/"), {}


LIST = {"/things": {"get": {"responses": _response({"type": "array", "items": {"properties": {"id": {}}}})}}}
POST = {"/things": {"post": {"responses": OPEN}}}
TABLE: dict[str, tuple[dict[str, Any], str, Callable[[], Things]]] = {
    "fixed": (LIST, "string", lambda: Things(_nothing, "north", "south")),
    "post": (POST, "string", lambda: Things(_drawn)),
    "put": ({"/things/{id}": {"put": {"parameters": [_parameter("string")], "responses": OPEN}}}, "string", lambda: Things(_put)),
    "unique": ({"/things": {"post": {"requestBody": BODY, "responses": OPEN}}}, "string", lambda: Things(_unique)),
    "counter": (POST, "integer", lambda: Things(_counted)),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_a_failure_of_a_resource_needs_nothing_of_the_run(command: Command, name: str) -> None:
    creation, kind, things = TABLE[name]
    size = {"/things/{id}/size": {"get": {"parameters": [_parameter(kind)], "responses": OPEN}}}
    document = {"openapi": "3.0.3", "info": {"title": "Things", "version": "1"}, "paths": {**creation, **size}}
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(things(), document) as app:
        ran = command.run_as_usual(app.document_url, inline=True)
        port = int(app.url.rpartition(":")[2])
    (found,) = ran.findings
    assert found.investigation.reproduced is True, ran.shown
    assert set(marks_of(found)) <= {"needs its sequence"}, ran.shown
    with serving(things(), document, port=port):
        again = command.here("replay", "all")
    assert "FIXED" not in again.stdout, again.shown
    assert again.code == 1, again.shown


def test_a_name_that_is_taken_is_no_matter_of_new_resources(command: Command) -> None:
    """Names of rooms are unique over all houses: the conflict needs the request that took the name."""
    rooms: set[object] = set()
    houses: set[str] = set()

    def answer(request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        if path == "/houses":
            houses.add(f"house-{len(houses):08d}")
            return json_reply({"id": max(houses)}, 201)
        try:
            name = json.loads(request.body)["name"]
        except (ValueError, TypeError, KeyError):
            return json_reply({}, 400)
        if not isinstance(name, str) or not name:
            return json_reply({}, 400)
        is_taken = name in rooms
        rooms.add(name)
        return json_reply({}, 409 if is_taken else 201)

    made = {status: {"description": ""} for status in ("201", "400")}
    house = {"id": {"type": "string"}}
    paths = {
        "/houses": {"post": {"responses": _response({"type": "object", "properties": house})}},
        "/houses/{id}/rooms": {"post": {"parameters": [_parameter("string")], "requestBody": BODY, "responses": made}},
    }
    document = {"openapi": "3.0.3", "info": {"title": "Houses", "version": "1"}, "paths": paths}
    checks = CHECKS.replace("not_a_server_error", "status_code_conformance")
    (command.directory / "checker.toml").write_text(checks)
    with serving(answer, document) as app:
        ran = command.run_as_usual(app.document_url, inline=True)
    (found,) = ran.findings
    status = found.interactions[-1].exchange.status
    creations = [str(step.label) for step in found.steps[:-1]].count("POST /houses/{id}/rooms")
    assert status == 409, ran.shown
    assert creations or marks_of(found), ran.shown


class Versions:
    """Things with a version of this server. A change of the current version is a server error."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.there: dict[str, str] = {}

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        if request.method == "POST":
            name = f"{len(self.there):08d}-thing"
            self.there[f"/things/{name}"] = f'"{self.start + len(self.there)}"'
            etag = ("ETag", self.there[f"/things/{name}"])
            return Reply(201, "application/json", json.dumps({"id": name}).encode(), headers=(etag,))
        if path not in self.there:
            return json_reply({}, 404)
        return json_reply({}, 500 if request.headers.get("if-match") == self.there[path] else 412)


def test_a_version_of_an_earlier_response_is_taken_anew(command: Command) -> None:
    version = {"name": "If-Match", "in": "header", "required": True, "schema": {"type": "string"}}
    headers = {"headers": {"ETag": {"schema": {"type": "string"}}}}
    created = {"201": {**_response({"properties": {"id": {}}})["default"], **headers}}
    responses = {status: {"description": ""} for status in ("404", "412")}
    paths = {
        "/things": {"post": {"responses": created}},
        "/things/{id}": {"put": {"parameters": [_parameter("string"), version], "responses": responses}},
    }
    document = {"openapi": "3.0.3", "info": {"title": "Versions", "version": "1"}, "paths": paths}
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(Versions(5_000), document) as app:
        ran = command.run_as_usual(app.document_url, "--report", "sh,pytest", inline=True)
        port = int(app.url.rpartition(":")[2])
    (found,) = ran.findings
    assert '-H "If-Match: $etag_1"' in ran.stdout, ran.shown
    assert found.investigation.reproduced is True
    with serving(Versions(9_000), document, port=port):
        again = command.here("replay", "all")
        reports = command.directory / "checker-report"
        (script,) = reports.glob("*.sh")
        ran_again = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=False)
        (tests,) = reports.glob("*.py")
        checked = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)],
            capture_output=True,
            text=True,
            check=False,
        )
    assert "FAILED" in again.stdout, again.shown
    assert ran_again.returncode == 1, ran_again.stdout + ran_again.stderr
    assert "1 passed" in checked.stdout, checked.stdout


class Repositories:
    """Issues of repositories, which clients name, of organisations. The sizes of issues are a server error."""

    def __init__(self) -> None:
        self.there: dict[str, int] = {}

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        above, _, last = path.rpartition("/")
        if path == "/orgs":
            name = f"{len(self.there):08d}-org"
            self.there[f"/orgs/{name}"] = 0
            return json_reply({"id": name}, 201)
        if last == "size":
            return json_reply({}, 500 if above in self.there else 404)
        if request.method == "PUT" and above.removesuffix("/repos") in self.there:
            if request.body not in (b'{"private":false}', b'{"private":true}'):
                return json_reply({}, 400)
            self.there.setdefault(path, 0)
            return json_reply({}, 201)
        if last == "issues" and above in self.there:
            self.there[above] += 1
            self.there[f"{path}/{self.there[above]}"] = 0
            return json_reply({"number": self.there[above]}, 201)
        return json_reply({}, 404)


def test_a_name_between_two_names_of_earlier_responses_is_made_anew(command: Command) -> None:
    org, repo, number = (
        {"name": name, "in": "path", "required": True, "schema": {"type": kind}}
        for name, kind in (("org", "string"), ("repo", "string"), ("number", "integer"))
    )
    fields = {"private": {"type": "boolean"}}
    schema = {"type": "object", "required": ["private"], "properties": fields, "additionalProperties": False}
    # Its only case is the smallest one, and a phase may draw a wrong one in its place.
    private = {"required": True, "content": {"application/json": {"schema": schema}}}
    issues = "/orgs/{org}/repos/{repo}/issues"
    paths = {
        "/orgs": {"post": {"responses": _response({"properties": {"id": {"type": "string"}}})}},
        "/orgs/{org}/repos/{repo}": {"put": {"parameters": [org, repo], "requestBody": private, "responses": OPEN}},
        issues: {"post": {"parameters": [org, repo], "responses": _response({"properties": {"number": {}}})}},
        f"{issues}/{{number}}/size": {"get": {"parameters": [org, repo, number], "responses": OPEN}},
    }
    document = {"openapi": "3.0.3", "info": {"title": "Repositories", "version": "1"}, "paths": paths}
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(Repositories(), document) as app:
        ran = command.run_as_usual(app.document_url, inline=True)
        port = int(app.url.rpartition(":")[2])
    (found,) = ran.findings
    assert marks_of(found) == ("needs its sequence",), ran.shown
    with serving(Repositories(), document, port=port):
        again = command.here("replay", "all")
    assert "FAILED" in again.stdout, again.shown
