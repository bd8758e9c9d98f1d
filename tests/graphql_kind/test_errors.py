"""Whose fault an error is, in the words of each server."""

from typing import Any

import pytest

import checker
from checker.core.contract import Blame
from checker.graphql.errors import complaint_of
from tests.apps.graphql.recorded import RECORDED


@pytest.mark.parametrize(("server", "blame", "answer"), RECORDED)
def test_each_server_is_understood(server: str, blame: Blame, answer: dict[str, Any]) -> None:
    complaint = complaint_of(answer)
    assert complaint is not None
    assert (server, blame) == (server, complaint.blame)


def test_every_server_has_its_word() -> None:
    named = {server for server, _, _ in RECORDED}
    assert named == {"Apollo", "graphql-java", "Hasura", "graphene", "Strawberry", "Ariadne", "gqlgen", "Absinthe", "Rails", "PostGraphile", "Parse", "Lighthouse", "GraphQL.NET"}  # fmt: skip


@pytest.mark.parametrize("answer", [{"data": {}}, {"data": None, "errors": []}, [], None, "text"])
def test_no_errors_are_no_complaint(answer: Any) -> None:
    assert complaint_of(answer) is None


@pytest.mark.parametrize("errors", ["text", [None], [5], {"message": "x"}, [{"message": 5, "path": "x"}]])
def test_odd_errors_are_read_all_the_same(errors: Any) -> None:
    complaint = complaint_of({"errors": errors})
    assert complaint is not None
    assert complaint.message


def test_null_for_a_variable_is_the_fault_of_the_client() -> None:
    error = {"message": "Variable '$id' of non-null type 'ID!' must not be null."}
    complaint = complaint_of({"errors": [error], "data": None})
    assert complaint is not None
    assert complaint.blame is Blame.REFUSED


@pytest.mark.parametrize(
    "text",
    [
        "'NoneType' object is not subscriptable",
        "Cannot read properties of undefined (reading 'id')",
        "Invalid time value",
        "invalid literal for int() with base 10: 'x'",
        "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'",
        'The "path" argument must be of type string. Received undefined',
        "too many values to unpack (expected 2)",
        "runtime error: index out of range [3] with length 3",
        "year 0 is out of range",
        "x is not a function",
        "Could not find module 'leveldown'",
        'relation "posts" is not known',
        "Unexpected Execution Error",
        'invalid byte sequence for encoding "UTF8": 0x00',
    ],
)
def test_what_runtimes_say_of_themselves_refuses_nothing(text: str) -> None:
    error = {"message": text, "path": ["book"]}
    complaint = complaint_of({"errors": [error], "data": {"book": None}})
    assert complaint is not None
    assert complaint.blame is Blame.FAILED


@pytest.mark.parametrize(
    "text",
    [
        'can only concatenate str (not "int") to str',
        "can't compare datetime.datetime to datetime.date",
        "f() missing 1 required positional argument: 'x'",
        "You cannot call this from an async context - use a thread or sync_to_async.",
        "Cannot operate on a closed database.",
        "database is locked",
        "no such table: users",
        "Invalid isoformat string: 'x'",
        'Cannot invoke "String.length()" because "x" is null',
        "undefined method `x' for nil:NilClass",
        "string indices must be integers, not 'str'",
        "Something went wrong",
        "Something went wrong. Please try again later.",
        "An error occurred, please contact support",
        "Unable to process your request",
        "Service temporarily unavailable, please retry",
        "Service is currently down",
        "Failed to load user: backend is unavailable",
        "Cannot read property 'id' of null",
        "Cannot set property 'id' of null",
        "Cannot assign to read only property 'id' of object",
        "Cannot set headers after they are sent to the client",
        "Cannot use 'in' operator to search for 'x' in null",
        "Cannot mix BigInt and other types, use explicit conversions",
        "Cannot assign to a constant variable",
        "Nullable object must have a value.",
        "Value cannot be null. (Parameter 'source')",
        "Value cannot be null.\r\nParameter name: source",
        "Index was out of range. Must be non-negative and less than the size of the collection.",
        "Illegal offset",
        "Illegal string offset 'x'",
        "Record has been closed",
        "Cursor has been closed",
        "Please check your network connection",
        "This object has been frozen: cannot assign to read only property 'x' of object",
        "Sorry, something went wrong with our database connection pool: the pool is exhausted",
        "tuple does not belong to class x",
    ],
)
def test_runtime_errors_with_words_of_rules_are_server_errors(text: str) -> None:
    complaint = complaint_of({"errors": [{"message": text, "path": ["book"]}], "data": {"book": None}})
    assert complaint is not None
    assert complaint.blame is Blame.FAILED


