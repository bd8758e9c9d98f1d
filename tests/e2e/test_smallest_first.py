"""The first case of an operation: a list without filters, and a thing made of what is required alone."""

import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import Command

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
JOB = {"type": "object", "properties": {"job_id": TEXT}}
NOTE = {"type": "object", "required": ["text"], "properties": {"text": TEXT, "job": TEXT}}
FILTERS = [{"name": f"filter{number}", "in": "query", "schema": TEXT} for number in range(12)]
FILTERS.append({"name": "limit", "in": "query", "schema": {**WHOLE, "default": 50}})


def _json(schema: Any) -> dict[str, Any]:
    return {"description": "", "content": {"application/json": {"schema": schema}}}


_BY_ID = {"name": "job_id", "in": "path", "required": True, "schema": TEXT}
_LIST = {"type": "object", "properties": {"jobs": {"type": "array", "items": JOB}}}
_NOTE = {"required": True, "content": {"application/json": {"schema": NOTE}}}
_DEFAULT = {"default": {"description": ""}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Filters", "version": "1"},
    "paths": {
        "/jobs/{job_id}/runs": {"get": {"parameters": [_BY_ID], "responses": _DEFAULT}},
        "/jobs": {"get": {"parameters": FILTERS, "responses": {"200": _json(_LIST)}}},
        "/notes": {"post": {"requestBody": _NOTE, "responses": _DEFAULT}},
    },
}


def _answer(request: Request) -> Reply:
    """Show a job to requests without filters alone."""
    target = urlsplit(request.target.decode())
    if target.path == "/jobs":
        return json_reply({"jobs": [] if "filter" in target.query else [{"job_id": "demo"}]})
    return json_reply({}, 200 if "/demo/" in target.path or request.method == "POST" else 404)


def _sent_to(app: App, method: str, path: str) -> list[Request]:
    return [
        one for one in list(app.seen) if one.method == method and urlsplit(one.target.decode("latin-1")).path == path
    ]


PHASES = ["examples", "coverage", "fuzzing", "examples,coverage,fuzzing,stateful"]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("phases", PHASES)
@pytest.mark.parametrize("mode", ["positive", "all"])
def test_the_first_case_is_the_smallest(command: Command, phases: str, mode: str) -> None:
    with serving(_answer, DOCUMENT) as app:
        arguments = ("--phases", phases, "--mode", mode, "-n", "10")
        ran = command.run(app.document_url, *arguments, inline=True)
    assert _sent_to(app, "GET", "/jobs")[0].target == b"/jobs", ran.shown
    note = json.loads(_sent_to(app, "POST", "/notes")[0].body)
    assert note.keys() == {"text"}
    # Phases that list only what the description gives have no case for the path.
    assert phases == "examples" or _sent_to(app, "GET", "/jobs/demo/runs"), ran.shown


_PLAIN = {"name": "plain", "in": "query", "schema": {"type": "boolean"}}
_VIEW = {"name": "view", "in": "query", "required": True, "schema": WHOLE}
_SETTINGS = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": TEXT, "colour": {"type": "string", "enum": ["red"]}},
}


@pytest.mark.parametrize(
    ("method", "required", "names"),
    [
        ("put", {"requestBody": {"content": {"application/json": {"schema": _SETTINGS}}, "required": True}}, {"text"}),
        ("patch", {"requestBody": {"content": {"application/json": {"schema": _SETTINGS}}}}, {"text"}),
        ("get", {}, set()),
        ("delete", {}, None),
    ],
)
def test_other_methods_begin_with_what_is_required(
    command: Command, method: str, required: dict[str, Any], names: set[str] | None
) -> None:
    parameters = [_VIEW, _PLAIN]
    paths = {"/settings": {method: {"parameters": parameters, "responses": _DEFAULT, **required}}}
    document = {"openapi": "3.1.0", "info": {"title": "Settings", "version": "1"}, "paths": paths}
    with serving(_answer, document) as app:
        command.run(app.document_url, "--phases", "coverage", "--mode", "positive", inline=True)
    first = _sent_to(app, method.upper(), "/settings")[0]
    assert (b"plain=" in first.target) is (names is None)
    assert set(json.loads(first.body)) == names if first.body else not names


def test_sequences_begin_with_the_smallest_case(command: Command) -> None:
    with serving(_answer, DOCUMENT) as app:
        command.run(app.document_url, "--phases", "stateful", "-n", "5", inline=True)
    assert app.seen[0].target == b"/jobs"
    assert _sent_to(app, "GET", "/jobs/demo/runs")


@pytest.mark.thorough
def test_a_fuzzed_operation_begins_with_the_smallest_case(command: Command) -> None:
    with serving(_answer, DOCUMENT) as app:
        # On one lane: requests of several lanes may overtake each other on their way.
        flags = ("--workers", "1", "--lanes", "1", "--mode", "positive")
        command.until(
            lambda: _sent_to(app, "GET", "/jobs") and _sent_to(app, "POST", "/notes"),
            *("fuzz", app.document_url, *flags),
        )
    first, note = _sent_to(app, "GET", "/jobs")[0], _sent_to(app, "POST", "/notes")[0]
    assert (first.target, json.loads(note.body).keys()) == (b"/jobs", {"text"})


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("arguments", [("--mode", "negative"), ("--dry-run",)])
def test_no_valid_case_is_sent_where_none_is_wanted(command: Command, arguments: tuple[str, ...]) -> None:
    with serving(_answer, DOCUMENT) as app:
        command.run(app.document_url, *arguments, "--phases", "coverage,fuzzing", inline=True)
    assert b"/jobs" not in [one.target for one in app.seen if one.method == "GET"]


@pytest.mark.thorough
def test_the_smallest_case_takes_the_place_of_a_drawn_one(command: Command) -> None:
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "7", inline=True)
    assert len(_sent_to(app, "GET", "/jobs")) == 7, ran.shown


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("verb", "result"), [("map", "body"), ("filter", "body['text'] == 'mine'")])
def test_hooks_of_parts_see_the_smallest_case(command: Command, verb: str, result: str) -> None:
    change = "" if verb == "filter" else "    body['text'] = 'mine'\n"
    (command.directory / "hooks.py").write_text(
        f"import checker\n\n\n@checker.hook\ndef {verb}_body(ctx, body):\n{change}    return {result}\n"
    )
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    with serving(_answer, DOCUMENT) as app:
        command.run(app.document_url, "-n", "3", "--include-path", "/notes")
    bodies = [json.loads(one.body) for one in _sent_to(app, "POST", "/notes")]
    assert all(body["text"] == "mine" for body in bodies)
    assert bool(bodies) is (verb == "map")


@pytest.mark.thorough
def test_a_filter_of_users_sees_the_smallest_case(command: Command) -> None:
    (command.directory / "hooks.py").write_text(
        "import checker\n\n\n"
        "@checker.hook\ndef filter_case(ctx, case):\n"
        "    return case.method != 'GET' or bool(case.query)\n"
    )
    (command.directory / "checker.toml").write_text('hooks = "hooks"\n')
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "7", "--include-path", "/jobs")
    sent = _sent_to(app, "GET", "/jobs")
    assert sent, ran.shown
    assert b"/jobs" not in [one.target for one in sent]
