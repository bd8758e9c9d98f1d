"""What the referee says of single requests, beside those of `test_mutants`."""

from typing import Any

import pytest

from checker.core.contract import Outcome, PartVerdict
from checker.core.request import Location, WireRequest
from checker.openapi.operation import OpenApiOperation

from .documents import opened
from .judging import AMBIGUOUS, CLOSED, INTEGER, INVALID, LIST, OBJECT, VALID, bodied, judge, reasons

UNDECLARED = Outcome.UNDECLARED
BODY, COOKIE, HEADER, PATH, QUERY = (Location.BODY, Location.COOKIE, Location.HEADER, Location.PATH, Location.QUERY)
JSON = "application/json"
BOOLEAN = {"type": "boolean"}


def one(place: str, schema: Any, **more: Any) -> dict[str, Any]:
    required = more.pop("required", place == "path")
    return {"parameters": [{"name": "p", "in": place, "schema": schema, "required": required, **more}]}


QUERIES: list[tuple[dict[str, Any], str, Outcome]] = [
    (one("query", INTEGER), "1", VALID),
    (one("query", INTEGER), "1.0", AMBIGUOUS),
    (one("query", INTEGER), "01", AMBIGUOUS),
    (one("query", INTEGER), "%2B1", AMBIGUOUS),
    (one("query", INTEGER), "1.5", INVALID),
    (one("query", {"type": "integer", "maximum": 5}), "%2B6", INVALID),
    (one("query", BOOLEAN), "true", VALID),
    (one("query", BOOLEAN), "1", AMBIGUOUS),
    (one("query", BOOLEAN), "True", AMBIGUOUS),
    (one("query", BOOLEAN), "2", INVALID),
    (one("query", {"type": "integer", "nullable": True}), "null", AMBIGUOUS),
    (one("query", {"type": "integer", "nullable": True}), "", AMBIGUOUS),
    (one("query", INTEGER, allowEmptyValue=True), "", VALID),
    (one("query", INTEGER), "", AMBIGUOUS),
    (one("query", INTEGER, required=True), "", INVALID),
    (one("query", {"type": "string"}), "", AMBIGUOUS),
    (one("query", {"type": "string"}, required=True), "", AMBIGUOUS),
    (one("query", {"type": "string"}, allowEmptyValue=True), "", VALID),
    (one("query", {"type": "string", "minLength": 1}, required=True), "", INVALID),
    (one("query", {"type": "array", "items": {"enum": ["a"]}}), "", AMBIGUOUS),
    (one("query", {"type": "array", "items": {"enum": ["a"]}}, required=True), "", AMBIGUOUS),
    (one("query", {"type": "array", "items": {"enum": ["a"]}}), "&p=", INVALID),
    (one("query", {"type": "string", "pattern": "^a b$"}), "a+b", AMBIGUOUS),
    # Engines of regular expressions differ in what `$` and `\\d` match.
    (one("query", {"type": "string", "pattern": "^a$"}), "a%0A", AMBIGUOUS),
    (one("query", {"type": "string", "pattern": "^a"}), "b%0A", INVALID),
    (one("query", {"type": "string", "pattern": "^\\d$"}), "%D9%A3", AMBIGUOUS),
    (one("query", {"type": "string", "pattern": "^[0-9]$"}), "%D9%A3", INVALID),
    (one("query", {"type": "string", "pattern": "^a.b$"}), "a+b", VALID),
    (one("query", {"type": "string", "pattern": "^a$"}), "a+b", INVALID),
    (one("query", LIST, explode=False), "1%2C2", AMBIGUOUS),
    (one("query", LIST, explode=False), "1%2Cx", INVALID),
    (one("query", {}), "anything", VALID),
    (one("query", {"anyOf": [INTEGER, {"enum": ["all"]}]}), "all", VALID),
    (one("query", {"anyOf": [INTEGER, {"enum": ["all"]}]}), "al", INVALID),
]


@pytest.mark.parametrize(("definition", "text", "expected"), QUERIES)
def test_text_of_a_query(definition: dict[str, Any], text: str, expected: Outcome) -> None:
    verdict = judge(definition, f"/a?p={text}")
    assert verdict.of(QUERY, "p") is expected, reasons(verdict)


