"""A token that the server repeats in a wrong response, or that printed commands carry, stands in no file that a run writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from checker.core.reports import REPORT_FORMATS
from checker.corpus.codec import scan
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

TOKEN = "*:*.964a287eCANARY"
_SPELLED = b"964a287eCANARY"
_USER = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "secret": {"type": "string"}}}


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


_THING = {"type": "object", "required": ["name"], "properties": {"name": {"enum": ["a", "b"]}}}
_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Echo", "version": "1"},
    "security": [{"key": []}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "Authorization"}}},
    "paths": {
        "/me": {
            "get": {
                "responses": {
                    "200": {"description": "you", **_content({"type": "object", "properties": {"user": _USER}})}
                }
            }
        },
        "/things": {
            "post": {
                "requestBody": {"required": True, **_content(_THING)},
                "responses": {"201": {"description": "made", **_content(_THING)}},
            }
        },
        "/things/{name}": {
            "parameters": [_NAME],
            "get": {"responses": {"200": {"description": "it"}, "404": {"description": "no"}}},
            "delete": {"responses": {"204": {"description": "gone"}}},
        },
    },
}


def _answer(request: Request) -> Reply:
    path = request.target.decode().partition("?")[0]
    token = request.headers.get("authorization", "")
    if token != TOKEN:
        return json_reply({"message": "no"}, 401)
    if path == "/me" and request.method == "GET":
        return json_reply({"user": {"type": "admin", "secret": token}})
    if path == "/things" and request.method == "POST":
        try:
            return json_reply(json.loads(request.body), 201)
        except ValueError:
            return json_reply({"message": f"{token} sent no JSON"}, 400)
    return json_reply({"message": f"not for {token}"}, 500)


def _left_in(folder: Path) -> list[str]:
    """Return the files that hold the token, with what frames hold unpacked."""
    found = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        content = path.read_bytes()
        if path.suffix in (".journal", ".traffic"):
            content += b"\n".join(repr(record).encode() for record in scan(content).records)
        if _SPELLED in content:
            at = content.find(_SPELLED)
            found.append(f"{path.relative_to(folder)}: {content[max(0, at - 200) : at + 20]!r}")
    return found


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("kind", ["run", "fuzz"])
def test_a_token_that_the_server_repeats_is_in_no_file(command: Command, kind: str) -> None:
    reports = ("--report", ",".join(one.name for one in REPORT_FORMATS.values()), "-H", f"Authorization: {TOKEN}")
    with serving(_answer, DOCUMENT) as app:
        if kind == "run":
            ran = command.run_as_usual(app.document_url, *reports, "-n", "10", inline=True)
        else:
            # Without a time limit it ends at its first failure.
            ran = command.here("fuzz", app.document_url, *reports, "--seed", "1", "--workers", "1")
    assert ran.code == 1, ran.shown
    assert "response_schema_conformance" in {one.check for one in ran.findings} or kind == "fuzz"
    assert bool(ran.view.resources.made) or kind == "fuzz"
    assert _left_in(command.directory) == []
    assert _SPELLED.decode() not in ran.stdout + ran.stderr
