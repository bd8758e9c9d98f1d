"""What is sent with a method that an operation does not have: a case, and no answer of the operation."""

from checker.demo.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Broken", "version": "1"},
    "paths": {
        "/version": {
            "get": {
                "parameters": [{"name": "long", "in": "query", "schema": {"type": "boolean"}}],
                "responses": {"200": {"description": ""}, "default": {"description": ""}},
            }
        }
    },
}


def test_what_other_methods_were_answered_neither_hides_that_an_operation_fails_nor_opens_a_gate(
    command: Command,
) -> None:
    def answer(request: Request) -> Reply:
        if request.method == "OPTIONS":
            return Reply(204, "application/json", b"")
        return json_reply({}, 500 if request.method == "GET" else 405)

    gate = ("--fail-under-operations", "100")
    with serving(answer, DOCUMENT) as app:
        ran = command.run(
            app.document_url,
            "--phases",
            "coverage",
            "--mode",
            "all",
            "--continue-on-failure",
            *gate,
            inline=True,
        )
        methods = [request.method for request in app.seen]
    assert "OPTIONS" in methods
    assert "With a 2xx answer: 0\n" in ran.stdout, ran.shown
    assert "Too little: operations" in ran.stdout, ran.shown
    view = ran.view
    assert set(view.statuses["GET /version"]) == {500}
    assert {204, 405} <= set(view.probes["GET /version"])
    told = view.statuses["GET /version"].total() + view.probes["GET /version"].total()
    assert told == view.cases
    own = view.statuses["GET /version"].total()
    assert f"500 in {own} of {own} cases" in ran.stdout, ran.shown
