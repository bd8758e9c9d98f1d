"""`auth` of an `[[operations]]` block: other credentials for its operations alone."""

import json
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

OPERATION = {
    "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
    "responses": {"200": {"description": ""}},
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "components": {"securitySchemes": {"B": {"type": "http", "scheme": "bearer"}}},
    "security": [{"B": []}],
    "paths": {"/items": {"get": OPERATION}, "/admin": {"get": OPERATION}},
}


def answer(request: Request) -> Reply:
    path = request.target.decode().partition("?")[0]
    if path == "/login":
        return json_reply({"access_token": f"of-{json.loads(request.body)['user']}"})
    if path == "/token":
        return json_reply({"access_token": "of-root" if b"client_id=root" in request.body else "of-other"})
    token = request.headers.get("authorization")
    return json_reply({}, 200 if token == ("Bearer of-root" if path == "/admin" else "Bearer of-anna") else 403)


def static(user: str) -> str:
    return f"auth.openapi.B.bearer = 'of-{user}'\n"


def dynamic(user: str) -> str:
    login = f"{{ path = '/login', payload = {{ user = '{user}' }}, extract_selector = '/access_token' }}"
    return f"auth.dynamic.openapi.B = {login}\n"


def client(user: str) -> str:
    return f"auth.oauth2.openapi.B = {{ client_id = '{user}', client_secret = 's', token_url = '/token' }}\n"


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("everywhere", "own"),
    [
        (static("anna"), static("root")),
        (dynamic("anna"), dynamic("root")),
        (static("anna"), dynamic("root")),
        (dynamic("anna"), client("root")),
    ],
)
def test_a_block_has_credentials_of_its_own(command: Command, everywhere: str, own: str) -> None:
    (command.directory / "checker.toml").write_text(f"{everywhere}\n[[operations]]\ninclude-path = '/admin'\n{own}")
    quiet = ("-c", "not_a_server_error", "--phases", "fuzzing", "--mode", "positive")
    with serving(answer, DOCUMENT) as app:
        ran = command.here("run", app.document_url, "--inline", "-n", "3", "--seed", "1", *quiet)
        told = command.here("auth", "check", app.document_url)
    assert ran.code == 0, ran.shown
    assert {label: set(found) for label, found in ran.view.statuses.items()} == {
        "GET /items": {200},
        "GET /admin": {200},
    }
    assert "ok       B: GET /admin answered 200" in told.stdout
    assert told.code == 0, told.shown
