"""What the referee says of forms, whatever their properties are written like."""

from typing import Any

import pytest

from checker.core.case import Case
from checker.core.contract import Outcome
from checker.transport.prepare import plain_maker
from tests.openapi.documents import operation

from .judging import AMBIGUOUS, CLOSED, INTEGER, INVALID, LIST, OBJECT, VALID, bodied, judge, reasons

FORM = "application/x-www-form-urlencoded"
SPREAD_MAP = {"type": "object", "additionalProperties": INTEGER, "minProperties": 1}
HOST = {"type": "object", "required": ["f"], "additionalProperties": False}
TEXTS = {"type": "array", "items": {"type": "string", "minLength": 1}}
ENCODED: list[tuple[Any, dict[str, Any], bytes, Outcome]] = [
    # Pairs that nobody declares may belong to an exploded object.
    (SPREAD_MAP, {"explode": True}, b"a=1&b=2", AMBIGUOUS),
    (SPREAD_MAP, {"explode": True}, b"a=x", INVALID),
    (SPREAD_MAP, {}, b"a=1", INVALID),
    (SPREAD_MAP, {"style": "deepObject", "explode": True}, b"f%5Ba%5D=1", VALID),
    ({**CLOSED, "patternProperties": {"^x": INTEGER}}, {"explode": True}, b"x1=1", VALID),
    # Blanks may separate, or stand in a text.
    (TEXTS, {"style": "spaceDelimited", "explode": False}, b"f=a%20%20b", AMBIGUOUS),
    (TEXTS, {"style": "spaceDelimited", "explode": False}, b"f=a%20b", VALID),
    (LIST, {"style": "spaceDelimited", "explode": False}, b"f=1%20x", INVALID),
    (TEXTS, {"style": "pipeDelimited", "explode": False}, b"f=" + b"%7C" * 9, AMBIGUOUS),
]


@pytest.mark.parametrize(("schema", "encoding", "content", "expected"), ENCODED)
def test_encodings_of_a_form(schema: Any, encoding: dict[str, Any], content: bytes, expected: Outcome) -> None:
    media = {"schema": {**HOST, "properties": {"f": schema}}, "encoding": {"f": encoding}}
    definition = {"requestBody": {"required": True, "content": {FORM: media}}}
    headers = (("Content-Type", FORM),)
    verdict = judge(definition, "/a", headers, content, method="post", version="3.1.0")
    assert verdict.outcome is expected, reasons(verdict)


FIELDS_OF_A_FORM = {"properties": {"tags": LIST, "who": {"type": "string"}, "in": OBJECT}}
FORMS = [
    (b"tags=1&tags=2&who=a+b%26", VALID),
    (b"tags=x", INVALID),
    (b"in=%7B%22x%22:1%7D", VALID),
    (b"in=%7B%22x%22:%22a%22%7D", INVALID),
    (b"tags=1&extra=2", VALID),
    (b"who=\xff", INVALID),
]


@pytest.mark.parametrize(("content", "expected"), FORMS)
def test_forms(content: bytes, expected: Outcome) -> None:
    definition = bodied(application__x_www_form_urlencoded=FIELDS_OF_A_FORM)
    (content_of,) = (definition["requestBody"]["content"],)
    content_of[FORM] = content_of.pop("application/x_www_form_urlencoded")
    verdict = judge(definition, "/a", (("Content-Type", FORM),), content, method="post")
    assert verdict.outcome is expected, reasons(verdict)


@pytest.mark.parametrize(
    ("items", "encoding", "expected"),
    [
        # A form parser gives the text `{}`, whatever the part says of itself.
        ({"type": "string"}, {}, VALID),
        (INTEGER, {}, INVALID),
        ({"type": "string"}, {"contentType": "application/json"}, INVALID),
    ],
)
def test_a_part_that_says_that_it_is_json(items: Any, encoding: dict[str, Any], expected: Outcome) -> None:
    schema = {"type": "array", "items": items}
    media = {"schema": {**HOST, "properties": {"f": schema}}, "encoding": {"f": encoding}}
    definition = {"requestBody": {"required": True, "content": {"multipart/form-data": media}}}
    content = (
        b'--x\r\nContent-Disposition: form-data; name="f"\r\nContent-Type: application/json\r\n\r\n{}\r\n--x--\r\n'
    )
    headers = (("Content-Type", "multipart/form-data; boundary=x"),)
    verdict = judge(definition, "/a", headers, content, method="post", version="3.1.0")
    assert verdict.outcome is expected, reasons(verdict)


