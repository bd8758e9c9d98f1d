"""Every member that users of Python have, by public names alone: one small check for each.

What a member does at length stands in the tests of its room; here none may be missing, or mean something else. Those that act
on others stand in `test_registration_at_work`, loaders and state machines have tests of their own.
"""

import base64
import json
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import requests
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

import checker
from checker.checks.table import BUILT_IN

QUICK = settings(database=None, phases=[Phase.generate], max_examples=30, suppress_health_check=list(HealthCheck))
Row = Callable[[SimpleNamespace], object]

ITEM = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
OK = {"200": {"description": "", "content": {"application/json": {"schema": ITEM}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Items", "version": "1"},
    "security": [{"key": []}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "paths": {
        "/items/{id}": {
            "get": {
                "operationId": "getItem",
                "tags": ["items"],
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                    {"name": "q", "in": "query", "schema": {"type": "string"}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    {"name": "session", "in": "cookie", "schema": {"type": "string"}},
                ],
                "responses": OK,
            }
        },
        "/items": {
            "post": {
                "deprecated": True,
                "requestBody": {"content": {"application/json": {"schema": ITEM, "example": {"id": 5}}}},
                "responses": OK,
            }
        },
        "/files": {
            "post": {
                "security": [],
                "requestBody": {"required": True, "content": {"application/unknown": {"schema": {"type": "object"}}}},
                "responses": OK,
            }
        },
    },
}


@pytest.fixture
def it(api) -> SimpleNamespace:
    """What a user holds: a schema, operations, a case, a response."""
    document = json.loads(json.dumps(DOCUMENT))
    document["servers"] = [{"url": f"{api.url}/v1"}]
    schema = checker.openapi.from_dict(document)
    get, post = schema["/items/{id}"]["GET"], schema["/items"]["POST"]
    case = get.Case(path_parameters={"id": 7}, query={"q": "a b"})
    headers = [("Content-Type", "application/json; charset=utf-8"), ("X-Two", "1"), ("X-Two", "2")]
    response = checker.Response(200, headers, b'{"id":1}', message="OK")
    return SimpleNamespace(schema=schema, get=get, post=post, case=case, response=response, api=api)


RESPONSE: dict[str, Row] = {
    "status_code": lambda it: it.response.status_code == 200,
    "message": lambda it: it.response.message == "OK",
    "headers": lambda it: it.response.headers["x-two"] == ["1", "2"],
    "content": lambda it: it.response.content == b'{"id":1}',
    "content_size": lambda it: (it.response.content_size, checker.Response(204, [], b"").content_size) == (8, 0),
    "body_size": lambda it: (it.response.body_size, checker.Response(204, [], b"").body_size) == (8, None),
    "is_truncated": lambda it: (it.response.is_truncated, it.response.truncated(3).is_truncated) == (False, True),
    "text": lambda it: checker.Response(200, [("Content-Type", "text/plain; charset=latin-1")], b"\xe9").text == "é",
    "encoded_body": lambda it: base64.b64decode(it.response.encoded_body) == it.response.content,
    "encoding": lambda it: it.response.encoding == "utf-8",
    "elapsed": lambda it: 0 < it.case.call().elapsed < 60,
    "http_version": lambda it: it.case.call().http_version in ("1.0", "1.1"),
    "request": lambda it: it.case.call().request.method == "GET",
    "verify": lambda it: it.response.verify is True,
    "json": lambda it: it.response.json() == {"id": 1},
    "json of what is none": lambda it: raises(json.JSONDecodeError, checker.Response(200, [], b"{").json),
    "text_lossy": lambda it: checker.Response(200, [], b"a\xff").text_lossy() == "a\ufffd",
    "text_lossy of a charset that is none": lambda it: checker.Response(200, [("Content-Type", "text/plain; charset=none")], b"a").text_lossy() == "a",
    "truncated": lambda it: (it.response.truncated(3).content, it.response.truncated(3).body_size) == (b'{"i', 8),
    "clear_cache": lambda it: cleared(it.response),
    "stream_cut_short": lambda it: it.response.stream_cut_short is False,
    "from_requests": lambda it: checker.Response.from_requests(requests.get(it.api.url)).status_code == 200,
    "from_httpx": lambda it: checker.Response.from_httpx(httpx.Response(201, json=1)).json() == 1,
    "from_any": lambda it: checker.Response.from_any(it.response) is it.response,
}  # fmt: skip

CASE: dict[str, Row] = {
    "id": lambda it: isinstance(it.case.id, str) and it.case.id != it.get.Case().id,
    "method": lambda it: it.case.method == "GET",
    "path": lambda it: it.case.path == "/items/{id}",
    "formatted_path": lambda it: it.case.formatted_path == "/items/7",
    "path_parameters": lambda it: it.case.path_parameters == {"id": 7},
    "query": lambda it: it.case.query == {"q": "a b"},
    "headers": lambda it: it.get.Case(headers={"X-Trace": "1"}).headers["x-trace"] == "1",
    "headers in any letter case": lambda it: headers_of(it) == ({"X-Trace": "3", "X-B": "2"}, "3", True, None),
    "cookies": lambda it: it.get.Case(cookies={"session": "1"}).cookies == {"session": "1"},
    "body": lambda it: it.post.Case(body={"id": 1}).body == {"id": 1},
    "body that is absent": lambda it: it.post.Case().body is checker.NOT_SET,
    "media_type": lambda it: it.post.Case(body={"id": 1}).media_type == "application/json",
    "multipart_content_types": lambda it: not it.case.multipart_content_types,
    "meta": lambda it: it.case.meta is None and drawn(it).meta.generation.mode is checker.GenerationMode.POSITIVE,
    "meta of a changed case": lambda it: changed(drawn(it)).meta.components["path"].mode is checker.GenerationMode.NEGATIVE,
    "derive": lambda it: it.case.derive(query={"q": "c"}).query == {"q": "c"} and it.case.query == {"q": "a b"},
    "equal by what is sent": lambda it: len({it.case, it.get.Case(path_parameters={"id": 7}, query={"q": "a b"})}) == 1,
    "as_curl_command": lambda it: it.case.as_curl_command(headers={"X-A": "1"}, verify=False) == f"curl -X GET --insecure -H 'X-A: 1' '{it.api.url}/v1/items/7?q=a%20b'",
    "as_transport_kwargs": lambda it: {"method", "url", "headers"} <= it.case.as_transport_kwargs().keys(),
    "get_container": lambda it: (it.case.get_container("query"), it.case.get_container("none")) == ({"q": "a b"}, None),
    "call": lambda it: it.case.call(headers={"X-A": "1"}, params={"q": "z"}, cookies={"c": "d"}).status_code == 200 and sent(it) == ("GET", "/v1/items/7?q=z", "1", "c=d"),
    "call with a base URL": lambda it: it.case.call(f"{it.api.url}/v2") and sent(it)[1] == "/v2/items/7?q=a%20b",
    "call with a session": lambda it: it.case.call(session=httpx.Client(headers={"X-A": "2"})) and sent(it)[2] == "2",
    "call with auth": lambda it: it.case.call(it.api.url, auth=("u", "p")) and it.api.requests[-1][2]["authorization"] == "Basic dTpw",
    "call_and_validate": lambda it: it.case.call_and_validate(checks=[always]).status_code == 200,
    "call_and_validate that fails": lambda it: raises(checker.errors.FailureGroup, it.case.call_and_validate, checks=[never]),
    "validate_response": lambda it: it.case.validate_response(it.response) is None,
    "validate_response that fails": lambda it: raises(checker.errors.FailureGroup, it.case.validate_response, it.response, additional_checks=(never,)),
    "validate_response of excluded checks": lambda it: it.case.validate_response(it.response, checks=[never], excluded_checks=[never]) is None,
}  # fmt: skip

OPERATION: dict[str, Row] = {
    "Case": lambda it: it.get.Case(method="POST").method == "POST",
    "as_strategy": lambda it: first(it.get.as_strategy(generation_mode="positive")).operation.label == "GET /items/{id}",
    "as_strategy with parts": lambda it: first(it.get.as_strategy(query=st.just({"q": "x"}))).query == {"q": "x"},
    "strategies of several": lambda it: {first(it.get.as_strategy() | it.post.as_strategy(), partial(has_method, one)).method for one in ("GET", "POST")} == {"GET", "POST"},
    "get_parameter": lambda it: it.get.get_parameter("q", "query").name == "q",
    "get_parameter_set": lambda it: [one.name for one in it.get.get_parameter_set("path")] == ["id"],
    "iter_parameters": lambda it: [one.name for one in it.get.iter_parameters()] == ["id", "q", "X-Trace", "session"],
    "get_bodies_for_media_type": lambda it: [one.media_type for one in it.post.get_bodies_for_media_type("application/json")] == ["application/json"],
    "get_body_for_media_type": lambda it: it.post.get_body_for_media_type("text/none") is None,
    "get_request_payload_content_types": lambda it: list(it.post.get_request_payload_content_types()) == ["application/json"],
    "get_strategies_from_examples": lambda it: [first(one).body for one in it.post.get_strategies_from_examples()] == [{"id": 5}],
    "is_valid_response": lambda it: (it.get.is_valid_response(it.response), it.get.is_valid_response(httpx.Response(200, json={}))) == (True, False),
    "validate_response": lambda it: it.get.validate_response(it.response, case=it.case) is None,
    "validate_response that fails": lambda it: raises((checker.errors.Failure, checker.errors.FailureGroup), it.get.validate_response, httpx.Response(200, json={})),
    "label": lambda it: it.get.label == "GET /items/{id}",
    "method": lambda it: it.get.method.upper() == "GET",
    "path": lambda it: it.get.path == "/items/{id}",
    "full_path": lambda it: it.get.full_path == "/v1/items/{id}",
    "tags": lambda it: list(it.get.tags) == ["items"],
    "operation_id": lambda it: it.get.operation_id == "getItem",
    "deprecated": lambda it: (it.get.deprecated, it.post.deprecated) == (False, True),
    "definition": lambda it: it.get.definition.raw["operationId"] == "getItem",
    "responses": lambda it: list(it.get.responses) == ["200"],
    "security": lambda it: bool(it.get.security),
    "schema": lambda it: it.get.schema is it.schema,
    "app": lambda it: it.get.app is None,
    "base_url": lambda it: it.get.base_url == f"{it.api.url}/v1",
    "has_skipped_required_body": lambda it: (it.schema["/files"]["POST"].has_skipped_required_body, it.post.has_skipped_required_body) == (True, False),
    "path_parameters": lambda it: [one.name for one in it.get.path_parameters] == ["id"],
    "query": lambda it: [one.name for one in it.get.query] == ["q"],
    "headers": lambda it: [one.name for one in it.get.headers] == ["X-Trace"],
    "cookies": lambda it: [one.name for one in it.get.cookies] == ["session"],
    "body": lambda it: [one.media_type for one in it.post.body] == ["application/json"],
    "a parameter": lambda it: parameter(it.get.get_parameter("id", "path")) == ("id", "path", True, "integer"),
    "is_valid of a parameter": lambda it: [it.get.get_parameter("id", "path").is_valid(one) for one in (1, "a")] == [True, False],
}  # fmt: skip

SCHEMA: dict[str, Row] = {
    "base_path": lambda it: it.schema.base_path == "/v1/",
    "declared_base_url": lambda it: it.schema.declared_base_url == f"{it.api.url}/v1",
    "reauth_state": lambda it: it.schema.reauth_state is not it.schema.reauth_state,
    "by path and method": lambda it: it.schema["/items"]["post"].label == "POST /items",
    "len and iter": lambda it: (len(it.schema), list(it.schema)) == (3, ["/items/{id}", "/items", "/files"]),
    "in": lambda it: "/items" in it.schema and "/none" not in it.schema,
    "a miss": lambda it: "Did you mean `/items`?" in str(raises(LookupError, it.schema.__getitem__, "/item")),
    "str": lambda it: str(it.schema) == "<OpenApiSchema for Items 1>",
    "get_all_operations": lambda it: [one.label for one in it.schema.get_all_operations()] == ["GET /items/{id}", "POST /items", "POST /files"],
    "include": lambda it: list(it.schema.include(method="POST", path_regex="^/items")) == ["/items"],
    "include by function": lambda it: list(it.schema.include(lambda ctx: ctx.operation.operation_id == "getItem")) == ["/items/{id}"],
    "exclude": lambda it: list(it.schema.exclude(deprecated=True).exclude(tag=["items"])) == ["/files"],
    "as_strategy": lambda it: first(it.schema.as_strategy(), lambda case: case.method == "GET").method == "GET",
    "as_strategy of a path": lambda it: first(it.schema["/items"].as_strategy()).method == "POST",
    "as_state_machine": lambda it: issubclass(it.schema.as_state_machine(), checker.stateful.APIStateMachine),
    "given": lambda it: callable(it.schema.given(number=st.integers())(lambda case, number: None)),
    "auth.set_from_requests": lambda it: it.schema.auth.set_from_requests(requests.auth.HTTPBasicAuth("u", "p")) is not NotImplemented and it.case.call() and it.api.requests[-1][2]["authorization"] == "Basic dTpw",
    "apply_auth": lambda it: it.schema.apply_auth(it.case, checker.AuthContext(it.get)) is False,
    "build_request_url": lambda it: it.schema.build_request_url(it.case, "http://a/v") == "http://a/v/items/7",
    "evaluate_server_error": lambda it: raises(checker.errors.FailureGroup, it.schema.evaluate_server_error, it.case, checker.Response(500, [], b"")),
    "iter_schema_warnings": lambda it: [one.label for one in it.schema.iter_schema_warnings()] == ["POST /files"],
    "validate": lambda it: raises(checker.errors.InvalidSchema, it.schema.validate),
    "statistic": lambda it: it.schema.include(path="/items").statistic.operations.selected == 1,
    "find_operation_by_label": lambda it: it.schema.find_operation_by_label("POST /items").path == "/items",
    "find_operation_by_id": lambda it: it.schema.find_operation_by_id("getItem").method == "GET",
    "find_operation_by_path": lambda it: it.schema.find_operation_by_path("get", "/items/12").label == "GET /items/{id}",
    "find_operation_by_reference": lambda it: it.schema.find_operation_by_reference("#/paths/~1items/post").label == "POST /items",
    "operations_with_incoming_links": lambda it: [one.label for one in it.schema.operations_with_incoming_links()] == ["GET /items/{id}"],
    "title, specification, location, app": lambda it: (it.schema.title, it.schema.specification, it.schema.location, it.schema.app) == ("Items", "Open API 3.0.3", None, None),
    "raw_schema": lambda it: it.schema.raw_schema["info"]["title"] == "Items",
    "config": lambda it: it.schema.config.update(base_url="http://b") is None and it.schema.config.base_url == "http://b",
    "config for an operation": lambda it: it.schema.config.request_timeout_for(operation=it.get) == 10,
}  # fmt: skip

REGISTRATION: dict[str, Row] = {
    "hook that is none": lambda it: "no hook with name" in str(raises(TypeError, checker.hook, never)),
    "check of a name that is taken": lambda it: raises(checker.errors.IncorrectUsage, checker.check, renamed(always, "not_a_server_error")),
    "serializer.alias of nothing": lambda it: raises(ValueError, checker.serializer.alias, [], "application/json"),
    "serializer.alias of what nothing writes": lambda it: raises(ValueError, checker.serializer.alias, "application/x-row", "application/x-none"),
    "openapi.require_security_scheme": lambda it: list(it.schema.include(checker.openapi.require_security_scheme("key"))) == ["/items/{id}", "/items"],
    "graphql.nodes": lambda it: [checker.graphql.nodes.String("a").value, checker.graphql.nodes.Int(1).value, checker.graphql.nodes.Float(1.5).value] == ["a", "1", "1.5"],
}  # fmt: skip

LOADERS: dict[str, Row] = {
    "absolute path of an application": lambda it: raises(ValueError, checker.openapi.from_wsgi, "http://a/openapi.json", None),
    "config of a loader": lambda it: checker.openapi.from_dict(DOCUMENT, config=checker.Config.from_dict({"request-timeout": 3})).config.request_timeout == 3,
}  # fmt: skip

CHECKS: dict[str, Row] = {
    "one of ours by its function": lambda it: titles(it, checks=checker.checks.not_a_server_error) == ["Server error"],
    "one by its name": lambda it: titles(it, checks="not_a_server_error") == ["Server error"],
    "several": lambda it: titles(it, checks=(checker.checks.not_a_server_error, never)) == ["Server error", "Custom check failed: `never`"],
    "one of them excluded": lambda it: titles(it, checks=["not_a_server_error"], additional_checks=never, excluded_checks=checker.checks.not_a_server_error) == ["Custom check failed: `never`"],
    "each of ours": lambda it: [getattr(checker.checks, name).__name__ for name in BUILT_IN] == list(BUILT_IN),
}  # fmt: skip

CONTEXTS: dict[str, Row] = {
    "AuthContext": lambda it: (checker.AuthContext(it.get).operation, checker.AuthContext(it.get).app) == (it.get, None),
    "SerializationContext": lambda it: checker.SerializationContext(it.case).case is it.case,
    "DeserializationContext": lambda it: (checker.DeserializationContext(it.get, None).operation, checker.DeserializationContext(it.get, None).case) == (it.get, None),
    "HookContext": lambda it: checker.HookContext(it.get).operation is it.get,
    "CheckContext": lambda it: contexts_of(it) == [None],
}  # fmt: skip


def titles(it: Any, **asked: Any) -> list[str]:
    """Of what fails when an answer with a server error is judged."""
    group = raises(checker.errors.FailureGroup, it.case.validate_response, checker.Response(500, {}), **asked)
    return [one.title for one in group.exceptions]


def raises(kind: Any, function: Callable[..., object], *arguments: Any, **named: Any) -> Any:
    with pytest.raises(kind) as told:
        function(*arguments, **named)
    return told.value


def never(ctx: checker.CheckContext, response: checker.Response, case: checker.Case) -> None:
    raise AssertionError("never right")


def always(ctx: checker.CheckContext, response: checker.Response, case: checker.Case) -> None:
    assert response.status_code


def filter_query(ctx: checker.HookContext, query: dict[str, Any]) -> bool:
    return True


def renamed(function: Callable[..., Any], name: str) -> Any:
    def copy(ctx: Any, response: Any, case: Any) -> None:
        function(ctx, response, case)

    copy.__name__ = name
    return copy


def contexts_of(it: SimpleNamespace) -> list[str | None]:
    seen: list[str | None] = []

    def look(ctx: checker.CheckContext, response: checker.Response, case: checker.Case) -> None:
        assert ctx.config is not None
        seen.append(ctx.phase)

    it.case.validate_response(it.response, checks=[look])
    return seen


def headers_of(it: SimpleNamespace) -> tuple[Any, Any, bool, Any]:
    found = it.get.Case(headers={"X-Trace": "1", "X-A": "1"}).headers
    found["x-trace"] = "3"
    found.update({"X-B": "2"})
    del found["x-a"]
    return dict(found), found.get("X-TRACE"), "x-b" in found, found.pop("x-none", None)


def cleared(response: checker.Response) -> bool:
    first = response.json()
    response.clear_cache()
    return bool(response.json() == first)


def has_method(method: str, case: checker.Case) -> bool:
    return case.method == method


def drawn(it: SimpleNamespace) -> Any:
    return first(it.get.as_strategy())


def first(strategy: Any, wanted: Callable[[Any], bool] = lambda case: True) -> Any:
    return find(strategy, wanted, settings=QUICK)


def changed(case: Any) -> Any:
    case.path_parameters["id"] = "seven"
    return case


def sent(it: SimpleNamespace) -> tuple[str, str, str, str]:
    method, target, headers, _ = it.api.requests[-1]
    return method, target, headers.get("x-a", ""), headers.get("cookie", "")


def parameter(found: Any) -> tuple[str, str, bool, str]:
    return found.name, str(found.location), found.is_required, found.definition["schema"]["type"]


class Token:
    """Gives a token."""

    def get(self, case: checker.Case, ctx: checker.AuthContext) -> str:
        return "t"

    def set(self, case: checker.Case, data: str, ctx: checker.AuthContext) -> None:
        case.headers["x-token"] = data


ROWS = {
    f"{table}: {name}": row
    for table, rows in {
        "response": RESPONSE, "case": CASE, "operation": OPERATION, "schema": SCHEMA, "registration": REGISTRATION,
        "loaders": LOADERS, "checks": CHECKS, "contexts": CONTEXTS,
    }.items()
    for name, row in rows.items()
}  # fmt: skip


@pytest.fixture(autouse=True)
def unregistered() -> Any:
    yield
    checker.auth.providers.clear()


@pytest.mark.parametrize("name", ROWS)
def test_rows(it: SimpleNamespace, name: str) -> None:
    assert ROWS[name](it)
