"""The examples are the table of the OpenAPI specification (3.1.1, 4.8.20.4.2) and their neighbours."""

import json
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.core.runtime_expressions import EvaluationContext, InvalidExpression, Unresolved, evaluate, parse_value

from .documents import operation

BODY = {"successUrl": "/ok", "a/b": 1, "failedUrl": None, "items": [{"id": 1}, {"id": 2}, {}], "m": {"x": {"id": 3}}}


def exchange() -> EvaluationContext:
    case = Case(
        operation({}, method="post", path="/users/{id}"),
        "1",
        path_parameters={"id": 7},
        query={"queryUrl": "http://q", "a.b": True},
        headers={"X-Trace": "t"},
        body={"user": {"uuid": "u-1"}},
    )
    request = WireRequest("POST", b"/users/7", [(b"Accept", b"application/json")])
    headers = [("Server", "srv"), ("Location", "http://h/users/42?x=1"), ("location", "second")]
    return EvaluationContext(
        case, Response(201, headers, json.dumps(BODY).encode(), request=request), "http://h/users/7"
    )


def first(found: Any) -> Any:
    return found[0]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("$url", "http://h/users/7"),
        ("$method", "POST"),
        ("$statusCode", 201),
        ("$request.path.id", 7),
        ("$request.query.queryUrl", "http://q"),
        ("$request.query.a.b", True),
        ("$request.header.accept", "application/json"),
        ("$request.header.x-trace", "t"),
        ("$request.body", {"user": {"uuid": "u-1"}}),
        ("$request.body#/user/uuid", "u-1"),
        ("$response.body#/successUrl", "/ok"),
        ("$response.body#/a~1b", 1),
        ("$response.body#/failedUrl", None),
        ("$response.body#/items/1/id", 2),
        ("$response.body#/items/*/id", 1),
        ("$response.body#/m/*/id", 3),
        ("$response.body#", BODY),
        ("$response.header.Server", "srv"),
        (r"$response.header.Location#regex:/users/(\d+)", "42"),
        (r"$response.body#/successUrl#regex:/(.+)", "ok"),
        (
            "http://h/{$request.path.id}?all={$request.query.a.b}&n={$response.body#/failedUrl}",
            "http://h/7?all=true&n=null",
        ),
        ("{$request.path.id}", "7"),
        ("plain {text} with id", "plain {text} with id"),
        ({"a": ["$statusCode", 5], "b": None}, {"a": [201, 5], "b": None}),
    ],
)
def test_expression_has_the_value_of_the_interaction(raw: Any, value: Any) -> None:
    assert evaluate(parse_value(raw), exchange(), first) == value


def test_every_candidate_of_a_wildcard_is_offered() -> None:
    offered: list[Any] = []

    def last(found: Any) -> Any:
        offered.extend(found)
        return found[-1]

    assert evaluate(parse_value("$response.body#/items/*/id"), exchange(), last) == 2
    assert offered == [1, 2]


@pytest.mark.parametrize(
    "raw",
    [
        "$response.body#/none",
        "$response.body#/items/9",
        "$response.body#/items/x",
        "$response.body#/successUrl/deeper",
        "$response.header.None",
        "$request.query.none",
        "$response.header.Server#regex:(z)",
        "x{$request.path.none}",
        ["$request.path.none"],
        {"a": {"b": "$request.path.none"}},
    ],
)
def test_value_that_is_not_there_is_unresolved(raw: Any) -> None:
    found = evaluate(parse_value(raw), exchange(), first)
    assert isinstance(found, Unresolved)
    assert found.expression.startswith("$")


def test_body_that_is_not_json_has_no_values() -> None:
    plain = EvaluationContext(exchange().case, Response(200, [], b"<a/>"))
    assert isinstance(evaluate(parse_value("$response.body#/id"), plain, first), Unresolved)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("$response.body.id", "write `$response.body#/id`"),
        ("$request.body.user.id", "write `$request.body#/user/id`"),
        ("$response.query.x", "use `$request.query`"),
        ("$response.path.x", "use `$request.path`"),
        ("$request.header", "names no header"),
        ("$request.query.", "not a runtime expression"),
        ("$request.header.a b", "names no header"),
        ("$nothing", "not a runtime expression"),
        ("$response.bodyx", "not a runtime expression"),
        ("$request.path.id#/a", "belongs to a body"),
        ("$response.body#id", "starts with `/`"),
        ("$response.header.A#regex:x", "0 groups"),
        ("$response.header.A#regex:(a)(b)", "2 groups"),
        ("$response.header.A#regex:(", "is invalid"),
        ("x{$statuscode}", "not a runtime expression"),
        ([{"a": "$x"}], "not a runtime expression"),
    ],
)
def test_invalid_expression_says_what_to_write(raw: Any, words: str) -> None:
    with pytest.raises(InvalidExpression) as caught:
        parse_value(raw)
    assert words in str(caught.value)
