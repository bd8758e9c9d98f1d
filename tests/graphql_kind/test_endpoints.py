"""A base URL with a path is the endpoint itself, wherever the schema came from; one without stands before its path."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from graphql import build_schema, introspection_from_schema

import checker

SDL = "type Query { a: Int }"
SITE = "http://there"


def application(
    environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], Any]
) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps({"data": introspection_from_schema(build_schema(SDL))}).encode()]


@pytest.fixture(scope="module", params=["served", "file"])
def made(request: pytest.FixtureRequest) -> Any:
    if request.param == "served":
        schema = checker.graphql.from_wsgi("/graphql", application)
    else:
        schema = checker.graphql.from_file(SDL)
    return schema, schema["Query"]["a"].Case(body={})


@pytest.mark.parametrize("path", ["/graphql", "/graphql/", "/v2/query"])
def test_a_base_url_with_a_path_is_the_endpoint(made: Any, path: str) -> None:
    schema, case = made
    wanted = SITE + path.rstrip("/")
    assert schema.build_request_url(case, SITE + path) == wanted
    assert case.as_transport_kwargs(base_url=SITE + path)["url"] == wanted


def test_a_host_alone_is_followed_by_the_path_of_the_schema(made: Any) -> None:
    schema, case = made
    wanted = SITE + (schema["Query"]["a"].path or "/")
    assert schema.build_request_url(case, SITE) == wanted
    assert case.as_transport_kwargs(base_url=SITE)["url"] == wanted


def test_the_configured_url_is_the_endpoint(made: Any) -> None:
    schema, case = made
    schema.config.update(base_url=f"{SITE}/v3")
    assert f"{SITE}/v3\n" in case.as_curl_command() + "\n"
