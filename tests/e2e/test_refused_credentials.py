"""Expired credentials in CI: a run in which they opened nothing fails."""

from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

OPERATION = {
    "security": [{"B": []}],
    "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
    "responses": {"200": {"description": ""}, "401": {"description": ""}, "403": {"description": ""}},
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "components": {"securitySchemes": {"B": {"type": "http", "scheme": "bearer"}}},
    "paths": {
        "/a": {"get": OPERATION},
        "/b": {"post": OPERATION},
        "/public": {"get": {"responses": {"200": {"description": ""}}}},
    },
}
BEARER = "[auth.openapi]\nB = { bearer = 'expired' }\n"
SENTENCE = "The configured credentials ({}) opened no operation: all 2 tested operations with declared security returned nothing but {}."


@pytest.mark.parametrize(
    ("toml", "statuses", "sentence"),
    [
        (BEARER, {"/a": 403, "/b": 401}, SENTENCE.format("scheme B", "401, 403")),
        ("headers.Authorization = 'Bearer expired'", {"/a": 401, "/b": 401}, SENTENCE.format("header Authorization", "401")),
        (BEARER, {"/b": 401}, ""),
        (BEARER.replace("[auth.openapi]", "[auth]\nallow-refused = true\n[auth.openapi]"), {"/a": 403, "/b": 403}, ""),
        ("", {"/a": 401, "/b": 401}, ""),
    ],
)  # fmt: skip
def test_credentials_that_open_no_operation_fail_the_run(
    command: Command, toml: str, statuses: dict[str, int], sentence: str
) -> None:
    def answer(request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        return json_reply({}, statuses.get(path, 200))

    (command.directory / "checker.toml").write_text(toml)
    with serving(answer, DOCUMENT) as app:
        checks = ("-c", "not_a_server_error", "--phases", "fuzzing", "--mode", "positive")
        ran = command.here("run", app.document_url, "--inline", "-n", "10", "--seed", "1", *checks)
    shown = " ".join(ran.stdout.split())
    assert ran.code == bool(sentence), ran.shown
    assert ("opened no operation" in shown) == bool(sentence)
    assert sentence in shown
