"""What a server error has in common with others, where answers say in their bodies whose fault it is."""

import json
from typing import Any

import pytest

from checker.checks.judge import Judge
from checker.checks.to_run import selected_checks
from checker.core.case import Case
from checker.core.failures import Failure
from checker.core.meta import CaseMetadata, GenerationMode, PhaseData, PhaseInfo
from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Response
from checker.core.scenarios import Scenario
from tests.checks.asked import operations_of
from tests.graphql_kind.making import opened, operations

ONE, OTHER = operations(opened("type Query { one(a: Int!): Int  other(b: [String!]): Int }"))
ID = {"name": "id", "in": "path", "required": True, "schema": {}}
NUMBER = "Variable '$a' got invalid value 'x'; Int cannot represent non-integer value: 'x'"
TEXT = "Variable '$b' got invalid value {} at 'b[0]'; String cannot represent a non string value"
FALLEN = {"message": "list index out of range", "path": ["one"]}


def failures(operation: Any, *errors: Any, status: int = 500) -> tuple[Failure, ...]:
    """What all checks of statuses say of an answer with these errors."""
    body = json.dumps({"data": None, "errors": errors}).encode()
    response = Response(status, [("Content-Type", "application/json")], body)
    judge = Judge(selected_checks(["not_a_server_error", "response_schema_conformance"]))
    judgement = judge.verdict(Case(operation, "1"), response)
    assert judgement is not None
    return judgement.failures


def test_refusals_with_a_status_of_the_server_are_one_mistake() -> None:
    (one,), (other,) = failures(ONE, {"message": NUMBER}), failures(OTHER, {"message": TEXT})
    assert one.cause("one") == other.cause("other")
    assert "reports an invalid request" in one.message
    (again,) = failures(ONE, {"message": "Variable '$a' of required type 'Int!' was not provided."})
    assert again.fingerprint("one") == one.fingerprint("one")


@pytest.mark.parametrize(("status", "is_same"), [(598, True), (600, True), (999, True), (500, False), (503, False)])
def test_statuses_that_nobody_registered_mean_their_class(status: int, is_same: bool) -> None:
    (one,), (other,) = failures(ONE, FALLEN, status=536), failures(ONE, FALLEN, status=status)
    assert (one.fingerprint("one") == other.fingerprint("one")) == is_same


@pytest.mark.parametrize("errors", [(FALLEN,), ()])
def test_what_fell_over_is_a_mistake_of_its_own(errors: tuple[Any, ...]) -> None:
    (refused,), (fallen,) = failures(ONE, {"message": NUMBER}), failures(ONE, *errors)
    assert fallen.fingerprint("one") != refused.fingerprint("one")
    assert fallen.cause("one") != fallen.cause("other")
    assert "the request is wrong" not in fallen.message


@pytest.mark.parametrize(
    ("scenario", "is_shared"),
    [(Scenario.MALFORMED_CONTENT_TYPE, True), (Scenario.UNSPECIFIED_METHOD, True), (Scenario.WRONG_TYPE, False)],
)  # fmt: skip
def test_what_is_odd_about_requests_to_all_operations_is_one_mistake(scenario: Scenario, is_shared: bool) -> None:
    def cause(operation: Any, status: int = 500) -> str:
        said = PhaseData({"scenario": scenario, "description": "no boundary"})
        meta = CaseMetadata(GenerationMode.NEGATIVE, {}, PhaseInfo("coverage", said), ())
        judge = Judge(selected_checks(["not_a_server_error"]))
        found = judge.verdict(Case(operation, "1", meta=meta), Response(status, [], b""))
        assert found is not None
        return found.failures[0].cause(operation.label)

    assert (cause(ONE) == cause(OTHER)) is is_shared
    assert cause(ONE) != cause(ONE, 503)


ASKED = operations_of(
    {"/items": {"get": {"parameters": [{"name": "n", "in": "query", "schema": {}}], "responses": {"200": {}}}}}
)["GET /items"]


@pytest.mark.parametrize(
    ("value", "is_beyond"),
    [
        ("9" * 5000, True),
        ("-" + "9" * 20, True),
        ("0" * 5000 + "1" * 19, False),
        ("9223372036854775807", False),
        ("-9223372036854775808", False),
        ("9223372036854775808", True),
        (2**63, True),
        (10**5000, True),
        (float("inf"), True),
        (float("nan"), True),
        (1.5, False),
    ],
    ids=lambda value: str(value)[:30] if not isinstance(value, int) else str(value.bit_length()),
)
def test_a_number_of_any_size_leaves_the_server_error_reported(value: object, *, is_beyond: bool) -> None:
    judge = Judge(selected_checks(["not_a_server_error"]))
    found = judge.verdict(Case(ASKED, "1", query={"n": value}), Response(500, [], b""))
    assert found is not None
    (failure,) = found.failures
    assert ("beyond 64 bits" in failure.shared_cause) is is_beyond


