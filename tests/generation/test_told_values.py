"""Texts that descriptions give in prose are drawn where nothing else says what texts look like."""

from typing import Any

import pytest

from checker.core.meta import GenerationMode
from checker.core.operation import BrokenOperation, Location
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.normalization.prose_values import named_members, prose_examples, prose_objects
from checker.generation.program import compile_operation
from checker.generation.settings import GenerationSettings
from checker.openapi.loaders import from_dict

from .making import cases, parameter_of, program_of

ZONE = 'Name of the zone (e.g. "example.com."), with a dot at its end'


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (ZONE, ["example.com."]),
        ("Type (e.g. \u201cA\u201d, \u201cPTR\u201d, \u201cMX\u201d)", ["A", "PTR", "MX"]),
        ("A tag, for example `en-US` or `de`.", ["en-US", "de"]),
        ("one of 'a', 'b' and 'c'", ["a", "b", "c"]),
        ("Set to \u201cZone\u201d", ["Zone"]),
        ("The user's name, e.g. Ann, isn't checked", []),
        ('Shown as "title"', []),
        ("Day of the report, e.g. 2024-01-31.", ["2024-01-31"]),
        ("A locale, for example en-US, or nothing", ["en-US"]),
        ("Such as a name or a word", []),
        ("One of the users", []),
        ("Kind of the sort: one of asc, desc or none", ["asc", "desc", "none"]),
        ("Version in the format x.y.z", ["1.2.3"]),
        ("Format: YYYY-MM-DD", ["2024-01-31"]),
        ("A day (format: `DD.MM.YYYY`)", ["31.01.2024"]),
        ("The format of the answer", []),
    ],
)
def test_quoted_examples_are_read(text: str, values: list[str]) -> None:
    assert prose_examples({"type": "string", "description": text}) == values


@pytest.mark.parametrize(
    "more",
    [{"type": "integer"}, {"pattern": "^a"}, {"format": "uuid"}, {"enum": ["a"]}, {"example": "b"}, {"description": 5}],
)
def test_keywords_say_more_than_prose(more: dict[str, Any]) -> None:
    assert prose_examples({"type": "string", "description": ZONE} | more) == []


def _share(schema: dict[str, Any], value: str) -> float:
    found = cases(program_of(parameter_of(schema)), 1000)
    return [case.query["q"] for case in found].count(value) / len(found)


def test_what_is_told_is_drawn_now_and_then() -> None:
    assert 0.14 < _share({"type": "string", "description": ZONE}, "example.com.") < 0.26


def test_what_is_told_and_not_valid_is_not_drawn() -> None:
    schema = {"type": "string", "description": ZONE, "maxLength": 5}
    assert _share(schema, "example.com.") == 0


def test_lists_of_types_and_formats_that_are_no_texts_tell_nothing() -> None:
    named = {"name": {"type": "string", "format": {}}, "other": {"properties": {"name": {"type": ["string", "null"]}}}}
    (case,) = cases(program_of(body={"type": "object", "required": ["name"], "properties": named}), 1)
    assert "name" in case.body


def _document(wanted: dict[str, Any], *others: dict[str, Any], schemas: Any = None) -> dict[str, Any]:
    """Return a document with an operation that has a parameter, and others with further ones."""
    paths = {
        f"/{number}": {"get": {"parameters": [{"in": "query", **one}], "responses": {"200": {"description": ""}}}}
        for number, one in enumerate((wanted, *others))
    }
    info = {"title": "Told", "version": "1"}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": schemas or {}}}


TEXT = {"type": "string"}
WIDTH = {"type": "integer", "description": "Must be at least 7 meters."}
PIN = {"type": "integer", "description": "A number of at least 7 digits."}
ZONE_NAME = {"name": "zone", "required": True, "schema": TEXT}