LISTED = {"type": "array", "items": {"enum": ["a|b", "c"]}}
PIPES = one("query", LISTED, style="pipeDelimited", explode=False)
DELIMITED = [("a%7Cb", AMBIGUOUS), ("c%7Ca%7Cb", AMBIGUOUS), ("a%7Cc", INVALID), ("c%7Cc", VALID)]


@pytest.mark.parametrize(("text", "expected"), DELIMITED)
def test_listed_texts_may_hold_their_delimiter(text: str, expected: Outcome) -> None:
    verdict = judge(PIPES, f"/a?p={text}")
    assert verdict.of(QUERY, "p") is expected, reasons(verdict)


def test_what_nobody_declares_is_neither_right_nor_wrong() -> None:
    verdict = judge(one("query", INTEGER), "/a?x=1&x=2&y", (("Cookie", "z=1"), ("X-Z", "1")))
    assert [part.name for part in verdict.parts if part.outcome is UNDECLARED] == ["x", "y"]
    assert verdict.outcome is VALID


SPREAD: list[tuple[dict[str, Any], str, Outcome]] = [
    (OBJECT, "x=1", VALID),
    (OBJECT, "x=a", INVALID),
    (OBJECT, "x=1&y=2", VALID),
    ({**OBJECT, "additionalProperties": INTEGER}, "x=1&y=a", AMBIGUOUS),
    ({**OBJECT, "additionalProperties": False}, "x=1&y=a", VALID),
    ({**OBJECT, "required": ["z"]}, "x=1", INVALID),
    ({**CLOSED, "patternProperties": {"^x-": INTEGER}}, "x-a=1", VALID),
    ({**CLOSED, "patternProperties": {"^x-": INTEGER}}, "x-a=a", INVALID),
    ({**CLOSED, "patternProperties": {"^x-": INTEGER}}, "y=1", INVALID),
    # What may be an object or not is not there under its own name.
    ({"not": INTEGER}, "y=1", AMBIGUOUS),
    ({"not": INTEGER}, "p=a&y=1", VALID),
    (INTEGER, "y=1", INVALID),
]


@pytest.mark.parametrize(("schema", "query", "expected"), SPREAD)
def test_pairs_of_an_exploded_object(schema: Any, query: str, expected: Outcome) -> None:
    verdict = judge(one("query", schema, required=True), f"/a?{query}", version="3.1.0")
    assert verdict.of(QUERY, "p") is expected, reasons(verdict)


WHOLE = {
    "name": "p",
    "in": "querystring",
    "required": True,
    "content": {"application/x-www-form-urlencoded": {"schema": {**OBJECT, "required": ["x"]}}},
}


@pytest.mark.parametrize(("query", "expected"), [("x=1", VALID), ("x=a", INVALID), ("", INVALID)])
def test_query_that_is_one_parameter(query: str, expected: Outcome) -> None:
    verdict = judge({"parameters": [WHOLE]}, f"/a?{query}", version="3.2.0")
    assert verdict.outcome is expected, reasons(verdict)


PATHS = [
    ("/x/{p}", "/x/1", VALID),
    ("/x/{p}", "/base/x/1", INVALID),
    ("/x/{p}", "/x/1/", INVALID),
    ("/x y/{p}", "/x%20y/1", VALID),
    ("/x/{p}?v=1", "/x/1?v=1", VALID),
    ("/x/{p}", "/x/%31", VALID),
    ("/x/{p}", "/x/..", AMBIGUOUS),
    ("/x/{p}.json", "/x/1.json", VALID),
    ("/x/{p}.json", "/x/1.xml", INVALID),
]


@pytest.mark.parametrize(("path", "target", "expected"), PATHS)
def test_path_and_template(path: str, target: str, expected: Outcome) -> None:
    verdict = judge(one("path", INTEGER), target, path=path)
    assert verdict.outcome is expected, reasons(verdict)


@pytest.mark.parametrize(("sent", "expected"), [("purge", VALID), ("PURGE", INVALID)])
def test_methods_of_other_names_keep_their_case(sent: str, expected: Outcome) -> None:
    item: dict[str, Any] = {"additionalOperations": {"purge": {"responses": {}}}}
    found = opened("3.2.0", {"/a": item}).find("purge /a")
    assert isinstance(found, OpenApiOperation)
    assert found.judge_request(WireRequest(sent, b"/a", [], None)).outcome is expected


def test_base_path_stands_before_the_template() -> None:
    assert judge({}, "/v1/a", base_path="/v1").outcome is VALID
    assert judge({}, "/a", base_path="/v1").outcome is INVALID


