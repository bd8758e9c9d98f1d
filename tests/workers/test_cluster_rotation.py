from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.operation import Label
from checker.workers.messages import OperationReport
from checker.workers.recording.task_state import (
    CONSTANT,
    CONSTANT_PRODUCER,
    DULL,
    DULL_CASES,
    DULL_PRODUCER,
    ClusterRotation,
)

MAKE, READ, LIST = labels = tuple(map(Label, ("POST /a", "GET /a/{id}", "GET /a")))
ROUNDS = 400


def rounds() -> ClusterRotation:
    return ClusterRotation(labels, (MAKE, LIST))


def turns(of: ClusterRotation) -> Counter[Label]:
    """How often each is made when so many rounds are gone."""
    every = [(index, of.labels[index % 3]) for index in range(3 * ROUNDS)]
    return Counter(label for index, label in every if not of.passes(label, index))


def test_at_first_each_has_its_turn() -> None:
    assert turns(rounds()) == {MAKE: ROUNDS, READ: ROUNDS, LIST: ROUNDS}


def test_what_refuses_everything_alike_comes_less_often_a_producer_oftener() -> None:
    of = rounds()
    assert not of.count({(READ, 404): DULL_CASES, (MAKE, 401): DULL_CASES, (LIST, 200): 9})
    assert turns(of) == {MAKE: ROUNDS // DULL_PRODUCER, READ: ROUNDS // DULL, LIST: ROUNDS}


def test_few_refusals_are_no_reason() -> None:
    of = rounds()
    of.count({(READ, 404): DULL_CASES - 1})
    assert turns(of)[READ] == ROUNDS
    of.count({(READ, 404): 1})
    assert turns(of)[READ] == ROUNDS // DULL


def test_refusals_of_several_kinds_are_no_reason() -> None:
    of = rounds()
    of.count({(READ, 404): 90, (READ, 400): 1})
    assert turns(of)[READ] == ROUNDS


def test_refusals_that_show_something_new_are_no_reason() -> None:
    of = rounds()
    of.showed(READ)
    of.count({(READ, 404): 90})
    assert turns(of)[READ] == ROUNDS
    of.count({(READ, 404): 1})
    assert turns(of)[READ] == ROUNDS // DULL


def test_another_answer_ends_it() -> None:
    of = rounds()
    of.count({(READ, 404): 90})
    of.count({(READ, 200): 1})
    assert turns(of)[READ] == ROUNDS


def test_a_single_case_is_sent_again_since_what_it_meets_changes() -> None:
    of = rounds()
    assert not of.is_constant(LIST)
    assert not of.is_constant(READ)
    assert turns(of) == {MAKE: ROUNDS, READ: ROUNDS // CONSTANT, LIST: ROUNDS // CONSTANT_PRODUCER}
    assert of.is_constant(MAKE)


def test_of_what_waits_long_no_further_case_is_made() -> None:
    of = rounds()
    of.wait(READ)
    # The first round of all is everybody's.
    assert turns(of)[READ] <= 1
    of.landed(READ)
    assert turns(of)[READ] == ROUNDS


def test_a_turn_is_over_when_nothing_but_refusals_is_left() -> None:
    of = rounds()
    of.is_constant(LIST)
    assert not of.count({(READ, 404): 90, (MAKE, 201): 1})
    assert ClusterRotation(labels).count({(label, 404): 90 for label in labels})
    other = rounds()
    other.is_constant(LIST)
    assert other.count({(READ, 404): 90, (MAKE, 401): 90})


def test_what_came_of_each_is_told() -> None:
    of = rounds()
    of.showed(MAKE)
    of.count({(READ, 404): 3, (MAKE, 401): 2})
    assert of.reports({LIST, READ}) == (
        OperationReport(MAKE, 2, is_dead=False, has_news=True),
        OperationReport(READ, 3, is_dead=False),
        OperationReport(LIST, 0, is_dead=True),
    )


@given(st.lists(st.dictionaries(st.tuples(st.sampled_from(labels), st.sampled_from([0, 200, 404])), st.integers(1, 40)), max_size=6))  # fmt: skip
@pytest.mark.thorough
def test_whatever_is_answered_each_has_its_floor(answers: list[dict[tuple[str, int], int]]) -> None:
    of = rounds()
    for one in answers:
        of.count(one)
    found = turns(of)
    assert min(found.values()) >= ROUNDS // DULL
    assert min(found[MAKE], found[LIST]) >= ROUNDS // DULL_PRODUCER
