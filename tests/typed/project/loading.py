"""Schemas, operations, cases, responses."""

from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, assert_type

import hypothesis.strategies as st

import checker
from checker import Case, Config, GenerationMode, Response, errors


def schemas(app: Any, document: dict[str, Any]) -> list[checker.BaseSchema]:
    config = Config.from_dict({"seed": 1})
    found = [
        checker.openapi.from_url("http://127.0.0.1/openapi.json", wait_for_schema=1.5, timeout=3),
        checker.openapi.from_path(Path("openapi.yaml"), encoding="utf-8", config=config),
        checker.openapi.from_file(StringIO("{}")),
        checker.openapi.from_dict(document),
        checker.openapi.from_asgi("/openapi.json", app, headers={"X-Key": "1"}),
        checker.openapi.from_wsgi("/openapi.json", app),
        checker.graphql.from_url("http://127.0.0.1/graphql"),
        checker.graphql.from_path("schema.graphql"),
        checker.graphql.from_file("type Query { a: Int }"),
        checker.graphql.from_dict({"__schema": {}}),
        checker.graphql.from_asgi("/graphql", app),
        checker.graphql.from_wsgi("/graphql", app, config=None),
    ]
    assert_type(found, list[checker.BaseSchema])
    return found


def configurations() -> list[Config]:
    found = [
        Config(),
        Config.discover(),
        Config.from_path("checker.toml"),
        Config.from_str("seed = 1"),
        Config.from_dict({}),
    ]
    config = found[0]
    config.update(base_url="http://127.0.0.1", headers={"X": "1"}, workers=2)
    config.generation.update(modes=[GenerationMode.POSITIVE], max_examples=5, database="none")
    config.output.sanitization.update(enabled=False)
    config.checks.update(included_check_names=["not_a_server_error"])
    config.phases.update(phases=["fuzzing"])
    config.reports.update(vcr_path="cassette.yaml")
    return found


def use_schema(schema: checker.BaseSchema) -> None:
    narrow = schema.include(method=["GET", "POST"], path_regex="^/users").exclude(deprecated=True)
    narrow = narrow.include(lambda ctx: ctx.operation.deprecated, tag="a", name=None)
    narrow = narrow.include(checker.openapi.require_security_scheme("key"))
    assert_type(narrow, checker.BaseSchema)
    assert_type(len(schema), int)
    assert_type(list(schema), list[str])
    assert_type(schema["/users"]["GET"], checker.APIOperation)
    assert_type(schema.title, str)
    assert_type(schema.specification, str)
    assert_type(schema.base_path, str)
    assert_type(schema.base_url, str | None)
    assert_type(schema.declared_base_url, str | None)
    assert_type(schema.location, str | None)
    assert_type(schema.app, object | None)
    assert_type(schema.config, Config)
    assert_type(schema.statistic.operations.selected, int)
    assert_type(schema.find_operation_by_id("getUser"), checker.APIOperation)
    assert_type(schema.find_operation_by_label("GET /users"), checker.APIOperation | None)
    assert_type(schema.find_operation_by_path("GET", "/users/1"), checker.APIOperation | None)
    assert_type(schema.find_operation_by_reference("#/paths/~1users/get"), checker.APIOperation)
    assert_type(schema.operations_with_incoming_links(), Iterator[checker.APIOperation])
    schema.validate()
    for warning in schema.iter_schema_warnings():
        assert_type(warning.message, str)
    assert_type(schema.as_strategy(), st.SearchStrategy[Case])
    both = schema["/users"].as_strategy() | schema["/a"]["GET"].as_strategy(GenerationMode.NEGATIVE)
    assert_type(both, st.SearchStrategy[Case])


