"""URLs in responses name members of collections that no other response names: in bodies and headers, of any status."""

from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

TEXT: Final = {"type": "string"}
HELD: Final = (
    "/far/far-77",
    "/box/box-77/items",
    "/nodes/urn:crn:9",
    "/deep/a1/mid/b2",
    "/jobs/j-5",
    "/results/r-9",
    "/holds/h-3",
    "/releases/v-8",
    "/entries/e-4",
)
"""What only URLs name."""


def _operation(method: str, *statuses: str, names: tuple[str, ...] = (), schema: Any = None) -> dict[str, Any]:
    content = {} if schema is None else {"content": {"application/json": {"schema": schema}}}
    given = [{"name": name, "in": "path", "required": True, "schema": TEXT} for name in names]
    responses = {status: {"description": "", **(content if status == "200" else {})} for status in statuses}
    return {method: {"parameters": given, "responses": responses}}


def _member(*names: str) -> dict[str, Any]:
    return _operation("get", "200", "404", names=names)


HREFS: Final = {"type": "array", "items": {"type": "object", "properties": {"href": TEXT}}}
DOCUMENT: Final[dict[str, Any]] = {
    "openapi": "3.0.3",
    "info": {"title": "URLs", "version": "1"},
    "paths": {
        "/far/{id}": _member("id"),
        "/box/{id}/items": _member("id"),
        "/nodes/{nodeId}": _member("nodeId"),
        "/deep/{upper}/mid/{lower}": _member("upper", "lower"),
        "/results/{id}": _member("id"),
        "/jobs/{id}": _operation("get", "200", "303", "404", names=("id",)),
        "/holds/{id}": _member("id"),
        "/releases/{tag}": _member("tag"),
        "/entries/{id}": _member("id"),
        "/catalog": _operation("get", "200", schema=HREFS),
        "/menu": _operation("get", "200", schema={"type": "object", "properties": {"_links": {"type": "object"}}}),
        "/graph": _operation("get", "200", schema={"type": "object", "properties": {"@id": TEXT}}),
        "/pages": _operation("get", "200"),
        "/exports": _operation("post", "202"),
        "/claims": _operation("post", "201", "409"),
        "/latest": _operation("get", "200", "302"),
        "/signings": _operation("post", "201", "400"),
    },
}


def _answer(request: Request) -> Reply:
    path = unquote(urlsplit(request.target.decode("latin-1")).path)
    here = f"http://{request.headers['host']}"
    answers: dict[str, Reply] = {
        "/catalog": json_reply([{"href": f"{here}/far/far-77"}, {"href": "https://elsewhere.example/far/no"}]),
        "/menu": json_reply({"_links": {"box": {"href": "/box/box-77/items{?page}"}}}),
        "/graph": json_reply({"@id": "nodes/urn:crn:9"}),
        "/pages": Reply(200, headers=(("Link", '</pages>; rel="self", </deep/a1/mid/b2>; rel="next"'),)),
        "/exports": Reply(202, headers=(("Location", f"{here}/jobs/j-5"),)),
        "/jobs/j-5": Reply(303, headers=(("Location", "/results/r-9"),)),
        "/claims": Reply(409, headers=(("Location", "/holds/h-3"),)),
        "/latest": Reply(302, headers=(("Location", f"{here}/releases/v-8"),)),
        "/signings": json_reply({"error": "signed already", "seen": "/entries/e-4"}, 400),
    }
    if path in answers:
        return answers[path]
    return json_reply({}, 500 if path in HELD else 404)


def _failed(command: Command, *arguments: str) -> set[str]:
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, *arguments, "--mode", "positive", "--checks", "not_a_server_error")
    found = {label for label, _ in ran.defects}
    assert found <= MEMBERS | FOLLOWED
    return found


MEMBERS: Final = {f"GET {path}" for path in DOCUMENT["paths"] if "{" in path} - {"GET /jobs/{id}"}
FOLLOWED: Final = {"GET /latest", "GET /jobs/{id}"}
"""Redirects that are followed to a member."""


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("phases", ["fuzzing", "coverage,fuzzing", "stateful"])
def test_urls_of_any_response_reach_the_members_that_they_name(command: Command, phases: str) -> None:
    assert _failed(command, "--phases", phases) >= MEMBERS
