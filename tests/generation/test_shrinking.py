import pytest

from checker.core.case import Case
from checker.generation.sources.choices import Source
from checker.generation.sources.shrinking import Shrunk, shrink
from checker.phases.shrinking import smaller
from tests.measuring.predicates import FAILING, ORDER, Failing, Smallest
from tests.measuring.shrinking import failing_choices, measured
from tests.measuring.sketches import drawn, program_of
from tests.searching import MOST, searched

PROGRAM = program_of(ORDER)


def _named(name: str) -> Failing:
    (found,) = [failing for failing in FAILING if failing.name == name]
    return found


def _shrunk(failing: Failing, most: int = MOST) -> Shrunk[Case]:
    choices = failing_choices(PROGRAM, failing, 0)
    return searched(shrink(lambda source: drawn(PROGRAM, source), choices), failing.fails, most)


@pytest.mark.parametrize("failing", FAILING, ids=lambda failing: f"{failing.kind}: {failing.name}")
def test_shrinks_to_the_smallest_case_within_the_budget(failing: Failing) -> None:
    (row,) = measured([failing], starts=1)
    (found,) = row.shrinks
    assert repr(failing.smallest) == repr(found.found)
    assert found.finished
    assert found.executions <= MOST


def test_every_kind_is_large_before_it_is_shrunk() -> None:
    for failing in FAILING:
        if not failing.mode.is_negative:
            choices = failing_choices(PROGRAM, failing, 0)
            assert len(choices) > 50, failing.name


def test_same_seed_same_steps() -> None:
    failing = _named("a note and a price above 5")
    first, second = _shrunk(failing), _shrunk(failing)
    assert (first.choices, first.executions) == (second.choices, second.executions)


def test_a_search_that_is_ended_returns_something_that_fails() -> None:
    failing = _named("two tags")
    found = _shrunk(failing, 7)
    assert not found.finished
    assert found.executions == 7
    assert failing.fails(found.value)


def test_of_choices_that_come_to_the_same_one_is_tried_and_none_that_is_known_to_pass() -> None:
    tried: list[int] = []

    def draw(source: Source) -> int:
        is_other_way = source.boolean()
        return source.integer(0, 9) if is_other_way else source.integer(0, 10)

    def fails(value: int) -> bool:
        tried.append(value)
        return value > 3

    found = searched(shrink(draw, (True, 8), lambda value: value, frozenset({0})), fails)
    assert found.value == 4
    assert len(tried) == len(set(tried)) == found.executions
    assert not {0, 8} & set(tried)


def test_what_has_no_content_is_not_tried() -> None:
    def draw(source: Source) -> int:
        return source.integer(0, 9)

    found = searched(shrink(draw, (8,), lambda value: None), lambda value: True)
    assert (found.value, found.executions, found.finished) == (8, 0, True)


@pytest.mark.parametrize("ticks", [1, 10**3, 10**6, 10**9])
def test_a_limit_that_moves_with_the_clock_is_not_the_smallest_value(ticks: int) -> None:
    tomorrow = 1_796_000_000 * ticks

    def draw(source: Source) -> int:
        return source.integer(0, 2**63)

    found = searched(shrink(draw, (2**63,), lambda value: value), lambda value: value > tomorrow)
    assert found.value == 2_000_000_000 * ticks
    sizes = smaller(found.value)
    assert not [size for size in sizes if tomorrow < size]


def test_smallest_is_told_without_what_is_always_there() -> None:
    assert str(Smallest(path="?", body={"items": []})) == "path '?', body {'items': []}"