def two(first: Any, second: Any) -> dict[str, Any]:
    place = {"in": "path", "required": True}
    return {"parameters": [{"name": "p", "schema": first, **place}, {"name": "q", "schema": second, **place}]}


SEGMENTS = [
    (two(INTEGER, INTEGER), "/1-2", VALID),
    (two({"type": "string"}, {"enum": [".json"]}), "/ab-.json", VALID),
    (two({"type": "string"}, INTEGER), "/a-b-1", AMBIGUOUS),
    (two({"type": "string"}, {"type": "string"}), "/a-b-1", VALID),
    (two(INTEGER, INTEGER), "/1-x", INVALID),
    (two(INTEGER, INTEGER), "/1-", INVALID),
]


@pytest.mark.parametrize(("definition", "target", "expected"), SEGMENTS)
def test_variables_that_share_a_segment(definition: Any, target: str, expected: Outcome) -> None:
    verdict = judge(definition, target, path="/{p}-{q}")
    assert verdict.outcome is expected, reasons(verdict)


TOUCHING: list[tuple[dict[str, Any], str, Outcome]] = [
    (two(INTEGER, {"enum": ["x"]}), "/12x", AMBIGUOUS),
    # An escape stays whole: what follows it is not a number.
    (two({"enum": ["é"]}, {"type": "integer", "minimum": 10}), "/%C3%A99", INVALID),
    # There are more ways than are tried.
    (two({"type": "string", "maxLength": 2}, {"type": "string"}), f"/ab{'x' * 80}", AMBIGUOUS),
]


@pytest.mark.parametrize(("definition", "target", "expected"), TOUCHING)
def test_variables_that_touch_each_other(definition: Any, target: str, expected: Outcome) -> None:
    verdict = judge(definition, target, path="/{p}{q}")
    assert verdict.outcome is expected, reasons(verdict)


def test_pair_that_is_a_property_of_two_parameters_is_in_doubt() -> None:
    found = [one("query", OBJECT), one("query", OBJECT)]
    found[1]["parameters"][0]["name"] = "q"
    both = {"parameters": [part["parameters"][0] for part in found]}
    verdict = judge(both, "/a?x=1&x=2")
    assert (verdict.of(QUERY, "p"), verdict.of(QUERY, "q")) == (AMBIGUOUS, AMBIGUOUS)


LISTS = {"type": "array", "items": LIST}
TREE = {"type": "object", "properties": {"x": {"type": "object", "properties": {"y": LIST}}}}
FIELDS: list[tuple[dict[str, Any], tuple[tuple[str, str], ...], Outcome | None]] = [
    (one("header", LIST), (("P", "1"), ("p", "2, 3")), VALID),
    (one("header", LIST), (("P", "1"), ("p", "x")), INVALID),
    (one("header", INTEGER), (("p", " 1\t"),), VALID),
    (one("header", {"type": "string", "maxLength": 1}), (("p", "\xc3\xa9"),), AMBIGUOUS),
    (one("header", {"type": "string", "maxLength": 2}), (("p", "\xc3\xa9"),), VALID),
    (one("header", INTEGER), (), VALID),
    # Commas of JSON in a list cannot be told from those between its items.
    (one("header", LISTS), (("p", "[1,2],[3]"),), AMBIGUOUS),
    (one("header", LISTS), (("p", "[1,x],[3]"),), INVALID),
    (one("header", TREE), (("p", 'x,{"y":[1,2]}'),), AMBIGUOUS),
    (one("header", TREE, explode=True), (("p", 'x={"y":[1,2]}'),), AMBIGUOUS),
    (one("header", TREE), (("p", 'x,{"y":[1,"2"]}'),), INVALID),
]


@pytest.mark.parametrize("name", ["Prefer", "Range", "If-Modified-Since", "Accept-Language", "Authorization"])
def test_headers_that_servers_pass_over_are_never_wrong(name: str) -> None:
    parameter = {"name": name, "in": "header", "required": True, "schema": {"enum": ["known"]}}
    definition = {"parameters": [parameter]}
    assert judge(definition, "/a", ((name, "known"),)).outcome is VALID
    assert judge(definition, "/a", ((name, "other"),)).outcome is AMBIGUOUS
    assert judge(definition, "/a").outcome is INVALID


