"""Refusals are no findings, and one mistake in many operations is one cause."""

import json
from typing import Any
from urllib.parse import unquote

import pytest
from graphql import GraphQLError, build_schema, graphql_sync

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command
from tests.graphql_kind.test_errors import REFUSALS

NAMES = ("apples", "dates", "figs", "kiwis")
FEW = ("-n", "10")


@pytest.mark.thorough
def test_graphql_refusals_in_any_wording_are_no_findings(command: Command) -> None:
    lines = [f"  f{number}(text: String!): String" for number in range(len(REFUSALS))]
    sdl = "\n".join(("type Query {", *lines, "}"))
    schema = build_schema(sdl)
    assert schema.query_type is not None
    for field, text in zip(schema.query_type.fields.values(), REFUSALS, strict=True):

        def refuse(*_: Any, text: str = "", said: str = text) -> None:
            raise GraphQLError(said)

        field.resolve = refuse

    def answer(request: Request) -> Reply:
        try:
            asked = json.loads(request.body)
            done = graphql_sync(schema, asked["query"], variable_values=asked.get("variables"))
        except Exception:  # noqa: BLE001 - any malformed request
            return json_reply({"errors": [{"message": "bad request"}]}, 400)
        return json_reply(done.formatted)

    (command.directory / "refusals.graphql").write_text(sdl)
    with serving(answer, {}) as app:
        ran = command.run_as_usual("refusals.graphql", "--url", f"{app.url}/graphql", *FEW, inline=True)
    assert ran.defects == [], ran.shown


@pytest.mark.thorough
def test_one_overflow_and_one_limit_in_many_operations_are_two_causes(command: Command) -> None:
    answers = {status: {"description": status} for status in ("200", "404", "422")}
    number = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    body = {"type": "object", "properties": {"limit": {"type": "integer"}}, "additionalProperties": False}
    content = {"required": True, "content": {"application/json": {"schema": body}}}
    paths: dict[str, Any] = {
        f"/{name}/{{id}}": {"get": {"parameters": [number], "responses": answers}} for name in NAMES
    }
    paths |= {f"/{name}/search": {"post": {"requestBody": content, "responses": answers}} for name in NAMES}
    document = {"openapi": "3.1.0", "info": {"title": "Fruit", "version": "1"}, "paths": paths}

    def answer(request: Request) -> Reply:
        name = unquote(request.target.decode().rpartition("/")[2])
        if request.method == "GET" and name.lstrip("-").isdigit():
            # A database without integers beyond 64 bits.
            return Reply(404) if -(2**63) <= int(name) < 2**63 else Reply(500, "text/plain", b"Internal Server Error")
        try:
            limit = json.loads(request.body).get("limit", 1)
        except (ValueError, AttributeError):
            return Reply(422)
        is_high = isinstance(limit, int) and limit > 200
        return json_reply({"detail": f'limit must be <= 200 ("{limit}")'}, 422) if is_high else Reply(200)

    checks = ("--checks", "not_a_server_error,status_code_conformance,positive_data_acceptance")
    with serving(answer, document) as app:
        ran = command.run_as_usual(app.document_url, *checks, *FEW, "--continue-on-failure", inline=True)
    found = {(one.check, one.cause) for one in ran.findings}
    assert sorted(check for check, _ in found) == ["not_a_server_error", "positive_data_acceptance"], ran.shown
    assert len(ran.findings) == 2 * len(NAMES)
    assert f"1 bug, 1 contract deviation ({2 * len(NAMES)} places)" in ran.stdout
