"""A selection of the JSON Schema Test Suite: labels are agreed with, values are valid for two validators."""

from pathlib import Path

import pytest

from checker.core.schema import Direction
from checker.generation.sources.choices import RandomSource
from checker.validation.compiled import compile_schema
from tests.measuring.corpora import Sample, suite
from tests.measuring.oracles import oracles_of
from tests.measuring.positives import judged

SAMPLES = list(suite(Path(__file__).parents[1] / "data"))
# What format-annotation says of formats is not what we assert.
LABELLED = [sample for sample in SAMPLES if "format" not in sample.name or sample.asserts_formats]


def named(sample: Sample) -> str:
    return sample.name


def test_every_draft_is_there() -> None:
    assert len({sample.schema.dialect for sample in SAMPLES}) == 5
    assert len(SAMPLES) > 300


@pytest.mark.parametrize("sample", LABELLED, ids=named)
def test_validators_agree_with_the_labels(sample: Sample) -> None:
    oracles = oracles_of(sample, formats=sample.asserts_formats)
    compiled = compile_schema(sample.schema, Direction.REQUEST, validate_formats=sample.asserts_formats)
    for value, is_valid in sample.instances:
        said = (*oracles.verdicts(value), compiled.is_valid(value))
        assert said == (is_valid,) * 3, value


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.is_satisfiable], ids=named)
def test_values_are_valid_and_differ(sample: Sample) -> None:
    verdict = judged(sample, RandomSource(0))
    assert (verdict.kind, verdict.detail) == ("right", "")
