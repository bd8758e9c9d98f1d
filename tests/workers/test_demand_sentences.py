"""Sentences of real services, and what they demand."""

import json
from typing import Any

import pytest

from checker.core.case import NOT_SET, Case
from checker.core.constraints import is_broken
from checker.core.operation import BrokenOperation
from checker.core.response import Response
from checker.openapi.loaders import from_dict
from checker.refusals.reading import READERS, demands_in
from checker.refusals.sentences import PlaceDemand

NAME = "^[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$"
ENDS = "starting and ending with a character in [a-zA-Z0-9]. Got: x"
NAMED = {("name", "minLength", 3), ("name", "maxLength", 512), ("name", "pattern", NAME)}
TARGET = "Failed to deserialize the JSON body into the target type: "
SENTENCES: list[tuple[str, set[tuple[str, str, Any]]]] = [
    (f"Expected a name containing 3-512 characters from [a-zA-Z0-9._-], {ENDS}", NAMED),
    (f"Validation error: name: Expected a name containing 3-512 characters from [a-zA-Z0-9._-], {ENDS}", NAMED),
    ("database name must be at least 3 characters", {("database", "minLength", 3), ("database_name", "minLength", 3)}),
    ("Collection ID is not a valid UUIDv4", {("Collection_ID", "format", "uuid"), ("Collection", "format", "uuid")}),
    (
        "Validation error: collection_id: Invalid collection ID format, expected UUID",
        {("collection_id", "format", "uuid")},
    ),
    (
        "Tonic error: code: 'x', message: \"Client validation error: Invalid collection_id UUID format\"",
        {("collection_id", "format", "uuid")},
    ),
    ("Validation error: embeddings: Each embedding must have at least 1 dimension", {("embeddings.*", "minItems", 1)}),
    ("Invalid where clause", {("where", "seldom", True), ("where_clause", "seldom", True)}),
    (
        "Failed to parse the `where document` filter: unexpected end",
        {("where_document", "seldom", True), ("where_document_filter", "seldom", True)},
    ),
    ("Invalid query", set()),
    (
        "Validation error: crn: CRN must be in the format <tenant>:<database>:<name> with non-empty parts",
        {("crn", "pattern", "^[^:]+:[^:]+:[^:]+$")},
    ),
    (
        "Invalid X-API-VERSION header format.Expected header in format 'x.y.z' but received x",
        {("X-API-VERSION", "pattern", r"^\d+\.\d+\.\d+$")},
    ),
    (
        "Invalid X-API-VERSION header format. Expected header in format 'x.y.z' but received x",
        {("X-API-VERSION", "pattern", r"^\d+\.\d+\.\d+$")},
    ),
    ("release: must be in the format MAJOR.MINOR", {("release", "pattern", r"^\d+\.\d+$")}),
    ("the file format a.b.txt is unknown", set()),
    ("day: must be in the format e.g 12", set()),
    ("mail: must be in the format a.b@c.d", set()),
    ('"pin" length must be 10', {("pin", "minLength", 10), ("pin", "maxLength", 10)}),
    ("X-A in header: this header is mandatory", {("X-A", "required", True)}),
    ("permissions.write.0 in body: Required", {("permissions.write.*", "required", True)}),
    ("Expected a string containing 3-9 characters", set()),
    ('"items[0].name" length must be at least 3 characters long', {("items.*.name", "minLength", 3)}),
    ('Invalid payload. "hash" is required.', {("hash", "required", True)}),
    ('"otp" is not allowed to be empty', {("otp", "minLength", 1)}),
    ('Invalid payload. "id" is not allowed.', {("id", "forbidden", True)}),
    ('"kind" must be one of [string, number]. You provided {"x":0.4}.', {("kind", "enum", ("string", "number"))}),
    ("amount must be 42.5", {("amount", "enum", (42.5,))}),
    ("Total should be 12.50 but was 0", {("Total", "enum", (12.5,))}),
    ("amount: expected 42.5, got 0", {("amount", "enum", (42.5,))}),
    ("limit must be 10 or less", set()),
    ("size must be 3 characters", set()),
    ("quantity must be a multiple of 500", {("quantity", "multipleOf", 500)}),
    ("price: Ensure this value is a multiple of step size 5.", {("price", "multipleOf", 5)}),
    ("price: must be a multiple of 0.5", set()),
    ('"name" must be URL friendly', {("name", "pattern", "^[A-Za-z0-9_.~-]+$")}),
    ("name must be longer than or equal to 3 characters", {("name", "minLength", 3)}),
    ("name must be shorter than or equal to 9 characters", {("name", "maxLength", 9)}),
    ("each value in tags must be a string", {("tags.*", "type", "string")}),
    ("property extra should not exist", {("extra", "forbidden", True)}),
    ('The `kind` property must be equal to one of the allowed values: "a", "b"', {("kind", "enum", ("a", "b"))}),
    ("Missing keys.", {("keys", "required", True)}),
    ('Missing "api_name"', {("api_name", "required", True)}),
    ("Missing body.", set()),
    ("Key 'name' not present or not a String", {("name", "required", True)}),
    ("0.labels in body is required", {("*.labels", "required", True)}),
    (
        "validation failure list:\nstate in query should be one of [a b]\nids in body should have at least 2 items",
        {("state", "enum", ("a", "b")), ("ids", "minItems", 2)},
    ),
    ('key in path must be of type uuid: "x"', {("key", "format", "uuid")}),
    ('since in query must be of type date-time: "x"', {("since", "format", "date-time")}),
    ("slug: must only contain lowercase letters, numbers, and dashes.", {("slug", "pattern", "^[a-z0-9-]+$")}),
    (
        "slug: Enter a valid value consisting of letters, numbers, underscores or hyphens.",
        {("slug", "pattern", "^[a-zA-Z0-9_-]+$")},
    ),
    (
        "username: This value may contain only letters, numbers, and @/./+/-/_ characters.",
        {("username", "pattern", "^[a-zA-Z0-9@.+_-]+$")},
    ),
    (
        "pod: must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        {("pod", "pattern", "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")},
    ),
    ("title: may contain only letters, spaces and '^'", {("title", "pattern", "^[a-zA-Z \\^]+$")}),
    ("description: Null characters are not allowed.", {("description", "pattern", r"^[^\u0000]*$")}),
    ('color: Color must be in "#RRGGBB" format', {("color", "pattern", "^#[0-9a-fA-F]{6}$")}),
    ("paint must be a hexadecimal color", {("paint", "pattern", "^#[0-9a-fA-F]{6}$")}),
    ("login must be alphanumeric", {("login", "pattern", "^[a-zA-Z0-9]+$")}),
    ("password: must contain letters and numbers", set()),
    ("order: must consist of items", set()),
    ("name: must be lowercase", set()),
    (f"{TARGET}missing field `name` at line 1 column 2", {("name", "required", True)}),
    (f"{TARGET}a[0].b: missing field `c` at line 1", {("a.*.b.c", "required", True)}),
    (f"{TARGET}unknown field `x`, expected `y` at line 1", {("x", "forbidden", True)}),
    (f"{TARGET}a.b: unknown variant `f8`, expected one of `min`, `max` at line 1", {("a.b", "enum", ("min", "max"))}),
    (f"{TARGET}age: invalid type: floating point `2.86`, expected u32 at line 1", {("age", "type", "integer")}),
    (f"{TARGET}tags: invalid type: map, expected a sequence at line 1 column 9", {("tags", "type", "array")}),
    ('tags: Validation error: length [{"value": Array [String("a")], "min": Number(2)}]', {("tags", "minItems", 2)}),
    (
        'code: Validation error: length [{"equal": Number(4), "value": String("\\"min\\": 1")}]',
        {("code", "minLength", 4), ("code", "maxLength", 4)},
    ),
    ('price: Validation error: range [{"exclusive_min": Number(0.5)}]', {("price", "exclusiveMinimum", 0.5)}),
]


