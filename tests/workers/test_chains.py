"""Values that sequences of the stateful phase take from their answers."""

import json
from collections.abc import Callable
from gzip import compress
from pathlib import Path
from typing import Any

import pytest

from checker.checks.judge import UNJUDGED
from checker.core.credentials import Credentials
from checker.core.meta import Binding, PhaseInfo
from checker.core.operation import Label
from checker.core.response import Response
from checker.phases.attempt import Verdict
from checker.workers.context import WorkerContext
from tests.workers.harness import workplace

TOKEN = "tok-C4n4ry-0001"
STATEFUL = PhaseInfo("stateful")
TEXT = {"type": "string", "minLength": 1}
THING = {"type": "object", "properties": {"id": TEXT, "name": TEXT}, "required": ["id"]}
CONTENT = {"application/json": {"schema": THING}}
CREATED: dict[str, Any] = {
    "201": {
        "description": "",
        "content": CONTENT,
        "links": {"again": {"operationId": "put", "requestBody": "$response.body"}},
    }
}
ANSWER = {"200": {"description": "", "content": CONTENT}}
BODY = {"required": True, "content": CONTENT}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Sessions", "version": "1"},
    "paths": {
        "/things": {"post": {"requestBody": BODY, "responses": CREATED}},
        "/things/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": TEXT}],
            "get": {"responses": ANSWER},
        },
        "/latest": {"put": {"operationId": "put", "requestBody": BODY, "responses": ANSWER}},
    },
}


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": lambda content: compress(content, mtime=0),
}


def bound_after(
    place: WorkerContext, answer: dict[str, str], coding: str = "identity"
) -> list[Binding]:
    """What the second steps of twenty sequences take from the answer to their first."""
    headers = [("Content-Type", "application/json"), ("Content-Encoding", coding)]
    response = Response(201, headers, CODINGS[coding](json.dumps(answer).encode()))
    found: list[Binding] = []
    for index in range(20):
        first = place.factory.make(Label("POST /things"), 1, index, STATEFUL)
        sent = Verdict(first.case, None, response, UNJUDGED)
        made = place.chains.follow((sent,), 1, index, STATEFUL)
        found += made.bindings if made is not None else ()
    return found


@pytest.mark.parametrize("field", ["id", "name"])
def test_credentials_that_an_answer_echoes_are_taken_into_no_later_step(
    tmp_path: Path, field: str
) -> None:
    with workplace(tmp_path, document=DOCUMENT) as place:
        plain = bound_after(place, {"id": "B-7", "name": "x"})
        assert "B-7" in [one.literal for one in plain]
        assert {"id": "B-7", "name": "x"} in [one.literal for one in plain]
        place.recorder.secrets.add_credentials(Credentials({"Authorization": f"Bearer {TOKEN}"}))
        echoed = bound_after(place, {"id": "B-7", "name": "x", field: TOKEN})
    assert TOKEN not in repr([one.literal for one in echoed])
    assert ("B-7" in [one.literal for one in echoed]) is (field == "name")


@pytest.mark.parametrize("coding", CODINGS)
def test_urls_in_answers_name_things_whatever_the_coding(tmp_path: Path, coding: str) -> None:
    with workplace(tmp_path, document=DOCUMENT) as place:
        taken = bound_after(place, {"name": "x", "self": "/things/B-7"}, coding)
    assert "B-7" in [one.literal for one in taken]
