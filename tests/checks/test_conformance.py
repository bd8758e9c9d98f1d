"""Checks of what a response promises: which failures there are, and under which identity."""

from typing import Any

import pytest

from checker.checks.context import CheckContext, CheckSettings, Failures
from checker.checks.registry import selected_checks
from checker.core.case import Case
from checker.core.operation import Operation
from checker.core.response import Response
from checker.openapi.loaders import from_dict

INTEGER = {"type": "integer"}


def operation_of(response: dict[str, Any], version: str = "3.1.0") -> Operation:
    paths = {"/a": {"get": {"responses": {"200": response}}}}
    schema = from_dict({"openapi": version, "info": {"title": "T", "version": "1"}, "paths": paths})
    (found,) = schema.get_all_operations()
    assert not hasattr(found, "error")
    return found


def failures(name: str, operation: Operation, response: Response) -> Failures:
    ((_, check),) = selected_checks([name])
    plan = operation.contract.plan(response.status_code, response.content_type)
    context = CheckContext(Case(operation, "1"), response, plan, CheckSettings())
    found = check(context)
    assert isinstance(found, tuple)
    assert context.disagreements == []
    return found


def answer(content: bytes = b"", content_type: str | None = None, **headers: str) -> Response:
    fields = [(name.replace("_", "-"), value) for name, value in headers.items()]
    fields += [] if content_type is None else [("Content-Type", content_type)]
    return Response(200, fields, content)


HEADERS = {
    "headers": {
        "X-B": {"required": True, "schema": INTEGER},
        "X-A": {"required": True, "schema": {"type": "array", "items": INTEGER}},
    }
}


def test_headers_that_are_missing_are_one_failure_by_their_names() -> None:
    (failure,) = failures("response_headers_conformance", operation_of(HEADERS), answer())
    assert failure.title == "Missing required headers"
    assert failure.unique_key == "x-a, x-b"


def test_header_that_breaks_its_schema_is_known_by_name_and_schema_path() -> None:
    found = failures(
        "response_headers_conformance", operation_of(HEADERS), answer(x_b="x", X_A="1, y")
    )
    assert [failure.unique_key for failure in found] == ["x-b/type", "x-a/items/type"]
    assert found[0].title == "Response header does not conform to the schema"
    assert found[0].message.startswith('X-B: "x" is not of type "integer"')


def test_headers_as_promised_pass() -> None:
    response = answer(x_a="1,2", x_b="3")
    assert failures("response_headers_conformance", operation_of(HEADERS), response) == ()


def streaming(**promise: Any) -> Operation:
    return operation_of({"content": {"text/event-stream": promise}})


def test_failing_event_is_named() -> None:
    schema = {"properties": {"event": {"const": "a"}}}
    response = answer(b"event: a\ndata:\n\nevent: b\ndata:\n\n", "text/event-stream")
    (failure,) = failures("response_schema_conformance", streaming(itemSchema=schema), response)
    assert failure.title == "SSE event violates schema"
    assert failure.message.startswith("Event #2: body.event: ")
    assert failure.unique_key == "properties/event/const"


def test_failing_payload_of_an_event_has_a_title_of_its_own() -> None:
    data = {"contentMediaType": "application/json", "contentSchema": INTEGER}
    response = answer(b'data: "x"\n\n', "text/event-stream")
    operation = streaming(itemSchema={"properties": {"data": data}})
    (failure,) = failures("response_schema_conformance", operation, response)
    assert failure.title == "SSE event payload violates content schema"


def test_cut_stream_is_judged_as_far_as_it_goes() -> None:
    operation = streaming(itemSchema={"properties": {"event": {"const": "a"}}})
    for event, count in (("a", 0), ("b", 1)):
        content = f"event: {event}\ndata:\n\nevent: ".encode()
        response = Response(200, [("Content-Type", "text/event-stream")], content, content_size=99)
        assert response.is_truncated
        assert len(failures("response_schema_conformance", operation, response)) == count


def test_nothing_needs_no_media_type_unless_a_value_is_promised() -> None:
    name = "content_type_conformance"
    loose = operation_of({"content": {"application/json": {}}})
    strict = operation_of({"content": {"application/json": {"schema": INTEGER}}})
    assert failures(name, loose, answer()) == ()
    assert [one.unique_key for one in failures(name, loose, answer(b"1"))] == ["missing"]
    assert [one.unique_key for one in failures(name, strict, answer())] == ["missing"]


UNDECODABLE = [
    ("application/json", b"{", "JSON deserialization error"),
    ("application/yaml", b"[", "Content deserialization error"),
]


@pytest.mark.parametrize(("media_type", "content", "title"), UNDECODABLE)
def test_body_that_is_not_of_its_type(media_type: str, content: bytes, title: str) -> None:
    operation = operation_of({"content": {media_type: {"schema": INTEGER}}})
    (failure,) = failures("response_schema_conformance", operation, answer(content, media_type))
    assert (failure.title, failure.unique_key) == (title, "undecodable")


def test_a_long_value_is_cut_and_closed_by_its_bracket() -> None:
    promised = operation_of({"content": {"application/json": {"schema": {"maxItems": 2}}}})
    response = answer(b"[%s 1]" % (b"1," * 99), "application/json")
    (failure,) = failures("response_schema_conformance", promised, response)
    shown = failure.message.partition("Value:\n\n")[2].splitlines()[:11]
    assert shown == ["    [", *["        1,"] * 8, "        // Output truncated...", "    ]"]
