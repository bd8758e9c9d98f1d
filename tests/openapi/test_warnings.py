from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.errors import LoaderError
from checker.core.request import BaseUrl
from checker.kinds.sources import SchemaOptions
from checker.openapi.documents.references import walk
from checker.openapi.loaders import from_path
from checker.openapi.operation import OpenApiOperation
from checker.openapi.schema import OpenApiSchema
from checker.openapi.warnings import _malformed
from checker.transport.prepare import RequestMaker

from .documents import opened, warnings_of
from .robustness import documents

WIDE = {"properties": {str(number): {"type": "string"} for number in range(20_001)}}
LOST = {"$ref": "#/components/schemas/Gone"}


def ref(name: str) -> Any:
    return {"$ref": f"#/components/schemas/{name}"}


def response(**parts: Any) -> Any:
    return {"responses": {"200": {"description": "", **parts}}}


def body(schema: Any, media_type: str = "application/json", **more: Any) -> Any:
    return {"requestBody": {"content": {media_type: {"schema": schema, **more}}}}


def parameter(schema: Any, **more: Any) -> Any:
    return {"parameters": [{"name": "q", "in": "query", "schema": schema, **more}]}


FAULTS: list[tuple[Any, str, str, str]] = [
    (parameter(LOST), "unresolvable_reference", "/parameters/0", "never sent"),
    ({"parameters": [{"name": "q", "in": "moon"}]}, "unusable_parameter", "/parameters/0", "in `moon`"),
    (body(LOST), "unresolvable_reference", "/requestBody/content/application~1json", "never sent"),
    (body({}, "no type"), "unusable_body", "/requestBody/content/no type", "is not a media type"),
    (
        {"responses": {"200": {"$ref": "#/components/responses/X"}}},
        "unresolvable_reference",
        "/responses/200",
        "not validated",
    ),
    (
        response(content={"application/json": {"schema": {"items": LOST}}}),
        "unresolvable_reference",
        "/responses/200/content/application~1json/schema",
        "not validated",
    ),
    (
        response(content={"application/json": {"$ref": "#/x"}}),
        "unresolvable_reference",
        "/responses/200/content/application~1json",
        "not validated",
    ),
    (
        response(headers={"X": {"schema": LOST}}),
        "unresolvable_reference",
        "/responses/200/headers/X/schema",
        "not validated",
    ),
    (
        response(content={"application/pdf": {"schema": {"type": "object"}}}),
        "missing_deserializer",
        "/responses/200/content/application~1pdf",
        "the media type application/pdf is not read; what it describes in a response is not validated",
    ),
    (
        response(content={"application/json": {"schema": WIDE}}),
        "unvalidated_response",
        "/responses/200/content/application~1json/schema",
        "holds more than 20,000 schemas",
    ),
    (response(content={"json": {}}), "unusable_media_type", "/responses/200/content/json", "no media type"),
    (
        parameter({"type": "int"}),
        "malformed_keyword",
        "/parameters/0/schema/type",
        '`type` at #/paths/~1a/post/parameters/0/schema/type cannot be "int"; it is ignored',
    ),
    (
        body({"properties": {"n": {"required": True}}}),
        "malformed_keyword",
        "/requestBody/content/application~1json/schema/properties/n/required",
        "cannot be true",
    ),
    (parameter({"type": "string", "pattern": "(?<=a"}), "unsupported_regex", "/parameters/0/schema/pattern", "'(?<=a'"),
    (
        response(content={"application/json": {"schema": {"patternProperties": {"(": {}}}}}),
        "unsupported_regex",
        "/responses/200/content/application~1json/schema/patternProperties",
        "'('",
    ),
    (
        parameter({"type": "integer"}, example="x"),
        "invalid_example",
        "/parameters/0/example",
        "the example at #/paths/~1a/post/parameters/0/example does not fit its schema at"
        ' #/paths/~1a/post/parameters/0/schema: "x" is not of type "integer"; correct one of them',
    ),
    (
        body({"type": "object"}, examples={"a": {"value": {}}, "b": {"value": [1]}}),
        "invalid_example",
        "/requestBody/content/application~1json/examples/b/value",
        '[1] is not of type "object"',
    ),
    (
        body({"properties": {"n": {"items": {"enum": [1]}}}}, example={"m": "m" * 80, "n": [1, 2]}),
        "invalid_example",
        "/requestBody/content/application~1json/example",
        "mmm... at #/paths/~1a/post/requestBody/content/application~1json/example does not fit its schema at"
        " #/paths/~1a/post/requestBody/content/application~1json/schema: 2 is not one of [1] at /n/1;",
    ),
    (
        body({"properties": {key: {"type": "null"} for key in "abcd"}}, example=dict.fromkeys("abcd", 1)),
        "invalid_example",
        "/requestBody/content/application~1json/example",
        ', 1 is not of type "null" at /c and 1 more; correct',
    ),
    (response(links={"L": {"operationId": "gone"}}), "broken_link", "/responses/200/links/L", "cannot be followed"),
    ({"security": [{"gone": []}]}, "undeclared_security", "", "`gone` is not declared"),
]


@pytest.mark.parametrize(("definition", "kind", "place", "words"), FAULTS)
def test_fault_is_told_with_its_place(definition: Any, kind: str, place: str, words: str) -> None:
    (found,) = warnings_of(opened("3.0.3", {"/a": {"post": definition}}))
    assert (found.kind, found.label, found.pointer) == (kind, "POST /a", f"#/paths/~1a/post{place}")
    assert words in found.message
    assert "\n" not in found.message


