import json
from typing import Any

import pytest

from checker.core.contract import MediaTypeVerdict as Verdict
from checker.openapi.contract import OpenApiContract
from checker.openapi.schema import OpenApiSchema

from .documents import contract, operation

JSON_TYPE = "application/json"
TEXT = {"type": "string"}


def typed(**types: Any) -> OpenApiContract:
    content = {name.replace("__", "/"): value for name, value in types.items()}
    return contract({"200": {"content": content}})


STATUSES: list[tuple[Any, int, bool, str | None]] = [
    ({"200": {}, "4XX": {}}, 200, True, "200"),
    ({"200": {}, "4XX": {}}, 404, True, "4XX"),
    ({"404": {}, "4xx": {}}, 404, True, "404"),
    ({"200": {}, "4XX": {}}, 500, False, None),
    ({"200": {}, "default": {}}, 500, True, "default"),
    ({"2XX": {}, "default": {}}, 299, True, "2XX"),
    ({}, 200, True, None),
    (None, 200, True, None),
    ({"x-odd": {}, "200": None}, 200, True, "200"),
]


@pytest.mark.parametrize(("responses", "status", "documented", "matched"), STATUSES)
def test_statuses(responses: Any, status: int, documented: bool, matched: str | None) -> None:
    plan = contract(responses).plan(status, None)
    assert (plan.status_documented, plan.matched_response) == (documented, matched)


def test_statuses_are_listed_as_spelled() -> None:
    assert contract({"200": {}, "4xx": {}, "default": {}}).plan(1, None).documented_statuses == (
        "200",
        "4xx",
        "default",
    )


VERDICTS = [
    ([JSON_TYPE], "application/json; charset=utf-8", Verdict.DOCUMENTED),
    ([JSON_TYPE], "APPLICATION/JSON", Verdict.DOCUMENTED),
    ([JSON_TYPE], None, Verdict.MISSING),
    ([JSON_TYPE], " ", Verdict.MISSING),
    ([JSON_TYPE], "json", Verdict.MALFORMED),
    ([JSON_TYPE], "text/html", Verdict.UNDOCUMENTED),
    ([JSON_TYPE], "application/problem+json", Verdict.UNDOCUMENTED),
    (["application/*"], "application/xml", Verdict.DOCUMENTED),
    (["application/*+json"], "application/problem+json", Verdict.DOCUMENTED),
    (["*/*"], "x/y", Verdict.DOCUMENTED),
    (["*/*"], None, Verdict.DOCUMENTED),
    (["text/plain;v=1"], "text/plain", Verdict.DOCUMENTED),
    (["odd"], "text/plain", Verdict.DOCUMENTED),
    ([], "text/plain", Verdict.DOCUMENTED),
]


@pytest.mark.parametrize(("documented", "received", "verdict"), VERDICTS)
def test_media_types(documented: list[str], received: str | None, verdict: Verdict) -> None:
    responses: Any = {"200": {"content": {name: {} for name in documented}}}
    plan = contract(responses).plan(200, received)
    assert plan.media_type is verdict
    assert plan.documented_media_types == tuple(documented)


@pytest.mark.parametrize(("method", "status"), [("head", 200), ("get", 204), ("get", 304), ("get", 101)])
def test_nothing_is_asked_of_a_body_that_cannot_be(method: str, status: int) -> None:
    responses = {"default": {"content": {JSON_TYPE: {"schema": TEXT}}}}
    plan = contract(responses, method).plan(status, None)
    assert (plan.media_type, plan.body) == (Verdict.DOCUMENTED, None)


def judged(types: dict[str, Any], received: str | None, content: bytes) -> bool | None:
    body = contract({"200": {"content": types}}).plan(200, received).body
    return None if body is None else body.is_valid(content)


