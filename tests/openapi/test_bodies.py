"""Required bodies that cannot be made, and operations with several: what is sent, and what is said."""

from typing import Any

import pytest

from checker.core.case import NOT_SET, Case
from checker.core.contract import Outcome
from checker.core.errors import SerializationError, UnresolvableBody, Unsatisfiable
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.operation import BodyFault
from checker.core.request import BaseUrl
from checker.generation.boundaries.operations import OperationEdges
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi.operation import OpenApiOperation
from checker.transport.prepare import RequestMaker

from .documents import operation

MAKER = RequestMaker(BaseUrl("http", "127.0.0.1", 80, ""), version="0")
INTEGER = {"type": "integer"}
OBJECT = {"type": "object", "properties": {"a": INTEGER}}
NEVER = {"type": "integer", "minimum": 2, "maximum": 1}
PARAMETER = {"name": "q", "in": "query", "required": True, "schema": INTEGER}


def posting(content: dict[str, Any], *, required: bool = True) -> OpenApiOperation:
    media = {name: {"schema": schema} for name, schema in content.items()}
    body = {"required": required, "content": media}
    return operation({"requestBody": body, "parameters": [PARAMETER]}, method="post")


def cases(found: OpenApiOperation, mode: GenerationMode | None, count: int = 20) -> list[Case]:
    program = compile_operation(found, GenerationSettings(mode=mode))
    source, made = RandomSource(), []
    for seed in range(count):
        source.reset(seed)
        made.append(program.draw(source, case_id="c", phase=PhaseInfo("fuzzing")))
    return made


LOST = {"$ref": "#/components/schemas/None"}
IMPOSSIBLE: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"application/json": LOST}, UnresolvableBody, "points at nothing"),
    ({"application/x-foo": OBJECT}, SerializationError, "no serialiser for application/x-foo"),
    ({"application/x-foo": OBJECT, "a/b": INTEGER}, SerializationError, "no serialiser for a/b"),
    ({"application/x-foo": OBJECT, "application/json": LOST}, SerializationError, "application/x-foo"),
    ({"application/msgpack": OBJECT}, SerializationError, "application/msgpack from values of type"),
    ({"application/x-protobuf": INTEGER}, SerializationError, "from values of type integer"),
    ({"text/tsv": {"type": "array"}}, SerializationError, "text/tsv from values of type array"),
    ({"text/plain": OBJECT}, SerializationError, "text/plain from values of type object"),
    ({"text/csv": OBJECT}, SerializationError, "text/csv from values of type object"),
    ({"application/json": NEVER}, Unsatisfiable, "exclude every number"),
    ({"application/json": 5}, Unsatisfiable, "must be an object; correct it"),
    ({}, Unsatisfiable, "declares no `content`"),
]


@pytest.mark.parametrize(("content", "kind", "words"), IMPOSSIBLE)
def test_nothing_valid_is_sent_without_a_required_body(
    content: dict[str, Any], kind: type[Exception], words: str
) -> None:
    found = posting(content)
    with pytest.raises(kind, match=words):
        cases(found, GenerationMode.POSITIVE)
    edges = OperationEdges(found, GenerationSettings())
    (only,) = edges.cases()
    assert only.description == "Missing request body"
    assert only.parts.body is NOT_SET


@pytest.mark.parametrize("mode", [GenerationMode.NEGATIVE, None])
@pytest.mark.parametrize(("content", "kind", "words"), IMPOSSIBLE)
def test_what_remains_is_a_request_without_the_body(
    content: dict[str, Any], kind: type[Exception], words: str, mode: GenerationMode | None
) -> None:
    found = posting(content)
    fault = compile_operation(found, GenerationSettings(mode=mode)).fault
    assert isinstance(fault, kind)
    for case in cases(found, mode):
        assert case.body is NOT_SET
        assert isinstance(case.query["q"], int)
        assert case.meta is not None
        assert case.meta.mode is GenerationMode.NEGATIVE
        assert found.judge_request(MAKER.make(case)).outcome is Outcome.INVALID


