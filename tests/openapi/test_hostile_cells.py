"""Generator against referee where descriptions are legal and unkind: every style and body type with schemas that suit it badly."""

from collections.abc import Iterator
from typing import Any

import pytest

from checker.core.contract import Outcome, RequestVerdict
from checker.core.errors import SerializationError, Unsatisfiable
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.request import BaseUrl
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi.operation import OpenApiOperation
from checker.transport.prepare import RequestMaker

from .documents import operation

CASES = 4
INTEGER = {"type": "integer"}
INTEGERS = {"type": "array", "items": INTEGER, "minItems": 1}
CLOSED = {"type": "object", "additionalProperties": False, "minProperties": 1}
SCHEMAS: dict[str, Any] = {
    "two types": {"type": ["integer", "string"], "maxLength": 4},
    "null": {"type": ["integer", "null"]},
    "odd texts": {"type": "string", "enum": ["a,b", "c=d", "x|y", "p q", "é%", "..", "a/b", "+"]},
    "blanks": {"type": "string", "pattern": "^ +x *$"},
    "lists in a list": {"type": "array", "items": INTEGERS, "minItems": 1},
    "listed texts": {"type": "array", "items": {"enum": ["a|b", "c d", "e,f"]}, "minItems": 2},
    "patterns of names": CLOSED | {"patternProperties": {"^x-": INTEGER}},
    "map": {"type": "object", "additionalProperties": INTEGER, "minProperties": 1},
    "closed": CLOSED | {"properties": {"a": INTEGER, "b": {"type": "string"}}, "required": ["a"]},
    "deep": {"type": "object", "properties": {"a": CLOSED | {"properties": {"b": INTEGERS}}}},
    "one or more": {"oneOf": [INTEGER, INTEGERS | {"minItems": 2}]},
    "no integer": {"not": INTEGER},
    "read only": CLOSED | {"properties": {"id": INTEGER | {"readOnly": True}, "n": INTEGER}, "required": ["id", "n"]},
    "unevaluated": {
        "type": "object",
        "allOf": [{"properties": {"a": INTEGER}, "required": ["a"]}],
        "unevaluatedProperties": False,
    },
}
CELLS: list[tuple[str, str, bool]] = [
    *(("path", style, explode) for style in ("simple", "matrix") for explode in (False, True)),
    ("path", "label", True),
    *(("query", "form", explode) for explode in (False, True)),
    *(("query", style, False) for style in ("spaceDelimited", "pipeDelimited")),
    ("query", "deepObject", True),
    *(("header", "simple", explode) for explode in (False, True)),
    *(("cookie", "form", explode) for explode in (False, True)),
    ("cookie", "cookie", True),
]
TYPES = [
    *("application/json", "application/x-www-form-urlencoded", "multipart/form-data"),
    *("application/xml", "application/yaml", "text/plain", "application/octet-stream", "text/csv"),
]
ENCODINGS: list[dict[str, Any]] = [
    {"style": "form", "explode": True},
    {"style": "spaceDelimited", "explode": False},
    {"style": "deepObject", "explode": True},
    {"contentType": "application/json"},
    {"contentType": "application/xml"},
]
ORIGIN = BaseUrl("http", "127.0.0.1", 80, "")
MAKER = RequestMaker(ORIGIN, version="0")


def verdicts(found: OpenApiOperation, mode: GenerationMode) -> Iterator[RequestVerdict]:
    try:
        program = compile_operation(found, GenerationSettings(mode=mode))
        source = RandomSource()
        for seed in range(CASES):
            source.reset(seed)
            case = program.draw(source, case_id="c", phase=PhaseInfo("fuzzing"))
            yield found.judge_request(MAKER.make(case))
    except (Unsatisfiable, SerializationError):
        # There is nothing to send, or nothing to break.
        return


def disagreements(found: OpenApiOperation) -> list[RequestVerdict]:
    right = verdicts(found, GenerationMode.POSITIVE)
    wrong = verdicts(found, GenerationMode.NEGATIVE)
    return [one for one in right if one.outcome is Outcome.INVALID] + [
        one for one in wrong if one.outcome is Outcome.VALID
    ]


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize(("place", "style", "explode"), CELLS)
@pytest.mark.thorough_beyond(1)
def test_parameters(place: str, style: str, explode: bool, required: bool) -> None:
    path = "/a/{p}" if place == "path" else "/a"
    how = {"style": style, "explode": explode, "required": required or place == "path"}
    for name, schema in SCHEMAS.items():
        other = {"name": "q", "in": "query", "schema": INTEGER}
        raw = {"name": "p", "in": place, "schema": schema, **how}
        found = operation({"parameters": [raw, other]}, path=path, version="3.2.0")
        assert disagreements(found) == [], name


@pytest.mark.parametrize("media_type", TYPES)
def test_bodies(media_type: str) -> None:
    for name, schema in SCHEMAS.items():
        body = {"required": True, "content": {media_type: {"schema": schema}}}
        found = operation({"requestBody": body}, method="post", version="3.1.0")
        assert disagreements(found) == [], name


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("media_type", TYPES[1:3])
@pytest.mark.thorough
def test_encodings(media_type: str, encoding: dict[str, Any]) -> None:
    for name, schema in SCHEMAS.items():
        form = {"type": "object", "properties": {"f": schema}, "required": ["f"]}
        media = {"schema": form, "encoding": {"f": encoding}}
        body = {"required": True, "content": {media_type: media}}
        found = operation({"requestBody": body}, method="post", version="3.1.0")
        assert disagreements(found) == [], name