BODIES: list[tuple[dict[str, Any], str | None, bytes, bool | None]] = [
    ({JSON_TYPE: {"schema": TEXT}}, JSON_TYPE, b'"a"', True),
    ({JSON_TYPE: {"schema": TEXT}}, JSON_TYPE, b"1", False),
    ({JSON_TYPE: {"schema": TEXT}}, None, b"1", False),
    ({JSON_TYPE: {"schema": TEXT}}, "text/html", b"1", None),
    ({JSON_TYPE: {}}, JSON_TYPE, b"{", None),
    ({JSON_TYPE: {"schema": {}}}, JSON_TYPE, b"{", False),
    ({"text/plain": {"schema": TEXT}}, "text/plain", b"1", True),
    ({"text/plain": {"schema": {"type": "integer"}}}, "text/plain", b"1\n", True),
    ({"text/plain": {"schema": {"type": "integer"}}}, "text/plain", b"one", False),
    ({"text/plain": {"schema": {"maxLength": 1}}}, "text/plain", "é".encode(), True),
    ({"text/plain": {"schema": {"maxLength": 1}}}, "text/plain; charset=latin-1", b"\xe9", True),
    ({"text/plain": {"schema": {"type": "object"}}}, "text/plain", b"1", None),
    ({"image/png": {"schema": TEXT}}, "image/png", b"1", None),
    ({"application/zip": {"schema": {"type": "object"}}}, "application/zip", b"1", None),
    ({"*/*": {"schema": TEXT}}, "application/problem+json", b"1", False),
    ({"*/*": {"schema": TEXT}}, "text/plain", b"1", True),
    ({"*/*": {"schema": {}}, JSON_TYPE: {"schema": TEXT}}, JSON_TYPE, b"1", False),
    ({f"{JSON_TYPE};v=1": {"schema": {}}, f"{JSON_TYPE};v=2": {"schema": TEXT}}, f"{JSON_TYPE};v=2", b"1", False),
    ({f"{JSON_TYPE};v=1": {"schema": {}}, f"{JSON_TYPE};v=2": {"schema": TEXT}}, JSON_TYPE, b"1", None),
    ({JSON_TYPE: {"schema": {"type": "string", "format": "binary"}}}, JSON_TYPE, b"\x00", None),
    ({JSON_TYPE: {"schema": {"$ref": "#/none"}}}, JSON_TYPE, b"1", None),
]


@pytest.mark.parametrize(("types", "received", "content", "expected"), BODIES)
def test_bodies(types: dict[str, Any], received: str | None, content: bytes, expected: bool | None) -> None:
    assert judged(types, received, content) is expected


INTEGERS = {JSON_TYPE: {"schema": {"type": "array", "items": {"type": "integer"}}}}
JSON_TEXTS = [
    (b"", False),
    (b"[1,]", False),
    (b"[NaN]", False),
    (b"[Infinity]", False),
    (b"[123456789012345678901234567890]", True),
    (b"\xef\xbb\xbf[]", True),
    ("[]".encode("utf-16"), True),
    (b"\xff", False),
]


@pytest.mark.parametrize(("content", "expected"), JSON_TEXTS)
def test_json_texts(content: bytes, expected: bool) -> None:
    body = contract({"200": {"content": INTEGERS}}).plan(200, JSON_TYPE).body
    assert body is not None
    assert body.is_valid(content) is expected
    opinions = body.opinions(content)
    assert (opinions.undecodable is None) is expected
    assert opinions.violations == ()


def test_body_is_judged_alike_however_often_it_comes() -> None:
    body = typed(application__json={"schema": {"type": "integer"}}).plan(200, JSON_TYPE).body
    assert body is not None
    texts = [*range(50), "no", {}, 7]
    contents = [json.dumps(text).encode() for text in texts] + [b"1" * 2000, b"", b"{"]
    once = [body.is_valid(content) for content in contents]
    assert once == [body.is_valid(content) for content in contents]
    assert once == [True] * 50 + [False, False, True, True, False, False], "2,000 digits are an integer"


def test_empty_body_reads_as_the_json_error_that_it_is() -> None:
    body = contract({"200": {"content": INTEGERS}}).plan(200, JSON_TYPE).body
    assert body is not None
    undecodable = body.opinions(b"").undecodable
    assert undecodable is not None
    assert undecodable.message == "Expecting value: line 1 column 1 (char 0)"
    assert undecodable.media_type == JSON_TYPE


@pytest.mark.parametrize(
    ("end", "line"), [("oops, 7]", "After `...{before}` comes `oops, 7]`"), ("", "The body ends after `...{before}`")]
)
def test_an_error_far_inside_of_a_body_is_shown_with_its_place(end: str, line: str) -> None:
    body = contract({"200": {"content": INTEGERS}}).plan(200, JSON_TYPE).body
    assert body is not None
    text = f"[{'12345, ' * 200}{end}"
    undecodable = body.opinions(text.encode()).undecodable
    assert undecodable is not None
    start = text.removesuffix(end)
    # The parser that stops at the end may stop at the blank before it.
    assert undecodable.message.splitlines()[1] in [line.format(before=one[-60:]) for one in (start, start.rstrip())]