@pytest.mark.parametrize("content", [content for content, _, _ in IMPOSSIBLE])
def test_optional_body_that_cannot_be_made_is_left_out(content: dict[str, Any]) -> None:
    found = posting(content, required=False)
    program = compile_operation(found, GenerationSettings(mode=GenerationMode.POSITIVE))
    assert program.fault is None
    assert all(case.body is NOT_SET for case in cases(found, GenerationMode.POSITIVE))
    told = {one.kind for one in found.warnings()} & {"unusable_body", "unresolvable_reference"}
    assert told or program.left_out


@pytest.mark.parametrize("content", [content for content, _, _ in IMPOSSIBLE if content])
def test_media_type_that_can_be_made_is_used(content: dict[str, Any]) -> None:
    found = posting(content | {"application/x-www-form-urlencoded": OBJECT})
    made = cases(found, GenerationMode.POSITIVE)
    assert {case.media_type for case in made} == {"application/x-www-form-urlencoded"}


CARRIED = [
    ("application/msgpack", {}, str | bytes),
    ("image/png", {"type": ["string", "object"]}, str | bytes),
    ("application/octet-stream", {"oneOf": [OBJECT, {"type": "string"}]}, str | bytes),
    ("text/tsv", {"type": ["string", "array", "integer"]}, str | int),
    ("text/plain", {}, str | int | float | None),
    ("text/csv", {"type": ["object", "array"]}, list),
]


@pytest.mark.parametrize(("media_type", "schema", "kinds"), CARRIED)
def test_values_are_those_that_a_media_type_can_carry(media_type: str, schema: dict[str, Any], kinds: Any) -> None:
    for case in cases(operation_of(media_type, schema), GenerationMode.POSITIVE, 60):
        assert isinstance(case.body, kinds)


def operation_of(media_type: str, schema: dict[str, Any]) -> OpenApiOperation:
    body = {"required": True, "content": {media_type: {"schema": schema}}}
    return operation({"requestBody": body}, method="post", version="3.1.0")


PART = {"type": "object", "required": ["a"], "properties": {"a": OBJECT, "b": {"type": "string"}}}
PARTS = [
    ({"a": {"contentType": "application/x-foo"}}, "a"),
    ({"a": {"contentType": "application/msgpack, text/tsv"}}, "a"),
    ({"a": {"contentType": "application/x-foo, application/json"}}, None),
    ({"b": {"contentType": "application/x-foo"}}, None),
]


@pytest.mark.parametrize(("encoding", "name"), PARTS)
def test_part_that_nobody_can_write_is_said(encoding: dict[str, Any], name: str | None) -> None:
    media = {"multipart/form-data": {"schema": PART, "encoding": encoding}}
    found = operation({"requestBody": {"required": True, "content": media}}, method="post")
    faults = [(body.fault, f"the part `{name}`" in body.reason) for body in found.unusable_bodies]
    assert faults == ([] if name is None else [(BodyFault.UNSERIALISABLE, True)])


@pytest.mark.parametrize("media_type", ["application/x-foo", "application/msgpack", "multipart/mixed"])
def test_parameter_of_a_media_type_that_nobody_can_write_is_not_sent(media_type: str) -> None:
    raw = {"name": "p", "in": "query", "content": {media_type: {"schema": OBJECT}}}
    found = operation({"parameters": [raw]})
    assert found.parameters == ()
    (reason,) = found.unusable_parameters.values()
    assert f"no serialiser for {media_type}" in reason


def body_parameter(name: Any, schema: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "body", "schema": schema, **more}


def kinds_sent(found: OpenApiOperation) -> set[type]:
    return {type(case.body) for case in cases(found, GenerationMode.POSITIVE, 60)}


