"""Cases and operations offer the same in the user code of a run as in Python: hooks, checks, providers and their like."""

import json
from pathlib import Path
from typing import Any

import pytest

from checker.corpus.codec import scan
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

ROOM = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
ANSWER = {"200": {"description": "", "content": {"application/json": {"schema": ROOM}}}}
IDENTIFIER = {
    "name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 0},
}  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Rooms", "version": "1"},
    "paths": {
        "/rooms/{id}": {
            "put": {
                "parameters": [IDENTIFIER],
                "requestBody": {"required": True, "content": {"application/x-room": {"schema": ROOM}}},
                "responses": {"200": {"description": "", "content": {"application/x-room": {"schema": ROOM}}}},
            }
        },
        "/probe": {
            "get": {"parameters": [{"name": "n", "in": "query", "schema": {"type": "integer"}}], "responses": ANSWER}
        },
    },
}
HOOKS = """
import json
import os

import hypothesis

import checker


def works(place, case, response=None):
    \"\"\"Use all that a case and its operation offer; one line in the file for each place and process.\"\"\"
    known = f"{os.getpid()} {place}"
    if known in works.seen:
        return
    works.seen.add(known)
    operation = case.operation
    assert case.formatted_path.startswith("/"), case.formatted_path
    probe = operation.schema["/probe"]["GET"]
    assert probe.schema is operation.schema
    assert set(operation.schema.raw_schema["paths"]) == {"/rooms/{id}", "/probe"}
    made = probe.Case(query={"n": 1}, headers={"X-From": place})
    assert made.formatted_path == "/probe"
    assert "/probe?n=1" in made.as_curl_command()
    answer = made.call()
    assert answer.json() == {"id": 1}, answer.text
    made.validate_response(answer)
    assert probe.is_valid_response(answer)
    made.call_and_validate()
    assert operation.as_strategy() is not None
    if place == "function":
        settings = hypothesis.settings(database=None)
        drawn = hypothesis.find(probe.as_strategy(), lambda case: True, settings=settings)
        assert drawn.operation.label == "GET /probe"
    if place != "serializer":
        case.as_curl_command()
    if response is not None and place != "deserializer":
        case.validate_response(response)
        operation.is_valid_response(response)
    with open("places.txt", "a") as file:
        file.write(f"{place}\\n")


works.seen = set()


@checker.hook
def before_call(ctx, case, kwargs):
    works("before_call", case)


@checker.hook
def after_call(ctx, case, response):
    works("after_call", case, response)


@checker.hook
def after_validate(ctx, case, response, results):
    works("after_validate", case, response)


@checker.hook
def filter_case(ctx, case):
    works("filter_case", case)
    return True


@checker.hook.apply_to(name="PUT /rooms/{id}")
def map_case(ctx, case):
    works("map_case", case)
    return case


@checker.hook
def map_path_parameters(ctx, values):
    works("map_path_parameters", ctx.operation.Case(path_parameters={"id": 1}))
    return values


@checker.check
def function(ctx, response, case):
    works("function", case, response)


@checker.check
def generator(ctx, response, case):
    works("generator", case, response)
    yield case.operation.schema["/probe"]["GET"].Case(query={"n": 2})


@checker.check
class Class:
    def after_response(self, ctx, response, case):
        works("class", case, response)


@checker.auth()
class Provider:
    def get(self, case, ctx):
        works("get", case)
        return ctx.operation.schema["/probe"]["GET"].Case().call().json()["id"]

    def set(self, case, data, ctx):
        works("set", case)
        case.headers["X-Token"] = str(data)


class Source(checker.credentials.CredentialSource):
    name = "source"

    def fetch(self, case):
        works("fetch", case)
        return checker.credentials.Credentials(headers={"X-Source": "secret-of-source"})


checker.credentials.register(Source())


@checker.serializer("application/x-room")
def write(ctx, value):
    if ctx.case is not None:
        works("serializer", ctx.case)
    return json.dumps(value).encode()


@checker.deserializer("application/x-room")
def read(ctx, response):
    if ctx.case is not None:
        works("deserializer", ctx.case)
    return json.loads(response.content)


@checker.metric
def size(ctx):
    works("metric", ctx.case, ctx.response)
    return len(ctx.response.content)
"""
PLACES = {
    "before_call", "after_call", "after_validate", "filter_case", "map_case", "map_path_parameters",
    "function", "generator", "class", "get", "set", "fetch", "serializer", "deserializer",
}  # fmt: skip