REFUSALS = [
    "Only admin can perform this action",
    "No span notes provided.",
    "Expected a hex color, got x",
    "Must provide at least one trace ID to delete",
    "Authentication must be enabled to manage API keys",
    "Unknown node: x",
    "Cannot delete built-in model",
    "At least one field must be set",
    "a label must not be empty",
    "You are not allowed to do this",
    "Both a filter and a session filter cannot be applied at the same time",
    "Name cannot be empty",
    "First should be a positive number",
    "you must provide a token",
    "An app name is required for password reset",
    "Post is not published",
    "Poll is closed",
    "No such option",
    "Amount is not the total of the order",
    "You already voted",
    "Wrong password",
    "Provide either a or b",
    "Please log in first",
    "Please enter a shorter name",
    "Value cannot be null",
    "The poll has been closed",
    "You cannot delete the property of another user",
    "This workspace has been frozen by its owner",
    "Sorry, that is above your plan",
    "Pick another color",
    "Sign in first",
    "Your session is gone",
    "Length of text is limited to 5 letters",
    "x belongs to someone else",
    "That slug is reserved",
    "Export is off for this organisation",
    "Upload a file before you start",
]
"""Refusals without a label."""


@pytest.mark.parametrize("text", REFUSALS)
def test_rules_of_resolvers_are_refusals_that_no_schema_states(text: str) -> None:
    complaint = complaint_of({"errors": [{"message": text, "path": ["book"]}], "data": {"book": None}})
    assert complaint is not None
    assert complaint.blame in (Blame.REFUSED, Blame.DENIED)
    assert not complaint.is_of_schema


@pytest.mark.parametrize(
    ("error", "is_of_schema"),
    [
        ({"message": 'Variable "$a" got invalid value 5'}, True),
        ({"message": "No.", "extensions": {"code": "BAD_USER_INPUT"}}, True),
        ({"message": "No.", "extensions": {"code": "BAD_USER_INPUT"}, "path": ["a"]}, False),
        (
            {
                "message": "'q' exceeds maximum operation depth of 5",
                "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
            },
            False,
        ),
        ({"message": "Query is too complex"}, False),
    ],
)
def test_only_validation_says_that_a_request_breaks_the_schema(error: dict[str, Any], is_of_schema: bool) -> None:
    complaint = complaint_of({"errors": [error]})
    assert complaint is not None
    assert complaint.is_of_schema is is_of_schema


@pytest.mark.parametrize(
    ("code", "blame"),
    [
        ("EMAIL_TAKEN", Blame.REFUSED),
        ("OUT_OF_STOCK", Blame.REFUSED),
        (141, Blame.REFUSED),
        ("ECONNREFUSED", Blame.FAILED),
        ("TypeError", Blame.FAILED),
        ("UNKNOWN_ERROR", Blame.FAILED),
        ("NullPointerException", Blame.FAILED),
        (503, Blame.FAILED),
    ],
)
def test_a_label_of_an_application_was_foreseen(code: str | int, blame: Blame) -> None:
    error = {"message": "No.", "path": ["buy"], "extensions": {"code": code}}
    complaint = complaint_of({"errors": [error], "data": {"buy": None}})
    assert complaint is not None
    assert complaint.blame is blame


def test_an_error_that_says_nothing_counts_more_than_a_refusal_beside_it() -> None:
    errors = [{"message": "title is required", "path": ["a"]}, {"message": "boom", "path": ["b"]}]
    complaint = complaint_of({"errors": errors, "data": {"a": None, "b": None}})
    assert complaint is not None
    assert complaint.blame is Blame.FAILED