def said_by(body: Any) -> list[PlaceDemand]:
    return next((found for reader in READERS if (found := list(reader(body)))), [])


@pytest.mark.parametrize(("sentence", "wanted"), SENTENCES)
def test_a_sentence_demands(sentence: str, wanted: set[tuple[str, str, Any]]) -> None:
    for body in (sentence, {"error": "InvalidArgumentError", "message": sentence}):
        found = {
            (".".join(one.path), one.keyword, tuple(one.value) if isinstance(one.value, list) else one.value)
            for one in said_by(body)
        }
        assert found == wanted


BODIES: list[tuple[Any, set[tuple[str, str, str]]]] = [
    (
        {"name": "BadDataError", "message": "Invalid.", "details": [{"message": '"id" is required'}]},
        {("id", "required", "")},
    ),
    (
        {"name": "BadDataError", "details": [{"message": '"id" is required', "path": ["id"]}]},
        {("id", "required", "")},
    ),
    (
        {"name": "BadDataError", "details": [{"message": "The `/query/id` property is required.", "path": "/query/id"}]},
        {("id", "required", "query")},
    ),
    (
        {"message": "no", "errors": [{"message": "must have required property 'id'", "path": "/body/id"}]},
        {("id", "required", "body")},
    ),
    (
        {"statusCode": 400, "validation": {"body": {"source": "body", "keys": ["id"], "message": '"id" is required'}}},
        {("id", "required", "")},
    ),
    (
        {"name": "BadRequest", "data": [{"instancePath": "", "keyword": "required", "params": {"missingProperty": "id"}}]},
        {("id", "required", "")},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), BODIES)