def rooms(request: Request) -> Reply:
    body = json.dumps({"id": 1}).encode()
    is_probe = b"/probe" in request.target
    return Reply(200, "application/json" if is_probe else "application/x-room", body)


def configure(command: Command, module: str, table: str = "") -> None:
    (command.directory / "hooks.py").write_text(module)
    (command.directory / "checker.toml").write_text(f'hooks = "hooks.py"\n{table}')


def places(folder: Path) -> set[str]:
    file = folder / "places.txt"
    return set(file.read_text().split()) if file.exists() else set()


CHOSEN = ("--mode", "positive", "--include-path", "/rooms/{id}")


@pytest.mark.thorough
def test_all_of_a_case_works_in_all_user_code_of_a_run(command: Command) -> None:
    configure(command, HOOKS)
    with serving(rooms, DOCUMENT) as app:
        done = command.run(app.document_url, *CHOSEN)
    assert (done.code, done.view.errors) == (0, {}), done.shown
    assert places(command.directory) == PLACES
    # What user code sends carries the credentials of the run.
    sent = [request for request in app.seen if "x-from" in request.headers]
    assert {request.headers["x-from"] for request in sent} == PLACES
    assert {request.headers.get("x-token") for request in sent} == {"1", None}


@pytest.mark.thorough
def test_all_of_a_case_works_in_the_user_code_of_fuzz(command: Command) -> None:
    configure(command, HOOKS, '[generation]\nmaximize = "size"\n')
    wanted = PLACES | {"metric"}
    with serving(rooms, DOCUMENT) as app:
        done = command.until(lambda: places(command.directory) == wanted, "fuzz", app.document_url, *CHOSEN)
    assert (done.code, done.view.errors) == (130, {}), done.shown
    assert places(command.directory) == wanted


SETTINGS = """
import json

import checker


def note(ctx, case, **more):
    told = {
        "path": case.path,
        "phase": ctx.phase,
        "timeout": ctx.config["request-timeout"],
        "statuses": ctx.config["checks"]["positive_data_acceptance"]["expected-statuses"],
        "headers": ctx.config["headers"],
        **more,
    }
    with open("places.txt", "a") as file:
        file.write(json.dumps(told).replace(" ", "") + "\\n")


@checker.check
def function(ctx, response, case):
    note(ctx, case)


@checker.check
class Class:
    def __init__(self, *, limit: int):
        self.limit = limit

    def after_response(self, ctx, response, case):
        note(ctx, case, limit=ctx.config["limit"])
"""
TABLE = """
headers = { X-All = "1" }
request-timeout = 7

[checks.Class]
limit = 5

[[operations]]
include-path = "/probe"
request-timeout = 8

[phases.coverage.checks.positive_data_acceptance]
expected-statuses = ["2XX"]
"""


def test_checks_see_the_settings_of_the_operation_in_its_phase(command: Command) -> None:
    configure(command, SETTINGS, TABLE)
    phases = ("--phases", "coverage,fuzzing", "--exclude-checks", "unsupported_method")
    probe = DOCUMENT["paths"]["/probe"]
    with serving(rooms, DOCUMENT | {"paths": {"/probe": probe, "/probes": probe}}) as app:
        done = command.run(app.document_url, *phases, "-n", "3")
    assert done.view.errors == {}, done.shown
    told = [json.loads(line) for line in places(command.directory)]
    assert {(one["path"], one["timeout"]) for one in told} == {("/probes", 7), ("/probe", 8)}
    statuses = {(one["phase"], "404" in one["statuses"]) for one in told}
    assert statuses == {("coverage", False), ("fuzzing", True)}
    assert {one.get("limit") for one in told} == {None, 5}
    assert all(one["headers"] == {"X-All": "1"} for one in told)


