"""Operations that accept no case are probed without credentials once, at the end of their first phase."""

from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

_BODY = {"type": "object", "required": ["code"], "properties": {"code": {"type": "string"}}}
_STATUSES = ("200", "400", "401", "404", "405", "500")


def _operation() -> dict[str, Any]:
    body = {"required": True, "content": {"application/json": {"schema": _BODY}}}
    return {"requestBody": body, "responses": {one: {"description": ""} for one in _STATUSES}}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Codes", "version": "1"},
    "security": [{"k": []}],
    "components": {"securitySchemes": {"k": {"type": "http", "scheme": "bearer"}}},
    "paths": {path: {"post": _operation()} for path in ("/open", "/crashing", "/wrong", "/closed", "/refusing")},
}


def answer(request: Request) -> Reply:
    """Refuses every code. What strangers receive differs from path to path."""
    path, given = request.target.decode(), request.headers.get("authorization")
    if request.method != "POST":
        return Reply(405, headers=(("Allow", "POST"),))
    if given == "Bearer right" or path == "/refusing":
        return json_reply({"message": "the code is unknown"}, 400)
    if path == "/wrong":
        return json_reply({}, 200 if given else 401)
    return json_reply({}, {"/open": 200, "/crashing": 500, "/closed": 401}[path])


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("workers", [1, 2])
def test_strangers_who_are_served_are_found_where_callers_are_refused(command: Command, workers: int) -> None:
    with serving(answer, DOCUMENT) as app:
        given = ("--checks", "ignored_auth", "-H", "Authorization: Bearer right")
        ran = command.run_as_usual(app.document_url, *given, inline=workers == 1)
    assert {(one.label, one.title) for one in ran.findings} == {
        ("POST /open", "API accepts requests without authentication"),
        ("POST /crashing", "Unexpected response to a request without authentication"),
        ("POST /wrong", "API accepts invalid authentication"),
    }, ran.shown
    assert all(one.investigation.reproduced for one in ran.findings), ran.shown
    for path in ("/closed", "/refusing"):
        strange = [
            one
            for one in app.seen
            if one.target == path.encode() and one.headers.get("authorization") != "Bearer right"
        ]
        assert len([one for one in strange if one.method == "POST"]) == 2, ran.shown