def test_a_body_says_what_it_is_about(body: Any, wanted: set[tuple[str, str, str]]) -> None:
    assert {(".".join(one.path), one.keyword, one.where) for one in said_by(body)} == wanted


LOOPBACK = {"statusCode": 422, "name": "UnprocessableEntityError", "message": "The request body is invalid."}
AT_AGE = {"path": "/age", "code": "minimum", "message": "must be >= 18", "info": {"limit": 18}}
NO_TITLE = {"path": "", "code": "required", "message": "must have 'title'", "info": {"missingProperty": "title"}}
IN_MODEL = {
    "statusCode": 422,
    "name": "ValidationError",
    "message": 'The `Todo` instance is not valid. Details: `title` can\'t be blank (value: "").',
    "details": {"context": "Todo", "codes": {"title": ["presence"]}, "messages": {"title": ["can't be blank"]}},
}
FIXED = {"statusCode": 400, "name": "Error", "message": "id property (id) cannot be updated from 1 to 3"}


@pytest.mark.parametrize(
    ("error", "body", "expected"),
    [
        ({**LOOPBACK, "details": [AT_AGE]}, {"title": "a", "age": 3}, {(("age",), "minimum")}),
        ({**LOOPBACK, "details": [NO_TITLE]}, {"age": 3}, {(("title",), "required")}),
        ({**LOOPBACK, "details": [NO_TITLE]}, NOT_SET, {((), "required")}),
        (IN_MODEL, {"title": ""}, {(("title",), "minLength"), (("title",), "pattern")}),
        (FIXED, {"title": "a", "id": 3}, {(("id",), "same")}),
    ],
    ids=["a limit", "a member", "a member of no body", "of the model", "an id"],
)
def test_what_loopback_says(error: dict[str, Any], body: Any, expected: set[tuple[tuple[str, ...], str]]) -> None:
    path = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    members = {"title": {"type": "string"}, "age": {"type": "integer"}, "id": {"type": "integer"}}
    content = {"application/json": {"schema": {"type": "object", "properties": members}}}
    (operation,) = from_dict(
        {
            "openapi": "3.1.0",
            "info": {"title": "", "version": ""},
            "paths": {
                "/todos/{id}": {"put": {"parameters": [path], "requestBody": {"content": content}, "responses": {}}}
            },
        }
    ).get_all_operations()
    assert not isinstance(operation, BrokenOperation)
    media_type = None if body is NOT_SET else "application/json"
    case = operation.Case(path_parameters={"id": 1}, body=body, media_type=media_type)
    response = Response(422, [("Content-Type", "application/json")], json.dumps({"error": error}).encode())
    found = demands_in(case, response, tuple(members))
    assert {(one.path, one.keyword) for one in found} == expected
    assert all(is_broken(one, case) for one in found)