@pytest.mark.parametrize(
    ("is_required", "content", "expected"), [(True, b"", INVALID), (False, b"", AMBIGUOUS), (False, b"g=1", INVALID)]
)
def test_an_empty_form_may_be_none_at_all(is_required: bool, content: bytes, expected: Outcome) -> None:
    definition = {"requestBody": {"required": is_required, "content": {FORM: {"schema": HOST}}}}
    found = judge(definition, "/a", (("Content-Type", FORM),), content, method="post")
    assert found.outcome is expected, reasons(found)


@pytest.mark.parametrize(("is_required", "expected"), [(True, INVALID), (False, AMBIGUOUS)])
def test_null_may_be_no_body_at_all(is_required: bool, expected: Outcome) -> None:
    content = {"application/json": {"schema": HOST}}
    definition = {"requestBody": {"required": is_required, "content": content}}
    headers = (("Content-Type", "application/json"),)
    found = judge(definition, "/a", headers, b" null", method="post")
    assert found.outcome is expected, reasons(found)
    assert judge(definition, "/a", headers, b"1", method="post").outcome is INVALID


@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        (FORM, b"p=1%7C2,3"),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="p"\r\n\r\n1|2\r\n'
            b'--b\r\nContent-Disposition: form-data; name="p"\r\n\r\n3\r\n--b--\r\n',
        ),
    ],
)
def test_lists_in_lists_of_swagger_are_joined_in_forms(content_type: str, content: bytes) -> None:
    """Of the delimiters nobody can say which are text, so that the request is not judged."""
    inner = {"type": "array", "items": INTEGER, "collectionFormat": "pipes"}
    field = {"name": "p", "in": "formData", "type": "array", "items": inner, "required": True}
    media_type = content_type.partition(";")[0]
    definition = {"parameters": [field], "consumes": [media_type]}
    headers = (("Content-Type", content_type),)
    verdict = judge(definition, "/a", headers, content, method="post", version="2.0")
    assert verdict.outcome is Outcome.AMBIGUOUS, reasons(verdict)
    made = operation({"responses": {}, **definition}, version="2.0", method="post")
    case = Case(made, "a", body={"p": [[1, 2], [3]]}, media_type=media_type)
    written = plain_maker().make(case).body or b""
    assert (b"1%7C2,3" if content_type is FORM else b"\r\n\r\n1|2\r\n") in written


PNG = b"\x89PNG\r\n\x1a\n..."
PART = (
    b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\nContent-Type: image/png\r\n\r\n%b\r\n--b--\r\n'
)
FILES = [
    ("image/png", PNG, VALID),
    ("image/png", b"hello", AMBIGUOUS),
    ("image/jpeg", PNG, AMBIGUOUS),
    ("audio/mpeg", b"hello", AMBIGUOUS),
    ("image/png", b"", INVALID),
    ("application/octet-stream", b"hello", VALID),
    ("multipart/form-data; boundary=b", PART % PNG, VALID),
    ("multipart/form-data; boundary=b", PART % b"hello", AMBIGUOUS),
]


@pytest.mark.parametrize(("content_type", "content", "expected"), FILES)
def test_what_is_no_file_of_its_media_type_is_not_called_valid(
    content_type: str, content: bytes, expected: Outcome
) -> None:
    schema: dict[str, Any] = {"type": "string", "format": "binary", "minLength": 1}
    if content_type.startswith("multipart"):
        schema = {"type": "object", "properties": {"f": schema}}
    media = {content_type.partition(";")[0]: {"schema": schema}}
    definition = {"requestBody": {"required": True, "content": media}}
    verdict = judge(definition, "/a", (("Content-Type", content_type),), content, method="post")
    assert verdict.outcome is expected, reasons(verdict)