@pytest.mark.parametrize(
    ("document", "value"),
    [
        (_document({**ZONE_NAME, "description": ZONE}), "example.com."),
        (_document({**ZONE_NAME, "schema": WIDTH}), 7),
        (_document({**ZONE_NAME, "schema": {"type": "number"}, "description": "no more than 7 of them"}), 7),
        (_document({**ZONE_NAME, "schema": PIN}), None),
        (_document(ZONE_NAME, {"name": "zone", "schema": {**TEXT, "example": "eu-1"}}), "eu-1"),
        (_document(ZONE_NAME, {"name": "zone", "schema": TEXT, "example": "eu-1"}), "eu-1"),
        (_document(ZONE_NAME, schemas={"Z": {"properties": {"zone": {**TEXT, "default": "eu-2"}}}}), "eu-2"),
        (_document(ZONE_NAME, schemas={"Z": {"properties": {"zone": {**TEXT, "enum": ["eu-3"]}}}}), "eu-3"),
        (_document(ZONE_NAME, {"name": "zone", "schema": {"type": "integer", "example": 7}}), None),
        (_document(ZONE_NAME, {"name": "zones", "schema": {**TEXT, "example": "eu-1"}}), None),
        (_document({**ZONE_NAME, "name": "id"}, {"name": "id", "schema": {**TEXT, "example": "eu-1"}}), None),
        (_document({**ZONE_NAME, "schema": {**TEXT, "maxLength": 2}}, {"name": "zone", "example": "eu-1"}), None),
    ],
)
def test_the_base_request_has_what_is_told_of_a_required_part(document: dict[str, Any], value: object) -> None:
    operation = next(iter(from_dict(document).get_all_operations()))
    assert not isinstance(operation, BrokenOperation)
    settings = GenerationSettings(mode=GenerationMode.POSITIVE)
    first = next(iter(OperationEdges(operation, settings, Coverage()).cases()))
    (found,) = first.parts.containers[Location.QUERY].values()
    assert found == value if value else found not in ("eu-1", "eu-2", "eu-3", 7)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("An object containing 'keys' and 'data'.", ["keys", "data"]),
        ("Send a JSON body with `url`, `name` and `url`. Not `other`.", ["url", "name"]),
        ("The payload has 'a b' and \"c\"", ["c"]),
        ("Sets `color` to 'red'", []),
        ("An object with colours", []),
    ],
)
def test_a_body_without_declared_members_mostly_has_those_of_the_prose(text: str, names: list[str]) -> None:
    assert named_members(text) == names
    body: dict[str, Any] = {"description": text, "content": {"application/json": {"schema": {"type": "object"}}}}
    paths = {"/a": {"post": {"requestBody": {"required": True, **body}, "responses": {}}}}
    (operation,) = from_dict(_document(ZONE_NAME) | {"paths": paths}).get_all_operations()
    assert not isinstance(operation, BrokenOperation)
    drawn = [case.body for case in cases(compile_operation(operation, GenerationSettings()), 50)]
    assert sum(set(names) <= one.keys() for one in drawn) >= 40


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ('Adds an item.\n\nPOST(url, n)\n{\n    "url": "/a/1",\n    "n": 6\n}\n', [{"url": "/a/1", "n": 6}]),
        (
            '{\n "a": "x"\n "b": [1]\n "c": true\n "d": {"e": 1}\n "f": 2\n}',
            [{"a": "x", "b": [1], "c": True, "d": {"e": 1}, "f": 2}],
        ),
        ('{"a": url, "b": {"c": 1}} or {"d": 1}', [{"d": 1}]),
        ('Returns {"a": 1}. Takes {"b": 1}', [{"b": 1}]),
        ("Of /a/{id}, {} and {", []),
        ('{"a": 1} {"a": 1} {"b": 1} {"c": 1} {"d": 1}', [{"a": 1}, {"b": 1}, {"c": 1}]),
    ],
)
def test_objects_in_prose_are_read_as_a_person_reads_them(text: str, objects: list[dict[str, Any]]) -> None:
    assert prose_objects(text) == objects


@pytest.mark.parametrize(
    ("media", "shown"),
    [
        ({"schema": {"type": "object", "properties": {"color": TEXT}}}, {"color": "teal", "size": 3}),
        ({}, {"color": "teal", "size": 3}),
        ({"schema": {"type": "object", "properties": {"rules": {"type": "array"}}}}, None),
        ({"schema": {"type": "object", "properties": {"color": TEXT}}, "example": {"color": "red"}}, {"color": "red"}),
    ],
)
def test_the_base_request_is_the_object_that_the_prose_of_the_operation_shows(
    media: dict[str, Any], shown: dict[str, Any] | None
) -> None:
    body = {"requestBody": {"required": True, "content": {"application/json": media}}, "responses": {}}
    prose = 'Paints it.\n{"color": "teal", "size": 3}'
    document = _document(ZONE_NAME) | {"paths": {"/a": {"post": {"description": prose, **body}}}}
    (operation,) = from_dict(document).get_all_operations()
    assert not isinstance(operation, BrokenOperation)
    cases_of = OperationEdges(operation, GenerationSettings(mode=GenerationMode.POSITIVE), Coverage()).cases()
    bodies = [case.parts.body for case in cases_of]
    assert bodies[0] == shown if shown else {"color": "teal", "size": 3} not in bodies
