"""What lists left out comes first, and leaves room for what is drawn."""

from contextlib import suppress

import pytest

from checker.core.constraints import Constraint
from checker.core.meta import Drawn, GenerationMode, Listed, PhaseInfo
from checker.core.phases import phase_named
from checker.core.request import Location
from checker.generation.boundaries.values import likeness
from checker.generation.settings import GenerationSettings
from checker.phases.case_factory import CaseFactory, FilteredOut, GenerationRules, LeftOutFirst
from checker.phases.listed_phases import edge_cases
from checker.phases.listing import ListingContext, topic_of
from tests.generation.making import PlainOperation, parameter_of
from tests.phases.demanding import Demanding

PHASE = PhaseInfo("fuzzing")
OPERATION = PlainOperation((parameter_of({"type": "integer", "minimum": 1, "maximum": 600}),))


def _made(most: int, first: int, seed: int = 1, operation: PlainOperation = OPERATION) -> list[Drawn | Listed]:
    rules = GenerationRules.alike(GenerationSettings())
    listers = {"coverage": edge_cases}
    factory = CaseFactory({operation.label: operation}, rules, lister=listers.__getitem__)
    maker = LeftOutFirst(factory, factory.make, [("coverage", first)], most)
    found: list[Drawn | Listed] = []
    for index in range(most):
        recipe = maker(operation.label, seed, index, PHASE).recipe
        assert isinstance(recipe, Drawn | Listed)
        found.append(recipe)
    return found


def _numbers(found: list[Drawn | Listed]) -> list[int]:
    return [one.number for one in found if isinstance(one, Listed)]


def test_all_that_is_left_comes_in_order_and_then_what_is_drawn() -> None:
    found = _made(most=60, first=2)
    numbers = _numbers(found)
    assert numbers == list(range(2, 2 + len(numbers)))
    assert 0 < len(numbers) < 30
    assert all(isinstance(one, Drawn) for one in found[len(numbers) :])


def test_where_there_is_too_much_chance_chooses_and_half_is_drawn() -> None:
    found = _made(most=4, first=0)
    numbers = _numbers(found)
    assert len(numbers) == 2
    assert numbers == sorted(set(numbers))
    assert _numbers(_made(most=4, first=0)) == numbers
    assert any(_numbers(_made(most=4, first=0, seed=seed)) != numbers for seed in range(2, 9))


def test_what_is_left_respects_what_the_target_demanded_since() -> None:
    two = PlainOperation((parameter_of({"type": "integer"}), parameter_of({"type": "string"}, name="other")))
    rules = GenerationRules.alike(GenerationSettings())
    factory = CaseFactory({two.label: two}, rules, lister=lambda phase: edge_cases)
    demands = [Constraint("query", ("other",), "minLength", "3")]
    factory.learner = Demanding(demands, "fuzzing")
    early = [factory.listed(two.label, 1, number, PhaseInfo("coverage")) for number in range(3)]
    maker = LeftOutFirst(factory, factory.make, [("coverage", 3)], 200)
    late = [maker(two.label, 1, index, PHASE) for index in range(20)]
    valid = [one.case for one in late if one.case.meta is not None and not one.case.meta.mode.is_negative]
    others = [case for case in valid if case.meta is not None and case.meta.phase.data.get("parameter") != "other"]
    values = [case.query["other"] for case in others if "other" in case.query]
    assert values
    assert all(len(value) >= 3 for value in values)
    keys = [likeness(one.case) for one in (*early, *late)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(("phase", "is_later"), [("examples", False), ("examples", True), ("coverage", False)])
def test_examples_and_first_cases_of_topics_are_sent_however_many_are_refused_alike(
    phase: str, *, is_later: bool
) -> None:
    rules = GenerationRules.alike(GenerationSettings(mode=GenerationMode.POSITIVE))
    factory = CaseFactory({OPERATION.label: OPERATION}, rules, lister=lambda phase: edge_cases)
    factory.learner = Demanding(leaves_out=True)
    row = phase_named(phase)
    make = LeftOutFirst(factory, factory.make, [(phase, 0)], 200) if is_later else factory.maker(row)
    sent: list[int] = []
    for index in range(6):
        with suppress(FilteredOut):
            make(OPERATION.label, 1, index, PHASE if is_later else PhaseInfo(phase))
            sent.append(index)
    # Another number near a limit, and another one that is plainly valid, are no new topics.
    assert sent == ([0, 1, 2, 3, 4, 5] if phase == "examples" else [0, 1, 2, 4])


def test_each_topic_is_there_however_many_values_others_have() -> None:
    many = parameter_of({"enum": [f"v{number}" for number in range(60)]})
    alone = parameter_of({"type": "boolean"}, name="alone", location=Location.HEADER)
    operation = PlainOperation((many, alone))
    listed = list(edge_cases(operation, ListingContext(GenerationSettings())))
    for seed in range(1, 6):
        numbers = _numbers(_made(most=20, first=0, seed=seed, operation=operation))
        chosen = {topic_of(listed[number]) for number in numbers}
        assert len(numbers) == 10
        assert chosen == {topic_of(one) for one in listed}
