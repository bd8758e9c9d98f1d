"""Optional parts whose invented values a server refuses: the coverage phase finds what is wrong with the other parts."""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

MOST = 5_000
TEXT = {"type": "string"}
LIMIT = {"type": "integer", "minimum": 1, "maximum": MOST}
RESPONSES = {"200": {"description": ""}, "400": {"description": ""}}
WANTED = "1.0.0"
"""The only value of the optional part that the server takes. The description does not say so."""


def _parameters(location: str) -> Iterator[dict[str, Any]]:
    # The optional part stands first, and is refused in each case that has it.
    yield {"name": "version", "in": location, "schema": TEXT}
    yield {"name": "limit", "in": "query", "required": True, "schema": LIMIT}


def _operation(location: str) -> dict[str, Any]:
    if location != "body":
        return {"get": {"parameters": list(_parameters(location)), "responses": RESPONSES}}
    names = {"version": TEXT, "limit": LIMIT}
    schema = {"type": "object", "required": ["limit"], "properties": names}
    content = {"application/json": {"schema": schema}}
    return {"post": {"requestBody": {"required": True, "content": content}, "responses": RESPONSES}}


def _sent(request: Request) -> dict[str, Any]:
    """Return what a request says, whatever part of it says it."""
    target = urlsplit(request.target.decode())
    query = {name: values[0] for name, values in parse_qs(target.query).items()}
    headers = {name.lower(): value for name, value in request.headers.items()}
    cookies = (pair.partition("=") for pair in headers.get("cookie", "").split("; "))
    found = {**query, **{name: value for name, _, value in cookies if name}}
    if "version" in headers:
        found["version"] = headers["version"]
    return {**found, **json.loads(request.body)} if request.body else found


def _answer(request: Request) -> Reply:
    try:
        sent = _sent(request)
        limit = int(sent["limit"])
    except (ValueError, KeyError, TypeError):
        return json_reply({}, 400)
    if sent.get("version", WANTED) != WANTED or not 1 <= limit <= MOST:
        return json_reply({}, 400)
    return json_reply({}, 500 if limit == MOST else 200)


@pytest.mark.parametrize("location", ["query", "header", "cookie", "body"])
def test_an_error_is_found_beside_an_optional_part_that_is_refused(command: Command, location: str) -> None:
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Optional", "version": "1"},
        "paths": {"/things": _operation(location)},
    }
    with serving(_answer, document) as app:
        ran = command.run(app.document_url, "--phases", "coverage", inline=True)
    assert any(check == "not_a_server_error" for _, check in ran.defects), ran.shown


def _with_part(requests: Sequence[tuple[str, bytes, tuple[tuple[str, str], ...], bytes]]) -> int:
    return sum(
        b"version" in target or b"version" in body or "version" in dict(headers)
        for _, target, headers, body in requests
    )


@pytest.mark.parametrize("location", ["query", "header", "body"])
def test_cases_of_one_phase_leave_out_an_optional_part_that_earlier_ones_were_refused_for(
    command: Command, location: str
) -> None:
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Optional", "version": "1"},
        "paths": {"/things": _operation(location)},
    }
    given = ("--phases", "fuzzing", "--mode", "positive", "--no-shrink", "-n", "96", "--checks", "not_a_server_error")
    sent = []
    for lanes in ("1", "3"):
        with serving(_answer, document) as app:
            command.run(app.document_url, *given, "--lanes", lanes, inline=lanes == "1")
        sent.append([one for one in app.wire() if one[1].startswith(b"/things")])
    first, others = sent
    assert _with_part(first[:24]) >= 8
    assert _with_part(first[48:96]) <= 10
    # Lanes and workers change the order within a block at most.
    assert {one[1:2] + one[3:] for one in first} == {one[1:2] + one[3:] for one in others}
