"""Documents as they are: what is not by the book is read in the obvious way, and no verdict depends on it."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command, Ran

RESPONSES = {"200": {"description": "OK"}, "400": {"description": "Refused"}, "404": {"description": "Missing"}}


def described(paths: dict[str, Any]) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "Odd", "version": "1"}, "paths": paths}


def operation(*parameters: Any, **more: Any) -> dict[str, Any]:
    return {"parameters": list(parameters), "responses": RESPONSES, **more}


def parameter(name: str, place: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": schema}


NOT_ALLOWED = Reply(405, headers=(("Allow", "GET"),))


def assert_clean(ran: Ran) -> None:
    assert ran.findings == [], ran.shown
    assert list(ran.view.errors.values()) == [], ran.shown
    assert ran.code == 0, ran.shown


def test_operations_whose_paths_differ_in_a_fragment_are_served(command: Command) -> None:
    document = described(
        {
            "/users/{id}#byId": {"get": operation(parameter("id", "path", type="integer", minimum=1, maximum=99))},
            "/users/{name}#byName": {
                "get": operation(parameter("name", "path", type="string", pattern="^[a-z]{2,8}$"))
            },
            "/#Action=List": {"get": operation(parameter("Action", "query", enum=["List"]))},
            "/#Action=Get": {"get": operation(parameter("Action", "query", enum=["Get"]))},
        }
    )

    def answer(request: Request) -> Reply:
        if request.method != "GET":
            return NOT_ALLOWED
        path, _, query = request.target.decode().partition("?")
        if path == "/":
            actions = parse_qs(query).get("Action", [""])
            return Reply(200 if actions[0] in ("List", "Get") else 400)
        user = re.fullmatch(r"/users/([^/#]+)", unquote(path))
        return Reply(404) if user is None else Reply(200 if re.fullmatch(r"[1-9]\d?|[a-z]{2,8}", user[1]) else 400)

    with serving(answer, document) as app:
        ran = command.run_as_usual(app.document_url, "-n", "10", "--continue-on-failure", inline=True)
    assert_clean(ran)
    assert not any(b"#" in request.target or b"%23by" in request.target for request in app.seen)
    assert "With a 2xx response: 4" in ran.stdout


def test_no_verdict_depends_on_a_variable_in_another_notation(command: Command) -> None:
    identified = operation(parameter("id", "path", type="integer", minimum=1, maximum=99))
    paths = ("/case/{ID}", "/rx/{id:[0-9]+}", "/sp/{ id }", "/optional/{id?}", "noslash/{id}")
    document = described({**{path: {"get": identified} for path in paths}, "/undeclared/{id}": {"get": operation()}})

    def answer(request: Request) -> Reply:
        if request.method != "GET":
            return NOT_ALLOWED
        found = re.fullmatch(
            r"/(case|rx|sp|optional|noslash|undeclared)/([^/]+)", request.target.decode().split("?")[0]
        )
        if found is None:
            return Reply(404)
        return json_reply({}) if re.fullmatch(r"[1-9]\d?", unquote(found[2])) else Reply(400)

    with serving(answer, document) as app:
        ran = command.run_as_usual(app.document_url, "-n", "10", "--continue-on-failure", inline=True)
    assert_clean(ran)
    assert "Malformed parts of operations: 6" in ran.stdout


def test_a_repeated_key_is_told_in_the_report(command: Command) -> None:
    path = command.directory / "openapi.yaml"
    responses = "responses: {'200': {description: a}}"
    path.write_text(
        "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths:\n"
        f"  /a:\n    get: {{{responses}}}\n  /a:\n    get: {{{responses}}}\n"
    )
    with serving(lambda request: Reply(200) if request.method == "GET" else NOT_ALLOWED, {}) as app:
        ran = command.run_as_usual(str(path), "--url", app.url, "-n", "1", inline=True)
    assert_clean(ran)
    assert "Keys that occur twice in one object: 1" in ran.stdout
    assert "the key `/a` occurs twice in one object of " in ran.stdout


@pytest.mark.thorough
def test_no_verdict_depends_on_a_keyword_that_means_nothing(command: Command) -> None:
    def posting(**schema: Any) -> dict[str, Any]:
        whole = {"type": "object", "required": ["a"], "properties": {"a": schema}}
        return {"post": operation(requestBody={"required": True, "content": {"application/json": {"schema": whole}}})}

    document = described(
        {
            "/int": posting(type="int"),
            "/bounds": posting(type="integer", minimum="1", maximum="5"),
            "/misspelt": posting(type="integer", minimun=1, maximun=5),
            "/const": posting(const=3),
            "/query": {"get": operation(parameter("q", "query", type="int"))},
            "/pattern": {"get": operation(parameter("q", "query", type="string", pattern="/^[a-z]+$/"))},
            "/listed": {"get": operation(parameter("q", "query", type="string", enum=[1, 2]))},
            "/posix": {"get": operation(parameter("q", "query", type="string", pattern="^[[:lower:]]+$"))},
        }
    )
    rules = {"/int": range(-(2**70), 2**70), "/bounds": range(1, 6), "/misspelt": range(1, 6), "/const": range(3, 4)}

    def answer(request: Request) -> Reply:
        path, _, query = request.target.decode().partition("?")
        method = "POST" if path in rules else "GET"
        if request.method != method:
            return Reply(405, headers=(("Allow", method),))
        if method == "GET":
            text = parse_qs(query).get("q", [""])[0]
            right = {"/query": r"-?\d+(\.0+)?", "/listed": "[12]"}.get(path, "[a-z]+")
            return Reply(200 if re.fullmatch(right, text) else 400)
        try:
            value = json.loads(request.body)["a"]
        except (ValueError, TypeError, KeyError):
            return Reply(400)
        is_right = type(value) in (int, float) and value == int(value) and int(value) in rules[path]
        return Reply(200 if is_right and "json" in request.headers.get("content-type", "") else 400)

    with serving(answer, document) as app:
        ran = command.run_as_usual(app.document_url, "-n", "40", "--continue-on-failure", inline=True)
    assert_clean(ran)
    assert "Keywords that mean nothing: 8" in ran.stdout
    assert "Regular expressions that are not supported: 2" in ran.stdout
    assert {b"/listed?q=1", b"/listed?q=2"} <= {request.target for request in app.seen}
    assert any(request.target.startswith(b"/pattern?q=") and request.target[11:].isalpha() for request in app.seen)