@pytest.mark.parametrize("names", [("a", "b"), ("a", "a"), (None, 7)])
def test_each_of_several_bodies_is_sent_and_the_operation_is_named_once(names: Any) -> None:
    first, second = (
        body_parameter(name, schema, required=True)
        for name, schema in zip(names, (OBJECT, {"type": "boolean"}), strict=True)
    )
    found = operation({"parameters": [first, second]}, version="2.0", method="post")
    assert kinds_sent(found) == {dict, bool}
    (told,) = [one for one in found.warnings() if one.kind == "several_bodies"]
    assert "has 2 `body` parameters" in told.message
    for case in cases(found, GenerationMode.NEGATIVE, 60):
        assert found.judge_request(MAKER.make(case)).outcome is not Outcome.VALID
        assert not isinstance(case.body, bool)


def test_body_of_an_operation_stands_for_that_of_its_path() -> None:
    item = {"parameters": [body_parameter("a", INTEGER, required=True)]}
    own = {"parameters": [body_parameter("a", {"type": "boolean"}, required=True)]}
    found = operation(own, version="2.0", method="post", item=item)
    assert kinds_sent(found) == {bool}
    assert [one for one in found.warnings() if one.kind == "several_bodies"] == []


def test_body_without_a_name_is_sent() -> None:
    raw = {"in": "body", "required": True, "schema": INTEGER}
    assert kinds_sent(operation({"parameters": [raw]}, version="2.0", method="post")) == {int}


SOUND = {"b": {"type": "boolean"}}
OPTIONAL_AND_LOST: list[dict[str, Any]] = [
    {"properties": {**SOUND, "lost": LOST}},
    {"properties": {**SOUND, "lost": {"type": "array", "items": LOST}}},
    {"properties": {**SOUND, "lost": {"allOf": [{"type": "object"}, LOST]}}},
    {"properties": {**SOUND, "lost": {"type": "object", "required": ["a"], "properties": {"a": LOST}}}},
    {"properties": SOUND, "additionalProperties": LOST},
    {"properties": SOUND, "patternProperties": {"^lost$": LOST}},
    {"allOf": [{"properties": {"lost": LOST}}, {"properties": SOUND}]},
]


@pytest.mark.parametrize("schema", OPTIONAL_AND_LOST)
def test_an_optional_property_whose_schema_leads_nowhere_costs_only_itself(schema: dict[str, Any]) -> None:
    found = posting({"application/json": {"type": "object", "required": ["b"], **schema}})
    assert (len(found.bodies), found.unusable_bodies) == (1, ())
    right = [case.body for case in cases(found, GenerationMode.POSITIVE)]
    assert {one["b"] for one in right} == {True, False}
    # An empty list is valid whatever its items are.
    assert all(one.get("lost", []) == [] for one in right)
    for mode, never in ((GenerationMode.POSITIVE, Outcome.INVALID), (GenerationMode.NEGATIVE, Outcome.VALID)):
        assert never not in {found.judge_request(MAKER.make(case)).outcome for case in cases(found, mode)}
    shown = OperationEdges(found, GenerationSettings()).cases()
    edges = [edge for edge in shown if edge.mode is GenerationMode.POSITIVE]
    assert edges
    assert all(edge.parts.body.get("lost", []) == [] for edge in edges)
    unknown = Case(found, "c", body={"b": True, "lost": 1}, media_type="application/json", query={"q": 1})
    assert found.judge_request(MAKER.make(unknown)).outcome is not Outcome.VALID
    (told,) = [warning for warning in found.warnings() if "points at nothing" in warning.message]
    assert (told.kind, told.message.count("is never sent")) == ("unresolvable_reference", 1)


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["lost"], "properties": {"lost": LOST}},
        {"required": ["lost"], "properties": {"lost": {"items": LOST}}},
        {"allOf": [LOST]},
        {"allOf": [{"required": ["lost"], "properties": {"lost": LOST}}]},
        {
            "properties": {
                "own": {"$ref": "#/paths/~1a/post/requestBody/content/application~1json/schema/properties/own"}
            }
        },
    ],
)
def test_a_needed_part_whose_schema_leads_nowhere_costs_the_body(schema: dict[str, Any]) -> None:
    found = posting({"application/json": {"type": "object", **schema}})
    assert (found.bodies, [body.fault for body in found.unusable_bodies]) == ((), [BodyFault.UNRESOLVABLE])
