from typing import Any

import pytest

from checker.core.operation import Body, Location, Parameter, PropertyEncoding
from checker.core.schema import Direction
from checker.generation.negation.wire import body_proof, parameter_proof
from checker.schema.views import outline_of
from checker.validation.compiled import compile_schema

from ..making import schema_of

PATH, QUERY, HEADER, COOKIE = Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE
INTEGER, BOOLEAN, TEXT = {"type": "integer"}, {"type": "boolean"}, {"type": "string"}
INTEGERS = {"type": "array", "items": INTEGER, "minItems": 2}


def is_proved(raw: Any, value: Any, location: Location = QUERY, *, required: bool = True, **options: Any) -> bool:
    schema = schema_of(raw)
    style = "form" if location in (QUERY, COOKIE) else "simple"
    parameter = Parameter(
        "q", location, required, schema, options.pop("style", style), options.pop("explode", True), **options
    )
    is_valid = compile_schema(schema, Direction.REQUEST).is_valid
    return parameter_proof(parameter, outline_of(schema), is_valid)(value)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (INTEGER, "5"),
        (INTEGER, "-5"),
        (INTEGER, " 7 "),
        (INTEGER, "1_000"),
        (INTEGER, "5.0"),
        (INTEGER, "1e3"),
        (INTEGER, "\u0665"),
        (INTEGER, 5.0),
        ({"type": "number"}, "0.5"),
        ({"type": "number"}, "inf"),
        (BOOLEAN, "true"),
        (BOOLEAN, "FALSE"),
        (BOOLEAN, 0),
        (BOOLEAN, 1),
        (BOOLEAN, "yes"),
        (TEXT, 5),
        (TEXT, True),
        (TEXT, None),
        ({"type": ["integer", "null"]}, "null"),
        ({"type": ["integer", "null"]}, ""),
        ({"enum": ["1", "2"]}, 1),
        ({"type": "string", "minLength": 2}, 10),
        ({"type": "integer", "enum": [1, 2]}, "2"),
    ],
    ids=str,
)
@pytest.mark.parametrize("location", [PATH, QUERY, HEADER, COOKIE])
def test_text_that_may_be_read_as_valid_is_not_proved(raw: Any, value: Any, location: Location) -> None:
    assert not is_proved(raw, value, location)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (INTEGER, "abc"),
        (INTEGER, 0.5),
        (INTEGER, "0.5"),
        (INTEGER, None),
        (INTEGER, "nul"),
        ({"type": "integer", "minimum": 3}, 2),
        (BOOLEAN, 2),
        (BOOLEAN, "maybe"),
        (BOOLEAN, None),
        ({"type": "string", "maxLength": 2}, "abc"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "A"),
        ({"type": "string", "format": "uuid"}, "abc"),
        ({"enum": ["a", "b"]}, "c"),
    ],
    ids=str,
)
@pytest.mark.parametrize("location", [PATH, QUERY, HEADER, COOKIE])
def test_text_without_a_valid_reading_is_proved(raw: Any, value: Any, location: Location) -> None:
    assert is_proved(raw, value, location)


def test_empty_text_counts_as_absent() -> None:
    raw = {"type": "string", "minLength": 1}
    assert is_proved(raw, "", QUERY, required=True)
    assert not is_proved(raw, "", QUERY, required=False)
    assert not is_proved(raw, "", HEADER)


def test_empty_text_is_right_where_it_is_allowed() -> None:
    assert is_proved(INTEGER, "", QUERY)
    assert not is_proved(INTEGER, "", QUERY, allow_empty=True)
    assert not is_proved(INTEGERS, "", QUERY, allow_empty=True)
    assert is_proved(INTEGER, "x", QUERY, allow_empty=True)


def test_blanks_at_the_ends_of_headers_are_lost() -> None:
    assert not is_proved({"type": "string", "pattern": "^a$"}, "a ", HEADER)


def test_arrays_are_judged_by_all_that_their_texts_may_be() -> None:
    assert is_proved(INTEGERS, ["a", 5])
    assert not is_proved(INTEGERS, ["4", "5"])
    assert is_proved(INTEGERS, [5], explode=False)
    # Nothing is sent for an empty one.
    assert not is_proved(INTEGERS, [])
    # The delimiter splits it into as many as there have to be.
    assert not is_proved(INTEGERS, "4,5", HEADER)


def test_list_where_one_value_belongs_is_not_proved() -> None:
    # Servers take the first, or the last.
    assert not is_proved(INTEGER, [1, 2])


def test_objects_in_a_query_are_read_back_by_their_brackets() -> None:
    raw = {"type": "object", "properties": {"a": INTEGER}, "required": ["a"]}
    assert is_proved(raw, {"a": "x"}, style="deepObject")
    assert not is_proved(raw, {"a": "5"}, style="deepObject")


SPREAD = {"type": "object", "properties": {"a": INTEGER}}


@pytest.mark.parametrize("location", [QUERY, COOKIE])
def test_pairs_that_nobody_declares_are_nobodys(location: Location) -> None:
    closed = SPREAD | {"additionalProperties": False}
    few = SPREAD | {"maxProperties": 1}
    assert is_proved(SPREAD, {"a": "x"}, location)
    assert not is_proved(closed, {"a": 1, "b": 2}, location)
    assert not is_proved(few, {"a": 1, "b": 2}, location)
    # It is not there, or it is wrong.
    assert is_proved(few, {"b": 2, "c": 3}, location)
    assert not is_proved(few, {"b": 2, "c": 3}, location, required=False)
    assert not is_proved(SPREAD, "x", location, required=False)
    # With its own name before them they belong to it.
    assert location is COOKIE or is_proved(few, {"a": 1, "b": 2}, style="deepObject")