def test_charset_of_the_header_is_used() -> None:
    types = {JSON_TYPE: {"schema": {"enum": ["é"]}}}
    assert judged(types, f"{JSON_TYPE}; charset=latin-1", b'"\xe9"') is True
    assert judged(types, f"{JSON_TYPE}; charset=nonsense", '"é"'.encode()) is True


def test_last_of_equal_keys_counts() -> None:
    types = {JSON_TYPE: {"schema": {"properties": {"a": TEXT}}}}
    assert judged(types, JSON_TYPE, b'{"a": 1, "a": "x"}') is True


def test_violations_are_what_both_validators_see() -> None:
    body = contract({"200": {"content": INTEGERS}}).plan(200, JSON_TYPE).body
    assert body is not None
    (violation,) = body.opinions(json.dumps([1, "a", "b"]).encode()).violations
    assert violation.schema_path == ("items", "type")
    assert violation.schema_pointer.endswith("/content/application~1json/schema/items")


def test_what_only_one_validator_rejects_is_no_failure() -> None:
    types = {JSON_TYPE: {"schema": {"pattern": "^(a+)+$"}}}
    body = contract({"200": {"content": types}}).plan(200, JSON_TYPE).body
    assert body is not None
    opinions = body.opinions(json.dumps("a" * 40 + "b").encode())
    assert opinions.violations == ()
    assert opinions.disagreement is not None


SWAGGER: list[tuple[dict[str, Any], str, bool | None, Verdict]] = [
    ({"produces": [JSON_TYPE]}, JSON_TYPE, False, Verdict.DOCUMENTED),
    ({"produces": [JSON_TYPE]}, "text/html", None, Verdict.UNDOCUMENTED),
    ({}, JSON_TYPE, False, Verdict.DOCUMENTED),
    ({}, "text/html", True, Verdict.DOCUMENTED),
]


@pytest.mark.parametrize(("more", "received", "valid", "verdict"), SWAGGER)
def test_swagger_responses(more: Any, received: str, valid: bool | None, verdict: Verdict) -> None:
    found = contract({"200": {"schema": TEXT}}, version="2.0", **more)
    plan = found.plan(200, received)
    assert plan.media_type is verdict
    assert (None if plan.body is None else plan.body.is_valid(b"1")) is valid


def test_own_produces_replaces_the_global_one() -> None:
    found = contract({"200": {}}, version="2.0", own={"produces": ["text/a"]}, produces=["text/b"])
    assert found.plan(200, "text/a").documented_media_types == ("text/a",)


def test_responses_may_stand_elsewhere() -> None:
    components = {"responses": {"R": {"content": {JSON_TYPE: {"schema": TEXT}}}}}
    responses = {"200": {"$ref": "#/components/responses/R"}, "404": {"$ref": "#/none"}}
    found = contract(responses, components=components)
    body = found.plan(200, JSON_TYPE).body
    assert body is not None
    assert not body.is_valid(b"1")
    assert found.plan(404, JSON_TYPE).body is None
    assert found.plan(404, JSON_TYPE).status_documented


def test_plans_are_kept_but_not_without_end() -> None:
    found = typed(application__json={"schema": TEXT})
    assert found.plan(200, JSON_TYPE) is found.plan(200, JSON_TYPE)
    for number in range(3000):
        assert found.plan(200, f"text/plain; boundary={number}").body is None


YAML = {"application/yaml": {"schema": {"properties": {"a": {"type": "string"}}}}}
YAML_TEXTS = [
    (b"a: x", True),
    (b"a: 1", False),
    (b"a: 2020-01-01", True),
    # Text for the older version, a number or a boolean for the newer one, or the other way round.
    (b"a: 1e5", True),
    (b"a: yes", True),
    (b"a: [", False),
    (b"\xef\xbb\xbfa: x", True),
]


@pytest.mark.parametrize(("content", "expected"), YAML_TEXTS)
def test_yaml_is_read_as_any_of_its_versions(content: bytes, expected: bool) -> None:
    assert judged(YAML, "text/yaml", content) is None
    assert judged(YAML, "application/yaml", content) is expected


def test_body_that_cannot_be_read_is_told_from_one_that_is_wrong() -> None:
    body = contract({"200": {"content": YAML}}).plan(200, "application/yaml").body
    assert body is not None
    assert body.opinions(b"a: [").undecodable is not None
    (violation,) = body.opinions(b"a: 1").violations
    assert violation.schema_path == ("properties", "a", "type")