TYPES = """
type Query { book: Book  books: [Book!]!  shop: Shop }
type Book { author: Author  name: String }
type Author { name: String }
type Shop { name: String }
"""


@pytest.mark.parametrize(
    ("label", "query", "path", "is_same"),
    [
        ("Query.books", "{ books { author { name } } }", ["books", 3, "author", "name"], True),
        ("Query.books", "{ books { name } }", ["books", 0, "name"], False),
        ("Query.shop", "{ shop { name } }", ["shop", "name"], False),
    ],
)
def test_a_field_that_falls_over_is_one_mistake_wherever_it_is_asked_for(
    label: str, query: str, path: list[Any], is_same: bool
) -> None:
    by_label = {str(one.label): one for one in operations(opened(TYPES))}

    def cause(label: str, query: str, path: list[Any]) -> str:
        errors = [{"message": "timed out", "path": path}]
        sent = WireRequest("POST", b"/graphql", [], json.dumps({"query": query}).encode())
        body = json.dumps({"data": None, "errors": errors}).encode()
        response = Response(200, [("Content-Type", "application/json")], body)
        response.request = sent
        judge = Judge(selected_checks(["not_a_server_error"]))
        judgement = judge.verdict(Case(by_label[label], "1"), response)
        assert judgement is not None
        (found,) = judgement.failures
        return found.cause(label)

    first = cause("Query.book", "{ book { author { name } } }", ["book", "author", "name"])
    assert (cause(label, query, path) == first) is is_same


def _cause_of_value(value: Any, text: bytes, name: str) -> str:
    """Return the cause of a 500 to a path with a value."""
    (one,) = operations_of(
        {f"/{name}/{{id}}": {"get": {"parameters": [ID], "responses": {"200": {"description": "fine"}}}}}
    ).values()
    judge = Judge(selected_checks(["not_a_server_error", "status_code_conformance"]))
    found = judge.verdict(Case(one, "1", path_parameters={"id": value}), Response(500, [], text))
    assert found is not None
    (failure,) = found.failures
    assert "Undocumented HTTP status code" in failure.message
    return failure.cause(str(one.label))


@pytest.mark.parametrize(
    ("one", "other", "text", "is_shared"),
    [
        (2**63, -(2**70), b"Internal Server Error", True),
        (2**63, str(2**64), b"", True),
        (2**63, 2**63 - 1, b"Internal Server Error", False),
        (5, 5, b"Internal Server Error", False),
        ("a\0", "\0", b"boom", True),
        ("a\ud800", "\0", b"boom", True),
        ("a\0", "a", b"boom", False),
    ],
)
def test_values_that_crash_any_operation_are_one_mistake_with_the_same_text(
    one: Any, other: Any, text: bytes, is_shared: bool
) -> None:
    first = _cause_of_value(one, text, "apples")
    assert (first == _cause_of_value(other, text, "pears")) is is_shared
    assert first != _cause_of_value(one, b"another text", "pears")


@pytest.mark.parametrize(
    ("status", "one", "other", "is_shared"),
    [
        (503, b"Down for maintenance", b"Down for maintenance", True),
        (503, b"", b"", True),
        (503, b"Down for maintenance", b"Too many connections", False),
        (500, b"Down for maintenance", b"Down for maintenance", False),
    ],
)
def test_a_service_that_is_unavailable_is_one_mistake(status: int, one: bytes, other: bytes, is_shared: bool) -> None:
    def cause(operation: Any, text: bytes) -> str:
        found = Judge(selected_checks(["not_a_server_error"])).verdict(Case(operation, "1"), Response(status, [], text))
        assert found is not None
        return found.failures[0].cause(operation.label)

    assert (cause(ONE, one) == cause(OTHER, other)) is is_shared


@pytest.mark.parametrize(
    ("text", "label", "is_shared"),
    [
        ("An unexpected error occurred", "Query.b", True),
        ("An unexpected error occurred", "Mutation.c", False),
        ("An unexpected error occurred", "Query.d", False),
        ("list index out of range", "Query.b", False),
    ],
)
def test_masked_errors_of_unknown_identifiers_are_one_mistake_of_each_kind_of_operation(
    text: str, label: str, is_shared: bool
) -> None:
    types = (
        "type Query { a(id: ID!): Int  b(authorId: ID!): Int  d(text: String): Int }  type Mutation { c(id: ID!): Int }"
    )
    by_label = {str(one.label): one for one in operations(opened(types))}

    def cause(label: str) -> str:
        one = by_label[label]
        name = {"Query.a": "id", "Query.b": "authorId", "Query.d": "text", "Mutation.c": "id"}[label]
        body = json.dumps({"data": None, "errors": [{"message": text, "path": [label[-1]]}]}).encode()
        judge = Judge(selected_checks(["not_a_server_error"]))
        case = Case(one, "1", body={"arguments": {name: "x"}})
        found = judge.verdict(case, Response(200, [("Content-Type", "application/json")], body))
        assert found is not None
        return found.failures[0].cause(label)

    assert (cause("Query.a") == cause(label)) is is_shared


