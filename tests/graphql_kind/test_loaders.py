"""Schemas loaded from Python: from applications, files and values, narrowed by filters, and sent to."""

import json
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, graphql_sync, introspection_from_schema
from hypothesis import given, settings

import checker
from tests.apps.graphql import graphene_staff, strawberry_library
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.graphql_kind.library import SDL


def test_an_asgi_application_says_its_schema_and_answers() -> None:
    app = strawberry_library.library(planted=False)
    schema = checker.graphql.from_asgi("/graphql", app)
    assert "addBook" in schema["Mutation"]
    case = schema["Query"]["books"].Case(body={"arguments": {"limit": 1}, "selection": ["title"]})
    response = case.call_and_validate()
    assert response.json() == {"data": {"books": [{"id": "0", "title": "Book 0"}]}}


def test_a_wsgi_application_says_its_schema_and_answers() -> None:
    app = graphene_staff.staff(planted=False)
    schema = checker.graphql.from_wsgi("/graphql", app)
    assert list(schema) == ["query", "mutation"]
    operation = schema["query"]["average"]
    response = operation.Case(body={"arguments": {"numbers": [1, 3]}}).call()
    assert response.status_code == 200
    assert response.json() == {"data": {"average": 1.0}}


def test_an_application_without_graphql_is_told_where_to_look() -> None:
    app = strawberry_library.library(planted=False)
    with pytest.raises(checker.errors.LoaderError, match=r"\(HTTP 404 Not Found\); give the path of its GraphQL"):
        checker.graphql.from_asgi("/nowhere", app)


def test_files_and_values_are_the_same_schema(tmp_path: Path) -> None:
    (tmp_path / "library.gql").write_text(SDL)
    found = dict(introspection_from_schema(build_schema(SDL)))
    for schema in (
        checker.graphql.from_path(tmp_path / "library.gql"),
        checker.graphql.from_file(SDL),
        checker.graphql.from_dict({"data": found}),
    ):
        assert schema["Query"]["book"].label == "Query.book"
        assert len(schema["Query"]) == 7


def test_filters_choose_by_name_and_leave_out_what_is_deprecated() -> None:
    schema = checker.graphql.from_file(SDL)
    assert list(schema.include(name="Query.book")["Query"]) == ["book"]
    assert list(schema.include(name_regex=r"\.book")["Query"]) == ["book", "books"]
    assert "old" in schema["Query"]
    assert "old" not in schema.exclude(deprecated=True)["Query"]


def test_an_endpoint_is_asked_with_the_headers_that_were_given() -> None:
    described = {"data": dict(introspection_from_schema(build_schema(SDL)))}

    def answer(request: Request) -> Reply:
        is_known = request.headers.get("x-key") == "secret"
        return json_reply(described if is_known else {"errors": [{"message": "no"}]}, 200 if is_known else 401)

    with serving(answer, {}) as app:
        url = f"{app.url}/api"
        with pytest.raises(checker.errors.LoaderError, match="401"):
            checker.graphql.from_url(url)
        schema = checker.graphql.from_url(url, headers={"X-Key": "secret"}, wait_for_schema=5)
        assert schema["Query"]["book"].path == "/api"
        assert [(one.method, one.target) for one in app.seen] == [("POST", b"/api")] * 2
        assert all("__schema" in json.loads(one.body)["query"] for one in app.seen)


ONE_OF = "input Pick @oneOf { a: String b: Int } type Query { thing(pick: Pick!): String }"


def _introspected(request: Request, *, knows_one_of: bool, status: int) -> Reply:
    schema = build_schema(ONE_OF)
    query = json.loads(request.body)["query"]
    if "isOneOf" in query and not knows_one_of:
        message = 'Cannot query field "isOneOf" on type "__Type".' if status == 500 else "invalid"
        return json_reply({"errors": [{"message": message}]}, status)
    answer = graphql_sync(schema, query).formatted
    data: dict[str, Any] = answer["data"] or {}
    for kind in data["__schema"]["types"] if "isOneOf" in query else ():
        # Strawberry replaces the resolver of this field in the whole process.
        kind["isOneOf"] = kind["name"] == "Pick"
    return json_reply(answer)


def test_introspection_tells_which_inputs_take_one_field() -> None:
    with serving(lambda one: _introspected(one, knows_one_of=True, status=200), {}) as app:
        schema = checker.graphql.from_url(f"{app.url}/graphql")
        assert len(app.seen) == 1
    drawn = []

    @settings(max_examples=40, database=None, deadline=None)
    @given(schema["Query"]["thing"].as_strategy())
    def collect(case: checker.Case) -> None:
        drawn.append(case.body["arguments"]["pick"])

    collect()
    assert {len(one) for one in drawn} == {1}
    assert {name for one in drawn for name in one} == {"a", "b"}


@pytest.mark.parametrize("status", [200, 400, 422, 500])
def test_introspection_is_repeated_for_servers_without_one_of(status: int) -> None:
    with serving(lambda one: _introspected(one, knows_one_of=False, status=status), {}) as app:
        schema = checker.graphql.from_url(f"{app.url}/graphql")
        asked = ["isOneOf" in json.loads(one.body)["query"] for one in app.seen]
    assert asked == [True, False]
    assert "thing" in schema["Query"]


def test_an_endpoint_is_asked_through_the_proxy_that_was_given() -> None:
    described = {"data": dict(introspection_from_schema(build_schema(SDL)))}
    with serving(lambda request: json_reply(described), {}) as proxy:
        schema = checker.graphql.from_url("http://service.test/graphql", proxy=proxy.url)
        assert [one.target for one in proxy.seen] == [b"http://service.test/graphql"]
        assert schema["Query"]["book"].base_url == "http://service.test"
