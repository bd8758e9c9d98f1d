"""Checks of what a response promises: which failures there are, and under which identity."""

import gzip
import zlib
from typing import Any

import pytest

from checker.checks.context import Failures
from checker.checks.judge import Judge, Judgement, JudgeSettings
from checker.checks.to_run import selected_checks
from checker.core.blocks import Truncation
from checker.core.case import Case
from checker.core.operation import Operation
from checker.core.response import MOST_DECODED, Response
from checker.openapi.loaders import from_dict
from tests.apps.compressed import CODERS
from tests.checks.asked import POSITIVE, Exchanges, operations_of

INTEGER = {"type": "integer"}


def operation_of(response: dict[str, Any], version: str = "3.1.0", status: str = "200") -> Operation:
    paths = {"/a": {"get": {"responses": {status: response}}}}
    schema = from_dict({"openapi": version, "info": {"title": "T", "version": "1"}, "paths": paths})
    (found,) = schema.get_all_operations()
    assert not hasattr(found, "error")
    return found


def failures(name: str, operation: Operation, response: Response, settings: JudgeSettings | None = None) -> Failures:
    found = judged(name, operation, response, settings)
    assert found.disagreements == ()
    return found.failures


def judged(name: str, operation: Operation, response: Response, settings: JudgeSettings | None = None) -> Judgement:
    found = Judge(selected_checks([name]), settings).verdict(Case(operation, "1"), response)
    assert found is not None
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
    found = failures("response_headers_conformance", operation_of(HEADERS), answer(x_b="x", X_A="1, y"))
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


def coded(content: bytes, coding: str, content_type: str = "application/json") -> Response:
    return answer(content, content_type, content_encoding=coding)


BODIES: list[tuple[str, dict[str, Any], bytes, list[str]]] = [
    ("application/json", INTEGER, b"1", []),
    ("application/json", INTEGER, b'"x"', ["type"]),
    ("application/json", INTEGER, b"{", ["undecodable"]),
    ("text/plain", {"type": "string", "maxLength": 2}, b"ab", []),
    ("text/plain", {"type": "string", "maxLength": 2}, b"a" * 200, ["maxLength"]),
    ("application/jsonl", INTEGER, b"1\n2\n", []),
    ("application/jsonl", INTEGER, b'1\n"x"\n', ["type"]),
    ("application/yaml", INTEGER, b"a: 1", ["type"]),
    ("application/xml", INTEGER, b"<a>x</a>", ["type"]),
]


@pytest.mark.parametrize(("media_type", "schema", "content", "expected"), BODIES)
@pytest.mark.parametrize("coding", CODERS)
def test_compressed_body_is_judged_like_any_other(
    media_type: str, schema: dict[str, Any], content: bytes, expected: list[str], coding: str
) -> None:
    promise = "itemSchema" if media_type.endswith("jsonl") else "schema"
    operation = operation_of({"content": {media_type: {promise: schema}}})
    packed = CODERS[coding](content)
    response = coded(packed, coding, media_type)
    found = failures("response_schema_conformance", operation, response)
    assert [failure.unique_key for failure in found] == expected
    assert response.content == packed


JSON_INTEGER = {"content": {"application/json": {"schema": INTEGER}}}


def test_damaged_compression_is_a_failure_that_says_so() -> None:
    response = coded(gzip.compress(b"1")[:-4], "gzip")
    (failure,) = failures("response_schema_conformance", operation_of(JSON_INTEGER), response)
    assert failure.title == "Content decoding error"
    assert failure.message == "Content-Encoding: gzip: the compressed data ends too early"


def test_body_of_an_unknown_coding_is_not_judged() -> None:
    response = coded(b"\x0b\x02\x80{}\x03", "br")
    assert failures("response_schema_conformance", operation_of(JSON_INTEGER), response) == ()