@pytest.mark.parametrize(
    ("said", "label", "text", "is_shared"),
    [
        ({"summary": "Waits"}, "PUT /delay/{id}", b"", True),
        ({"summary": "Waits"}, "PUT /delay/{id}", b"another text", False),
        ({"summary": "Waits"}, "GET /wait/{id}", b"", False),
        ({}, "PUT /delay/{id}", b"", False),
    ],
)
def test_methods_of_a_path_that_are_described_in_the_same_words_fail_for_one_mistake(
    said: dict[str, str], label: str, text: bytes, is_shared: bool
) -> None:
    own = {"parameters": [ID], "responses": {"200": {"description": "fine"}}, **said}
    put = {**own, "operationId": "other"}
    operations = operations_of({"/delay/{id}": {"get": own, "put": put}, "/wait/{id}": {"get": own}})

    def cause(label: str, text: bytes) -> str:
        found = Judge(selected_checks(["not_a_server_error"])).verdict(
            Case(operations[label], "1", path_parameters={"id": "x"}), Response(500, [], text)
        )
        assert found is not None
        return found.failures[0].cause(label)

    assert (cause("GET /delay/{id}", b"") == cause(label, text)) is is_shared


def test_put_and_patch_of_one_path_fail_for_one_mistake_with_the_same_text() -> None:
    body = {"content": {"application/json": {"schema": {"type": "object"}}}}
    own = {"parameters": [ID], "requestBody": body, "responses": {"200": {"description": "fine"}}}
    operations = operations_of({"/a/{id}": dict.fromkeys(("put", "patch", "delete"), own), "/b/{id}": {"put": own}})

    def cause(label: str, text: bytes = b"Internal Server Error") -> str:
        found = Judge(selected_checks(["not_a_server_error"])).verdict(
            Case(operations[label], "1", path_parameters={"id": "x"}), Response(500, [], text)
        )
        assert found is not None
        return found.failures[0].cause(label)

    assert cause("PUT /a/{id}") == cause("PATCH /a/{id}")
    others = [cause("DELETE /a/{id}"), cause("PUT /b/{id}"), cause("PATCH /a/{id}", b"another text")]
    assert cause("PUT /a/{id}") not in others


@pytest.mark.parametrize("kind", [FailureKind.DROPPED, FailureKind.TIMEOUT])
def test_methods_of_one_handler_send_no_response_for_one_mistake(kind: FailureKind) -> None:
    own = {"summary": "Waits", "parameters": [ID], "responses": {"200": {"description": "fine"}}}
    operations = operations_of({"/a/{id}": {"get": own, "put": own}, "/b/{id}": {"get": own}})

    def cause(label: str) -> str:
        case = Case(operations[label], "1", path_parameters={"id": "x"})
        judge = Judge(selected_checks(["not_a_server_error"]))
        (failure,) = judge.without_response(case, NetworkFailure(kind, "", 0.0)).failures
        return failure.cause(label)

    assert cause("GET /a/{id}") == cause("PUT /a/{id}") != cause("GET /b/{id}")


def test_other_statuses_make_other_mistakes() -> None:
    (one,), (other,) = (failures(ONE, {"message": NUMBER}, status=status) for status in (500, 503))
    assert one.cause("one") != other.cause("one")
    assert failures(ONE, {"message": NUMBER}, status=400) == ()


def no_response(kind: FailureKind, **changes: Any) -> list[tuple[str, str]]:
    """Return (code, message) of the failures of a request without a complete response."""
    judge = Judge(selected_checks(["not_a_server_error"]))
    judged = judge.without_response(Case(ONE, "1"), NetworkFailure(kind, "", 0.0, **changes))
    return [(one.code, one.message) for one in judged.failures]


def test_a_dropped_connection_is_a_server_error() -> None:
    closed = "The server closed the connection"
    assert no_response(FailureKind.DROPPED) == [("ST115", f"{closed} without a response")]
    partial = Response(200, [], b"{")
    assert no_response(FailureKind.DROPPED, partial=partial) == [("ST115", f"{closed} in the middle of the response")]


def test_a_drop_on_a_reused_connection_proves_nothing() -> None:
    assert no_response(FailureKind.DROPPED, may_be_late=True) == []


def test_a_missing_response_is_a_server_error() -> None:
    assert no_response(FailureKind.TIMEOUT) == [("ST116", "The server sends no response")]
    assert no_response(FailureKind.TIMEOUT, partial=Response(200, [], b"{")) == []


@pytest.mark.parametrize("kind", [one for one in FailureKind if one.name not in ("DROPPED", "TIMEOUT")])
def test_no_other_missing_response_is_a_server_error(kind: FailureKind) -> None:
    assert no_response(kind) == []
