"""Ways of working in which exact services stay without findings: resources that appear late, filters of a hook."""

import json
import uuid
from collections import Counter
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

ID = {"type": "string", "format": "uuid"}


def operation(statuses: dict[str, Any], **more: Any) -> dict[str, Any]:
    responses = {
        status: {"description": "", **({"content": {"application/json": {"schema": schema}}} if schema else {})}
        for status, schema in statuses.items()
    }
    return {"responses": responses, **more}


def described(paths: dict[str, Any]) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths}


def not_allowed(method: str) -> Reply:
    return Reply(405, headers=(("Allow", method),))


LATE = 1
"""Requests after its creation at which a document is not readable yet."""


@pytest.mark.thorough
def test_a_resource_that_is_readable_only_later_is_no_failure(command: Command) -> None:
    document = {"type": "object", "properties": {"id": ID, "t": {"type": "string"}}, "required": ["id", "t"]}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"t": {"type": "string", "maxLength": 9}}, "required": ["t"]}}}, "required": True}  # fmt: skip
    path = [{"name": "id", "in": "path", "required": True, "schema": ID}]
    paths = {
        "/docs": {"post": operation({"201": document, "400": None}, requestBody=body)},
        "/docs/{id}": {"get": operation({"200": document, "400": None, "404": None}, parameters=path)},
    }
    texts: dict[str, str] = {}
    asked: Counter[str] = Counter()

    def answer(request: Request) -> Reply:
        is_list = request.target.partition(b"?")[0] == b"/docs"
        if request.method != ("POST" if is_list else "GET"):
            return not_allowed("POST" if is_list else "GET")
        if is_list:
            try:
                text = json.loads(request.body)["t"]
            except (ValueError, TypeError, KeyError):
                text = None
            if "json" not in request.headers.get("content-type", "") or not isinstance(text, str) or len(text) > 9:
                return json_reply({}, 400)
            name = str(uuid.uuid4())
            texts[name] = text
            return json_reply({"id": name, "t": text}, 201)
        try:
            name = str(uuid.UUID(request.target.decode().partition("?")[0].rpartition("/")[2]))
        except ValueError:
            return json_reply({}, 400)
        asked[name] += 1
        is_there = name in texts and asked[name] > LATE
        return json_reply({"id": name, "t": texts[name]}) if is_there else json_reply({}, 404)

    with serving(answer, described(paths)) as app:
        ran = command.here("run", app.document_url, "--inline", "-n", "20", "--seed", "5")
    assert not ran.findings, ran.shown
    assert ran.code == 0, ran.shown
    assert any(asked[name] > LATE for name in texts)


HOOK = """
import checker

@checker.hook
def filter_case(ctx, case):
    return not {"lo", "hi"} <= set(case.query or {})
"""


@pytest.mark.thorough
def test_a_filter_of_a_hook_holds_in_all_phases_beside_a_gate_of_coverage(command: Command) -> None:
    number = {"type": "integer", "minimum": 0, "maximum": 100}
    parameters = [{"name": name, "in": "query", "schema": number} for name in ("lo", "hi")]
    paths = {"/rep": {"get": operation({"200": None, "400": None}, parameters=parameters)}}
    (command.directory / "hooks.py").write_text(HOOK)
    command.environment["CHECKER_HOOKS"] = "hooks.py"

    def answer(request: Request) -> Reply:
        return json_reply({}) if request.method == "GET" else not_allowed("GET")

    with serving(answer, described(paths)) as app:
        gate = ("--exclude-checks", "negative_data_rejection", "--fail-under-parameters", "100")
        ran = command("run", app.document_url, "-w", "1", "-n", "20", "--seed", "1", *gate)
    assert ran.code == 0, ran.shown
    assert "2/2 parameters" in ran.stdout
    assert any(b"lo=" in one.target for one in app.seen)
    assert not [one.target for one in app.seen if b"lo=" in one.target and b"hi=" in one.target]
