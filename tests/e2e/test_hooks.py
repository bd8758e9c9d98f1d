"""Hooks that fail cost what they touch, also while a failure is looked into."""

import json
import time
from typing import Any

import pytest
import yaml

from checker.demo import Server
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

PICKY = """
import checker

@checker.hook
def map_body(context, body):
    if body["discount_percent"] == 100 and body["nights"] == 1:
        raise ValueError("no discount for a single night")
    return body
"""
FORGETFUL = """
import checker

answers = []

@checker.hook
def after_call(context, case, response):
    answers.append(response.status_code)

@checker.hook
def map_body(context, body):
    if 500 in answers:
        raise ValueError("no more")
    return body
"""


@pytest.mark.thorough
def test_a_candidate_that_a_hook_cannot_bear_is_not_taken(command: Command) -> None:
    (command.directory / "hooks.py").write_text(PICKY)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    with Server() as demo:
        ran = command.run(demo.document_url, *("--phases", "fuzzing", "--include-name", "POST /quotes"), workers=1)
    (finding,) = ran.findings
    assert (ran.code, finding.investigation.stage, finding.investigation.reproduced) == (1, "minimised", True), (
        ran.shown
    )
    assert finding.investigation.shrink_executions > 0
    assert '"nights":2' in finding.investigation.reproduction


@pytest.mark.thorough
def test_a_hook_that_fails_when_a_failure_is_confirmed_costs_its_operation_only(command: Command) -> None:
    (command.directory / "hooks.py").write_text(FORGETFUL)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    names = ("--include-name", "POST /quotes", "--include-name", "GET /rooms")
    with Server() as demo:
        ran = command.run(demo.document_url, *names, workers=1)
    assert [finding.label for finding in ran.findings] == ["POST /quotes"], ran.shown
    assert ran.code == 1
    assert "hook map_body raised ValueError: no more" in ran.stdout
    assert {label for phase in ran.view.phases.values() for label in phase.tested} == {"GET /rooms", "POST /quotes"}


def test_an_error_in_a_check_of_a_user_is_told_once_with_the_lines_of_the_user(command: Command) -> None:
    (command.directory / "hooks.py").write_text(
        "import checker\n\n@checker.check\ndef mine(ctx, response, case):\n    return {}['nothing']\n"
    )
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    names = ("--include-name", "GET /rooms", "--include-name", "GET /bookings")
    with Server(fixed=True) as demo:
        ran = command.run(demo.document_url, *names, "-n", "5", workers=1)
    assert ran.code == 1, ran.shown
    errors = ran.stdout.partition("ERRORS")[2].partition("SUMMARY")[0]
    assert errors.count("check mine raised KeyError: 'nothing'") == 1, errors
    assert "In 2 operations:\n    - GET /bookings\n    - GET /rooms\n" in errors
    assert "return {}['nothing']" in errors
    assert "custom.py" not in errors


def test_a_check_of_a_user_that_raises_hides_nothing_that_others_found(command: Command) -> None:
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    code = "import checker\n\n@checker.check\ndef mine(ctx, response, case):\n    return {}['nothing']\n"
    (command.directory / "hooks.py").write_text(code)
    chosen = ("--include-name", "POST /quotes", "-n", "20", "--seed", "1")
    with Server() as demo:
        ran = command.run(demo.document_url, *chosen, workers=1)
    assert "Server error" in {one.title for one in ran.findings}, ran.shown
    assert "check mine raised KeyError: 'nothing'" in ran.stdout


