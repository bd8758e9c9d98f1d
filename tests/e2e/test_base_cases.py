"""The coverage phase finds a case that the target accepts, and varies one thing around it."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import Command, Ran

MOST = 50
TEXT = {"type": "string"}
LIMIT = {"type": "integer", "minimum": 1, "maximum": MOST}
RESPONSES = {"200": {"description": ""}, "422": {"description": ""}}
OPERATIONS = 3
Refusal = Callable[[dict[str, Any]], dict[str, str] | None]
"""Returns the texts of a refusal, by name; None for what is accepted."""


def _short(sent: dict[str, Any]) -> dict[str, str] | None:
    text = "Ensure this field has at least 4 characters."
    return {"name": text} if len(str(sent.get("name", "long"))) < 4 else None


def _other(sent: dict[str, Any]) -> dict[str, str] | None:
    return None if sent.get("name") in ("red", "blue") else {"name": "must be one of 'red', 'blue'"}


def _optional(sent: dict[str, Any]) -> dict[str, str] | None:
    return {"tag": "This field is required."} if "tag" not in sent else None


def _default(sent: dict[str, Any]) -> dict[str, str] | None:
    return {"message": "not now"} if "note" in sent else None


def _both(sent: dict[str, Any]) -> dict[str, str] | None:
    return _short(sent) or _default(sent)


KINDS = {"short": _short, "other": _other, "optional": _optional, "default": _default, "both": _both}
PROPERTIES = {"name": TEXT, "limit": LIMIT, "tag": TEXT, "note": {**TEXT, "default": "x"}}
REQUIRED = ("name", "limit")


def _document(location: str) -> dict[str, Any]:
    if location == "body":
        schema = {"type": "object", "required": REQUIRED, "properties": PROPERTIES}
        body = {"required": True, "content": {"application/json": {"schema": schema}}}
        item = {"post": {"requestBody": body, "responses": RESPONSES}}
    else:
        parameters = [
            {"name": name, "in": "query", "required": name in REQUIRED, "schema": schema}
            for name, schema in PROPERTIES.items()
        ]
        item = {"get": {"parameters": parameters, "responses": RESPONSES}}
    paths = {f"/things{number}": item for number in range(OPERATIONS)}
    return {"openapi": "3.0.3", "info": {"title": "Bases", "version": "1"}, "paths": paths}


def _server(refusal: Refusal) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        target = urlsplit(request.target.decode())
        query = parse_qs(target.query, keep_blank_values=True)
        try:
            sent = json.loads(request.body) if request.body else {name: one[0] for name, one in query.items()}
            limit = int(sent["limit"])
        except (ValueError, KeyError, TypeError):
            return json_reply({}, 422)
        if request.method not in ("GET", "POST"):
            return Reply(405, headers=(("Allow", "GET, POST"),))
        refused = refusal(sent)
        if refused is not None or not 1 <= limit <= MOST:
            return json_reply(refused or {}, 422)
        return json_reply({}, 500 if limit == MOST else 200)

    return answer


def _ran(folder: Path, app: App, *chosen: str, workers: str = "1") -> Ran:
    folder.mkdir(exist_ok=True)
    flags = ("--phases", "coverage", "--workers", workers, "--lanes", "1", "--no-shrink", "--seed", "1")
    return Command(folder).run_as_usual(app.document_url, *flags, *chosen, inline=workers == "1")


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("location", ["body", "query"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_error_behind_a_demand_is_found(tmp_path: Path, kind: str, location: str) -> None:
    with serving(_server(KINDS[kind]), _document(location)) as app:
        ran = _ran(tmp_path, app)
    found = {finding.label for finding in ran.findings if finding.check == "not_a_server_error"}
    assert len(found) == OPERATIONS, ran.shown


def _sent(app: App) -> Counter[tuple[str, bytes, bytes]]:
    return Counter((one.method, one.target, one.body) for one in app.seen if b"things" in one.target)


@pytest.mark.thorough
def test_any_number_of_workers_sends_the_same(tmp_path: Path) -> None:
    sent = []
    for workers in ("1", "3"):
        with serving(_server(_both), _document("body")) as app:
            _ran(tmp_path / workers, app, workers=workers)
            sent.append(_sent(app))
    assert sent[0] == sent[1]


@pytest.mark.thorough
def test_a_failure_of_an_adapted_list_can_be_replayed(tmp_path: Path) -> None:
    with serving(_server(_both), _document("body")) as app:
        ran = _ran(tmp_path, app)
        failing = [finding for finding in ran.findings if finding.check == "not_a_server_error"]
        assert {finding.investigation.reproduced for finding in failing} == {1}, ran.shown
        app.seen.clear()
        Command(tmp_path).run_as_usual(app.document_url, "--phases", "examples", "--no-shrink", inline=True)
        bodies = [json.loads(one.body) for one in app.seen if one.method == "POST"]
    assert any(body["limit"] == MOST and "note" not in body for body in bodies)
