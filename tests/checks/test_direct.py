"""Checks of users call the built-in checks with their own arguments."""

from typing import Any

import pytest

import checker
from checker import checks
from checker.checks.table import BUILT_IN

NUMBER = {"content": {"application/json": {"schema": {"type": "integer"}}}, "description": ""}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "http://testserver"}],
    "paths": {"/count": {"get": {"responses": {"200": NUMBER}}}},
}
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def case() -> checker.Case:
    made: checker.Case = checker.openapi.from_dict(DOCUMENT)["/count"]["GET"].Case()
    return made


def judged(case: checker.Case, response: checker.Response, *names: str) -> list[str]:
    """Return the classes of the failures that a check of a user finds by built-in checks."""

    def mine(ctx: checker.CheckContext, response: checker.Response, case: checker.Case) -> None:
        for name in names:
            getattr(checks, name)(ctx, response, case)

    try:
        case.validate_response(response, checks=[mine])
    except checker.errors.FailureGroup as group:
        return [type(one).__name__ for one in group.exceptions]
    return []


def test_every_built_in_check_can_be_called(case) -> None:
    request = checker.transport.WireRequest("GET", b"/count", [])
    assert judged(case, checker.Response(200, JSON, b"1", request=request), *BUILT_IN) == []


def test_a_failure_of_a_built_in_check_is_raised(case) -> None:
    assert judged(case, checker.Response(200, JSON, b'"a"'), "response_schema_conformance") == ["JsonSchemaError"]
    assert judged(case, checker.Response(500, {}, b""), "not_a_server_error") == ["ServerError"]
    assert judged(case, checker.Response(418, {}, b""), "status_code_conformance") == ["UndefinedStatusCode"]


def test_built_in_checks_have_the_settings_of_the_operation(case) -> None:
    slow = checker.Response(200, JSON, b"1", elapsed=2.0)
    assert judged(case, slow, "max_response_time") == []
    case.operation.schema.config.checks.update(max_response_time=1)
    assert judged(case, slow, "max_response_time") == ["ResponseTimeExceeded"]


def test_a_check_that_sends_is_called_in_a_test() -> None:
    """The token is wanted by the description, and the application serves everyone."""
    document = DOCUMENT | {
        "components": {"securitySchemes": {"T": {"type": "http", "scheme": "bearer"}}},
        "security": [{"T": []}],
    }
    served = []

    def app(environ: Any, start: Any) -> list[bytes]:
        served.append(environ.get("HTTP_AUTHORIZATION"))
        start("200 OK", [("Content-Type", "application/json")])
        return [b"1"]

    schema = checker.openapi.from_dict(document)
    schema.app = app
    case = schema["/count"]["GET"].Case(headers={"Authorization": "Bearer abc"})
    with pytest.raises(checker.errors.FailureGroup, match=r"(?i)auth"):
        case.call_and_validate(checks=[lambda ctx, response, case: checks.ignored_auth(ctx, response, case)])
    assert served[0] == "Bearer abc"
    assert None in served


def test_a_built_in_check_without_a_context_says_what_to_call(case: checker.Case) -> None:
    response = checker.Response(500, JSON, b"")
    told = r"that of your own check; else `case.validate_response\(response, \['not_a_server_error'\]\)`, got None"
    with pytest.raises(checker.errors.IncorrectUsage, match=told):
        checks.not_a_server_error(None, response, case)  # type: ignore[arg-type]