BODY = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 0}}}
GUARDED: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {
        path: {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": BODY}}},
                "responses": {"200": {"description": ""}, "400": {"description": ""}},
            }
        }
        for path in ("/a", "/b")
    },
}
CHANGES = {
    "map_body": "def map_body(context, body):\n    return {'n': VALUE}",
    "flatmap_body": "def flatmap_body(context, body):\n    return st.just({'n': VALUE})",
    "map_case": "def map_case(context, case):\n    case.body, case.media_type = {'n': VALUE}, 'application/json'\n    return case",
    "before_call": "def before_call(context, case, kwargs):\n    case.body, case.media_type = {'n': VALUE}, 'application/json'",
}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("hook", "mode", "value"),
    # A wrong body stays wrong after hooks of its own: other draws are taken.
    [*((hook, "positive", -1) for hook in CHANGES), ("map_case", "negative", 1), ("before_call", "negative", 1)],
)
def test_a_part_that_a_hook_made_valid_or_invalid_changes_the_mode_of_its_cases(
    command: Command, hook: str, mode: str, value: int
) -> None:
    def answer(request: Request) -> Reply:
        try:
            n = json.loads(request.body)["n"]
        except (ValueError, KeyError, TypeError):
            return json_reply({}, 400)
        return json_reply({}, 200 if type(n) is int and n >= 0 else 400)

    code = CHANGES[hook].replace("VALUE", str(value))
    text = f"import checker\nfrom hypothesis import strategies as st\n\n@checker.hook.apply_to(path='/a')\n{code}\n"
    (command.directory / "users_hooks.py").write_text(text)
    (command.directory / "checker.toml").write_text('hooks = "users_hooks.py"\n')
    checks = ("-c", "positive_data_acceptance,negative_data_rejection", "--phases", "fuzzing", "--report", "vcr")
    with serving(answer, GUARDED) as app:
        ran = command.here("run", app.document_url, "--mode", mode, "-n", "8", "--seed", "1", "-w", "1", *checks)
    assert ran.code == 0, ran.shown
    positives = {label: sum(ran.view.of(label).positive_statuses.values()) for label in ("POST /a", "POST /b")}
    assert (positives["POST /a"] > 0) == (mode == "negative")
    assert (positives["POST /b"] > 0) == (mode == "positive")
    assert "often rejected" not in ran.stdout
    (cassette,) = (command.directory / "checker-report").glob("vcr-*.yaml")
    recorded = yaml.safe_load(cassette.read_text())["http_interactions"]
    other = {"positive": "negative", "negative": "positive"}[mode]
    found = {(one["request"]["uri"].rpartition("/")[2], one["generation"]["mode"]) for one in recorded}
    assert found == {("a", other), ("b", mode)}


@pytest.mark.thorough
def test_a_request_of_user_code_is_recorded_with_its_purpose_and_without_secrets(command: Command) -> None:
    code = (
        "import checker\n\n@checker.check\ndef mine(ctx, response, case):\n"
        "    if case.operation.path == '/a':\n"
        "        case.operation.schema['/b']['POST'].Case(body={'n': 7}, headers={'X-Token': 'C4n4ry'}).call()\n"
    )
    (command.directory / "users_hooks.py").write_text(code)
    toml = 'hooks = "users_hooks.py"\nheaders = { Authorization = "Bearer C4n4ry-of-all" }\n'
    (command.directory / "checker.toml").write_text(toml)
    checks = ("-c", "mine", "--phases", "fuzzing", "--mode", "positive", "--report", "vcr")
    with serving(lambda request: json_reply({}), GUARDED) as app:
        ran = command.here("run", app.document_url, "-n", "3", "--seed", "1", "-w", "1", *checks)
        assert ran.code == 0, ran.shown
        sent = sum(one.target == b"/b" and one.body == b'{"n":7}' for one in app.seen)
    (cassette,) = (command.directory / "checker-report").glob("vcr-*.yaml")
    recorded = yaml.safe_load(cassette.read_text())["http_interactions"]
    own = [one for one in recorded if one["purpose"] == "user"]
    assert len(own) == sent >= 3
    assert {one["request"]["body"]["string"] for one in own} == {'{"n":7}'}
    assert "C4n4ry" not in cassette.read_text()
    # One record for each request that the server received.
    assert len(recorded) == len([one for one in app.seen if one.target != b"/openapi.json"])


