"""Cassettes that a real run wrote, sent again by the command line."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checker.demo import Server
from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.cassettes import cassette_of, interactions_of
from tests.e2e.runner import Command, Ran

BINARY = {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}
EMPTY = {"content": {"text/plain": {"schema": {"type": "string", "maxLength": 0}}}, "required": True}
DONE = {"responses": {"200": {"description": "done"}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Bodies", "version": "1"},
    "paths": {
        "/binary": {"post": {"requestBody": {**BINARY, "required": True}, **DONE}},
        "/empty": {"post": {"requestBody": EMPTY, **DONE}},
        "/form": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/x-www-form-urlencoded": {
                            "schema": {
                                "type": "object",
                                "required": ["a"],
                                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                            }
                        }
                    },
                },
                **DONE,
            }
        },
        "/text/{name}": {
            "get": {
                "parameters": [
                    {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}},
                    {"name": "q", "in": "query", "schema": {"type": "string"}},
                    {"name": "X-Mark", "in": "header", "schema": {"type": "string"}},
                ],
                **DONE,
            }
        },
    },
}


def _done(_: Request) -> Reply:
    return Reply(200)


def _cassette(ran: Ran) -> Path:
    found = list(ran.directory.rglob("vcr-*.yaml"))
    assert len(found) == 1, ran.shown
    return found[0]


def _arrived(app: App) -> Counter[Any]:
    return Counter(app.wire())


def test_everything_goes_out_byte_for_byte(command: Command) -> None:
    with serving(_done, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "15", "--report", "vcr", inline=True)
        assert ran.code == 0, ran.shown
        wanted = _arrived(app)
        app.seen.clear()
        again = command.here("replay", str(_cassette(ran)))
        assert again.code == 0, again.shown
        assert _arrived(app) == wanted
    assert {body for _, _, _, body in wanted} > {b""}
    assert any(not body.isascii() for _, _, _, body in wanted)
    assert f"{sum(wanted.values())} replayed, 0 with another status" in again.stdout


def test_headers_with_several_values_go_out_as_several(command: Command) -> None:
    with serving(_done, DOCUMENT) as app:
        ran = command.run(
            app.document_url,
            *("--phases", "fuzzing", "-n", "1", "--include-path", "/form", "--report", "vcr"),
            inline=True,
        )
        path = _cassette(ran)
        cassette = cassette_of(path)
        (interaction,) = cassette["http_interactions"]
        interaction["request"]["headers"]["X-Many"] = ["one", "two, three", "four"]
        path.write_text(json.dumps(cassette))
        app.seen.clear()
        again = command.here("replay", str(path))
        assert again.code == 0, again.shown
    (request,) = app.seen
    assert request.headers["x-many"] == "one, two, three, four"


def test_a_masked_header_is_asked_for_by_name(command: Command) -> None:
    with serving(_done, DOCUMENT) as app:
        secret = "Authorization: Bearer xyzzy-4711"
        ran = command.run(
            app.document_url, "-n", "2", "--include-path", "/form", "-H", secret, "--report", "vcr", inline=True
        )
        assert ran.code == 0, ran.shown
        path = _cassette(ran)
        assert {request.headers["authorization"] for request in app.seen} == {"Bearer xyzzy-4711"}
        for file in command.directory.rglob("*"):
            assert not file.is_file() or b"xyzzy-4711" not in file.read_bytes(), file
        app.seen.clear()
        refused = command.here("replay", str(path))
        assert refused.code == 2
        assert "header Authorization was masked" in refused.shown
        assert "-H 'Authorization: ...'" in refused.shown
        assert app.seen == []
        given = command.here("replay", str(path), "-H", secret)
        assert given.code == 0, given.shown
    assert {request.headers["authorization"] for request in app.seen} == {"Bearer xyzzy-4711"}


def test_filters_choose_what_is_sent(command: Command) -> None:
    def answer(request: Request) -> Reply:
        is_broken = request.target.startswith(b"/form")
        return json_reply({}, 500) if is_broken else Reply(200)

    with serving(answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "3", "--no-shrink", "--report", "vcr", inline=True)
        assert ran.code == 1, ran.shown
        path = str(_cassette(ran))
        cassette = cassette_of(Path(path))
        sent = cassette["http_interactions"]
        for arguments, wanted in (
            (["--id", "2"], [each for each in sent if each["id"] == "2"]),
            (["--status", "FAILURE"], [each for each in sent if each["status"] == "FAILURE"]),
            (["--uri", "/text/"], [each for each in sent if "/text/" in each["request"]["uri"]]),
            (["--method", "^get$"], [each for each in sent if each["request"]["method"] == "GET"]),
        ):
            app.seen.clear()
            again = command.here("replay", path, *arguments)
            assert again.code == 0, again.shown
            assert len(wanted) > 0
            assert len(app.seen) == len(wanted), arguments


@pytest.mark.thorough
def test_failures_of_the_demo_change_their_status_when_it_is_fixed(command: Command) -> None:
    with Server() as server:
        ran = command.run(server.document_url, "--report", "vcr", "-n", "20", inline=True)
    path = _cassette(ran)
    recorded = interactions_of(path)
    changing = [each["id"] for each in recorded if each["status"] == "FAILURE"]
    assert changing != []
    with Server(fixed=True) as server:
        again = command.here("replay", str(path), "--url", server.url, "--status", "FAILURE")
    assert again.code == 0, again.shown
    assert f"{len(changing)} replayed, {len(changing)} with another status" in again.stdout
