"""Operations whose required body cannot be made: nothing valid is sent to them, the reason is told, and the others are tested."""

from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command


def _posting(media_type: str, schema: Any) -> dict[str, Any]:
    body = {"required": True, "content": {media_type: {"schema": schema}}}
    return {"post": {"requestBody": body, "responses": {"default": {"description": ""}}}}


OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Bodies", "version": "1"},
    "paths": {
        "/lost": _posting("application/json", {"$ref": "#/components/schemas/None"}),
        "/unheard": _posting("application/x-foo", OBJECT),
        "/packed": _posting("application/msgpack", OBJECT),
        "/never": _posting("application/json", {"type": "integer", "minimum": 2, "maximum": 1}),
        "/plain": _posting("application/json", OBJECT) | {"query": {"responses": {"200": {"description": ""}}}},
    },
}


def _answer(request: Request) -> Reply:
    return json_reply({})


@pytest.mark.parametrize("mode", ["positive", "negative", "all"])
def test_the_reason_is_told_and_the_rest_is_tested(command: Command, mode: str) -> None:
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "10", "--mode", mode, inline=True)
    assert ran.code == 1, ran.shown
    text = " ".join(ran.stdout.split())
    assert "no serialiser for application/x-foo" in text, ran.shown
    assert "no serialiser for application/msgpack from values of type object" in text, ran.shown
    assert "Serialization not possible: 2" in text, ran.shown
    assert "Schema Error: 1" in text, ran.shown
    assert "the required body cannot be read: 1" in text, ran.shown
    assert "`#/components/schemas/None` at #/paths/~1lost" in text, ran.shown
    assert "the version of the description does not know: 1" in text, ran.shown
    bodies = {(request.target, bool(request.body)) for request in app.seen}
    others = {b"/unheard", b"/packed", b"/never"}
    assert (b"/plain", True) in bodies
    without = {target for target, has_body in bodies if not has_body} - {b"/plain"}
    assert without == (set() if mode == "positive" else others)
    assert {target for target, has_body in bodies if has_body} == {b"/plain"}


@pytest.mark.parametrize(("phase", "is_sent"), [("coverage", True), ("fuzzing", False)])
def test_requests_without_a_body_that_cannot_be_read_are_of_the_coverage_phase(
    command: Command, phase: str, is_sent: bool
) -> None:
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "5", "--phases", phase, "--mode", "all", inline=True)
    assert any(request.target == b"/plain" for request in app.seen), ran.shown
    assert any(request.target == b"/lost" for request in app.seen) is is_sent, ran.shown
