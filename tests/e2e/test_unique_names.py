"""Failures of services that take each name once: the name is drawn anew when a failure is looked into."""

import json
import re
from threading import Lock
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.apps.unique import DOCUMENT, Labels
from tests.e2e.runner import Command

SOON = "[checks.ensure_resource_availability]\nsecond-look = 0.01\n"


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_resource_that_is_not_there_after_its_creation_is_found_where_names_are_unique(
    command: Command, seed: int
) -> None:
    (command.directory / "checker.toml").write_text(SOON)
    labels = Labels(loses=True)
    with serving(labels, DOCUMENT) as app:
        given = ("--checks", "ensure_resource_availability")
        ran = command.run_as_usual(app.document_url, *given, seed=seed, inline=True)
    (finding,) = [one for one in ran.findings if not one.investigation.withdrawn]
    assert finding.check == "ensure_resource_availability"
    assert finding.investigation.reproduced is True, ran.shown
    create, read = finding.interactions
    assert create.exchange is not None
    assert read.exchange is not None
    assert (create.exchange.status, read.exchange.status) == (201, 404)


@pytest.mark.thorough
def test_a_resource_that_is_shown_late_is_no_failure_and_is_counted(command: Command) -> None:
    (command.directory / "checker.toml").write_text(SOON)
    with serving(Labels(is_late=True), DOCUMENT) as app:
        given = ("--checks", "ensure_resource_availability")
        ran = command.run_as_usual(app.document_url, *given, inline=True)
    assert not [one for one in ran.findings if not one.investigation.withdrawn], ran.shown
    assert "did not show again after 0.01 s" in ran.stdout


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("phase", ["examples", "coverage", "fuzzing"])
def test_a_wrong_response_to_a_creation_reproduces_where_names_are_unique(command: Command, phase: str) -> None:
    with serving(Labels(lies=True), DOCUMENT) as app:
        given = ("--checks", "response_schema_conformance", "--phases", phase)
        ran = command.run_as_usual(app.document_url, *given, inline=True)
    for finding in ran.findings:
        assert finding.investigation.reproduced is True, ran.shown
        assert finding.investigation.hits == finding.investigation.tries, ran.shown
    assert ran.findings, ran.shown


@pytest.mark.thorough
def test_a_service_without_defects_stays_clean_where_names_are_unique(command: Command) -> None:
    with serving(Labels(), DOCUMENT) as app:
        ran = command.run_as_usual(app.document_url, inline=True)
    assert ran.defects == [], ran.shown


def _described(paths: dict[str, Any]) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "Once", "version": "1"}, "paths": paths}


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": "", "content": {"application/json": {"schema": schema}}}


_REFUSED = {status: _content({"type": "object"}) for status in ("400", "401", "404", "405", "409")}
_SIZE = _content({"type": "object", "properties": {"size": {"type": "integer"}}})
_FILE = {"name": "name", "in": "path", "required": True, "schema": {"type": "string", "enum": ["a", "b"]}}
_FILES = _described({"/files/{name}": {"put": {"parameters": [_FILE], "responses": {"201": _SIZE, **_REFUSED}}}})
_NUMBER = {"type": "object", "required": ["number"], "properties": {"number": {"type": "integer", "minimum": 1}}}
_ROOMS = _described(
    {"/rooms": {"post": {"requestBody": {"required": True, **_content(_NUMBER)}, "responses": {"201": _SIZE, **_REFUSED}}}}
)  # fmt: skip


class Once:
    """Takes each name once. The response to its creation has a wrong type."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self._lock = Lock()

    def __call__(self, request: Request) -> Reply:
        name = _name_in(request)
        if name is None:
            return json_reply({}, 400)
        with self._lock:
            if name in self.taken:
                return json_reply({}, 409)
            self.taken.add(name)
        return json_reply({"size": None}, 201)


def _name_in(request: Request) -> str | None:
    path = request.target.decode().partition("?")[0]
    if request.method == "PUT":
        return path if path in ("/files/a", "/files/b") else None
    try:
        body = json.loads(request.body) if request.method == "POST" else None
    except ValueError:
        return None
    number = body.get("number") if isinstance(body, dict) else None
    return str(number) if type(number) is int and number > 0 else None


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("document", "phase"), [(_FILES, "coverage"), (_ROOMS, "coverage"), (_ROOMS, "fuzzing")])
def test_a_defect_of_each_creation_is_confirmed_with_a_new_resource(
    command: Command, document: dict[str, Any], phase: str
) -> None:
    with serving(Once(), document) as app:
        given = ("--checks", "response_schema_conformance", "--phases", phase)
        ran = command.run_as_usual(app.document_url, *given, inline=True)
    (finding,) = ran.findings
    assert finding.investigation.reproduced is True, ran.shown
    assert "intermittent" not in ran.stdout


_TAG = {
    "type": "object",
    "required": ["type", "value"],
    "properties": {
        "type": {"type": "string", "example": "simple"},
        "value": {"type": "string", "example": "a-tag-value"},
    },
}
_TAGS = _described(
    {"/tags": {"post": {"requestBody": {"required": True, **_content(_TAG)}, "responses": {"201": _SIZE, **_REFUSED}}}}
) | {
    "security": [{"k": []}],
    "components": {"securitySchemes": {"k": {"type": "http", "scheme": "bearer"}}},
}  # fmt: skip


class Tags:
    """Requires no credentials. The type of a tag has to exist, its value must be new."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self._lock = Lock()

    def __call__(self, request: Request) -> Reply:
        try:
            tag = json.loads(request.body)
        except ValueError:
            return json_reply({}, 400)
        if not isinstance(tag, dict) or not all(isinstance(tag.get(name), str) for name in ("type", "value")):
            return json_reply({}, 400)
        if tag["type"] != "simple":
            return json_reply({"message": "violates foreign key constraint"}, 500)
        with self._lock:
            if tag["value"] in self.taken:
                return json_reply({}, 409)
            self.taken.add(tag["value"])
        return json_reply({"size": 1}, 201)


