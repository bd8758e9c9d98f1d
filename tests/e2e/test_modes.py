"""Wrong data in a real run: it arrives, it is named, it shrinks to what is still wrong, and it raises no false alarm."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.apps.document import read
from tests.apps.http import Reply, Request
from tests.apps.mock import Mock
from tests.apps.serving import json_reply, serving
from tests.e2e.documents import smoke_documents
from tests.e2e.runner import Command

LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}}
FREE = {"name": "free", "in": "query", "schema": {"type": "string"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Modes", "version": "1"},
    "paths": {
        "/items": {"get": {"parameters": [LIMIT], "responses": {"default": {"description": ""}}}},
        "/words": {"get": {"parameters": [FREE], "responses": {"default": {"description": ""}}}},
    },
}


def _limits(request: Request) -> list[str]:
    query = urlsplit(request.target.decode()).query
    return parse_qs(query, keep_blank_values=True).get("limit", [])


def _answer(request: Request) -> Reply:
    """Fails for limits that are no whole numbers, as a server does that only counts on them."""
    is_wrong = any(not text.lstrip("-").isdigit() for text in _limits(request))
    return json_reply({}, status=500 if is_wrong else 200)


# These servers take whatever comes, from anybody.
_LENIENT = ("--exclude-checks", "negative_data_rejection,ignored_auth")
_NEGATIVE = ("--phases", "fuzzing", "--mode", "negative", *_LENIENT)


def test_only_valid_data_is_sent_unless_other_is_asked_for(command: Command) -> None:
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "30", inline=True)
    assert ran.findings == []
    assert all(int(text) >= 1 for request in app.seen for text in _limits(request))


def test_failures_of_wrong_data_stay_wrong_when_they_shrink(command: Command) -> None:
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, *_NEGATIVE, "-n", "60", inline=True)
    (finding,) = ran.findings
    assert finding.check == "not_a_server_error"
    assert finding.interactions[-1].mode == "negative"
    assert finding.investigation.reproduced is True
    assert "limit=" in finding.investigation.reproduction
    assert not any(text.lstrip("-").isdigit() and int(text) >= 1 for r in app.seen for text in _limits(r))


def test_operations_that_take_everything_are_skipped_not_broken(command: Command) -> None:
    with serving(lambda request: json_reply({}), DOCUMENT) as app:
        ran = command.run(app.document_url, *_NEGATIVE, "-n", "5", inline=True)
    assert ran.code == 0
    assert list(ran.view.errors.values()) == []
    assert "skipped: no invalid request is possible" in ran.stdout
    assert "1 passed" in ran.stdout
    assert "1 skipped" in ran.stdout
    assert {request.target.decode().partition("?")[0] for request in app.seen} == {"/items"}


def test_a_run_that_skips_everything_is_no_error(command: Command) -> None:
    paths = {"/free": {"get": {"responses": {"200": {"description": ""}}}}}
    with serving(lambda request: json_reply({}), {**DOCUMENT, "paths": paths}) as app:
        ran = command.run(app.document_url, "--mode", "negative", inline=True)
    assert ran.code == 0, ran.shown
    assert "Error" not in ran.stdout + ran.stderr
    assert "1 skipped" in ran.stdout


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("path", smoke_documents()[1::6], ids=lambda path: path.name)
def test_wrong_data_raises_no_false_alarm(path: Path, command: Command) -> None:
    document = read(path)
    mock = Mock(document)
    with serving(mock, document) as app:
        arguments = ("--url", app.url, "-n", "4", "--mode", "all", *_LENIENT)
        ran = command.run(str(path), *arguments, inline=True)
    assert ran.findings == [], ran.shown
    assert list(ran.view.errors.values()) == [], ran.shown
