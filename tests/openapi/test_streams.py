import json
from typing import Any

import pytest

from checker.core.contract import BodyValidator

from .documents import operation

SSE = "text/event-stream"
LINES = "application/jsonl"
SEQUENCE = "application/json-seq"


def stream(media_type: str, **promise: Any) -> BodyValidator:
    content = {media_type: promise}
    found = operation({"responses": {"200": {"content": content}}}, version="3.1.0")
    body = found.contract.plan(200, media_type).body
    assert body is not None
    return body


NUMBER = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
EVENT = {"type": "object", "required": ["event"], "properties": {"event": {"enum": ["a", "b"]}}}
PAYLOAD = {"allOf": [EVENT], "properties": {"data": {"contentMediaType": "application/json", "contentSchema": NUMBER}}}

ITEMS = [
    (LINES, NUMBER, b'{"n": 1}\n{"n": 2}\n', True),
    (LINES, NUMBER, b'{"n": 1}\r\n\r\n{"n": 2}', True),
    (LINES, NUMBER, b'{"n": 1}\n{"n": "x"}\n', False),
    (LINES, NUMBER, b'{"n": 1}\n{"n": ', True),
    (LINES, NUMBER, b'{"n": 1}\n{"n": \n', False),
    (LINES, NUMBER, b"", True),
    ("application/x-ndjson", NUMBER, b"{}\n", False),
    (SEQUENCE, NUMBER, b'\x1e{"n": 1}\n\x1e{"n": 2}\n', True),
    (SEQUENCE, NUMBER, b'\x1e{"n": 1}\n\x1e{}\n', False),
    (SEQUENCE, NUMBER, b'{"n": 1}\n', False),
    (SSE, EVENT, b"event: a\ndata: x\n\n", True),
    (SSE, EVENT, b"\xef\xbb\xbfevent:a\r\ndata\r\n\r\n: ping\r\n\r\nevent:b\rdata:\r\r", True),
    (SSE, EVENT, b"event: c\ndata: x\n\n", False),
    (SSE, EVENT, b"event: a\ndata: x\n\nevent: c\ndata: x\n", True),
    (SSE, EVENT, b"event: c\n\n", True),
    (SSE, PAYLOAD, b'event: a\ndata: {"n":\ndata: 1}\n\n', True),
    (SSE, PAYLOAD, b'event: a\ndata: {"n": null}\n\n', False),
    (SSE, PAYLOAD, b"event: a\ndata: x\n\n", False),
]


@pytest.mark.parametrize(("media_type", "schema", "content", "expected"), ITEMS)
def test_events_are_judged_one_by_one(media_type: str, schema: Any, content: bytes, expected: bool) -> None:
    body = stream(media_type, itemSchema=schema)
    assert body.is_valid(content) is expected
    opinions = body.opinions(content)
    assert (not opinions.violations and opinions.undecodable is None) is expected


def test_violation_names_the_event_and_each_schema_path_once() -> None:
    content = b"".join(json.dumps({"n": n}).encode() + b"\n" for n in (1, "x", "y", None))
    (violation,) = stream(LINES, itemSchema=NUMBER).opinions(content).violations
    assert (violation.event, violation.instance_path) == (2, ("n",))
    assert not violation.is_payload


def test_violation_in_a_payload_is_told_from_one_of_the_event() -> None:
    content = b'event: a\ndata: {"n": 1}\n\nevent: a\ndata: {}\n\n'
    (violation,) = stream(SSE, itemSchema=PAYLOAD).opinions(content).violations
    assert (violation.event, violation.is_payload) == (2, True)
    assert violation.schema_path == ("properties", "data", "contentSchema", "required")
    assert violation.schema_pointer.endswith("/itemSchema/properties/data/contentSchema")


def _said(kind: str, schema: Any) -> dict[str, Any]:
    data = {"contentMediaType": "application/json", "contentSchema": schema}
    return {"properties": {"event": {"const": kind}, "data": data}}


WORD = {"type": "object", "required": ["w"], "properties": {"w": {"type": "string"}}}
KINDS = [_said("n", NUMBER), {"allOf": [_said("w", WORD)]}, {"properties": {"event": {"const": "?"}}}]


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
@pytest.mark.parametrize(
    ("kind", "text", "path"),
    [
        ("n", '{"n": 1}', None),
        ("n", '{"n": "x"}', ("0", "properties", "data", "contentSchema", "properties", "n", "type")),
        ("n", '{"w": "x"}', ("0", "properties", "data", "contentSchema", "required")),
        ("w", '{"w": "x"}', None),
        ("w", '{"n": 1}', ("1", "allOf", "0", "properties", "data", "contentSchema", "required")),
        ("?", "neither", None),
    ],
)
def test_texts_are_judged_by_the_alternative_that_an_event_is(
    keyword: str, kind: str, text: str, path: tuple[str, ...] | None
) -> None:
    body = stream(SSE, itemSchema={"required": ["event"], keyword: KINDS})
    opinions = body.opinions(f"event: {kind}\ndata: {text}\n\n".encode())
    wanted = [] if path is None else [(keyword, *path)]
    assert [one.schema_path for one in opinions.violations] == wanted
    assert all(one.is_payload for one in opinions.violations)


def test_of_several_alternatives_that_an_event_is_one_is_enough() -> None:
    either = [_said("n", NUMBER), _said("n", WORD)]
    body = stream(SSE, itemSchema={"anyOf": either})
    assert body.is_valid(b'event: n\ndata: {"n": 1}\n\nevent: n\ndata: {"w": "x"}\n\n')
    assert not body.is_valid(b"event: n\ndata: {}\n\n")


def test_an_alternative_that_leads_back_to_itself_says_nothing() -> None:
    again: list[Any] = [{"$ref": "#/components/schemas/E"}, _said("n", NUMBER)]
    schemas = {"E": {"anyOf": again}}
    content = {SSE: {"itemSchema": {"$ref": "#/components/schemas/E"}}}
    found = operation({"responses": {"200": {"content": content}}}, version="3.1.0", components={"schemas": schemas})
    body = found.contract.plan(200, SSE).body
    assert body is not None
    assert body.is_valid(b"event: n\ndata: {}\n\n")


def test_event_that_cannot_be_read_is_numbered() -> None:
    undecodable = stream(LINES, itemSchema=NUMBER).opinions(b'{"n": 1}\n{]\n').undecodable
    assert undecodable is not None
    assert undecodable.message.startswith("Event #2: ")


def test_only_the_beginning_of_a_long_stream_is_judged() -> None:
    body = stream(LINES, itemSchema=NUMBER)
    assert body.reads_prefix
    assert body.is_valid(b'{"n": 1}\n' * 100 + b"{}\n" * 5)


OLD = [
    (SSE, {"type": "string"}, b"data: x\n\n", True),
    (SSE, NUMBER, b'data: {"n": 1}\n\n', True),
    (SSE, NUMBER, b'data: {"n": 1}\n\ndata: {}\n\n', False),
    (LINES, NUMBER, b'{"n": 1}\n', True),
    (LINES, {"type": "array", "items": NUMBER}, b'{"n": 1}\n', True),
    (LINES, {"type": "array", "items": NUMBER}, b"{}\n", False),
]


@pytest.mark.parametrize(("media_type", "schema", "content", "expected"), OLD)
def test_schema_of_a_stream_may_mean_the_whole_or_each_event(
    media_type: str, schema: Any, content: bytes, expected: bool
) -> None:
    assert stream(media_type, schema=schema).is_valid(content) is expected
