from math import inf

import pytest

from checker.core.case import Case
from checker.generation.sources import alphabets
from checker.generation.sources.choices import Source
from checker.generation.sources.shrinking import ShrinkBudget, Shrunk, shrink
from tests.measuring.predicates import FAILING, ORDER, Failing, Smallest
from tests.measuring.shrinking import failing_choices, measured
from tests.measuring.sketches import drawn, program_of

PROGRAM = program_of(ORDER)


def _named(name: str) -> Failing:
    (found,) = [failing for failing in FAILING if failing.name == name]
    return found


def _shrunk(failing: Failing, budget: ShrinkBudget) -> Shrunk[Case]:
    choices = failing_choices(PROGRAM, failing, 0)
    return shrink(
        lambda source: drawn(PROGRAM, source), choices, failing.fails, budget=budget, seed=1
    )


@pytest.mark.parametrize("failing", FAILING, ids=lambda failing: f"{failing.kind}: {failing.name}")
def test_shrinks_to_the_smallest_case_within_the_budget(failing: Failing) -> None:
    (row,) = measured([failing], starts=1)
    (found,) = row.shrinks
    assert repr(failing.smallest) == repr(found.found)
    assert found.finished
    assert found.executions <= ShrinkBudget().executions


def test_every_kind_is_large_before_it_is_shrunk() -> None:
    for failing in FAILING:
        if not failing.mode.is_negative:
            choices = failing_choices(PROGRAM, failing, 0)
            assert len(choices) > 50, failing.name


def test_same_seed_same_steps() -> None:
    failing = _named("a note and a price above 5")
    unlimited = ShrinkBudget(seconds=inf)
    first, second = _shrunk(failing, unlimited), _shrunk(failing, unlimited)
    assert (first.choices, first.executions) == (second.choices, second.executions)


def test_budget_ends_it_with_something_that_fails() -> None:
    failing = _named("two tags")
    found = _shrunk(failing, ShrinkBudget(executions=7, seconds=inf))
    assert not found.finished
    assert found.executions == 7
    assert failing.fails(found.value)


def test_no_time_is_no_execution() -> None:
    failing = _named("a list with a true")
    found = _shrunk(failing, ShrinkBudget(seconds=-1.0))
    assert (found.executions, found.finished) == (0, False)
    assert failing.fails(found.value)


def test_a_later_way_with_fewer_choices_is_taken() -> None:
    def draw(source: Source) -> list[int]:
        return [source.integer(0, 9), source.integer(0, 9)] if source.choice(2) == 0 else []

    found = shrink(draw, (0, 5, 5), lambda value: True, seed=1)
    assert (found.choices, found.value) == ((1,), [])


def test_a_length_that_two_texts_share_becomes_one_text() -> None:
    def draw(source: Source) -> str:
        text = source.string(alphabets.NAME, 1, 20)
        if source.boolean(0.15):
            text += "+."[source.choice(2)] + source.string(alphabets.NAME, 1, 10)
        return text

    found = shrink(draw, ("ab", True, 1, "cdefghijk"), lambda text: len(text) > 10, seed=1)
    assert (found.choices, found.value) == (("0" * 11, False), "0" * 11)


def test_smallest_is_told_without_what_is_always_there() -> None:
    assert str(Smallest(path="?", body={"items": []})) == "path '?', body {'items': []}"