def test_missing_credentials_are_confirmed_with_a_new_resource_that_keeps_its_references(command: Command) -> None:
    with serving(Tags(), _TAGS) as app:
        ran = command.run_as_usual(
            app.document_url, "--checks", "ignored_auth", "-H", "Authorization: Bearer x", inline=True
        )
    (finding,) = ran.findings
    assert finding.title == "API accepts requests without authentication", ran.shown
    assert finding.investigation.reproduced is True, ran.shown
    assert '"type":"simple"' in finding.investigation.reproduction


_NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "pattern": "^[a-z]{4,9}$"}}}
_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
_KEYS = {"security": _TAGS["security"], "components": _TAGS["components"]}
_SHELVES = _KEYS | _described(
    {
        "/shelves": {
            "post": {
                "requestBody": {"required": True, **_content(_NAMED)},
                "responses": {"201": {"description": "", **_content(_NAMED)}, **_REFUSED},
            }
        },
        "/shelves/{name}": {"delete": {"parameters": [_NAME], "responses": {"200": {"description": ""}, **_REFUSED}}},
    }
)


def test_a_removal_without_credentials_is_sent_again_without_them(command: Command) -> None:
    taken, there, lock = set[str](), set[str](), Lock()

    def answer(request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        with lock:
            if request.method == "DELETE":
                # The mistake: any client may remove a shelf.
                name = path.removeprefix("/shelves/")
                is_there = name in there
                there.discard(name)
                return json_reply({}, 200 if is_there else 404)
            if request.headers.get("authorization") != "Bearer x":
                return json_reply({}, 401)
            found = re.fullmatch(rb'{"name": ?"([a-z]{4,9})"}', request.body)
            if found is None:
                return json_reply({}, 400)
            name = found[1].decode()
            if name in taken:
                return json_reply({}, 409)
            # A name is never free again.
            taken.add(name)
            there.add(name)
            return json_reply({"name": name}, 201)

    with serving(answer, _SHELVES) as app:
        given = ("--checks", "ignored_auth", "--phases", "stateful", "-H", "Authorization: Bearer x")
        ran = command.run_as_usual(app.document_url, *given, inline=True)
    (finding,) = ran.findings
    assert finding.label == "DELETE /shelves/{name}", ran.shown
    assert finding.investigation.hits == finding.investigation.tries > 1, ran.shown


def test_what_only_a_request_of_a_check_did_is_shown_with_that_request(command: Command) -> None:
    strangers: list[bytes] = []

    def answer(request: Request) -> Reply:
        if request.headers.get("authorization") == "Bearer x":
            return json_reply({}, 201)
        strangers.append(request.body)
        # A stranger is let in once. Nothing can be sent again to show it.
        return json_reply({}, 201 if len(strangers) == 1 else 409)

    with serving(answer, _TAGS) as app:
        given = ("--checks", "ignored_auth", "-H", "Authorization: Bearer x")
        ran = command.run_as_usual(app.document_url, *given, inline=True)
    (finding,) = ran.findings
    sent = {name.lower() for name, _ in finding.sent[-1].exchange.headers}
    assert finding.investigation.reproduced is not True, ran.shown
    assert b"authorization" not in sent


def test_a_wrong_removal_that_cannot_be_repeated_is_marked_as_such(command: Command) -> None:
    there = {"/films/7"}
    film = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}, "example": 7}
    document = _described(
        {"/films/{id}": {"delete": {"parameters": [film], "responses": {"204": {"description": ""}, **_REFUSED}}}}
    )

    def answer(request: Request) -> Reply:
        path = request.target.decode()
        if request.method == "DELETE" and path in there:
            there.remove(path)
            return json_reply({})
        return json_reply({}, 404)

    with serving(answer, document) as app:
        given = ("--checks", "status_code_conformance", "--phases", "examples")
        ran = command.run_as_usual(app.document_url, *given, inline=True)
    (finding,) = ran.findings
    assert finding.investigation.spent, ran.shown
    assert "(needs a fresh server)" in ran.stdout
    assert "intermittent" not in ran.stdout


def test_a_put_that_creates_is_printed_with_the_status_of_a_fresh_server(command: Command) -> None:
    there: set[bytes] = set()
    name = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[a-z0-9]{1,9}$"}}
    statuses = {status: {"description": ""} for status in ("200", "201", "401", "404", "405")}
    document = _described({"/boxes/{id}": {"put": {"parameters": [name], "responses": statuses}}}) | {
        "security": [{"k": []}],
        "components": {"securitySchemes": {"k": {"type": "http", "scheme": "bearer"}}},
    }

    def answer(request: Request) -> Reply:
        if request.method != "PUT" or "authorization" not in request.headers:
            return json_reply({}, 405 if request.method != "PUT" else 401)
        status = 200 if request.target in there else 201
        there.add(request.target)
        return json_reply({}, status)

    with serving(answer, document) as app:
        given = ("--checks", "ignored_auth", "-H", "Authorization: Bearer x", "--phases", "coverage")
        ran = command.run_as_usual(app.document_url, *given, inline=True)
        (finding,) = ran.findings
        assert finding.title == "API accepts invalid authentication", ran.shown
        assert finding.investigation.hits == finding.investigation.tries, ran.shown
        (interaction,) = finding.interactions
        assert interaction.exchange is not None
        assert interaction.exchange.status == 201, ran.shown