def test_another_host_is_told_and_another_path_is_used() -> None:
    paths = {
        "/a": {"servers": [{"url": "http://h/own"}], "get": {}},
        "/b": {"get": {"servers": [{"url": "http://other/v"}]}},
        "/c": {"get": {"servers": [{"url": "http://["}]}},
    }
    schema = opened("3.0.3", paths, servers=[{"url": "http://h/v1"}])
    told = [(warning.kind, warning.label) for warning in warnings_of(schema)]
    assert told == [("other_server", "GET /b"), ("other_server", "GET /c")]
    maker = RequestMaker(BaseUrl("http", "h", 80, "/v1"), version="0", own_servers=True)
    operations = [one for one in schema.get_all_operations() if isinstance(one, OpenApiOperation)]
    targets = [maker.make(Case(operation, "1")).target for operation in operations]
    assert targets == [b"/own/a", b"/v1/b", b"/v1/c"]
    schema.configure(SchemaOptions(base_url="http://h/given"))
    assert warnings_of(schema) == ()
    assert {operation.base_url for operation in operations} == {"http://h/given"}


def test_description_without_faults_has_no_warnings() -> None:
    tree = {"properties": {"next": {"$ref": "#/components/schemas/T"}, "p": {"pattern": "^a$"}}}
    definition = {
        **body({"$ref": "#/components/schemas/T"}, example={"p": "a"}),
        **response(content={"application/json": {"schema": {"$ref": "#/components/schemas/T"}}}),
    }
    schema = opened("3.0.3", {"/a": {"post": definition}}, components={"schemas": {"T": tree}})
    assert warnings_of(schema) == ()


def test_files_are_a_type_of_swagger() -> None:
    definition = {
        **response(schema={"type": "file"}),
        "consumes": ["multipart/form-data"],
        "parameters": [{"name": "f", "in": "formData", "type": "file"}],
    }
    assert warnings_of(opened("2.0", {"/a": {"post": definition}})) == ()


def test_swagger_responses_are_looked_at() -> None:
    (found,) = warnings_of(opened("2.0", {"/a": {"get": response(schema={"$ref": "#/definitions/X"})}}))
    assert (found.kind, found.pointer) == ("unresolvable_reference", "#/paths/~1a/get/responses/200/schema")


def assert_places_exist(schema: OpenApiSchema) -> None:
    for warning in warnings_of(schema):
        name, _, fragment = warning.pointer.partition("#")
        walk(schema.document.neighbours.load(name), "#", fragment)


FIELD = {"name": "f", "in": "formData", "type": "int"}
BODY = {"name": "b", "in": "body", "schema": {"$ref": "#/definitions/Gone"}}
SHARED = {"requestBodies": {"B": {"content": {"no type": {}, "text/csv": {"schema": LOST}}}}}


@pytest.mark.parametrize(
    ("version", "definition", "more", "kinds"),
    [
        ("2.0", {"parameters": [FIELD]}, {}, ["malformed_keyword"]),
        ("2.0", {"parameters": [BODY]}, {}, ["unresolvable_reference"]),
        (
            "3.0.3",
            {"requestBody": {"$ref": "#/components/requestBodies/B"}},
            {"components": SHARED},
            ["unusable_body", "unresolvable_reference"],
        ),
    ],
)
def test_place_is_where_it_is_declared(version: str, definition: Any, more: Any, kinds: list[str]) -> None:
    schema = opened(version, {"/a": {"post": definition}}, **more)
    assert [warning.kind for warning in warnings_of(schema)] == kinds
    assert_places_exist(schema)


@pytest.mark.parametrize("path", [*documents()], ids=lambda path: path.name[-40:])
def test_places_of_warnings_are_in_the_document(path: Path) -> None:
    with suppress(LoaderError):
        assert_places_exist(from_path(path))


def test_all_that_lead_to_a_fault_tell_of_it_and_what_has_none_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def referring(*names: str) -> Any:
        parts = [ref(name) for name in names]
        return {"get": response(content={"application/json": {"schema": {"anyOf": parts}}})}

    looked: list[str] = []

    def malformed(raw: Any, at: str, dialect: Any) -> Any:
        looked.append(at)
        return _malformed(raw, at, dialect)

    monkeypatch.setattr("checker.openapi.warnings._malformed", malformed)
    schemas = {
        "Good": {"properties": {"inner": {"type": "string"}, "next": ref("Good")}},
        "Leads": {"properties": {"good": ref("Good"), "bad": ref("Bad")}},
        "Bad": {"properties": {"inner": {"minLength": "many"}}},
        "Circle": {"allOf": [ref("Back")]},
        "Back": {"allOf": [ref("Circle")]},
    }
    paths = {"/a": referring("Good"), "/b": referring("Leads"), "/c": referring("Good", "Leads")}
    paths |= {"/d": referring("Bad"), "/e": referring("Circle"), "/f": referring("Back")}
    found = warnings_of(opened("3.0.3", paths, components={"schemas": schemas}))
    told = [(one.label, one.pointer.removeprefix("#/components/schemas/")) for one in found]
    fault = "Bad/properties/inner/minLength"
    assert told[:3] == [(f"GET /{name}", fault) for name in "bcd"]
    assert [label for label, _ in told[3:]] == ["GET /e", "GET /f"]
    assert looked.count("#/components/schemas/Good/properties/inner") == 1
    assert looked.count("#/components/schemas/Bad/properties/inner") == 3