def use_operation(operation: checker.APIOperation, client: Any) -> None:
    assert_type(operation.method, str)
    assert_type(operation.path, str)
    assert_type(operation.full_path, str)
    assert_type(operation.operation_id, str | None)
    assert_type(operation.deprecated, bool)
    assert_type(operation.base_url, str | None)
    assert_type(operation.has_skipped_required_body, bool)
    for parameter in operation.iter_parameters():
        assert_type(parameter, checker.kinds.Parameter)
        assert_type(parameter.is_required, bool)
        assert_type(parameter.is_valid(1), bool)
        parameter.validate(1)
    assert_type(operation.get_parameter("id", "path"), checker.kinds.Parameter | None)
    assert_type(operation.get_body_for_media_type("text/csv"), checker.kinds.Body | None)
    assert_type(operation.get_request_payload_content_types(), list[str])
    assert_type(operation.is_valid_response(client.get("/")), bool)
    operation.validate_response(client.get("/"), case=None)
    case = operation.Case(
        method="GET",
        path_parameters={"id": 1},
        headers={"X": "1"},
        cookies={},
        query={"q": [1, 2]},
        body=checker.NOT_SET,
        media_type="application/json",
        multipart_content_types={"a": "text/plain"},
    )
    assert_type(case, Case)
    use_case(case, client)


def use_case(case: Case, client: Any) -> None:
    assert_type(case.id, str)
    assert_type(case.method, str)
    assert_type(case.path, str)
    assert_type(case.formatted_path, str)
    assert_type(case.media_type, str | None)
    case.path_parameters["id"] = 2
    case.query["q"], case.headers["X"], case.cookies["c"], case.body = 1, "2", "3", {"a": None}
    if case.meta is not None:
        assert_type(case.meta.generation.mode, GenerationMode)
        assert_type(case.meta.phase.name, str)
    assert_type(case.as_curl_command(headers={"X": "1"}, verify=False), str)
    assert_type(case.as_transport_kwargs(base_url="http://127.0.0.1"), dict[str, Any])
    assert_type(case.derive(headers={"X": "1"}), Case)
    case.get_container("query")
    response = case.call(session=client, headers={"X": "1"}, params={"q": 1}, auth=("a", "b"))
    assert_type(response, Response)
    assert_type(case.call_and_validate(excluded_checks=["not_a_server_error"]), Response)
    case.validate_response(response, checks=[has_no_secret], additional_checks=())


def has_no_secret(ctx: checker.CheckContext, response: Response, case: Case) -> None:
    if b"secret" in response.content:
        raise AssertionError(case.path)


def use_response(response: Response) -> None:
    assert_type(response.status_code, int)
    assert_type(response.message, str)
    assert_type(response.headers, Mapping[str, list[str]])
    assert_type(response.content, bytes)
    assert_type(response.content_size, int)
    assert_type(response.body_size, int | None)
    assert_type(response.is_truncated, bool)
    assert_type(response.text, str)
    assert_type(response.encoded_body, str)
    assert_type(response.encoding, str | None)
    assert_type(response.elapsed, float)
    assert_type(response.http_version, str)
    assert_type(response.verify, bool)
    assert_type(response.text_lossy(), str)
    assert_type(response.truncated(10), Response)
    response.clear_cache()
    print(response.json())
    assert response.request is not None
    assert_type(response.request.headers["X-Key"], str)
    assert_type(response.request.headers.get("X-Key"), str | None)
    for made in (Response.from_any, Response.from_requests, Response.from_httpx, Response.from_wsgi):
        assert_type(made(object()), Response)


def use_errors(case: Case) -> str | None:
    try:
        case.call_and_validate()
    except errors.ServerError as failure:
        return failure.title
    except errors.FailureGroup as group:
        assert_type(group.exceptions[0], errors.Failure)
        return "\n".join(str(one) for one in group.exceptions)
    except (errors.IncorrectUsage, errors.OperationNotFound, errors.HookError) as error:
        return str(error)
    except errors.LoaderError as error:
        assert_type(error.message, str)
        assert_type(error.extras, list[str])
    except errors.CheckerError:
        raise
    return None
