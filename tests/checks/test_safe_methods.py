"""Reads that change what they read, and HEAD that disagrees with GET."""

import json
from pathlib import Path
from typing import Any

import pytest

from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.checks.asked import POSITIVE, Exchanges, operations_of
from tests.e2e.runner import Command

NAME = "safe_methods"
JSON = [("Content-Type", "application/json")]
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
_OK: dict[str, Any] = {"responses": {"200": {"description": ""}}}
PATHS = {"/drugs/{id}": {"parameters": [_ID], "get": _OK}, "/drugs/{id}/refills": {"parameters": [_ID], "post": _OK}}


class Drug:
    """Answers GET with numbers that grow with each request, and the other methods with a status."""

    def __init__(self, *fields: str, head: int = 200, unknown: int = 405, is_global: bool = False) -> None:
        self.fields, self.head, self.unknown, self.is_global = fields, head, unknown, is_global
        self.count = 0

    def __call__(self, request: WireRequest) -> Outcome:
        if request.method != "GET":
            return Response(self.head if request.method == "HEAD" else self.unknown, [])
        is_read = request.target.endswith(b"/d1")
        self.count += is_read or self.is_global
        return Response(200 if is_read else 404, JSON, json.dumps(dict.fromkeys(self.fields, self.count)).encode())


def _keys(drug: Drug) -> set[str]:
    """Return what the check tells of the first cases that it chooses, one for each of its questions."""
    found = set()
    for index in range(100):
        them = Exchanges(operations_of(PATHS))
        drug.count = 1
        answer = json.dumps(dict.fromkeys(drug.fields, 1)).encode()
        sent = them.sent(
            "GET /drugs/{id}",
            200,
            JSON,
            answer=answer,
            index=index,
            mode=POSITIVE,
            phase="exploration",
            path_parameters={"id": "d1"},
        )
        found |= {one.unique_key or one.title for one in them.verdict(NAME, sent, [sent], answers=drug).failures}
    return found


@pytest.mark.parametrize(
    ("drug", "expected"),
    [
        (Drug("refills"), {"refills"}),
        (Drug("revision"), {"revision"}),
        # A resource may count how often it was read, and a server its requests.
        (Drug("views"), set()),
        (Drug("revision", is_global=True), set()),
        (Drug(head=404), {"HEAD differs from GET"}),
        (Drug(head=500), {"HEAD differs from GET"}),
        # HEAD is not supported, or nothing tells whether it is.
        (Drug(head=405), set()),
        (Drug(head=404, unknown=404), set()),
        (Drug(head=403), set()),
    ],
    ids=["counted", "version", "views", "global", "missing", "crash", "unsupported", "unknown", "forbidden"],
)
def test_a_read_with_an_effect_and_a_head_of_its_own_are_told(drug: Drug, expected: set[str]) -> None:
    assert _keys(drug) == expected


@pytest.mark.parametrize("is_planted", [True, False], ids=["planted", "fixed"])
def test_fuzz_reports_reads_that_change_and_heads_that_miss(tmp_path: Path, *, is_planted: bool) -> None:
    revisions: dict[str, int] = {}

    def answer(request: Request) -> Reply:
        path, _, name = request.target.partition(b"?")[0].decode("latin-1").rpartition("/")
        if request.method == "POST" and (path, name) == ("", "drugs"):
            name = f"d{len(revisions)}"
            revisions[name] = 1
            return json_reply({"id": name, "revision": 1}, 201)
        if path != "/drugs" or name not in revisions:
            return json_reply({"message": "not found"}, 404)
        if request.method not in ("GET", "HEAD"):
            return json_reply({"message": "not allowed"}, 405)
        if request.method == "HEAD" and is_planted:
            return json_reply({"message": "not found"}, 404)
        revisions[name] += is_planted
        return json_reply({"id": name, "revision": revisions[name]}, 200)

    drug = {"type": "object", "properties": {"id": {"type": "string"}, "revision": {"type": "integer"}}}
    told = {"description": "", "content": {"application/json": {"schema": drug}}}
    paths = {
        "/drugs": {"post": {"responses": {"201": told}}},
        "/drugs/{id}": {"get": {"parameters": [_ID], "responses": {"200": told}}},
    }
    document = {"openapi": "3.1.0", "info": {"title": "D", "version": "1"}, "paths": paths}
    with serving(answer, document) as app:
        done = Command(tmp_path).until(
            lambda: len(revisions) > 300,
            *("fuzz", app.document_url, "--checks", NAME, "--seed", "1", "--max-time", "60", "--workers", "1"),
        )
    assert done.defects == ([("GET /drugs/{id}", NAME)] * 2 if is_planted else []), done.shown