@pytest.mark.parametrize(("given", "steps"), [("a", ("meta",)), (["a"], ("meta", "*"))])
def test_items_of_a_parameter_that_was_sent_as_a_text_are_the_parameter(given: Any, steps: tuple[str, ...]) -> None:
    meta = {"name": "meta", "in": "query", "schema": {"type": ["string", "array"]}}
    (operation,) = from_dict(
        {
            "openapi": "3.1.0",
            "info": {"title": "", "version": ""},
            "paths": {"/things": {"get": {"parameters": [meta], "responses": {}}}},
        }
    ).get_all_operations()
    assert not isinstance(operation, BrokenOperation)
    case = operation.Case(query={"meta": given})
    said = b'{"errors": [{"message": "\\"meta[0]\\" must be one of [total, filtered]."}]}'
    (found,) = demands_in(case, Response(400, [("Content-Type", "application/json")], said))
    assert (found.path, found.keyword, found.given) == (steps, "enum", ["total", "filtered"])


def _case(schema: dict[str, Any], given: dict[str, Any]) -> Case:
    """Return a case with a body for an operation whose body has a schema."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    (operation,) = from_dict(
        {
            "openapi": "3.1.0",
            "info": {"title": "", "version": ""},
            "paths": {"/things": {"post": {"requestBody": body, "responses": {}}}},
        }
    ).get_all_operations()
    assert not isinstance(operation, BrokenOperation)
    return operation.Case(body=given, media_type="application/json")


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ({"reason": {"amount": ["This field is required."]}}, ("amount",)),
        ({"amount": ["This field is required."]}, ("amount",)),
        ({"owner": {"email": ["This field is required."]}}, ("owner", "email")),
        ({"home": {"zip": ["This field is required."]}}, ("home", "zip")),
    ],
    ids=["below a reason", "at the top", "in a declared object", "in an object that was sent"],
)
def test_an_object_that_nothing_declares_is_no_part_of_a_place(said: dict[str, Any], path: tuple[str, ...]) -> None:
    schema = {"type": "object", "properties": {"owner": {"type": "object"}}}
    case = _case(schema, {"home": {}})
    response = Response(406, [("Content-Type", "application/json")], json.dumps(said).encode())
    assert [one.path for one in demands_in(case, response, ("owner",))] == [path]


@pytest.mark.parametrize(
    ("given", "count"), [({"where": {"a": 1}}, 1), ({"where": None}, 0), ({}, 0), ({"q": ""}, 0)], ids=repr
)
def test_a_value_in_an_unknown_language_is_left_out_if_it_was_sent(given: dict[str, Any], count: int) -> None:
    schema = {"type": "object", "properties": {"where": {}, "q": {}}}
    case = _case(schema, given)
    said = b'{"message": "Invalid where clause"}'
    found = demands_in(case, Response(400, [("Content-Type", "application/json")], said), ("where", "q"))
    assert [(one.path, one.keyword) for one in found] == [(("where",), "seldom")] * count
    assert [is_broken(one, case) for one in found] == [True] * count


@pytest.mark.parametrize(("before", "count"), [(9, 1), (10, 0)])
def test_relations_are_read_from_ten_texts_of_a_response(before: int, count: int) -> None:
    parameters = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("alpha", "omega")]
    (operation,) = from_dict(
        {
            "openapi": "3.1.0",
            "info": {"title": "", "version": ""},
            "paths": {"/things": {"get": {"parameters": parameters, "responses": {}}}},
        }
    ).get_all_operations()
    assert not isinstance(operation, BrokenOperation)
    texts = [*["label", "No luck"] * before, "alpha must be before omega"]
    said = json.dumps({"errors": texts}).encode()
    found = demands_in(operation.Case(query={}), Response(400, [("Content-Type", "application/json")], said))
    assert [one.keyword for one in found] == ["below"] * count