def test_parameters_that_travel_as_json_keep_their_types() -> None:
    assert is_proved(INTEGER, "5", media_type="application/json")
    assert not is_proved(INTEGER, 5, media_type="application/json")


def _body(raw: Any, media_type: str, **encoding: PropertyEncoding) -> Any:
    schema = schema_of(raw)
    body = Body(media_type, schema, "#/body", encoding)
    return body_proof(body, compile_schema(schema, Direction.REQUEST).is_valid)


@pytest.mark.parametrize("media_type", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_fields_of_forms_are_text(media_type: str) -> None:
    raw = {
        "type": "object",
        "required": ["n"],
        "properties": {"n": INTEGER, "t": TEXT, "l": {"type": "array", "minItems": 1}},
    }
    proof = _body(raw, media_type)
    assert not proof({"n": "5"})
    assert not proof({"n": 5, "t": 7})
    assert not proof({"n": 5, "t": None})
    assert not proof({"n": 5, "l": []})
    assert proof({"n": "x"})
    assert proof({"t": "a"})
    assert proof({"n": None})
    assert not proof([1])


def test_what_stands_beside_a_file_is_proved_wrong() -> None:
    file = {"type": "string", "format": "binary", "minLength": 2}
    raw = {
        "type": "object",
        "required": ["file", "n"],
        "properties": {"file": file, "n": INTEGER, "t": {**TEXT, "maxLength": 3}},
    }
    proof = _body(raw, "multipart/form-data")
    assert proof({"file": b"\xff\x00", "n": 5, "t": "abcd"})
    assert proof({"file": b"12", "n": "x"})
    assert proof({"file": b"12"})
    assert not proof({"file": b"\xff\x00", "n": "5", "t": "abc"})
    # Nobody says how a form writes octets.
    assert not _body(raw, "application/x-www-form-urlencoded")({"file": b"12", "n": "x"})


def test_fields_that_travel_as_json_keep_their_types() -> None:
    raw = {"type": "object", "properties": {"n": INTEGER}}
    as_json = PropertyEncoding(content_type="application/json")
    assert _body(raw, "multipart/form-data", n=as_json)({"n": "5"})


def test_one_part_may_be_a_list_of_one() -> None:
    raw = {"type": "object", "properties": {"n": {"type": "array", "items": INTEGER}}}
    objects = {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "object"}}}}
    as_json = PropertyEncoding(content_type="application/json")
    assert not _body(raw, "multipart/form-data", n=as_json)({"n": 5})
    assert not _body(objects, "multipart/form-data")({"n": {"a": 1}})
    # A form says it in one text.
    assert _body(raw, "application/x-www-form-urlencoded", n=as_json)({"n": 5})


def test_parts_of_xml_are_read_by_their_schema() -> None:
    item = {"type": "object", "properties": {"a": INTEGER, "b": TEXT}}
    as_xml = PropertyEncoding(content_type="application/xml")
    proof = _body({"type": "object", "properties": {"n": item}}, "multipart/form-data", n=as_xml)
    assert proof({"n": {"a": "x"}})
    assert not proof({"n": {"a": "5"}})
    assert not proof({"n": {"b": 5}})
    assert not proof({"n": [{"a": "x"}]})
    # In a form it is the text that it is.
    raw = {"type": "object", "properties": {"n": {"type": "string", "maxLength": 1}}}
    assert not _body(raw, "application/x-www-form-urlencoded", n=as_xml)({"n": "a"})
    assert _body(raw, "application/x-www-form-urlencoded", n=as_xml)({"n": "ab"})


WORD = TEXT | {"minLength": 1}


def test_list_of_one_empty_text_is_written_like_an_empty_list() -> None:
    raw = {"type": "object", "properties": {"n": {"type": "array", "items": WORD}}}
    comma = PropertyEncoding(explode=False)
    assert not _body(raw, "application/x-www-form-urlencoded", n=comma)({"n": [""]})
    assert _body(raw, "application/x-www-form-urlencoded", n=comma)({"n": ["", "a"]})


def test_json_and_yaml_keep_types() -> None:
    assert _body(INTEGER, "application/json")("5")
    assert _body(INTEGER, "application/yaml")("5")
    assert not _body(INTEGER, "application/vnd.api+json")(5)


def test_plain_text_is_proved_by_its_length_and_form_alone() -> None:
    proof = _body({"type": "string", "maxLength": 2}, "text/plain")
    assert proof("abc")
    assert not proof("ab")
    assert not proof(5)


PLAIN = ["application/octet-stream", "image/png", "text/csv", "text/*", "application/jwt"]


@pytest.mark.parametrize("media_type", PLAIN)
def test_text_and_octets_are_proved_by_every_way_to_read_them(media_type: str) -> None:
    proof = _body({"type": "string", "maxLength": 2}, media_type)
    assert proof("abc")
    assert proof(b"\xff\xfe\xfd")
    # One letter, or two octets.
    assert not proof("é")
    assert not _body({"type": "string", "minLength": 2}, media_type)("é")
    assert not _body({"type": ["string", "integer"], "maxLength": 2}, media_type)("123")
    assert not _body({"type": "string", "format": "binary"}, media_type)(5)


@pytest.mark.parametrize("media_type", PLAIN)
def test_nothing_is_proved_of_lists_that_nothing_says_how_to_write(media_type: str) -> None:
    assert _body({"type": ["string", "array"], "maxLength": 2}, media_type) is None


def test_nothing_is_proved_of_parts_without_names() -> None:
    assert _body({"type": "object"}, "multipart/mixed") is None
    assert _body({"type": "object"}, "multipart/form-data; boundary=x") is not None
