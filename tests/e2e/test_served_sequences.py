"""A sequence is made smaller only as far as what was served is served: a refused creation makes nothing."""

import json
from itertools import count
from pathlib import Path
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

THING = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}
NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
MADE = {"description": "", "content": {"application/json": {"schema": THING}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": NAMED}}},
                "responses": {"201": MADE, "422": {"description": "too short"}},
            }
        },
        "/things/{id}": {
            "get": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {"200": MADE, "404": {"description": ""}},
            }
        },
    },
}


class Things:
    """Names have three characters, which the description does not say; what is there cannot be read."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self._numbers = count(1)

    def __call__(self, request: Request) -> Reply:
        if request.method == "POST":
            try:
                name = json.loads(request.body)["name"]
            except (ValueError, TypeError, KeyError):
                return json_reply({}, 422)
            if not isinstance(name, str) or len(name) < 3:
                return json_reply({}, 422)
            made = f"t-{next(self._numbers)}"
            self.known.add(made)
            return json_reply({"id": made, "name": name}, 201)
        name = request.target.decode("latin-1").partition("?")[0].rpartition("/")[2]
        return json_reply({}, 500 if name in self.known else 404)


def test_the_printed_creation_creates(tmp_path: Path) -> None:
    with serving(Things(), DOCUMENT) as app:
        arguments = ("--phases", "stateful", "--mode", "positive", "--checks", "not_a_server_error")
        ran = Command(tmp_path).run(app.document_url, *arguments, "-n", "60", "--seed", "1", inline=True)
    (finding,) = ran.findings
    assert [one.exchange.status for one in finding.interactions] == [201, 500], ran.shown
