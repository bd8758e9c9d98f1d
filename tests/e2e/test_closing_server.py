"""Servers that close kept connections without a word, as many do after so many requests."""

import pytest

import checker
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Closing", "version": "1"},
    "paths": {
        "/things": {
            method: {
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
                "responses": {"200": {"description": "a thing"}},
            }
            for method in ("get", "post", "delete")
        }
    },
}


def answer(request: Request) -> Reply:
    return json_reply({"id": 1})


@pytest.mark.parametrize("lanes", ["1", "8"])
def test_a_connection_that_is_closed_without_a_word_is_no_network_error(command: Command, lanes: str) -> None:
    with serving(answer, DOCUMENT, per_connection=7) as app:
        ran = command.run(app.document_url, "-n", "200", "--lanes", lanes, inline=True)
    assert ran.code == 0, ran.shown
    assert not ran.view.errors, ran.shown
    assert len(app.seen) >= 600


def test_calls_of_the_library_do_not_fail_for_it() -> None:
    with serving(answer, DOCUMENT, per_connection=7) as app:
        schema = checker.openapi.from_url(app.document_url)
        cases = [schema["/things"][method].Case() for method in ("GET", "POST") for _ in range(40)]
        assert {case.call().status_code for case in cases} == {200}
