"""Operations whose schemas take too much: each is named with the place where the budget ended, and the run goes on."""

from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command


def _nest(keyword: str, depth: int, place: int = 1) -> dict[str, Any]:
    if depth == 0:
        return {"type": "object", "properties": {f"p{place}": {"type": "integer"}}}
    return {keyword: [_nest(keyword, depth - 1, 2 * place + side) for side in (0, 1)]}


def _posting(schema: dict[str, Any]) -> dict[str, Any]:
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"post": {"requestBody": body, "responses": {"200": {"description": "fine"}}}}


NAMES = [f"k{index}" for index in range(10)]
LEVELS = {
    f"L{level}": {
        "type": "object",
        "required": NAMES,
        "properties": {name: {"$ref": f"#/components/schemas/L{level + 1}"} for name in NAMES},
    }
    for level in range(7)
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Hostile", "version": "1"},
    "paths": {
        "/nested": _posting(_nest("allOf", 12)),
        "/fanned": _posting({"$ref": "#/components/schemas/L0"}),
        "/plain": _posting({"type": "object", "properties": {"n": {"type": "integer"}}}),
    },
    "components": {"schemas": {**LEVELS, "L7": {"type": "string"}}},
}


@pytest.mark.thorough
def test_what_takes_too_much_is_named_and_the_rest_is_tested(command: Command) -> None:
    def answer(request: Request) -> Reply:
        return json_reply({}, 500 if b"n" in request.body else 200)

    with serving(answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "--phases", "fuzzing", "--max-examples", "20", inline=True)
    assert ran.code == 1, ran.shown
    assert ("POST /plain", "not_a_server_error") in ran.defects
    text = "".join(ran.stdout.split())
    assert "generationbudgetspentat#/components/schemas/L6" in text, ran.shown
    assert "generationbudgetspentat#/paths/~1nested/post/requestBody/content/application~1json/schema" in text, (
        ran.shown
    )
    assert {request.target for request in app.seen} == {b"/plain"}