def test_part_of_a_compressed_body_is_not_judged() -> None:
    response = coded(gzip.compress(b"1")[4:], "gzip")
    response.status_code = 206
    operation = operation_of(JSON_INTEGER, status="206")
    assert failures("response_schema_conformance", operation, response) == ()


def test_compressed_body_larger_than_what_is_kept_counts_as_truncated() -> None:
    response = coded(gzip.compress(b"1" + bytes(MOST_DECODED)), "gzip")
    assert failures("response_schema_conformance", operation_of(JSON_INTEGER), response) == ()


def test_compressed_nothing_needs_no_content_type() -> None:
    operation = operation_of({"content": {"application/json": {}}})
    empty = answer(gzip.compress(b""), content_encoding="gzip")
    assert failures("content_type_conformance", operation, empty) == ()
    (failure,) = failures("content_type_conformance", operation, answer(b"x"))
    assert failure.title == "Missing Content-Type header"


def test_server_error_is_the_same_when_it_is_compressed() -> None:
    operation = operation_of({})
    text = b"ValueError: no such room"
    found = [
        failures("not_a_server_error", operation, Response(500, fields, content))
        for fields, content in (([], text), ([("Content-Encoding", "gzip")], gzip.compress(text)))
    ]
    assert [one.fingerprint("") for one in found[0]] == [one.fingerprint("") for one in found[1]]
    assert "ValueError" in found[0][0].text


def test_beginning_of_a_compressed_stream_is_judged_as_far_as_it_came() -> None:
    packer = zlib.compressobj(wbits=31)
    sent = packer.compress(b'1\n"x"\n') + packer.flush(zlib.Z_SYNC_FLUSH)
    fields = [("Content-Type", "application/jsonl"), ("Content-Encoding", "gzip")]
    response = Response(200, fields, sent, content_size=len(sent) + 1)
    operation = operation_of({"content": {"application/jsonl": {"itemSchema": INTEGER}}})
    (failure,) = failures("response_schema_conformance", operation, response)
    assert failure.message.startswith("Event #2: ")


TEXT = {"content": {"application/json": {"schema": {"type": "string"}}}}


def unjudged(response: Response) -> list[str]:
    operation = operation_of(TEXT)
    judgement = judged("response_schema_conformance", operation, response)
    assert judgement.failures == ()
    return list(judgement.unjudged)


def test_a_body_that_is_not_looked_at_is_told() -> None:
    json = [("Content-Type", "application/json")]
    cut = Response(200, json, b'"abc', content_size=9)
    assert unjudged(cut) == ["a response is longer than the limit of 4 bytes"]
    bomb = gzip.compress(b'"%b"' % bytes(2 * MOST_DECODED))
    assert unjudged(Response(200, [*json, ("Content-Encoding", "gzip")], bomb)) == [
        f"a decompressed response is longer than the limit of {MOST_DECODED} bytes"
    ]
    strange = Response(200, [*json, ("Content-Encoding", "br")], b"\xcf\xff")
    assert unjudged(strange) == ["a response cannot be decoded (Content-Encoding: br)"]
    assert unjudged(Response(200, json, b'"abc"')) == []


def test_a_name_that_a_server_made_up_is_cut() -> None:
    schema = {"additionalProperties": INTEGER}
    operation = operation_of({"content": {"application/json": {"schema": schema}}})
    body = b'{"%b": "x"}' % (b"n" * 5000)
    (failure,) = failures("response_schema_conformance", operation, answer(body, "application/json"))
    assert len(failure.message) < 1000


