"""Dialects that schemas of OpenAPI 3.1 say of themselves, and the identifiers by which they refer to each other."""

import pytest

from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.schema import Direction
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi.loaders import from_dict, open_normalised
from checker.openapi.operation import OpenApiOperation
from checker.validation.compiled import compile_schema

from .described import assert_both, body, document, opinions
from .dialects import ALONE, D7, INT, SAID, named
from .documents import warnings_of
from .identifiers import IDENTIFIED

READ = SAID | IDENTIFIED


@pytest.mark.parametrize("name", READ)
def test_both_opinions_read_a_schema_by_its_own_dialect(name: str) -> None:
    raw, valid, invalid = READ[name]
    schema = from_dict(raw)
    for one in invalid:
        assert_both(schema, valid, one)


@pytest.mark.parametrize("name", ALONE)
def test_schema_that_was_written_to_stand_alone_is_meant_by_its_references(name: str) -> None:
    raw, valid, invalid = ALONE[name]
    for schema in (from_dict(raw), open_normalised(from_dict(raw).normalised())):
        is_valid = compile_schema(body(schema), Direction.REQUEST).is_valid
        assert [is_valid(one) for one in (valid, *invalid)] == [True, *(False for _ in invalid)]
        # Nobody else has to read it so: by the letter these references mean the description.
        assert opinions(body(schema), valid) == (True, True)


@pytest.mark.parametrize("name", [*READ, *ALONE])
def test_what_is_made_fits_the_dialect(name: str) -> None:
    raw, _, _ = (READ | ALONE)[name]
    schema = from_dict(raw)
    operation = schema.find("POST /a")
    assert isinstance(operation, OpenApiOperation)
    program = compile_operation(operation, GenerationSettings(mode=GenerationMode.POSITIVE))
    source = RandomSource()
    for seed in range(40):
        source.reset(seed)
        case = program.draw(source, case_id="c", phase=PhaseInfo("fuzzing"))
        assert case.media_type is None or opinions(body(schema), case.body) == (True, True)


def test_what_a_dialect_knows_is_not_called_ignored() -> None:
    raw = {"$schema": D7, "items": [INT], "additionalItems": {"exclusiveMinimum": 3}}
    assert warnings_of(from_dict(named(raw))) == ()


def test_reference_inside_items_of_an_older_dialect_counts() -> None:
    raw = {"$schema": D7, "type": "array", "items": [{"$ref": "#/components/schemas/None"}]}
    operation = from_dict(named(raw)).find("POST /a")
    assert isinstance(operation, OpenApiOperation)
    assert "points at nothing" in operation.unusable_bodies[0].reason


def test_dialect_of_a_schema_says_nothing_before_3_1() -> None:
    schema = from_dict(document({"$schema": 5, "type": "integer"}))
    assert_both(schema, 1, "x")
    tuples = {"$schema": D7, "type": "array", "items": {"type": "integer"}, "contains": {"const": 5}}
    assert_both(from_dict(document(tuples)), [1], ["x"])
