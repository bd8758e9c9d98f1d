"""A value that kills whoever handles it: the case goes into quarantine, and costs nobody else anything."""

import json

import pytest

from checker.core import curl
from checker.workers.messages import EXTRA_INDEX
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.chaos import evidence
from tests.e2e.runner import Command

POISON = 7
INTERRUPTED = 130
MOST_STRUCK_ONCE = 3
"""One for each of the operations, which take turns after each death."""
DEATH = f"""
import os, signal
import checker

def handle(value):
    if value == {POISON}:
        with open("met", "a") as met:
            met.write("x")
        os.kill(os.getpid(), signal.SIGSEGV)
"""
HOOKS = {
    "map_body": """
@checker.hook
def map_body(ctx, body):
    handle(body["n"])
    return body
""",
    "before_call": """
@checker.hook
def before_call(ctx, case, kwargs):
    handle(case.body["n"])
""",
}


def _document() -> dict[str, object]:
    body = {
        "type": "object",
        "properties": {"n": {"enum": list(range(150))}, "note": {"type": "string"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    operation = {
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "ok"}},
    }
    paths = {f"/{name}": {"post": operation} for name in ("first", "second", "third")}
    return {"openapi": "3.0.3", "info": {"title": "Poison", "version": "1"}, "paths": paths}


def _answer(request: Request) -> Reply:
    is_wrong = request.target == b"/second" and json.loads(request.body)["n"] > 100
    return json_reply({}, 500 if is_wrong else 200)


def _has_quarantine(command: Command) -> bool:
    return any(evidence.quarantines(corpus) for corpus in command.directory.glob(".checker/*"))


def _findings(command: Command) -> set[str]:
    corpora = command.directory.glob(".checker/*")
    return {name for corpus in corpora for name in evidence.findings(corpus)}


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.thorough
def test_a_poison_value_is_met_and_quarantined_and_innocent_cases_are_not(command: Command, hook: str) -> None:
    (command.directory / "hooks.py").write_text(DEATH + HOOKS[hook])
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n\n[generation]\nmode = "positive"\n')
    with serving(_answer, _document()) as api:

        def is_all_met() -> bool:
            targets = {request.target for request in list(api.seen)}
            return len(targets) == 3 and _has_quarantine(command) and len(_findings(command)) == 1

        ran = command.until(
            is_all_met, "fuzz", api.document_url, "--continue-on-failure", "--max-time", "40",
            "--seed", "1", "--workers", "1", "--lanes", "8",
        )  # fmt: skip
    assert ran.code == INTERRUPTED, ran.shown
    assert "Traceback" not in ran.shown
    (corpus,) = command.directory.glob(".checker/*")
    # By chance several may come in a row: then the whole task is left alone, which is no case.
    poisoned = [one for one in evidence.quarantines(corpus) if one["index"] >= 0]
    assert poisoned != []
    told = {case["label"]: False for case in poisoned}
    for case in poisoned:
        # What extended a sequence is never made again: once is enough.
        strikes = 1 if case["index"] >= EXTRA_INDEX else 2
        assert (case["stage"], case["strikes"]) == ("hook", strikes)
        assert case["reason"] == "killed by SIGSEGV"
        command_line = case["request"].splitlines()[0]
        # Innocent cases of all lanes died with it twice; what is blamed is the one with the value.
        assert json.loads(curl.as_sent(command_line).body or b"")["n"] == POISON
        told[case["label"]] |= command_line in ran.stdout
    # Cases that end their workers alike are told once.
    assert all(told.values()), ran.shown
    deaths = len((command.directory / "met").read_text())
    struck = sum(case["strikes"] for case in poisoned)
    # When time was over, one case of each operation may have had its first.
    assert deaths - struck >= 0
    if hook == "before_call":
        # In the other stage workers die, too, while they make what extends a sequence: nobody is struck for that.
        assert deaths - struck <= MOST_STRUCK_ONCE
    # Nobody else lost a turn for it.
    assert ran.defects == [("POST /second", "not_a_server_error")]
    assert {request.target for request in api.seen} == {b"/first", b"/second", b"/third"}
    assert all(json.loads(request.body)["n"] != POISON for request in api.seen)


CHAIN = """
@checker.hook
def before_call(ctx, case, kwargs):
    if case.method == "GET" and case.path_parameters["id"] == "thing-12345":
        handle(7)
"""


def test_a_case_that_extends_a_sequence_is_blamed_at_once(command: Command) -> None:
    answer = {"type": "object", "properties": {"id": {"type": "string"}}}
    created = {"description": "ok", "content": {"application/json": {"schema": answer}}}
    parameter = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    number = {"name": "n", "in": "query", "schema": {"type": "integer"}}
    paths = {
        "/things": {"post": {"parameters": [number], "responses": {"200": created}}},
        "/things/{id}": {
            "get": {
                "parameters": [parameter],
                "responses": {"200": {"description": "ok"}, "404": {"description": "none"}},
            }
        },
    }
    document = {"openapi": "3.0.3", "info": {"title": "Chain", "version": "1"}, "paths": paths}
    (command.directory / "hooks.py").write_text(DEATH + CHAIN)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n\n[generation]\nmode = "positive"\n')

    def answered(request: Request) -> Reply:
        is_there = request.method == "POST" or request.target.endswith(b"thing-12345")
        return json_reply({"id": "thing-12345"}, 200 if is_there else 404)

    with serving(answered, document) as api:
        ran = command.until(
            lambda: _has_quarantine(command),
            "fuzz", api.document_url, "--continue-on-failure", "--max-time", "40", "--workers", "1",
        )  # fmt: skip
    assert ran.code == INTERRUPTED, ran.shown
    (corpus,) = command.directory.glob(".checker/*")
    assert {case["label"] for case in evidence.quarantines(corpus)} == {"GET /things/{id}"}
    assert f"curl -X GET {api.url}/things/thing-12345" in ran.stdout