@pytest.mark.parametrize(
    ("path", "schema", "body", "is_shared"),
    [
        ("/b", {"id": {"type": "string"}}, b'{"id": 5}', True),
        ("/b", {"id": {"type": "string"}, "more": INTEGER}, b'{"id": 6}', True),
        ("/b", {"name": {"type": "string"}}, b'{"name": 5}', False),
        ("/b", {"id": {"type": "string", "format": "uuid"}}, b'{"id": 5}', False),
        ("/b", {"id": {"type": "string"}}, b'{"id": null}', False),
    ],
)
def test_copies_of_an_inline_schema_are_one_mistake(
    path: str, schema: dict[str, Any], body: bytes, is_shared: bool
) -> None:
    def cause(properties: dict[str, Any], content: bytes) -> str:
        described = {"content": {"application/json": {"schema": {"type": "object", "properties": properties}}}}
        check = "response_schema_conformance"
        (found,) = failures(check, operation_of(described), answer(content, "application/json"))
        return found.cause(f"GET {path}{len(properties)}")

    assert (cause({"id": {"type": "string"}, "a": {}, "b": {}}, b'{"id": 1}') == cause(schema, body)) is is_shared


def test_numbers_wider_than_their_described_format_are_one_mistake() -> None:
    short, long = ({"type": "integer", "format": one} for one in ("int32", "int64"))
    described = {"schema": {"properties": {"count": short, "size": short | {"minimum": 0}, "total": long}}}
    operation = operation_of({"content": {"application/json": described}})
    body = b'{"count": 2147483648, "size": 2147483648, "total": 9223372036854775808}'
    found = failures("response_schema_conformance", operation, answer(body, "application/json"))
    count, size, total = (one.cause("GET /a") for one in found)
    assert count == size != total


def test_a_schema_is_written_only_for_a_failure_that_is_kept() -> None:
    operation = operation_of({"content": {"application/json": {"schema": {"properties": {"id": INTEGER}}}}})
    (found,) = failures("response_schema_conformance", operation, answer(b'{"id": "x"}', "application/json"))
    assert not found.shared_cause
    found.cause("GET /a")
    assert '"integer"' in found.shared_cause


def test_an_empty_response_is_one_failure() -> None:
    operation = operation_of({"content": {"application/json": {"schema": {"type": "object"}}}})
    checks = selected_checks(["content_type_conformance", "response_schema_conformance"])
    found = Judge(checks).verdict(Case(operation, "1"), answer())
    assert found is not None
    (failure,) = found.failures
    assert failure.title == "JSON deserialization error"
    assert "Missing Content-Type header" in failure.message


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("500", "The description documents it as `500`."),
        ("5XX", "The description documents it as `5XX`."),
        ("200", ""),
        ("default", ""),
    ],
)
def test_a_documented_server_error_is_told_apart(status: str, said: str) -> None:
    found = failures("not_a_server_error", operation_of({}, status=status), Response(500, [], b""))
    assert [(one.title, one.message, one.unique_key) for one in found] == [("Server error", said, "500")]


def test_excerpts_are_as_wide_as_the_settings_say() -> None:
    body = {"content": {"application/json": {"schema": {"const": "x" * 100}}}}
    response = answer(b'"y"', "application/json")
    for width in (40, 120):
        settings = JudgeSettings(truncation=Truncation(max_width=width))
        (found,) = failures("response_schema_conformance", operation_of(body), response, settings)
        shown = [line.strip() for line in found.message.splitlines() if '"const"' in line]
        assert [len(line) <= width for line in shown] == [True]
        assert ("x" * 100 in shown[0]) is (width == 120)


def test_messages_say_what_would_have_been_right() -> None:
    named = {kind: {"$ref": f"#/paths/~1a/get/responses/200/x-kinds/{kind}"} for kind in ("cat", "dog")}
    mapping = {kind: one["$ref"] for kind, one in named.items()}
    schema = {"oneOf": list(named.values()), "discriminator": {"propertyName": "kind", "mapping": mapping}}
    operation = operation_of(
        {"x-kinds": {kind: {"type": "object"} for kind in named}, "content": {"application/json": {"schema": schema}}}
    )
    response = answer(b'{"kind": "cow"}', "application/json")
    (found,) = failures("response_schema_conformance", operation, response)
    assert "`kind` is 'cow', which names none of the alternatives: 'cat', 'dog'" in found.message
    (found,) = failures("content_type_conformance", operation, answer(b"", "json"))
    assert found.message == "Received: json\nDocumented: application/json"


