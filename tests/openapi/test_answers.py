"""Answers by the book: drawn from the schemas of real documents, written, and never called a failure."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from checker.core.contract import BodyValidator
from checker.core.errors import CheckerError
from checker.core.media_types import media_type_of
from checker.core.operation import Location, Operation
from checker.core.schema import Direction, Schema
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace, body_place, place_of
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Facet
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Budget, DrawContext, Rejected
from checker.openapi.response_bodies import Promise, body_validator
from checker.transport.wire.bodies import encode
from checker.transport.wire.styles import header_text
from tests.measuring.refereeing import operations

from .documents import operation

SMOKE = Path(__file__).parent.parent / "data" / "smoke"
TEXT = alphabets.text_of(None, allows_nul=True)
VALUES = 2


def answers(schema: Schema, place: TextPlace) -> Iterator[Any]:
    """Values of a schema as a server would send them; fewer where chance finds none."""
    turn, source = DrawContext(), RandomSource()
    compiler = Compiler(
        Canon(schema.document, schema.dialect, Direction.RESPONSE), turn, Budget(), {}, 8000,
        reuses=False, opaque={},
    )  # fmt: skip
    draw = compiler.compile((Facet(schema.raw, schema.pointer),), place)
    for seed in range(VALUES):
        source.reset(seed)
        turn.begin(None)
        try:
            yield draw(source)
        except Rejected:
            continue


def promised(operation: Operation) -> Iterator[Schema]:
    """Schemas of the JSON bodies of an operation's responses."""
    for status in (200, 201, 400, 404, 500):
        body = operation.contract.plan(status, "application/json").body
        if body is not None:
            yield body._opinions.schema  # type: ignore[attr-defined]


def is_failure(body: BodyValidator, content: bytes) -> bool:
    if body.is_valid(content):
        return False
    opinions = body.opinions(content)
    return bool(opinions.violations) or opinions.undecodable is not None


@pytest.mark.parametrize("media_type", ["application/json", "application/yaml", "application/xml", "text/plain"])
@pytest.mark.thorough
def test_no_body_by_the_book_fails(media_type: str) -> None:
    place = body_place(TEXT, is_form=False, is_bytes=False, is_xml="xml" in media_type)
    received = media_type_of(media_type)
    assert received is not None
    judged: Counter[bool] = Counter()
    for _, found in islice(operations(SMOKE, []), 0, None, 6):
        for schema in promised(found):
            try:
                body = body_validator(Promise(schema), received, validate_formats=True)
                values = list(answers(schema, place))
            except CheckerError:
                continue
            for value in values if body is not None and not isinstance(body, str) else ():
                content, _ = encode(value, media_type, {}, schema)
                assert body is not None
                assert not isinstance(body, str)
                judged[is_failure(body, content)] += 1
    assert judged[True] == 0
    assert judged[False] > 10


HEADERS: list[dict[str, Any]] = [
    {"type": "integer"},
    {"type": "number", "minimum": -1.5},
    {"type": "boolean"},
    {"type": "string", "format": "date-time"},
    {"enum": ["a, b", "c"]},
    {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1, "uniqueItems": True},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 3}]},
    {"type": ["integer", "null"]},
]


@pytest.mark.parametrize("explode", [False, True])
@pytest.mark.parametrize("schema", HEADERS)
def test_no_header_by_the_book_fails(schema: dict[str, Any], explode: bool) -> None:
    response = {"headers": {"X-A": {"schema": schema, "explode": explode, "required": True}}}
    found = operation({"responses": {"200": response}}, version="3.1.0")
    validator = found.contract.plan(200, None).headers
    assert validator is not None
    place = place_of(Location.HEADER, TEXT, "\r\n", "simple", explode=explode)
    declared = Schema(schema, "#", found.owner.document.dialect, found.owner.document)
    for value in answers(declared, place):
        assert validator.is_valid({"x-a": [header_text(value, explode=explode)]}), value
