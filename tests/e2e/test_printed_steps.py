"""The steps that are printed where nothing is left to look which of them a failure needs."""

from itertools import count
from pathlib import Path
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

NAMED = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
LIMITS = ("--phases", "stateful", "--mode", "positive", "-n", "60", "--seed", "1", "--workers", "1")
KEY = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def _operation(status: int, schema: Any, *parameters: Any) -> dict[str, Any]:
    said = {"description": "", "content": {"application/json": {"schema": schema}}}
    return {"parameters": parameters, "responses": {str(status): said}}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Boxes", "version": "1"},
    "paths": {
        "/boxes": {"post": _operation(201, NAMED), "get": _operation(200, {"type": "array", "items": NAMED})},
        "/boxes/{id}": {"get": _operation(200, NAMED, KEY), "put": _operation(200, NAMED, KEY)},
    },
}


def test_a_sequence_is_printed_with_the_steps_whose_values_it_takes(tmp_path: Path) -> None:
    numbers, boxes = count(4711), set[str]()

    def answer(request: Request) -> Reply:
        _, _, name = request.target.decode().partition("/boxes/")
        if name:
            if name not in boxes:
                return json_reply({}, 404)
            # A reason of its own is no moment of load.
            return (
                json_reply({"id": name})
                if request.method == "GET"
                else json_reply({"error": "index out of range"}, 500)
            )
        if request.method == "GET":
            return json_reply([])
        boxes.add(f"box-{next(numbers)}")
        return json_reply({"id": f"box-{max(boxes)[4:]}"}, 201)

    (tmp_path / "checker.toml").write_text("[generation]\nshrink-share = 0.001\n")
    command = Command(tmp_path)
    with serving(answer, DOCUMENT) as app:
        ran = command.here("run", app.document_url, "--checks", "not_a_server_error", *LIMITS)
    (finding,) = ran.findings
    assert [step.label for step in finding.steps] == ["POST /boxes", "PUT /boxes/{id}"], ran.shown
    assert finding.investigation.reproduced
