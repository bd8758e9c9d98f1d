"""Bodies that are queries already go out as they are, and are judged like all others."""

import json
from typing import Any

import pytest
from graphql import build_schema, parse, validate

import checker
from checker.core.errors import LoaderError
from checker.kinds.sources import DIRECT, UrlSource
from checker.kinds.table import open_description
from tests.apps.graphql.careless import SDL, Careless
from tests.apps.http import Reply, Request
from tests.apps.serving import serving
from tests.graphql_kind.making import opened, operations

RIGHT = "query ($a: Int!) { count(a: $a) }"
TEXT = "type Query { count(a: Int!): Int }"


def sent(body: Any) -> Any:
    operation = next(operations(opened(TEXT)))
    write = operation.bodies[0].write
    assert write is not None
    return json.loads(write(body))


def test_texts_are_queries() -> None:
    assert sent("{ count(a: 1) }") == {"query": "{ count(a: 1) }"}


def test_requests_go_out_as_they_are() -> None:
    body = {"query": RIGHT, "variables": {"a": 1}, "operationName": None}
    assert sent(body) == body


@pytest.mark.parametrize(
    ("body", "is_wrong"),
    [
        ("{ count(a: 1) }", False),
        ("{ count }", True),
        ("", True),
        ('{ "\\', True),
        ({"query": RIGHT, "variables": {"a": 1}}, False),
        ({"query": RIGHT, "variables": {"a": "1"}}, True),
        ({"query": RIGHT, "arguments": {"a": 1}}, True),
        ({"arguments": {"a": "1", "b": 2}}, False),
    ],
)
def test_whether_they_are_wrong_is_for_the_rules_to_say(body: Any, is_wrong: bool) -> None:
    wrong = next(operations(opened(TEXT))).bodies[0].is_wrong
    assert wrong is not None
    assert wrong(body) is is_wrong


def test_they_are_called_and_judged() -> None:
    with serving(Careless(planted=True).answer, {}) as app:
        schema = checker.graphql.from_file(SDL)
        schema.config.update(base_url=f"{app.url}/graphql")
        query = schema["Query"]["count"]
        case = query.Case(body="{ count }")
        assert case.call().json() == {"data": {"count": "1"}}
        assert '{"query":"{ count }"}' in case.as_curl_command()
        with pytest.raises(checker.errors.FailureGroup) as caught:
            case.call_and_validate()
    assert "'1' is no `Int`" in str(caught.value.exceptions[0])


@pytest.mark.parametrize("status", [500, 502, 503])
def test_how_a_strange_question_is_refused_hides_nothing(status: int) -> None:
    def answer(request: Request) -> Reply:
        if request.method == "POST":
            return Reply(status, "text/plain", b"boom")
        return Reply(200, "text/html", b"<html>hello</html>")

    with serving(answer, {}) as app:
        source = UrlSource(f"{app.url}/docs")
        with pytest.raises(LoaderError) as caught:
            open_description(source, DIRECT)
        assert str(status) not in str(caught.value)
        with pytest.raises(LoaderError, match=f"{status}"):
            open_description(UrlSource(f"{app.url}/graphql"), DIRECT)


ERRORS = """
type UserError { message: String!  code: Int  field: [String!] }
type Missing { message: String! }
type Taken { message: String  code: String! }
type Note { id: ID!  message: String! }
union Result = Note | Missing | Taken
type Payload { note: Note  errors: [UserError!]! }
type Query { found: Result  done: Payload  note: Note }
"""


@pytest.mark.parametrize(
    ("field", "selected", "query"),
    [
        (
            "found",
            {},
            "{ found { __typename ... on Missing { message } ... on Taken { code Taken_message: message } } }",
        ),
        ("done", {"selection": ["errors.message"]}, "{ done { errors { code message } } }"),
        ("note", {}, "{ note { id } }"),
    ],
)
def test_messages_and_codes_of_errors_are_selected(field: str, selected: dict[str, Any], query: str) -> None:
    (one,) = [one for one in operations(opened(ERRORS)) if str(one.label) == f"Query.{field}"]
    write = one.bodies[0].write
    assert write is not None
    written = json.loads(write({"arguments": {}, **selected}))["query"]
    assert written.partition("{ ")[2] == query.partition("{ ")[2]
    assert validate(build_schema(ERRORS), parse(written)) == []
