"""A selection of the JSON Schema Test Suite: labels are agreed with, values are valid for two validators."""

from pathlib import Path

from checker.core.schema import Direction
from checker.generation.sources.choices import RandomSource
from checker.validation.compiled import compile_schema
from tests.measuring.corpora import suite
from tests.measuring.oracles import oracles_of
from tests.measuring.positives import judged

SAMPLES = list(suite(Path(__file__).parents[1] / "data"))
# What format-annotation says of formats is not what we assert.
LABELLED = [sample for sample in SAMPLES if "format" not in sample.name or sample.asserts_formats]


def test_every_draft_is_there() -> None:
    assert len({sample.schema.dialect for sample in SAMPLES}) == 5
    assert len(SAMPLES) > 300


def test_validators_agree_with_the_labels() -> None:
    for sample in LABELLED:
        oracles = oracles_of(sample, formats=sample.asserts_formats)
        compiled = compile_schema(sample.schema, Direction.REQUEST, validate_formats=sample.asserts_formats)
        for value, is_valid in sample.instances:
            said = (*oracles.verdicts(value), compiled.is_valid(value))
            assert said == (is_valid,) * 3, (sample.name, value)


def test_values_are_valid_and_differ() -> None:
    verdicts = {one.name: judged(one, RandomSource(0)) for one in SAMPLES if one.is_satisfiable}
    assert {name: one.detail for name, one in verdicts.items() if (one.kind, one.detail) != ("right", "")} == {}
