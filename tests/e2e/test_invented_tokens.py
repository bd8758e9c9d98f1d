"""A token that the run invented is no secret: commands of findings show it, so that they can be pasted."""

import json
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

NAMED = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "minLength": 4, "pattern": "^[a-z0-9]+$"}},
}
SHOWN = {"default": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Tenants", "version": "1"},
    "components": {"securitySchemes": {"Key": {"type": "apiKey", "in": "header", "name": "x-tenant-token"}}},
    "security": [{"Key": []}],
    "paths": {
        "/tenants": {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": NAMED}}},
                "responses": SHOWN,
            }
        },
        "/tenants/{name}/size": {
            "get": {
                "parameters": [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": SHOWN,
            }
        },
    },
}


class Tenants:
    """Accepts each token; the size of a tenant is a server error."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode("latin-1").partition("?")[0]
        if "x-tenant-token" not in request.headers:
            return json_reply({}, 401)
        if path == "/tenants" and request.method == "POST":
            try:
                name = json.loads(request.body)["name"]
            except (ValueError, TypeError, KeyError):
                return json_reply({}, 400)
            if not isinstance(name, str) or len(name) < 4 or name in self.names:
                return json_reply({}, 409 if name in self.names else 400)
            self.names.add(name)
            return json_reply({"name": name}, 201)
        name = path.removeprefix("/tenants/").removesuffix("/size")
        return json_reply({}, 500 if name in self.names else 404)


def test_an_invented_token_is_shown_in_the_creations_of_a_finding(command: Command) -> None:
    (command.directory / "checker.toml").write_text(
        "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true\n", "utf-8"
    )
    with serving(Tenants(), DOCUMENT) as app:
        ran = command.run_as_usual(app.document_url, inline=True)
    assert "500" in ran.stdout
    commands = [line for line in ran.stdout.splitlines() if "curl -X POST" in line]
    assert commands, ran.stdout
    assert all("x-tenant-token: " in line for line in commands)
    assert "$CHECKER" not in ran.stdout
