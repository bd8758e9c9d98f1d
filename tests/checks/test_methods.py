"""Methods that are not described, and what `Allow` says of those that are."""

from typing import Any

import pytest

from checker.core.scenarios import Scenario
from tests.checks.asked import NEGATIVE, POSITIVE, Exchanges, operations_of

OK = {"200": {"description": "fine"}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
PATHS = {
    "/a": {"get": {"responses": OK}, "post": {"responses": OK}},
    "/a/{id}": {"get": {"parameters": [ID], "responses": OK}},
    "/a/own": {"put": {"responses": OK}},
    "/closed": {"get": {"security": [{"key": []}], "responses": OK}},
    "/said": {"options": {"responses": OK}, "get": {"responses": OK}},
}
KEY = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
PROBE: dict[str, str | None] = {"scenario": Scenario.UNSPECIFIED_METHOD}
ALLOW = [("Allow", "GET, HEAD, OPTIONS, POST")]


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of(PATHS, {"securitySchemes": KEY}))


@pytest.mark.parametrize(
    ("label", "method", "status", "found"),
    [
        ("GET /a", "DELETE", 200, ["wrong_status"]),
        ("GET /a", "DELETE", 404, ["wrong_status"]),
        ("GET /a", "DELETE", 500, ["wrong_status"]),
        ("GET /a", "DELETE", 403, ["wrong_status"]),
        ("GET /a", "DELETE", 405, ["missing_allow_header"]),
        ("GET /a", "DELETE", 429, []),
        ("GET /closed", "DELETE", 401, []),
        ("GET /closed", "DELETE", 403, []),
        ("GET /closed", "DELETE", 200, ["wrong_status"]),
        # Parsers of servers that do not know it.
        ("GET /a", "QUERY", 501, []),
        ("GET /a", "QUERY", 400, []),
        ("GET /a", "QUERY", 200, ["wrong_status"]),
        ("GET /a", "DELETE", 501, ["wrong_status"]),
        # Others have their say of these.
        ("GET /a", "OPTIONS", 200, []),
        ("GET /a", "HEAD", 200, []),
        ("GET /a", "POST", 200, []),
    ],
)
def test_methods_that_are_not_described(
    exchanges: Exchanges, label: str, method: str, status: int, found: list[str]
) -> None:
    sent = exchanges.sent(label, status, method=method, data=PROBE)
    assert exchanges.failures("unsupported_method", sent) == found


@pytest.mark.parametrize(("root", "found"), [({"openapi": None, "swagger": "2.0"}, []), ({}, ["wrong_status"])])
def test_swagger_2_cannot_describe_trace(root: dict[str, Any], found: list[str]) -> None:
    exchanges = Exchanges(operations_of({"/a": {"get": {"responses": OK}}}, **root))
    assert exchanges.failures("unsupported_method", exchanges.sent("GET /a", 200, method="TRACE", data=PROBE)) == found


@pytest.mark.parametrize(("root", "found"), [({"openapi": None, "swagger": "2.0"}, []), ({}, ["missing  extra TRACE"])])
def test_allow_may_list_trace_beside_swagger_2(root: dict[str, Any], found: list[str]) -> None:
    exchanges = Exchanges(operations_of({"/a": {"get": {"responses": OK}}}, **root))
    sent = exchanges.sent("GET /a", 200, [("Allow", "GET, TRACE")], method="OPTIONS", data=PROBE)
    assert exchanges.failures("allow_header_conformance", sent) == found


@pytest.mark.parametrize(
    ("method", "status", "found"),
    [("QUERY", 501, []), ("DELETE", 501, []), ("DELETE", 500, ["500"]), ("DELETE", 400, []), ("GET", 501, ["501"])],
)
def test_a_method_that_the_server_does_not_know_is_no_server_error(
    exchanges: Exchanges, method: str, status: int, found: list[str]
) -> None:
    sent = exchanges.sent("GET /a", status, method=method, data=PROBE)
    assert exchanges.failures("not_a_server_error", sent) == found


def test_405_with_allow_is_right(exchanges: Exchanges) -> None:
    sent = exchanges.sent("GET /a", 405, ALLOW, method="DELETE", data=PROBE)
    assert exchanges.failures("unsupported_method", sent) == []


def test_nobody_need_be_where_the_path_was_made_up(exchanges: Exchanges) -> None:
    sent = exchanges.sent("GET /a/{id}", 404, method="PUT", data=PROBE, path_parameters={"id": "1"})
    assert exchanges.failures("unsupported_method", sent) == []


def test_a_neighbour_may_have_the_method(exchanges: Exchanges) -> None:
    for value, found in (("own", []), ("other", ["wrong_status"])):
        at = {"id": value}
        sent = exchanges.sent("GET /a/{id}", 200, method="PUT", data=PROBE, path_parameters=at)
        assert exchanges.failures("unsupported_method", sent) == found


@pytest.mark.parametrize(
    ("allow", "found"),
    [
        ("GET, POST", []),
        ("get,post, HEAD,OPTIONS", []),
        ("GET", ["missing POST extra "]),
        ("GET, POST, DELETE", ["missing  extra DELETE"]),
        ("", ["missing GET,POST extra "]),
        (None, []),
    ],
)
def test_allow_lists_what_is_described(exchanges: Exchanges, allow: str | None, found: list[str]) -> None:
    headers = [] if allow is None else [("Allow", allow)]
    sent = exchanges.sent("GET /a", 200, headers, method="OPTIONS", data=PROBE)
    assert exchanges.failures("allow_header_conformance", sent) == found


def test_a_router_that_lists_one_route_of_each_path_is_one_mistake(exchanges: Exchanges) -> None:
    def cause(label: str, allow: str) -> str:
        sent = exchanges.sent(label, 405, [("Allow", allow)], method="OPTIONS", data=PROBE)
        (found,) = exchanges.verdict("allow_header_conformance", sent).failures
        return found.cause(label)

    assert cause("GET /a", "GET") == cause("GET /said", "HEAD")
    assert cause("GET /a", "GET, POST, DELETE") != cause("GET /a", "GET")


def test_allow_of_several_fields_is_one_list(exchanges: Exchanges) -> None:
    headers = [("Allow", "GET"), ("allow", "POST")]
    sent = exchanges.sent("GET /a", 200, headers, method="OPTIONS", data=PROBE)
    assert exchanges.failures("allow_header_conformance", sent) == []


def test_allow_may_speak_of_any_template_that_fits(exchanges: Exchanges) -> None:
    at = {"id": "own"}
    sent = exchanges.sent("GET /a/{id}", 200, [("Allow", "PUT")], method="OPTIONS", data=PROBE, path_parameters=at)
    assert exchanges.failures("allow_header_conformance", sent) == []


def test_options_that_are_described_count_as_well(exchanges: Exchanges) -> None:
    sent = exchanges.sent("OPTIONS /said", 200, [("Allow", "PUT")], mode=POSITIVE)
    assert exchanges.failures("allow_header_conformance", sent) == ["missing GET extra PUT"]
    other = exchanges.sent("GET /said", 200, [("Allow", "PUT")], mode=NEGATIVE)
    assert exchanges.failures("allow_header_conformance", other) == []
