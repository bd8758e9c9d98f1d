"""The example of a body that its schema forbids: a service may accept it and nothing else, or refuse it."""

import json
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

_EXAMPLE = {"north": {"kind": "station", "height": 3}}


def _document(example: Any = _EXAMPLE) -> dict[str, Any]:
    """A description with the schema of the inner object, where the service takes objects by name."""
    schema = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"type": "string", "enum": ["station"]}, "height": {"type": "integer"}},
        "additionalProperties": False,
    }
    content = {"application/json": {"schema": schema, "example": example}}
    refused = {"400": {"description": ""}, "404": {"description": ""}}
    place = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Stations", "version": "1"},
        "paths": {
            "/stations": {
                "post": {
                    "requestBody": {"required": True, "content": content},
                    "responses": {"201": {"description": ""}, **refused},
                }
            },
            "/stations/{name}": {"get": {"parameters": [place], "responses": {"200": {"description": ""}, **refused}}},
        },
    }


class Stations:
    """A service that takes `{"NAME": {...}}`, or nothing at all."""

    def __init__(self, *, takes_names: bool) -> None:
        self.takes_names = takes_names
        self.stored: dict[str, Any] = {}
        self.shown: set[str] = set()

    def __call__(self, request: Request) -> Reply:
        name = request.target.decode("latin-1").partition("?")[0].removeprefix("/stations").removeprefix("/")
        if request.method == "GET":
            self.shown |= {name} & self.stored.keys()
            return json_reply({}, 200 if name in self.stored else 404)
        if request.method != "POST" or name:
            return Reply(405, headers=(("Allow", "GET" if name else "POST"),))
        try:
            body = json.loads(request.body)
        except ValueError:
            return json_reply({}, 400)
        is_right = isinstance(body, dict) and all(isinstance(one, dict) and "kind" in one for one in body.values())
        if not (self.takes_names and body and is_right):
            return json_reply({"error": "stations by name are expected"}, 400)
        self.stored |= body
        return Reply(201, headers=(("Location", f"/stations/{next(iter(body))}"),))


def test_an_example_that_its_schema_forbids_opens_what_only_it_opens(command: Command) -> None:
    service = Stations(takes_names=True)
    with serving(service, _document()) as app:
        command.run_as_usual(app.document_url, "-n", "10", inline=True)
    assert service.stored.keys() >= _EXAMPLE.keys()
    assert "north" in service.shown


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("example", [_EXAMPLE, {"kind": 5}, []])
@pytest.mark.parametrize("takes_names", [True, False])
def test_neither_its_acceptance_nor_its_refusal_is_a_failure(command: Command, takes_names: bool, example: Any) -> None:
    with serving(Stations(takes_names=takes_names), _document(example)) as app:
        ran = command.run(app.document_url, "--phases", "examples", "--mode", "positive", inline=True)
    assert set(ran.defects) <= {("POST /stations", "positive_data_acceptance")}, ran.shown
    # The smallest request may be refused. The example is not what is printed.
    assert f"-d '{json.dumps(example, separators=(',', ':'))}'" not in ran.stdout, ran.shown
