"""Inputs are made once where they have to be unique, and the end of them is no error."""

from typing import Any

import pytest

from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.phases import FUZZING
from checker.generation.boundaries.values import likeness
from checker.generation.program import GenerationSettings
from checker.kinds.protocol import ApiOperation
from checker.phases.case_factory import CaseFactory, Exhausted, GenerationRules
from tests.generation.making import PlainOperation, body_of, parameter_of, schema_of

PHASE = PhaseInfo("fuzzing")


def factory(operation: ApiOperation, *, unique: bool = True) -> CaseFactory:
    rules = GenerationRules.alike(GenerationSettings(unique_inputs=unique))
    return CaseFactory({operation.label: operation}, rules)


def made(makes: CaseFactory, label: Label, count: int) -> list[str]:
    make = makes.maker(FUZZING)
    return [likeness(make(label, 1, index, PHASE).case) for index in range(count)]


NARROW = PlainOperation((parameter_of({"type": "integer", "minimum": 1, "maximum": 6}),))


def test_no_input_is_made_twice() -> None:
    raw: dict[str, Any] = {"type": "string", "maxLength": 1}
    operation = PlainOperation((parameter_of(raw),), (body_of(schema_of({"type": "boolean"})),))
    usual = made(factory(operation, unique=False), operation.label, 40)
    unique = made(factory(operation), operation.label, 40)
    assert len(set(usual)) < 40
    assert len(set(unique)) == 40


def test_what_is_new_anyway_stays_the_same() -> None:
    usual = made(factory(NARROW, unique=False), NARROW.label, 3)
    unique = made(factory(NARROW), NARROW.label, 3)
    assert unique[0] == usual[0]


def test_when_values_run_out_it_ends() -> None:
    makes = factory(NARROW)
    found = made(makes, NARROW.label, 5)
    assert len(set(found)) == 5
    with pytest.raises(Exhausted):
        made(makes, NARROW.label, 1_000)


def test_a_case_that_is_made_again_is_the_same() -> None:
    makes = factory(NARROW)
    found = made(makes, NARROW.label, 5)
    assert made(makes, NARROW.label, 5) == found


def test_followers_of_a_sequence_may_repeat_themselves() -> None:
    makes = factory(NARROW)
    again = [makes.make(NARROW.label, 1, 0, PHASE, newest=True) for _ in range(20)]
    assert len({likeness(one.case) for one in again}) == 1


def test_text_and_number_are_the_same_outside_of_bodies() -> None:
    one, other = (factory(PlainOperation((parameter_of({"const": value}),))) for value in (1, "1"))
    label = NARROW.label
    assert made(one, label, 1) == made(other, label, 1)
    in_body = [
        made(factory(PlainOperation((), (body_of(schema_of({"const": value})),))), label, 1) for value in (1, "1")
    ]
    assert in_body[0] != in_body[1]