@pytest.mark.parametrize(("definition", "headers", "expected"), FIELDS)
def test_fields_of_a_header(definition: Any, headers: Any, expected: Outcome) -> None:
    verdict = judge(definition, "/a", headers)
    assert verdict.of(HEADER, "p") is expected, reasons(verdict)


COOKIES: list[tuple[Any, tuple[str, ...], Outcome]] = [
    (INTEGER, ("p=1",), VALID),
    (INTEGER, ("x=a; p=1",), VALID),
    (INTEGER, ("x=a;p=1",), VALID),
    (INTEGER, ("x=a", "p=1"), VALID),
    (INTEGER, ('p="1"',), VALID),
    (INTEGER, ("P=1",), INVALID),
    (INTEGER, ("p=1; p=2",), INVALID),
    ({"enum": ["a b"]}, ("p=a%20b",), AMBIGUOUS),
    ({"type": "string"}, ("p=a%20b",), VALID),
    (LIST, ("p=1; p=2",), VALID),
    (OBJECT, ("x=1",), VALID),
    (OBJECT, ("x=a",), INVALID),
    (OBJECT, ("y=1",), AMBIGUOUS),
    ({**OBJECT, "additionalProperties": INTEGER}, ("y=a",), INVALID),
]
SHORT_COOKIES: list[tuple[Any, str, Outcome]] = [
    (LISTS, "p=[1%2C2]%2C[3]", AMBIGUOUS),
    (LISTS, "p=[1%2Cx]%2C[3]", INVALID),
]


@pytest.mark.parametrize(("schema", "line", "expected"), SHORT_COOKIES)
def test_lists_in_lists_of_one_cookie(schema: Any, line: str, expected: Outcome) -> None:
    verdict = judge(one("cookie", schema, explode=False), "/a", (("Cookie", line),))
    assert verdict.of(COOKIE, "p") is expected, reasons(verdict)


def test_cookie_of_json_in_a_style_without_escapes_is_in_doubt() -> None:
    found = one("cookie", LISTS, style="cookie", explode=True)
    verdict = judge(found, "/a", (("Cookie", "p=[1%2C2]; p=[3]"),), version="3.2.0")
    assert verdict.of(COOKIE, "p") is AMBIGUOUS


@pytest.mark.parametrize(("schema", "lines", "expected"), COOKIES)
def test_cookies(schema: Any, lines: tuple[str, ...], expected: Outcome) -> None:
    verdict = judge(one("cookie", schema, required=True), "/a", tuple(("Cookie", line) for line in lines))
    assert verdict.of(COOKIE, "p") is expected, reasons(verdict)


NUMBER = bodied(application__json=INTEGER)
BODIES: list[tuple[dict[str, Any], str | None, bytes | None, Outcome]] = [
    (NUMBER, JSON, b"1", VALID),
    (NUMBER, f"{JSON}; charset=utf-8", b" 1\n", VALID),
    (NUMBER, JSON, b"\xef\xbb\xbf1", AMBIGUOUS),
    (NUMBER, JSON, b"NaN", INVALID),
    (NUMBER, JSON, b"", INVALID),
    (NUMBER, None, None, INVALID),
    (NUMBER, None, b"1", AMBIGUOUS),
    (NUMBER, None, b"x", INVALID),
    (bodied(application__json={}), JSON, b'{"a": 1, "a": 2}', AMBIGUOUS),
    (bodied(application__json={}), JSON, b"[" * 100_000, INVALID),
    (bodied(required=False, application__json=INTEGER), None, None, VALID),
    (bodied(required=False, application__json=INTEGER), JSON, b"", AMBIGUOUS),
    ({}, JSON, b"1", VALID),
    (bodied(text__plain=INTEGER), "text/plain", b"1", VALID),
    (bodied(text__plain=INTEGER), "text/plain", b"x", INVALID),
    (bodied(text__plain=OBJECT), "text/plain", b"{}", AMBIGUOUS),
    (bodied(application__yaml=OBJECT), "application/yaml", b"x: 1", VALID),
    (bodied(application__yaml=OBJECT), "application/yaml", b"x: [", INVALID),
    (bodied(application__yaml={"type": "string"}), "application/yaml", b"yes", AMBIGUOUS),
    (bodied(image__png={"type": "string", "maxLength": 2}), "image/png", b"\xff\xfe", AMBIGUOUS),
    (bodied(image__png={"type": "string", "maxLength": 2}), "image/png", b"abc", INVALID),
    (bodied(image__png={"type": "string", "maxLength": 1}), "image/png", "é".encode(), AMBIGUOUS),
    (bodied(image__png=INTEGER), "image/png", b"7", AMBIGUOUS),
    (bodied(image__png=OBJECT), "image/png", b"{}", AMBIGUOUS),
    (bodied(text__csv={"oneOf": [INTEGER, LIST]}), "text/csv", b"1\r\n2\r\n", AMBIGUOUS),
    (bodied(text__csv={"oneOf": [INTEGER, LIST]}), "text/csv", b"1", VALID),
    (bodied(text__csv={"type": "string", "maxLength": 2}), "text/csv", b"abc", INVALID),
]


