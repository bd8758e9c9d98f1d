"""What keeps a worker waiting, between a scripted supervisor and an API in memory."""

import itertools
from pathlib import Path

import pytest
from msgspec.structs import replace

from checker.core.case import Case
from checker.core.hooks import GLOBAL_HOOKS
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.corpus.records import OperationError
from checker.workers.messages import LONG_WAIT_S, LeaseReport
from tests.workers.harness import GETS, POSTS, run, workplace

HURRIED = pytest.mark.usefixtures("housekeeping_each_round")


@HURRIED
@pytest.mark.parametrize("lanes", [1, 8])
def test_what_turns_out_to_be_slow_makes_room_for_other_tasks(tmp_path: Path, lanes: int) -> None:
    with workplace(tmp_path, lanes=lanes, workers=1) as place:
        ran = run(place, POSTS, GETS, slow="POST")
    assert ran.slow == [POSTS.id]
    (gets, posts) = [(idle.tasks[0], idle.reports[0]) for idle in ran.idle]
    # Reads of the few things that exist are not sent again.
    sent = sum(kind == "sent" for kind, _ in ran.memory.events) - lanes - 1
    assert gets[0] == (GETS.id, 300, True)
    assert gets[1] == LeaseReport(requests=gets[1].requests)
    assert sent <= gets[1].requests < 300
    (name, reached, finished), waits = posts
    assert (name, finished) == (POSTS.id, False)
    # What was in flight, and what was made ahead.
    assert reached == waits.requests == waits.long <= lanes + 1


@HURRIED
def test_requests_of_a_slow_task_wait_beside_the_others(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=1, workers=1) as place:
        ran = run(place, replace(POSTS, is_slow=True, stop=40), GETS, slow="POST")
    assert sorted(idle.tasks[0] for idle in ran.idle) == [(POSTS.id, 40, True), (GETS.id, 300, True)]
    assert max(ran.memory.together) == 3
    # Three of them, and the one that every other task goes on with.
    assert max(ran.memory.widths) == 4
    assert ran.slow == []


@HURRIED
def test_a_slow_task_waits_where_all_slots_are_taken(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=1, workers=1) as place:
        place.lanes.slots = 2
        ran = run(place, replace(POSTS, is_slow=True, stop=12), GETS, slow="POST")
    assert sorted(idle.tasks[0] for idle in ran.idle) == [(POSTS.id, 12, True), (GETS.id, 300, True)]


@HURRIED
def test_an_operation_is_given_up_after_three_time_outs_in_a_row(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=1, workers=1) as place:
        ran = run(place, replace(POSTS, is_slow=True), GETS, slow="POST", hangs=True, is_patient=True)
    # Three together, which may have been too much at once, then one, and one more.
    assert ran.memory.together == [1, 2, 3, 1, 1]
    errors = [record for record in ran.records if isinstance(record, OperationError)]
    assert [error.title for error in errors] == ["Given up"]
    assert errors[0].message.startswith(
        "3 requests in a row had no complete response within 10 s, so only 5 of 300 cases were sent"
    )
    assert (POSTS.id, 5, True) in [idle.tasks[0] for idle in ran.idle]


@HURRIED
def test_time_outs_that_are_not_in_a_row_give_nothing_up(tmp_path: Path) -> None:
    numbers = itertools.count(1)

    def now_and_then(response: Response) -> Outcome:
        if next(numbers) % 3:
            return NetworkFailure(FailureKind.TIMEOUT, "", 2 * LONG_WAIT_S)
        return response

    with workplace(tmp_path, lanes=1, workers=1) as place:
        task = replace(POSTS, is_slow=True, stop=60)
        ran = run(place, task, slow="POST", spoil=now_and_then, is_patient=True)
    assert [idle.tasks for idle in ran.idle] == [((POSTS.id, 60, True),)]


@HURRIED
def test_with_hooks_around_calls_what_is_slow_goes_alone(tmp_path: Path) -> None:
    def before_call(context: object, case: Case, kwargs: object) -> None:
        pass

    GLOBAL_HOOKS.register(before_call)
    try:
        with workplace(tmp_path, lanes=1, workers=1) as place:
            ran = run(place, replace(POSTS, is_slow=True, stop=9), GETS, slow="POST")
    finally:
        GLOBAL_HOOKS.unregister_all()
    assert max(ran.memory.widths) == 1
    assert [idle.tasks[0] for idle in ran.idle] == [(GETS.id, 300, True), (POSTS.id, 9, True)]