XML = {
    "application/xml": {
        "schema": {
            "type": "object",
            "required": ["id"],
            "xml": {"name": "pet"},
            "properties": {
                "id": {"type": "integer", "xml": {"attribute": True}},
                "tags": {
                    "type": "array",
                    "xml": {"wrapped": True},
                    "items": {"type": "string", "maxLength": 2, "xml": {"name": "tag"}},
                },
            },
        }
    }
}
XML_TEXTS = [
    (b'<pet id="1"/>', True),
    (b'<?xml version="1.0"?><pet id="1"><tags><tag>a</tag><tag>bc</tag></tags></pet>', True),
    (b'<pet id="1"><tags><tag>abc</tag></tags></pet>', False),
    (b'<pet id="x"/>', False),
    (b"<pet/>", False),
    (b"<pet", False),
]


@pytest.mark.parametrize(("content", "expected"), XML_TEXTS)
def test_xml_is_read_by_its_schema(content: bytes, expected: bool) -> None:
    assert judged(XML, "application/xml; charset=utf-8", content) is expected


SLOW = {"type": "string", "pattern": "^(a+)+$"}
TEXT_OF_SLOW = "a" * 40 + "b"
"""What the compiled validator rejects and the second one gives up on."""
IN_OBJECT = {"type": "object", "properties": {"p": SLOW}}
DISAGREEMENTS = [
    (JSON_TYPE, SLOW, f'"{TEXT_OF_SLOW}"'),
    ("application/yaml", SLOW, TEXT_OF_SLOW),
    ("text/plain", SLOW, TEXT_OF_SLOW),
    ("application/xml", IN_OBJECT, f"<r><p>{TEXT_OF_SLOW}</p></r>"),
]


@pytest.mark.parametrize(("media_type", "schema", "content"), DISAGREEMENTS)
def test_no_body_fails_for_what_one_validator_says(media_type: str, schema: Any, content: str) -> None:
    body = contract({"200": {"content": {media_type: {"schema": schema}}}}).plan(200, media_type).body
    assert body is not None
    assert not body.is_valid(content.encode())
    opinions = body.opinions(content.encode())
    assert (opinions.violations, opinions.undecodable) == ((), None)
    assert opinions.disagreement is not None


def test_no_header_and_no_event_fails_for_what_one_validator_says() -> None:
    content = {"application/jsonl": {"itemSchema": SLOW}}
    response = {"headers": {"X-A": {"schema": SLOW}}, "content": content}
    plan = contract({"200": response}).plan(200, "application/jsonl")
    assert plan.headers is not None
    said = plan.headers.opinions({"x-a": [TEXT_OF_SLOW]})
    assert (said.violations, len(said.disagreements)) == ((), 1)
    assert plan.body is not None
    opinions = plan.body.opinions(json.dumps(TEXT_OF_SLOW).encode() + b"\n")
    assert (opinions.violations, opinions.undecodable) == ((), None)
    assert opinions.disagreement is not None


PROMISES: list[dict[str, Any]] = [
    {"format": "date"},
    {"properties": {"a": {"writeOnly": True}}, "required": ["a"]},
    {"oneOf": [{"required": ["a"]}, {}], "discriminator": {"propertyName": "a"}},
    {"type": "object", "nullable": True},
]
ANSWERS = [b'"x"', b"{}", b'{"a": 1}', b"null"]


@pytest.mark.parametrize(("schema", "content"), list(zip(PROMISES, ANSWERS, strict=True)))
def test_what_openapi_adds_to_json_schema(schema: Any, content: bytes) -> None:
    formats = schema != PROMISES[0]
    found = operation({"responses": {"200": {"content": {JSON_TYPE: {"schema": schema}}}}})
    assert isinstance(found.owner, OpenApiSchema)
    found.owner.asserts_formats = lambda _: formats
    body = found.contract.plan(200, JSON_TYPE).body
    assert body is not None
    assert body.is_valid(content)


def test_every_body_is_judged_however_many_came_before() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 900}}}
    body = typed(application__json={"schema": schema}).plan(200, JSON_TYPE).body
    assert body is not None
    for number in range(1_000):
        usual, own = b'{"n": 7}', b'{"n": %d}' % number
        assert [body.is_valid(usual), body.is_valid(own)] == [True, number <= 900]
        assert body.is_valid(own) is (number <= 900)
