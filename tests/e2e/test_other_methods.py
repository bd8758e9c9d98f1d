"""What is sent with a method that an operation does not have: a case, and no answer of the operation."""

from itertools import count

from checker.reporting.findings import marks_of
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

MADE = {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string"}}}}}
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
            app.document_url, "--phases", "coverage", "--mode", "all", "--continue-on-failure", *gate, inline=True
        )
        methods = [request.method for request in app.seen]
    assert "OPTIONS" in methods
    assert "With a 2xx response: 0\n" in ran.stdout, ran.shown
    assert "Too little: operations" in ran.stdout, ran.shown
    view = ran.view
    assert set(view.statuses["GET /version"]) == {500}
    assert {204, 405} <= set(view.of("GET /version").probes)
    told = view.statuses["GET /version"].total() + view.of("GET /version").probes.total()
    assert told == view.counts.cases
    own = view.statuses["GET /version"].total()
    assert f"500 in {own} of {own} cases" in ran.stdout, ran.shown


THINGS = {
    "openapi": "3.0.3",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {"post": {"responses": {"201": {"description": "", "content": MADE}}}},
        "/things/{id}": {
            "get": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {"200": {"description": ""}, "404": {"description": ""}},
            }
        },
    },
}


def test_what_a_path_answers_to_other_methods_does_not_wait_for_a_thing_that_was_made(command: Command) -> None:
    names = map(str, count(1000))

    def answer(request: Request) -> Reply:
        is_thing = request.target.startswith(b"/things/")
        if request.method == "POST" and not is_thing:
            return json_reply({"id": next(names)}, 201)
        if request.method == "OPTIONS" and is_thing:
            return Reply(200, "text/plain", b"", (("Allow", "GET, PUT"),))
        if request.method == "GET" and is_thing:
            return json_reply({}, 200 if request.target.rpartition(b"/")[2].isdigit() else 404)
        return Reply(405, "text/plain", b"", (("Allow", "GET" if is_thing else "POST"),))

    wanted = ("--phases", "coverage", "-m", "all", "--continue-on-failure")
    with serving(answer, THINGS) as app:
        ran = command.run(app.document_url, *wanted, inline=True)
    (found,) = (one for one in ran.view.findings.values() if one.code == "ST205")
    assert found.label == "GET /things/{id}"
    assert not marks_of(found), found
    assert found.investigation.reproduction.endswith("/things/0")
    said = "Sent with the method OPTIONS, which is not described for this path"
    assert ran.stdout.count(said) == 1, ran.shown
