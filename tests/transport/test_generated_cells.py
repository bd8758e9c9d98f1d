"""What generation draws for every cell of the wire is read as it was meant; what could be ambiguous is rare, and known."""

from collections import Counter
from typing import Any

import pytest

from checker.core.contract import Outcome
from checker.core.meta import GenerationMode
from checker.core.operation import Body, Location, Parameter, PropertyEncoding
from checker.core.request import BaseUrl
from checker.generation.program import GenerationSettings, compile_operation
from checker.openapi.referee import RequestReferee
from checker.transport.prepare import RequestMaker
from tests.generation.making import PlainOperation, cases, schema_of

from .ambiguity_table import CELLS as TABLE
from .cells import CELLS

MAKER = RequestMaker(BaseUrl("http", "127.0.0.1", 80, "/api"), version="1")
SCHEMAS: dict[str, Any] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "numbers": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    "object": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    },
}
AMBIGUOUS_SHARE = {
    # Lists of a cookie that are not exploded: the comma is no octet of cookies.
    (Location.COOKIE, "form", False, "texts"): 1.0,
    (Location.COOKIE, "form", False, "numbers"): 1.0,
    (Location.COOKIE, "form", False, "object"): 1.0,
}
"""Of the cases of a cell; all others have none."""


def operation_of(parameter: Parameter) -> PlainOperation:
    path = "/things/{color}" if parameter.location is Location.PATH else "/things"
    return PlainOperation((parameter,), path=path, body_required=False)


@pytest.mark.parametrize(("location", "style", "explode"), CELLS)
def test_positive_values_arrive(location: Location, style: str, explode: bool) -> None:
    for kind, raw in SCHEMAS.items():
        declared = Parameter("color", location, True, schema_of(raw), style, explode)
        operation = operation_of(declared)
        program = compile_operation(operation, GenerationSettings())
        referee = RequestReferee(operation)
        outcomes: Counter[Outcome] = Counter()
        for case in cases(program, 40):
            request = MAKER.make(case)
            verdict = referee.judge(request, base_path="/api")
            assert verdict.outcome is not Outcome.INVALID, (case.path_parameters, verdict.invalid)
            for part in verdict.ambiguous:
                assert part.reason in {cell.reason for cell in TABLE}
            outcomes[verdict.outcome] += 1
        limit = AMBIGUOUS_SHARE.get((location, style, explode, kind), 0.0)
        assert outcomes[Outcome.AMBIGUOUS] <= limit * 40, (kind, outcomes)


@pytest.mark.parametrize("location", [Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE])
@pytest.mark.parametrize("style", ["content", "querystring"])
def test_values_that_are_json_arrive(location: Location, style: str) -> None:
    if style == "querystring" and location is not Location.QUERY:
        return
    for raw in SCHEMAS.values():
        declared = Parameter("color", location, True, schema_of(raw), style, False, "application/json")
        operation = operation_of(declared)
        referee = RequestReferee(operation)
        for case in cases(compile_operation(operation, GenerationSettings()), 30):
            verdict = referee.judge(MAKER.make(case), base_path="/api")
            assert verdict.outcome is Outcome.VALID, verdict


@pytest.mark.parametrize("style", ["simple", "label", "matrix"])
@pytest.mark.parametrize("explode", [False, True])
def test_no_drawn_path_value_changes_the_segments(style: str, explode: bool) -> None:
    for raw in SCHEMAS.values():
        declared = Parameter("color", Location.PATH, True, schema_of(raw), style, explode)
        program = compile_operation(operation_of(declared), GenerationSettings())
        for case in cases(program, 60):
            target = MAKER.make(case).target.decode("ascii")
            segments = target.split("/")
            assert segments[:3] == ["", "api", "things"]
            assert len(segments) == 4
            assert segments[3].replace("%2E", ".") not in ("", ".", "..")
            assert not set("?# ") & set(target)
            assert "%2F" not in target


MEDIA_TYPES = [
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/xml",
    "text/plain",
]
BODY = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "n": {"type": "number"},
        "l": {"type": "array", "items": {"type": "integer"}, "xml": {"wrapped": True}},
        "o": {
            "type": "object",
            "properties": {"k": {"type": "string", "xml": {"attribute": True}}},
            "additionalProperties": False,
        },
    },
    "required": ["s", "l"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
def test_positive_bodies_arrive(media_type: str) -> None:
    raw = {"type": "string"} if media_type == "text/plain" else BODY
    body = Body(media_type, schema_of(raw), "#/body", {})
    operation = PlainOperation(bodies=(body,), path="/things")
    program = compile_operation(operation, GenerationSettings())
    referee = RequestReferee(operation)
    for case in cases(program, 80):
        verdict = referee.judge(MAKER.make(case), base_path="/api")
        # Zero bytes may be a body that is missing.
        expected = Outcome.AMBIGUOUS if case.body == "" else Outcome.VALID
        assert verdict.outcome is expected, (case.body, verdict)


def test_a_part_that_is_xml_has_only_characters_of_xml() -> None:
    encoding = {"o": PropertyEncoding(content_type="application/xml; charset=utf-8")}
    body = Body("multipart/form-data", schema_of(BODY), "#/body", encoding)
    operation = PlainOperation(bodies=(body,), path="/things")
    referee = RequestReferee(operation)
    for case in cases(compile_operation(operation, GenerationSettings()), 60):
        verdict = referee.judge(MAKER.make(case), base_path="/api")
        assert verdict.outcome is Outcome.VALID, (case.body, verdict)


def test_negative_xml_is_judged_invalid() -> None:
    body = Body("application/xml", schema_of(BODY), "#/body", {})
    operation = PlainOperation(bodies=(body,), path="/things")
    program = compile_operation(operation, GenerationSettings(mode=GenerationMode.NEGATIVE))
    referee = RequestReferee(operation)
    for case in cases(program, 60):
        verdict = referee.judge(MAKER.make(case), base_path="/api")
        assert verdict.outcome is Outcome.INVALID, (case.body, verdict)
