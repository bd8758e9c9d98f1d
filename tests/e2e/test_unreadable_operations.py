"""Operations that cannot be read, or whose bodies cannot be written, beside others: what the report says of them."""

import json

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

READABLE = {"responses": {"200": {"description": ""}}}
PREFIXED = {"type": "string", "xml": {"prefix": "p"}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "a", "version": "1"},
    "paths": {
        "/a": {"get": READABLE},
        "/b": {"get": READABLE},
        "/text": {"get": "text"},
        "/xml": {
            "post": {
                **READABLE,
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/xml": {
                            "schema": {"type": "object", "required": ["a"], "properties": {"a": PREFIXED}}
                        }
                    },
                },
            }
        },
    },
}


def _answer(request: Request) -> Reply:
    return json_reply({})


def test_they_are_selected_and_not_tested(command: Command) -> None:
    with serving(_answer, DOCUMENT) as app:
        arguments = ("--exclude-path", "/b", "--report-json-path", "a.json", "--mode", "positive")
        ran = command.run(app.document_url, "-n", "2", *arguments, inline=True)
    assert ran.code == 1, ran.shown
    assert "3 selected / 4 total" in ran.stdout, ran.shown
    assert "Selected: 3/4" in ran.stdout, ran.shown
    assert "Not tested: 2" in ran.stdout, ran.shown
    told = json.loads((ran.directory / "a.json").read_text())
    assert (told["operations"]["selected"], told["operations"]["total"]) == (3, 4)


def test_a_prefix_without_a_namespace_is_no_serialisable_body(command: Command) -> None:
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "2", "--include-path", "/xml", inline=True)
    assert "Serialization not possible" in ran.stdout, ran.shown
    assert "the prefix 'p' of 'a' has no namespace" in ran.stdout, ran.shown
    assert not [one for one in app.seen if one.body]


def test_where_nothing_else_is_selected_it_is_an_error_and_not_an_empty_suite(command: Command) -> None:
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "2", "--include-path", "/text", inline=True)
    assert "1 selected / 4 total" in ran.stdout, ran.shown
    assert "the operation at #/paths/~1text/get is not an object" in ran.stdout, ran.shown
    assert "Empty test suite" not in ran.stdout, ran.shown
    assert ran.code == 1, ran.shown
