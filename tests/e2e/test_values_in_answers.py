"""Values that answers show below other things, or under another name: requests that ask for them get them."""

import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

TEXT = {"type": "string"}
HOOK = {"type": "string", "format": "uri"}
MAIL = {"type": "string", "format": "email"}
LINE = {"type": "object", "properties": {"id": TEXT}}
ORDER = {"type": "object", "properties": {"id": TEXT, "lines": {"type": "array", "items": LINE}}}
ORDERS = {"type": "object", "properties": {"data": {"type": "array", "items": ORDER}}}
BATCH = {"type": "object", "properties": {"lineIds": {"type": "array", "items": TEXT}}}
LINES = ("l-1", "l-2", "l-3", "l-4")
GIVEN = {"url": "https://hooks.partner.example/in/7f3a", "contact": "desk@partner.example"}


def _json(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _get(schema: Any, *names: str) -> dict[str, Any]:
    given = [{"name": name, "in": "path", "required": True, "schema": TEXT} for name in names]
    answer = {"description": "", **_json(schema)}
    none = {"description": "none"}
    return {"get": {"parameters": given, "responses": {"200": answer, "404": none}}}


def _post(schema: Any) -> dict[str, Any]:
    body = {"required": True, **_json(schema)}
    return {"post": {"requestBody": body, "responses": {"200": {"description": ""}}}}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Answers", "version": "1"},
    "paths": {
        "/calls": _post(_object(callback=HOOK)),
        "/letters": _post(_object(to=_object(address=MAIL))),
        "/lines/{lineId}": _get(LINE, "lineId"),
        "/orders": _get(ORDERS),
        "/partners": _get(_object(url=HOOK, contact=MAIL)),
    },
}


def _orders() -> dict[str, Any]:
    halves = (LINES[:2], LINES[2:])
    orders = [{"id": f"o-{at}", "lines": [{"id": one} for one in half]} for at, half in enumerate(halves)]
    return {"data": orders}  # fmt: skip


def _answer(request: Request) -> Reply:
    path = urlsplit(request.target.decode("latin-1")).path
    if request.method == "POST":
        return json_reply({}, 500 if any(one.encode() in request.body for one in GIVEN.values()) else 200)  # fmt: skip
    if path.startswith("/lines/"):
        name = path.removeprefix("/lines/")
        status = 500 if name == LINES[-1] else 200 if name in LINES else 404
        return json_reply({"id": name}, status)
    return json_reply(_orders() if path == "/orders" else GIVEN)


def _failed(command: Command, url: str, *arguments: str) -> set[str]:
    """Return the operations that a run sees fail with status 500."""
    ran = command.run(url, *arguments, "--checks", "not_a_server_error")
    return {label for label, _ in ran.defects}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("phases", ["fuzzing", "examples,coverage"])
def test_identifiers_of_things_inside_others_are_used(command: Command, phases: str) -> None:
    with serving(_answer, DOCUMENT) as app:
        found = _failed(command, app.document_url, "--phases", phases)
    assert "GET /lines/{lineId}" in found


@pytest.mark.thorough
def test_values_of_a_format_are_used_in_other_fields_of_that_format(command: Command) -> None:
    with serving(_answer, DOCUMENT) as app:
        found = _failed(command, app.document_url, "--phases", "coverage,fuzzing")
    assert found >= {"POST /calls", "POST /letters"}


def test_a_name_of_a_user_is_used_below_another_collection(command: Command) -> None:
    paths = {
        "/profiles/{username}": _get(_object(bio=TEXT), "username"),
        "/user": _get(_object(email=TEXT, username=TEXT)),
    }

    def answer(request: Request) -> Reply:
        if request.target == b"/user":
            return json_reply({"email": "z@example.com", "username": "zaphod-42"})
        return json_reply({}, 500 if request.target == b"/profiles/zaphod-42" else 404)

    with serving(answer, DOCUMENT | {"paths": paths}) as app:
        assert _failed(command, app.document_url, "-n", "10") == {"GET /profiles/{username}"}


@pytest.mark.thorough
def test_equal_answers_give_equal_requests_for_any_number_of_workers(command: Command) -> None:
    wires = []
    with serving(lambda request: json_reply(_orders()), DOCUMENT) as app:
        for workers in (1, 3):
            arguments = ("--phases", "coverage,fuzzing", "-n", "20", "--checks", "not_a_server_error")
            command.run(app.document_url, *arguments, workers=workers)
            wires.append(sorted(map(repr, app.wire())))
            app.seen.clear()
    assert wires[0] == wires[1]


def test_the_graph_shows_where_nested_identifiers_come_from(command: Command) -> None:
    (command.directory / "openapi.json").write_text(json.dumps(DOCUMENT))
    shown = command("graph", "openapi.json").stdout
    lines = shown[shown.index("GET /orders") :]
    assert "GET /lines/{lineId}" in lines