@pytest.mark.parametrize(("definition", "content_type", "content", "expected"), BODIES)
def test_bodies(definition: Any, content_type: str | None, content: bytes | None, expected: Outcome) -> None:
    headers = () if content_type is None else (("Content-Type", content_type),)
    verdict = judge(definition, "/a", headers, content, method="post")
    assert verdict.outcome is expected, reasons(verdict)


_TEXT, _FORM = {"type": "string"}, "application/x-www-form-urlencoded"
_FIELDS = {"type": "object", "properties": {"mail": _TEXT}}


@pytest.mark.parametrize(
    ("media_type", "schema", "expected"),
    [
        ("text/plain", _TEXT, AMBIGUOUS),
        ("text/plain", _TEXT | {"minLength": 1}, INVALID),
        ("application/octet-stream", _TEXT | {"format": "binary"}, AMBIGUOUS),
        (_FORM, _FIELDS, AMBIGUOUS),
        (_FORM, _FIELDS | {"required": ["mail"]}, INVALID),
        ("multipart/form-data", _FIELDS, INVALID),
        ("application/xml", _FIELDS, INVALID),
        (JSON, _TEXT, INVALID),
    ],
)
def test_zero_bytes_are_in_doubt_where_a_required_body_may_be_empty(
    media_type: str, schema: Any, expected: Outcome
) -> None:
    definition = {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}
    assert judge(definition, "/a", method="post").outcome is expected
    assert judge(definition, "/a", (("Content-Type", media_type),), b"", method="post").outcome is expected


def test_media_type_that_fits_best_is_the_one_that_counts() -> None:
    types: Any = {"*__*": {"type": "string"}, "application__json": INTEGER}
    definition = bodied(**types)
    for content, expected in ((b"1", VALID), (b'"x"', INVALID)):
        verdict = judge(definition, "/a", (("Content-Type", JSON),), content, method="post")
        assert verdict.outcome is expected


def test_read_only_property_need_not_be_sent() -> None:
    schema = {"required": ["id"], "properties": {"id": {"type": "integer", "readOnly": True}}}
    verdict = judge(bodied(application__json=schema), "/a", (("Content-Type", JSON),), b"{}", method="post")
    assert verdict.outcome is VALID


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"id": 1, "n": 2}', AMBIGUOUS),
        (b'{"inner": {"id": 1}, "n": 2}', AMBIGUOUS),
        (b'{"id": 1, "n": "x"}', INVALID),
        (b'{"n": 2}', VALID),
    ],
)
def test_who_receives_a_read_only_property_may_refuse_it_or_pass_it_over(content: bytes, expected: Outcome) -> None:
    number = {"type": "integer", "readOnly": True}
    inner = {"allOf": [{"properties": {"id": number}}]}
    schema = {"properties": {"id": number, "n": {"type": "integer"}, "inner": inner}}
    definition = bodied(application__json=schema)
    verdict = judge(definition, "/a", (("Content-Type", JSON),), content, method="post")
    assert verdict.outcome is expected


def test_what_is_wrong_is_said_with_its_place() -> None:
    schema = {"type": "array", "items": {"properties": {"n": {"minimum": 5}}}}
    verdict = judge(
        bodied(application__json=schema), "/a", (("Content-Type", JSON),), b'[{"n": 5}, {"n": 4}]', method="post"
    )
    at = "#/paths/~1a/post/requestBody/content/application~1json/schema/items/properties/n"
    assert [part for part in verdict.parts if part.location is BODY] == [
        PartVerdict(BODY, "", INVALID, at, "minimum", (1, "n"), 4, "4 is less than the minimum of 5", {"minimum": 5})
    ]