@pytest.mark.parametrize(
    ("prose", "is_failure"),
    [
        ("The end of the lease; may be null.", False),
        ("Time of the last login, or null", False),
        ("null if the task has not begun", False),
        ("When it ended; null while it runs.", False),
        ("Nullable.", False),
        ("The name. It is never null.", True),
        ("The name, which must not be null", True),
        ("The name", True),
    ],
)
def test_null_that_the_prose_of_its_schema_allows_is_no_failure(prose: str, *, is_failure: bool) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": prose}}}
    operation = operation_of({"content": {"application/json": {"schema": schema}}})
    found = judged("response_schema_conformance", operation, answer(b'{"a": null}', "application/json"))
    assert bool(found.failures) is is_failure
    assert bool(found.unjudged) is not is_failure
    (other,) = failures("response_schema_conformance", operation, answer(b'{"a": 1}', "application/json"))
    assert other.code == "ST108"


def _template(variable: str, methods: str, schema: dict[str, Any]) -> dict[str, Any]:
    parameter = {"name": variable, "in": "path", "required": True, "schema": {"type": "string"}}
    content = {"content": {"application/json": {"schema": schema}}}
    responses = {"200": {"description": "", **content}}
    return {method: {"parameters": [parameter], "responses": responses} for method in methods.split()}


@pytest.mark.parametrize(
    ("check", "label", "status", "is_judged"),
    [
        ("response_schema_conformance", "GET /tags/{name}", 200, False),
        ("response_schema_conformance", "PUT /tags/{id}", 200, True),
        ("status_code_conformance", "GET /tags/{name}", 404, True),
        ("status_code_conformance", "PUT /tags/{id}", 405, False),
    ],
)
def test_another_operation_of_an_equal_path_may_have_answered(
    check: str, label: str, status: int, is_judged: bool
) -> None:
    paths = {
        "/tags/{name}": _template("name", "get", {"type": "array"}),
        "/tags/{id}": _template("id", "get put", {"type": "array"}),
    }
    exchanges = Exchanges(operations_of(paths))
    values: dict[str, Any] = {"path_parameters": {label[-5:].strip("/{}"): "1"}}
    sent = exchanges.sent(label, status, [("Content-Type", "application/json")], answer=b"{}", mode=POSITIVE, **values)
    verdict = exchanges.verdict(check, sent)
    assert bool(verdict.failures) is is_judged
    assert any("several operations" in one for one in verdict.unjudged) is not is_judged


@pytest.mark.parametrize(
    ("check", "one", "other"),
    [("status_code_conformance", 201, 404), ("not_a_server_error", 501, 599), ("positive_data_acceptance", 400, 418)],
)
def test_an_operation_that_sends_each_requested_status_is_one_mistake(check: str, one: int, other: int) -> None:
    def path(name: str) -> dict[str, Any]:
        asked = {"name": name, "in": "path", "required": True, "schema": {"type": "integer"}}
        return {"get": {"parameters": [asked], "responses": {"200": {"description": "fine"}}}}

    exchanges = Exchanges(operations_of({"/status/{code}": path("code"), "/items/{id}": path("id")}))

    def cause(label: str, name: str, asked: int, status: int) -> str:
        sent = exchanges.sent(label, status, mode=POSITIVE, path_parameters={name: asked})
        (failure,) = exchanges.verdict(check, sent).failures
        return failure.cause(label)

    def cause_of_status(asked: int, status: int) -> str:
        return cause("GET /status/{code}", "code", asked, status)

    assert cause_of_status(one, one) == cause_of_status(other, other)
    assert cause_of_status(one, one) != cause_of_status(1, one)
    assert cause("GET /items/{id}", "id", one, one) != cause("GET /items/{id}", "id", other, other)
