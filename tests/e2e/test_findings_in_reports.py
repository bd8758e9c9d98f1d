"""Every finding on disk is in every report."""

import json
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command, Ran

_BODY = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
_JSON = {"application/json": {"schema": _BODY}}
_RESPONSES = {"200": {"description": "", "headers": {"X-Rate": {"required": True}}, "content": _JSON}}
_NUMBER = {"name": "n", "in": "query", "schema": {"type": "integer"}}
_OPERATION = {"parameters": [_NUMBER], "responses": _RESPONSES}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Several", "version": "1"},
    "paths": {"/a": {"get": _OPERATION, "post": _OPERATION}, "/b": {"get": _OPERATION}},
}


def answer(request: Request) -> Reply:
    """Break several promises at once: the header is missing, and the body is wrong; some numbers crash."""
    if b"n=-" in request.target:
        return json_reply({"error": "negative"}, 500)
    return json_reply({"id": "one"} if request.method == "GET" else {})


def names_in(ran: Ran, format_name: str) -> str:
    (path,) = (ran.directory / "checker-report").glob(f"{format_name}-*")
    return path.read_text("utf-8")


def test_findings_that_share_a_case_are_in_every_report(command: Command) -> None:
    with serving(answer, DOCUMENT) as app:
        ran = command.run_as_usual(app.document_url, "-n", "20", "--report", "ndjson,json,junit,sarif", inline=True)
    kept = {one.fingerprint: one for one in ran.findings if not one.investigation.withdrawn}
    cases = [one.case for one in kept.values()]
    assert len(cases) > len(set(cases)), "no two findings share a case"
    ids = {name.removeprefix("v1-")[:8] for name in kept}
    lines = [json.loads(line) for line in names_in(ran, "ndjson").splitlines()]
    for format_name, text in {
        "ndjson": json.dumps(lines),
        **{name: names_in(ran, name) for name in ("json", "junit", "sarif")},
    }.items():
        missing = {name for name in ids if name not in text}
        assert not missing, (format_name, [one.title for one in kept.values() if one.fingerprint[3:11] in missing])
