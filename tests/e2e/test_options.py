"""What the options of `checker run` change, seen from outside: in the requests, the verdict, the exit code."""

import threading
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.mock import Mock
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

ITEM = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}


def _operation(name: str, tag: str) -> dict[str, Any]:
    return {
        "operationId": name,
        "tags": [tag],
        "responses": {"200": {"description": "", "content": {"application/json": {"schema": ITEM}}}},
    }


LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Options", "version": "1"},
    "paths": {
        "/users": {
            "get": {**_operation("listUsers", "users"), "parameters": [LIMIT]},
            "post": _operation("createUser", "users"),
        },
        "/orders": {"get": {**_operation("listOrders", "orders"), "parameters": [LIMIT]}},
        "/health": {"get": _operation("health", "internal")},
    },
}
ALL = {"GET /users", "POST /users", "GET /orders", "GET /health"}


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], ALL),
        (["--include-path", "/users"], {"GET /users", "POST /users"}),
        (["--include-path-regex", "^/(users|orders)"], ALL - {"GET /health"}),
        (["--include-method", "POST"], {"POST /users"}),
        (["--exclude-method", "POST"], ALL - {"POST /users"}),
        (["--include-tag", "orders"], {"GET /orders"}),
        (["--exclude-tag", "users"], {"GET /orders", "GET /health"}),
        (["--include-name", "GET /users"], {"GET /users"}),
        (["--include-operation-id", "health"], {"GET /health"}),
        (["--include-operation-id-regex", "^list"], {"GET /users", "GET /orders"}),
        (["--include-tag", "users", "--exclude-method", "GET"], {"POST /users"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_filters_choose_the_operations(arguments: list[str], wanted: set[str], command: Command) -> None:
    with serving(Mock(DOCUMENT), DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "2", *arguments, inline=True)
    assert ran.code == 0, ran.shown
    assert {f"{each.method} {_path(each)}" for each in app.seen} == wanted
    assert f"{len(wanted)} selected / 4 total" in ran.stdout


def test_a_clean_api_ends_with_zero_and_sends_what_it_was_told(command: Command) -> None:
    with serving(Mock(DOCUMENT), DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "5", "-H", "X-Given: yes", inline=True)
    assert ran.code == 0, ran.shown
    assert ran.findings == []
    assert all(each.headers["x-given"] == "yes" for each in app.seen)
    assert all(each.headers["user-agent"].startswith("checker/") for each in app.seen)
    ids = [each.headers["x-checker-testcaseid"] for each in app.seen]
    assert len(set(ids)) == len(ids)
    assert ran.view.counts.requests == ran.view.counts.cases == len(app.seen)


def test_selected_checks_alone_judge(command: Command) -> None:
    with serving(lambda _: json_reply({"id": "no"}), DOCUMENT) as app:
        only = command.run(app.document_url, "-n", "2", "--checks", "not_a_server_error", inline=True)
    assert only.code == 0, only.shown


def test_excluded_checks_do_not_judge(command: Command) -> None:
    with serving(lambda _: json_reply({"id": "no"}), DOCUMENT) as app:
        excluded = "response_schema_conformance"
        ran = command.run(app.document_url, "-n", "2", "--exclude-checks", excluded, inline=True)
    assert ran.code == 0, ran.shown


def test_findings_end_with_one_and_each_operation_has_its_own(command: Command) -> None:
    with serving(lambda _: json_reply({"id": "no"}), DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "3", inline=True)
    assert ran.code == 1, ran.shown
    assert ran.defects == [(label, "response_schema_conformance") for label in sorted(ALL)]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("inline", [True, False], ids=["inline", "workers"])
def test_max_failures_ends_the_run(inline: bool, command: Command) -> None:
    with serving(lambda _: json_reply({"id": "no"}), DOCUMENT) as app:
        ran = command.run(app.document_url, "--max-failures", "1", inline=inline)
    assert ran.code == 1, ran.shown
    # Who has its next operation already may find another before it hears that the first one was enough.
    assert 1 <= len(ran.findings) <= 2
    assert len(app.seen) < 200
    assert ran.view.counts.requests == len(app.seen)
    assert f"{ran.view.counts.cases} generated" in ran.stdout


@pytest.mark.thorough
def test_a_server_that_does_not_answer_costs_its_operation_only(command: Command) -> None:
    hanging = threading.Event()
    mock = Mock(DOCUMENT)

    def answer(request: Request) -> Reply:
        if request.target.startswith(b"/orders"):
            hanging.wait()
        return mock(request)

    with serving(answer, DOCUMENT) as app:
        try:
            ran = command.run(app.document_url, "-n", "2", "--phases", "fuzzing", "--request-timeout", "3", inline=True)
        finally:
            hanging.set()
    assert ran.code == 1, ran.shown
    assert not ran.view.errors
    (finding,) = [one for one in ran.findings if one.label == "GET /orders"]
    assert finding.investigation.reproduction.startswith("curl --max-time 3 -X GET ")
    assert f"{app.url}/orders" in finding.investigation.reproduction
    assert f"Reproduce with:\n\n    {finding.investigation.reproduction}" in ran.stdout
    assert {f"{each.method} {_path(each)}" for each in app.seen} == ALL


def test_a_server_that_is_gone_is_said_to_be(command: Command) -> None:
    with serving(Mock(DOCUMENT), DOCUMENT) as app:
        gone = app.url
    with serving(Mock(DOCUMENT), DOCUMENT) as app:
        ran = command.run(app.document_url, "--url", gone, "-n", "3", inline=True)
    assert ran.code == 1, ran.shown
    assert {error.title for error in ran.view.errors.values()} == {"Network Error"}
    assert "refused" in ran.stdout


def _path(request: Request) -> str:
    return request.target.decode("latin-1").partition("?")[0]