SENDING = """
import checker


@checker.check
def sending(ctx, response, case):
    answer = case.operation.Case(headers={"X-Own": "1"}).call(headers={"X-More": "2"})
    with open("places.txt", "a") as file:
        file.write(f"{answer.status_code}\\n")
"""


def test_requests_of_user_code_go_where_and_as_those_of_the_run_go(command: Command) -> None:
    configure(command, SENDING, 'headers = { X-All = "1" }\n')
    document = DOCUMENT | {"servers": [{"url": "http://nowhere.invalid/other"}]}
    with serving(rooms, document) as app:
        description = command.directory / "openapi.json"
        description.write_text(json.dumps(document))
        done = command.run(str(description), "--url", f"{app.url}/v1", "--include-path", "/probe", "-n", "3")
    assert done.view.errors == {}, done.shown
    assert {request.target.partition(b"?")[0] for request in app.seen} == {b"/v1/probe"}
    own = [request.headers for request in app.seen if "x-own" in request.headers]
    assert {(one["x-all"], one["x-more"]) for one in own} == {("1", "2")}
    assert places(command.directory) == {"200"}


def test_a_dry_run_sends_no_request_of_user_code(command: Command) -> None:
    check, hook = ("check\ndef sending(ctx, response, case)", "hook\ndef before_call(ctx, case, kwargs)")
    configure(command, SENDING.replace(check, hook))
    with serving(rooms, DOCUMENT) as app:
        done = command.run(app.document_url, "--dry-run", "--include-path", "/probe", "-n", "3")
    assert done.view.errors == {}, done.shown
    assert app.seen == []
    assert places(command.directory) == {"204"}


CALLING = """
import checker


@checker.check
def calling(ctx, response, case):
    case.call(headers={"X-Ticket": "c4n4ry-of-the-call"})
    case.derive(headers={"X-Api-Key": "c4n4ry-of-the-copy"}).call()
"""
FORMAT = {"name": "X-Key-Format", "in": "header", "required": True, "schema": {"enum": ["standard"]}}


def test_only_values_that_user_code_gave_are_secrets(command: Command) -> None:
    configure(command, CALLING)
    ticket = {"ticket": {"type": "apiKey", "in": "header", "name": "X-Ticket"}}
    probe = {"get": {"parameters": [FORMAT], "responses": ANSWER, "security": [{}, {"ticket": []}]}}
    document = DOCUMENT | {"paths": {"/probe": probe}, "components": {"securitySchemes": ticket}}

    def echo(request: Request) -> Reply:
        names = ("x-ticket", "x-api-key", "x-key-format")
        return json_reply({"id": 1, "sent": [request.headers.get(name) for name in names]})

    phases = ("--mode", "positive", "--phases", "fuzzing", "-n", "1")
    with serving(echo, document) as app:
        done = command.run(app.document_url, *phases, "--report", "vcr")
    assert done.view.errors == {}, done.shown
    sent = {name: {one.headers.get(name) for one in app.seen} for name in ("x-ticket", "x-api-key")}
    assert "c4n4ry-of-the-call" in sent["x-ticket"]
    assert "c4n4ry-of-the-copy" in sent["x-api-key"]
    records = (scan(path.read_bytes()).records for path in command.directory.rglob("*.traffic"))
    written = "\n".join(repr(record) for found in records for record in found)
    assert "secret:header:call.X-Ticket" in written
    assert "c4n4ry" not in written
    assert "standard" in written
    assert "secret:header:call.X-Key-Format" not in written
