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


@pytest.mark.thorough_beyond(1)
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


@pytest.mark.thorough_beyond(1)
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
    contents = [{one[1:2] + one[3:] for one in requests} for requests in (first, others)]
    assert contents[0] == contents[1]


def _requiring(request: Request) -> Reply:
    """Answer as a service that accepts nothing without the optional `zone`, and fails on a low `level`; its refusals give no reason."""
    zone = parse_qs(urlsplit(request.target.decode()).query).get("zone")
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    is_right = isinstance(body, dict) and set(body) <= {"level", "note"} and isinstance(body.get("note", ""), str)
    level = body.get("level") if is_right else None
    if zone is None or isinstance(level, bool) or not isinstance(level, int):
        return json_reply({"error": "Bad Request"}, 400)
    return json_reply({}, 500 if level < -5 and "note" in body else 200)


def test_an_optional_part_without_which_nothing_is_accepted_is_learned_without_a_reason(command: Command) -> None:
    schema = {"type": "object", "required": ["level"], "properties": {"level": {"type": "integer"}, "note": TEXT}}
    parameters = [{"name": name, "in": "query", "schema": TEXT} for name in ("zone", "sort", "page")]
    content = {"application/json": {"schema": {**schema, "additionalProperties": False}}}
    post = {"parameters": parameters, "requestBody": {"required": True, "content": content}, "responses": RESPONSES}
    paths = {"/levels": {"post": post}}
    document = {"openapi": "3.0.3", "info": {"title": "Zones", "version": "1"}, "paths": paths}
    with serving(_requiring, document) as app:
        command.run(app.document_url, "-n", "96", "--mode", "positive", inline=True)
    posts = [one for one in app.seen if one.method == "POST"]
    early, late = posts[:20], posts[-20:]
    share = [sum("zone=" in one.target.decode() for one in some) / len(some) for some in (early, late)]
    assert share[0] < 0.7 < share[1]
