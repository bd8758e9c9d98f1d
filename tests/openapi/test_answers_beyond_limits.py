"""JSON that is more than anybody reads is neither right nor wrong."""

import pytest

from checker.core.contract import BodyOpinions, HeaderOpinions
from checker.openapi.response_bodies import DEEPEST, BeyondLimits, json_of_text
from tests.openapi.documents import contract

DEEP = "is nested more than 500 levels deep: no more of it is read"
DIGITS = "has a number of more digits than are read"


def nested(levels: int, inner: str = "") -> str:
    return "[" * levels + inner + "]" * levels


def opinions(content: str, schema: object, media_type: str = "application/json") -> BodyOpinions:
    body = contract({"200": {"description": "", "content": {media_type: {"schema": schema}}}})
    validator = body.plan(200, media_type).body
    assert validator is not None
    assert not validator.is_valid(content.encode())
    return validator.opinions(content.encode())


@pytest.mark.parametrize("levels", [DEEPEST + 1, 900, 5000, 500_000])
def test_the_limit_of_depth_is_the_same_for_everybody(levels: int) -> None:
    with pytest.raises(BeyondLimits, match="500 levels"):
        json_of_text(nested(levels))
    with pytest.raises(BeyondLimits, match="500 levels"):
        json_of_text('{"a":' * levels + "1" + "}" * levels)


def test_within_the_limits_it_is_read() -> None:
    assert json_of_text(nested(DEEPEST)) is not None
    assert json_of_text(nested(2, ",".join(["[]"] * 1000))) == [[[]] * 1000]
    assert json_of_text("9" * 4000) == 10**4000 - 1


@pytest.mark.parametrize("text", ["{", nested(100, "x"), "NaN", ""])
def test_what_is_no_json_is_told_from_what_is_too_much(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|NaN") as raised:
        json_of_text(text, strict=True)
    assert not isinstance(raised.value, BeyondLimits)


@pytest.mark.parametrize(("content", "said"), [(nested(100_000), DEEP), (nested(700), DEEP), ("9" * 5000, DIGITS)])
@pytest.mark.parametrize("media_type", ["application/json", "application/x-ndjson"])
def test_nobody_says_that_it_is_wrong(content: str, said: str, media_type: str) -> None:
    # A line of a stream is over when there is one behind it.
    more = "\n1\n" if "ndjson" in media_type else ""
    assert opinions(content + more, {"type": "boolean"}, media_type) == BodyOpinions(unread=said)


@pytest.mark.parametrize(
    "content",
    [
        "<a>" * 200 + "</a>" * 200,
        f"<r>{'<a>1</a>' * 20_000}</r>",
        "<r {}/>".format(" ".join(f'a{number}="1"' for number in range(20_000))),
        "<!DOCTYPE r><r/>",
    ],
    ids=["deep", "wide", "attributes", "document type"],
)
def test_xml_that_is_too_much_is_neither_right_nor_wrong(content: str) -> None:
    found = opinions(content, {"type": "object", "required": ["b"]}, "application/xml")
    assert found.unread is not None
    assert found == BodyOpinions(unread=found.unread)


def test_xml_in_an_encoding_that_nobody_knows_is_no_xml() -> None:
    content = f'<?xml version="1.0" encoding="{"x" * 5000}"?><a/>'
    found = opinions(content, {"type": "object"}, "application/xml")
    assert found.undecodable is not None
    assert found.undecodable.message == "the XML declares an unknown encoding"


@pytest.mark.parametrize("fields", [["x," * 45_000], ["x" * 100] * 1000])
def test_headers_that_are_too_long_are_neither_right_nor_wrong(fields: list[str]) -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    declared = {"X-A": {"schema": schema}, "X-B": {"required": True, "schema": {}}}
    headers = contract({"200": {"description": "", "headers": declared}}).plan(200, None).headers
    assert headers is not None
    assert not headers.is_valid({"x-a": fields, "x-b": ["b" * 9000]})
    assert headers.opinions({"x-a": fields, "x-b": ["b" * 9000]}) == HeaderOpinions(unread=("X-A",))
    assert headers.opinions({"x-a": fields}).missing == ("X-B",)


def test_lines_of_one_event_are_joined_once() -> None:
    schema = {"required": ["data"], "properties": {"data": {"maxLength": 100_000}}}
    body = contract(
        {"200": {"description": "", "content": {"text/event-stream": {"itemSchema": schema}}}}, version="3.2.0"
    )
    validator = body.plan(200, "text/event-stream").body
    assert validator is not None
    assert validator.is_valid(b"data:\n" * 100_000 + b"\n")
    assert not validator.is_valid(b"data:\n" * 100_002 + b"\n")