@pytest.mark.parametrize("label", [{}, {"extensions": {"code": "INTERNAL_SERVER_ERROR"}}])
@pytest.mark.parametrize(
    "text",
    [
        'Enum "Mood" cannot represent value: "ANGRY"',
        "Int cannot represent non-integer value: 0.5",
        "Invalid regular expression: /(/: Unterminated group",
    ],
)
def test_failures_of_a_resolver_in_words_of_rules_are_server_errors(text: str, label: dict[str, Any]) -> None:
    complaint = complaint_of({"errors": [{"message": text, "path": ["search"], **label}], "data": None})
    assert complaint is not None
    assert complaint.blame is Blame.FAILED


@pytest.mark.parametrize("data", [{}, {"data": None}])
@pytest.mark.parametrize(
    "text",
    [
        "Internal server error",
        "boom",
        "division by zero",
        "'NoneType' object is not subscriptable",
        "connection to server at localhost failed",
        "Unexpected error.",
        "This query could not be run: internal server error",
    ],
)
def test_errors_without_a_place_a_label_and_data_are_server_errors(text: str, data: dict[str, Any]) -> None:
    complaint = complaint_of({"errors": [{"message": text}], **data})
    assert complaint is not None
    assert complaint.blame is Blame.FAILED


@pytest.mark.parametrize(
    "text",
    [
        "Query is nested too deep.",
        "'q' exceeds maximum operation depth of 5",
        "The query exceeds the maximum cost of 1000",
        'Unknown field "x" on type "Query"',
        "The field `x` does not exist on the type `Query`.",
        "Introspection is disabled",
        "Batching is not supported",
        " --> 1:3\n  |\n1 | { x\n  |   ^---\n  |\n  = expected selection",
        'Invalid value for argument "id", expected type "ID!"',
        "Must provide query string.",
        "Only POST requests are taken here",
        "bad request",
        "You are not allowed to do this",
        "title is required",
    ],
)
def test_errors_without_a_place_that_speak_of_the_request_refuse_it(text: str) -> None:
    complaint = complaint_of({"errors": [{"message": text}]})
    assert complaint is not None
    assert complaint.blame in (Blame.REFUSED, Blame.DENIED)


@pytest.mark.parametrize(("status", "blame"), [(400, Blame.REFUSED), (500, Blame.FAILED)])
def test_the_status_decides_where_words_say_nothing(status: int, blame: Blame) -> None:
    complaint = complaint_of({"errors": [{"message": "no"}]}, status)
    assert complaint is not None
    assert complaint.blame is blame


def test_an_unplaced_error_of_a_usual_status_is_a_server_error_for_users() -> None:
    schema = checker.graphql.from_file("type Query { a: Int }")
    case = schema["Query"]["a"].Case(body={"arguments": {}})
    content = b'{"errors": [{"message": "Internal server error"}], "data": null}'
    with pytest.raises(checker.errors.FailureGroup, match="Internal server error"):
        schema.evaluate_server_error(case, checker.Response(200, [], content))


@pytest.mark.parametrize(
    ("text", "blame"),
    [
        *((text, Blame.REFUSED) for text in ("At least one field must be set", "Poll is closed")),
        ("Only admin can perform this action", Blame.DENIED),
        ("Cannot read properties of undefined (reading 'name')", Blame.FAILED),
        ("boom", Blame.FAILED),
        ("Unexpected error.", Blame.FAILED),
    ],
)
def test_the_label_of_apollo_for_unlabelled_errors_says_nothing(text: str, blame: Blame) -> None:
    error = {"message": text, "path": ["book"], "extensions": {"code": "INTERNAL_SERVER_ERROR"}}
    complaint = complaint_of({"errors": [error], "data": {"book": None}})
    assert complaint is not None
    assert complaint.blame is blame


@pytest.mark.parametrize("value", ["NaN", "undefined", "TypeError"])
def test_sent_values_in_an_error_are_no_words_of_a_runtime(value: str) -> None:
    errors = [{"message": f"There is no book with the id {value}", "path": ["book"]}]
    complaint = complaint_of({"errors": errors, "data": None}, sent=["a", value])
    assert complaint is not None
    assert complaint.blame is Blame.DENIED
    other = complaint_of({"errors": errors, "data": None})
    assert other is not None
    assert other.blame is Blame.FAILED