@pytest.mark.thorough
def test_a_loaded_schema_sends_by_the_run_that_calls_it(command: Command) -> None:
    code = (
        "import os\nimport checker\n\nschema = checker.openapi.from_url(os.environ['API'], headers={'X-Api-Key': 'C4n4ry-of-schema'})\n"
        "schema.config.update(headers={'X-Api-Key': 'C4n4ry-of-schema'})\n\n"
        "@checker.check\ndef mine(ctx, response, case):\n"
        "    if case.operation.path == '/a':\n"
        "        schema['/b']['POST'].Case(body={'n': 7}).call()\n"
    )
    (command.directory / "users_hooks.py").write_text(code)
    (command.directory / "checker.toml").write_text('hooks = "users_hooks.py"\n')
    checks = ("-c", "mine", "--phases", "fuzzing", "--mode", "positive", "--report", "vcr", "--rate-limit", "50/s")
    with serving(lambda request: json_reply({}), GUARDED) as app:
        command.environment["API"] = app.document_url
        begin = time.monotonic()
        ran = command("run", app.document_url, "-n", "20", "--seed", "1", "-w", "1", *checks)
        took_s = time.monotonic() - begin
        assert ran.code == 0, ran.shown
        own = [one for one in app.seen if one.target == b"/b" and one.body == b'{"n":7}']
        sent = [one for one in app.seen if one.target in (b"/a", b"/b")]
    assert {one.headers["x-api-key"] for one in own} == {"C4n4ry-of-schema"}
    (cassette,) = (command.directory / "checker-report").glob("vcr-*.yaml")
    recorded = yaml.safe_load(cassette.read_text())["http_interactions"]
    assert len([one for one in recorded if one["purpose"] == "user"]) == len(own) >= 20
    assert took_s >= (len(sent) - 1) / 50
    kept = [path for path in command.directory.rglob("*") if path.is_file() and "users_hooks" not in path.name]
    assert [path for path in kept if b"C4n4ry" in path.read_bytes()] == []


@pytest.mark.thorough
def test_what_a_provider_sends_is_recorded_as_a_login_without_its_fields(command: Command) -> None:
    code = (
        "import checker\n\n@checker.auth()\nclass Provider:\n    def get(self, case, ctx):\n"
        "        login = case.operation.schema['/b']['POST'].Case(body={'pin': 'C4n4ry-pin', 'password': 'C4n4ry-password'})\n"
        "        return login.call().json()['token']\n\n    def set(self, case, data, ctx):\n"
        "        case.headers['Authorization'] = f'Bearer {data}'\n"
    )
    (command.directory / "users_hooks.py").write_text(code)
    (command.directory / "checker.toml").write_text('hooks = "users_hooks.py"\n')
    chosen = ("--phases", "fuzzing", "--mode", "positive", "--include-path", "/a", "--report", "vcr,har,ndjson")
    with serving(lambda request: json_reply({"token": "C4n4ry-token"}), GUARDED) as app:
        ran = command.here("run", app.document_url, "-n", "3", "--seed", "1", "-w", "1", *chosen)
        assert sum(b"C4n4ry-pin" in (one.body or b"") for one in app.seen) == 1, ran.shown
        assert any(one.headers.get("authorization") == "Bearer C4n4ry-token" for one in app.seen), ran.shown
    kept = [path for path in command.directory.rglob("*") if path.is_file() and "users_hooks" not in path.name]
    assert [path for path in kept if b"C4n4ry" in path.read_bytes()] == []


@pytest.mark.thorough
def test_strategies_of_media_types_make_the_valid_bodies_of_listed_cases(command: Command) -> None:
    file = {"type": "string", "format": "binary"}
    form = {"type": "object", "required": ["f"], "properties": {"f": file, "n": {"type": "integer"}}}
    parameter = {"name": "q", "in": "query", "schema": {"type": "integer"}}
    contents = {
        "/pdf": {"application/pdf": {"schema": file}},
        "/form": {"multipart/form-data": {"schema": form, "encoding": {"f": {"contentType": "application/pdf"}}}},
    }
    document = GUARDED | {
        "paths": {
            path: {
                "post": {
                    "parameters": [parameter],
                    "requestBody": {"required": True, "content": content},
                    "responses": {"200": {"description": ""}},
                }
            }
            for path, content in contents.items()
        }
    }
    (command.directory / "users_hooks.py").write_text(
        "import checker\nfrom hypothesis import strategies as st\n\n"
        "checker.openapi.media_type('application/pdf', st.sampled_from([b'%PDF-1', b'%PDF-2']))\n"
    )
    (command.directory / "checker.toml").write_text('hooks = "users_hooks.py"\n')
    checks = ("-c", "not_a_server_error", "--phases", "coverage", "--mode", "positive")
    with serving(lambda request: json_reply({}), document) as app:
        # Strategies are registered for the whole process.
        ran = command.run(app.document_url, "--seed", "1", *checks, workers=1)
    assert ran.code == 0, ran.shown
    sent = [one for one in app.seen if one.target != b"/openapi.json"]
    assert len(sent) > 8
    assert all(b"%PDF-" in one.body for one in sent), [one.body for one in sent]
