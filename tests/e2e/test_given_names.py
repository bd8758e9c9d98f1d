"""Where creations answer nothing, things are found again by what the request called them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

TEXT = {"type": "string", "pattern": "^[a-z]{6,9}$"}
CREATION: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": TEXT, "note": {"type": "string"}},
                    "additionalProperties": False,
                }
            }
        },
    },
    "responses": {"201": {"description": "made"}, "400": {"description": "no"}},
}
READING = {"responses": {"200": {"description": "there"}, "404": {"description": "not there"}}}


def named(*names: str) -> dict[str, Any]:
    return {
        "parameters": [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]
    }


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Tenants", "version": "1"},
    "paths": {
        "/tenants": {"post": CREATION},
        "/tenants/{tenant_name}": {**named("tenant_name"), "get": READING},
        "/tenants/{tenant}/databases": {
            **named("tenant"),
            "post": {**CREATION, "responses": CREATION["responses"] | READING["responses"]},
        },
        "/tenants/{tenant}/databases/{database}": {**named("tenant", "database"), "get": READING},
    },
}


class Tenants:
    """Names of tenants, and of databases in them."""

    def __init__(self) -> None:
        self.known: dict[str, set[str]] = {}
        self.statuses: Counter[tuple[str, int]] = Counter()

    def __call__(self, request: Request) -> Reply:
        parts = request.target.decode("latin-1").partition("?")[0].split("/")[2:]
        reply = self._reply(request, parts)
        self.statuses[f"{request.method} {len(parts)}", reply.status] += 1
        return reply

    def _reply(self, request: Request, parts: list[str]) -> Reply:
        there = len(parts) < 1 or parts[0] in self.known
        if request.method == "POST" and len(parts) in (0, 2):
            if not there:
                return json_reply({}, 404)
            name = _name_in(request.body)
            if name is None:
                return json_reply({}, 400)
            if parts:
                self.known[parts[0]].add(name)
            else:
                self.known.setdefault(name, set())
            return Reply(201)
        if request.method == "GET" and len(parts) in (1, 3):
            there = there and (len(parts) == 1 or parts[2] in self.known[parts[0]])
            return json_reply({}, 200 if there else 404)
        return json_reply({}, 405)


def _name_in(body: bytes) -> str | None:
    try:
        name = json.loads(body)["name"]
    except (ValueError, TypeError, KeyError):
        return None
    return name if isinstance(name, str) and 6 <= len(name) <= 9 else None


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("phase", ["fuzzing", "stateful"])
def test_what_a_request_called_a_thing_leads_to_it(tmp_path: Path, phase: str) -> None:
    service = Tenants()
    with serving(service, DOCUMENT) as app:
        arguments = ("--phases", phase, "--mode", "positive", "--checks", "not_a_server_error")
        ran = Command(tmp_path).run(app.document_url, *arguments, "-n", "40", inline=True)
    assert ran.code == 0, ran.shown
    assert "With a 2xx response: 4" in ran.stdout, ran.shown
    for reading in ("GET 1", "GET 3"):
        # In the fuzzing phase each thing is read once, and further cases name others.
        assert 2 * service.statuses[reading, 200] > service.statuses[reading, 404], service.statuses
