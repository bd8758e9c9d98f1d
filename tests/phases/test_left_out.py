"""What lists left out comes first, and leaves room for what is drawn."""

from checker.core.meta import Drawn, Listed, PhaseInfo
from checker.core.request import Location
from checker.generation.hooks import NO_HOOKS
from checker.generation.settings import GenerationSettings
from checker.phases.case_factory import CaseFactory, GenerationRules, LeftOutFirst
from checker.phases.listed_phases import edge_cases
from checker.phases.listing import ListingContext, topic_of
from tests.generation.making import PlainOperation, parameter_of

PHASE = PhaseInfo("fuzzing")
OPERATION = PlainOperation((parameter_of({"type": "integer", "minimum": 1, "maximum": 600}),))


def _made(most: int, first: int, seed: int = 1, operation: PlainOperation = OPERATION) -> list[Drawn | Listed]:
    rules = GenerationRules.alike(GenerationSettings())
    listers = {"coverage": edge_cases}
    factory = CaseFactory({operation.label: operation}, rules, lambda _: NO_HOOKS, None, lister=listers.__getitem__)
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
