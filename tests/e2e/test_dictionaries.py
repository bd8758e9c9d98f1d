"""Dictionaries, overrides and declared examples of a real run: what arrives, what is found, and that it is repeated exactly."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command, Ran

TEXT = {"type": "string"}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Words", "version": "1"},
    "paths": {
        "/search": {
            "post": {
                "parameters": [
                    {"name": "q", "in": "query", "required": True, "schema": TEXT},
                    {"name": "X-Tenant", "in": "header", "schema": TEXT},
                    {
                        "name": "page",
                        "in": "query",
                        "schema": {"type": "integer"},
                        "examples": {"far": {"value": 424242}, "wrong": {"value": "no integer"}},
                    },
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"owner": TEXT, "note": TEXT},
                                "required": ["owner", "note"],
                            }
                        }
                    },
                },
                "responses": {"200": {"description": "found"}},
            }
        }
    },
}
CONFIG = """
[dictionaries.operators]
from-file = "operators.dict"

[parameters]
"query.q" = { dictionary = "operators", probability = 0.3 }
X-Tenant = "everybody"
"body.owner" = "somebody"

[[operations]]
include-path = "/search"
parameters = { X-Tenant = "mine" }
"""
OPERATORS = '# of the search\nand="AND"\nor="OR"\nnot="NOT \\"x\\""\n'


def _query(request: Request) -> dict[str, str]:
    found = parse_qs(urlsplit(request.target.decode()).query, keep_blank_values=True)
    return {name: values[0] for name, values in found.items()}


def _answer(request: Request) -> Reply:
    """Fails for one operator, and only with the owner that the file asks for."""
    is_hit = _query(request).get("q") == "OR" and json.loads(request.body)["owner"] == "somebody"
    return json_reply({}, 500 if is_hit else 200)


def _configured(command: Command) -> None:
    (command.directory / "checker.toml").write_text(CONFIG, encoding="utf-8")
    (command.directory / "operators.dict").write_text(OPERATORS, encoding="utf-8")


def _cassette(ran: Ran) -> Path:
    (found,) = ran.directory.rglob("vcr-*.yaml")
    return found


def test_words_and_overrides_arrive_and_lead_to_a_finding(command: Command) -> None:
    _configured(command)
    with serving(_answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "120", "--continue-on-failure", inline=True)
        seen = list(app.seen)
    assert ran.code == 1, ran.shown
    assert ("POST /search", "not_a_server_error") in ran.defects
    words = Counter(_query(request)["q"] for request in seen)
    assert min(words["AND"], words["OR"], words['NOT "x"']) >= 4
    assert {request.headers["x-tenant"] for request in seen} == {"mine"}
    assert {json.loads(request.body)["owner"] for request in seen} == {"somebody"}
    pages = {_query(request).get("page") for request in seen}
    assert "424242" in pages
    assert "no integer" not in pages
    (finding,) = [one for one in ran.findings if one.check == "not_a_server_error"]
    # Small, but for what is forced and what makes it fail.
    assert "q=OR" in finding.investigation.reproduction
    assert '"note":""' in finding.investigation.reproduction.replace(" ", "")


@pytest.mark.thorough
def test_the_same_seed_sends_the_same_bytes_and_a_replay_as_well(command: Command) -> None:
    _configured(command)
    sent = []
    with serving(lambda _: json_reply({}), DOCUMENT) as app:
        for workers, more in ((1, ("--report", "vcr")), (2, ())):
            ran = command.run(app.document_url, "-n", "30", *more, workers=workers)
            assert ran.code == 0, ran.shown
            sent.append(Counter(app.wire()))
            app.seen.clear()
        again = command.here("replay", str(_cassette(ran)))
        assert again.code == 0, again.shown
        sent.append(Counter(app.wire()))
    first, second, replayed = sent
    assert first == second
    assert first == replayed


def test_inputs_that_have_to_be_unique_end_when_there_are_no_more(command: Command) -> None:
    answer = {"responses": {"200": {"description": "found"}}}
    few = {"name": "kind", "in": "query", "schema": {"enum": ["a", "b", "c"]}, "required": True}
    document = DOCUMENT | {"paths": {"/few": {"get": {**answer, "parameters": [few]}}}}
    with serving(lambda _: json_reply({}), document) as app:
        ran = command.run(
            *(app.document_url, "-n", "50", "--generation-unique-inputs", "--phases", "fuzzing"), inline=True
        )
        targets = [request.target for request in app.seen]
    assert ran.code == 0, ran.shown
    assert sorted(targets) == [b"/few?kind=a", b"/few?kind=b", b"/few?kind=c"]
