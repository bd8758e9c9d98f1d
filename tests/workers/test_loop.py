"""The worker's loop between a scripted supervisor and an API in memory that answers in any order."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from msgspec.structs import replace

from checker.checks.server_error import ServerError
from checker.core.case import Case
from checker.core.hooks import GLOBAL_HOOKS
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.corpus.journal import JournalReader
from checker.corpus.records import Finding, OperationError, Record, TaskProgress, ValueSeen
from checker.workers.messages import LeaseReport
from tests.asking import saying
from tests.workers.harness import GETS, LABELS, POSTS, RIGHT, SECURED, TASK, case_of, run, workplace


def test_a_step_leaves_only_after_the_step_before_it_was_answered(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=8) as place:
        ran = run(place, TASK)
    when = {event: number for number, event in enumerate(ran.memory.events)}
    depths = Counter[int]()
    for child, parent in ran.parents.items():
        if ("sent", child) not in when:
            # A safe request that is known is made and left out.
            continue
        assert when["answered", parent] < when["sent", child]
        depth = 1
        while (parent := ran.parents.get(parent, "")) != "":
            depth += 1
        depths[depth] += 1
    assert max(ran.memory.widths) == 8
    assert depths[1] > 20
    assert depths[3] > 5


def test_nothing_goes_on_from_a_case_during_which_a_worker_died(tmp_path: Path) -> None:
    parents = []
    for redo in ((), tuple(range(30))):
        (directory := tmp_path / str(len(redo))).mkdir()
        with workplace(directory) as place:
            task = replace(TASK, start=len(redo) and 30, stop=30, redo=redo)
            ran = run(place, task)
        assert sum(kind == "sent" for kind, _ in ran.memory.events) >= 30
        parents.append(ran.parents)
    usual, tried_again = parents
    assert len(usual) >= 5
    assert tried_again == {}


@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_every_case_is_sent_once_whatever_is_made_ahead(tmp_path: Path, lanes: int) -> None:
    with workplace(tmp_path, lanes=lanes) as place:
        ran = run(place, replace(TASK, phase="fuzzing"))
    sent = [case for kind, case in ran.memory.events if kind == "sent"]
    assert len(sent) == len(set(sent)) == 300
    assert max(ran.memory.widths) == lanes
    assert [one.tasks for one in ran.idle] == [((TASK.id, 300, True),)]
    progress = [record for record in ran.records if isinstance(record, TaskProgress)]
    assert sum(record.cases for record in progress) == 300
    assert sum(record.requests for record in progress) == 300


@pytest.mark.parametrize("lanes", [1, 8])
def test_what_a_drained_worker_says_it_reached_is_what_it_sent(tmp_path: Path, lanes: int) -> None:
    with workplace(tmp_path, lanes=lanes) as place:
        ran = run(place, replace(TASK, phase="fuzzing"), drained_after=20)
    ((_, reached, finished),) = ran.idle[0].tasks
    assert not finished
    assert len([1 for kind, _ in ran.memory.events if kind == "sent"]) == reached < 300
    progress = [record for record in ran.records if isinstance(record, TaskProgress)]
    assert sum(record.cases for record in progress) == reached


def test_what_is_looked_into_is_abandoned_when_the_run_ends(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=1) as place:
        ran = run(place, TASK, spoil=lambda response: replaced(response, 500))
    kinds = [kind for kind, _ in ran.memory.events]
    assert kinds.count("looked into") == 1
    assert kinds[-1] == "looked into"
    # What was known before it is on disk: it failed, and nobody has said that it does not again.
    found = [record for record in ran.records if isinstance(record, Finding)]
    assert {(one.investigation.stage, one.investigation.reproduced) for one in found} == {("found", None)}


def replaced(response: Response, status: int) -> Response:
    assert response.request is not None
    return Response(status, [], b"", elapsed=0.001, request=response.request)


def test_when_there_are_fewer_lanes_no_more_is_in_flight(tmp_path: Path) -> None:
    started_before: list[int] = []
    with workplace(tmp_path, lanes=8) as place:

        def narrow() -> None:
            memory: Any = place.http
            if len(memory.made_ahead) == 20:
                place.lanes.pacing.lanes = 2
                started_before.append(len(memory.widths))

        ran = run(place, replace(TASK, phase="fuzzing"), each_poll=narrow)
    (count,) = started_before
    assert len(ran.memory.widths) == 300 > count
    assert max(ran.memory.widths[:count]) == 8
    assert max(ran.memory.widths[count:]) == 2


def test_one_lane_makes_the_next_case_while_it_waits_and_sends_it_after_the_answer(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=1) as place:
        ran = run(place, replace(TASK, phase="fuzzing"))
    # The last answer has nothing to wait for behind it.
    # A block of drawn cases begins once those before it are judged. The last answer has nothing to wait for behind it.
    alone = (23, 47, 95, 191, 299)
    assert ran.memory.made_ahead == [index not in alone for index in range(300)]
    assert [kind for kind, _ in ran.memory.events] == ["sent", "answered"] * 300


def _with_two_defects(response: Response) -> Outcome:
    """An answer that depends on the request alone: half of them break the server, it forgets members in answers to others."""
    assert response.request is not None
    breaks = crc32(response.request.body or b"") % 2
    status, content = (500, b"broken") if breaks else (200, b"{}")
    fields = [("Content-Type", "application/json")]
    return Response(status, fields, content, elapsed=0.001, request=response.request)


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("lanes", [2, 3, 8])
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
def test_how_many_answers_are_awaited_changes_no_request(tmp_path: Path, lanes: int, seed: int) -> None:
    sent = []
    for width in (1, lanes):
        (folder := tmp_path / str(width)).mkdir()
        operations = saying(generation={"mode": "positive"})
        with workplace(folder, command="run", lanes=width, operations=operations) as place:
            task = replace(POSTS, seed=seed, stop=30)
            ran = run(place, task, spoil=_with_two_defects, is_patient=True)
        found = {one.check for one in ran.records if isinstance(one, Finding)}
        assert found >= {"not_a_server_error", "response_schema_conformance"}
        sent.append(Counter(case for kind, case in ran.memory.events if kind != "answered"))
    one, several = sent
    assert one == several


@pytest.mark.parametrize(("times", "is_told"), [(1, False), (2, False), (3, False), (99, True)])
def test_what_others_may_have_caused_is_told_only_when_it_happens_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, is_told: bool
) -> None:
    monkeypatch.setattr(ServerError, "needs_repetition", True)
    broken = itertools.count()

    def spoil(response: Response) -> Outcome:
        if next(broken) >= times:
            return response
        return Response(500, [], b"", elapsed=0.001, request=response.request)

    with workplace(tmp_path, command="run", lanes=1) as place:
        ran = run(place, replace(POSTS, stop=3), spoil=spoil, is_patient=True)
    assert _server_errors(ran.records) == [("found", True), ("minimised", not is_told)]


def test_what_was_withdrawn_is_looked_into_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServerError, "needs_repetition", True)
    broken = itertools.count()

    def spoil(response: Response) -> Outcome:
        # Once, and from the second case on each time.
        if next(broken) in (1, 2):
            return response
        return Response(500, [], b"", elapsed=0.001, request=response.request)

    with workplace(tmp_path, command="run", lanes=1) as place:
        ran = run(place, replace(POSTS, stop=3), spoil=spoil, is_patient=True)
    assert _server_errors(ran.records) == [("found", True), ("minimised", True), ("found", True), ("minimised", False)]


def _server_errors(records: Iterable[Record]) -> list[tuple[str, bool]]:
    """(stage, withdrawn) of each version that was written."""
    return [
        (one.investigation.stage, one.investigation.withdrawn)
        for one in records
        if isinstance(one, Finding) and one.check == "not_a_server_error"
    ]


@pytest.mark.parametrize("every", [0, 3])
def test_connections_that_had_ended_change_nothing_of_what_checks_send(tmp_path: Path, every: int) -> None:
    count = itertools.count(1)

    def spoil(response: Response) -> Outcome:
        request = response.request
        assert request is not None
        if request.header(b"authorization") != b"Bearer right":
            return Response(401, [], b"", elapsed=0.001, request=request)
        if every and not request.fresh and next(count) % every == 0:
            return NetworkFailure(FailureKind.DROPPED, "", 0.001, may_be_late=True)
        return response

    with workplace(tmp_path, document=SECURED, command="run", operations=RIGHT) as place:
        ran = run(place, replace(GETS, stop=30), spoil=spoil)
    sent = Counter(case for kind, case in ran.memory.events if kind == "sent")
    # Reads of the few things that exist are not sent again.
    assert 15 < len(sent) < 30
    # The first accepted case is sent again, without credentials and with wrong ones.
    late = 0 if not every else (next(count) - 1) // every
    assert (late > 0) is (every > 0)
    assert sum(sent.values()) == len(sent) + 2 + late


def test_a_worker_says_how_long_each_task_waited(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=1) as place:
        ran = run(place, replace(TASK, phase="fuzzing", stop=30))
    ((waits,),) = [idle.reports for idle in ran.idle]
    assert waits == LeaseReport(requests=30)


def test_with_one_lane_hooks_see_one_call_after_the_other(tmp_path: Path) -> None:
    seen: list[str] = []

    def before_call(context: object, case: Case, kwargs: object) -> None:
        seen.append(f"before {case.id}")

    def after_call(context: object, case: Case, response: object) -> None:
        seen.append(f"after {case.id}")

    GLOBAL_HOOKS.register(before_call)
    GLOBAL_HOOKS.register(after_call)
    try:
        with workplace(tmp_path, lanes=1) as place:
            ran = run(place, replace(TASK, phase="fuzzing", stop=30))
    finally:
        GLOBAL_HOOKS.unregister_all()
    cases = [case for kind, case in ran.memory.events if kind == "sent"]
    assert len(cases) == 30
    assert seen == [f"{word} {case}" for case in cases for word in ("before", "after")]


def test_a_worker_that_dies_young_has_said_what_was_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(100.0, 0.001)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    on_record: list[TaskProgress] = []
    with workplace(tmp_path, lanes=1) as place:
        journal = JournalReader(Path(place.opened.journal))

        def look() -> None:
            if next(clock) < 100.9:
                found = journal.read_new()
                on_record.extend(one for one in found if isinstance(one, TaskProgress))

        run(place, replace(TASK, phase="fuzzing"), each_poll=look)
    assert len(on_record) >= 2
    assert all(record.statuses and sum(record.ledger) > 0 for record in on_record)


def label_of(response: Response) -> str:
    assert response.request is not None
    is_one = response.request.target != b"/things"
    return f"{response.request.method} /things" + ("/{thing_id}" if is_one else "")


def unjudgeable(response: Response) -> Outcome:
    response.content_type = 5  # type: ignore[assignment]
    return response


def unwritable(response: Response) -> Outcome:
    response.message = object()  # type: ignore[assignment]
    response.header_lines = 5  # type: ignore[assignment]
    return response


def unread(response: Response) -> Outcome:
    error = ValueError("nobody thought of this")
    return NetworkFailure(FailureKind.OTHER, "", response.elapsed, cause=error)


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("spoil", [unjudgeable, unwritable, unread])
def test_an_answer_that_nobody_can_read_costs_its_case(
    tmp_path: Path, lanes: int, spoil: Callable[[Response], Outcome]
) -> None:
    label, spoilt = LABELS[0], list[str]()

    def once(response: Response) -> Outcome:
        if spoilt or label_of(response) != label:
            return response
        assert response.request is not None
        spoilt.append(case_of(response.request))
        return spoil(response)

    with workplace(tmp_path, lanes=lanes) as place:
        ran = run(place, replace(TASK, phase="fuzzing"), spoil=once)
    assert [one.tasks for one in ran.idle] == [((TASK.id, 300, True),)]
    assert len({case for kind, case in ran.memory.events if kind == "sent"}) == 300
    (error,) = [record for record in ran.records if isinstance(record, OperationError)]
    assert (error.label, error.title) == (label, "Runtime Error")
    assert "Traceback" in error.trace or spoil is unread


@pytest.mark.parametrize("spoil", [unjudgeable, unwritable, unread])
def test_an_operation_whose_answers_nobody_can_read_is_given_up(
    tmp_path: Path, spoil: Callable[[Response], Outcome]
) -> None:
    label = LABELS[0]
    with workplace(tmp_path, lanes=1) as place:
        ran = run(
            place, replace(TASK, phase="fuzzing"), spoil=lambda one: spoil(one) if label_of(one) == label else one
        )
    assert [one.tasks for one in ran.idle] == [((TASK.id, 300, True),)]
    sent = [case for kind, case in ran.memory.events if kind == "sent"]
    # A hundred cases of each of the two others, and of this one three, or four where one was made ahead.
    assert len(sent) in (203, 204)
    assert {record.label for record in ran.records if isinstance(record, OperationError)} == {label}


def test_what_is_answered_for_the_first_time_is_on_disk_at_once(tmp_path: Path) -> None:
    answered: list[tuple[str, int]] = []
    on_record = set[tuple[str, int]]()
    missing = []

    def noting(response: Response) -> Outcome:
        response.status_code = (200, 200, 201)[len(answered) % 3]
        answered.append((label_of(response), response.status_code))
        return response

    with workplace(tmp_path, lanes=1) as place:
        journal = JournalReader(Path(place.opened.journal))

        def look() -> None:
            for one in journal.read_new():
                if isinstance(one, TaskProgress):
                    on_record.update((label, status) for label, status, _ in one.statuses)
            missing.append(set(answered) - on_record)

        run(place, replace(POSTS, stop=9), each_poll=look, spoil=noting)
    assert set(answered) == {(LABELS[0], 200), (LABELS[0], 201)}
    assert len(missing) >= 9
    assert not any(missing)


def test_what_later_layers_may_use_is_on_disk_before_its_case_is_over(tmp_path: Path) -> None:
    seen, missing = set[object](), list[set[int]]()

    with workplace(tmp_path, lanes=1, kind="run") as place:
        journal = JournalReader(Path(place.opened.journal))

        def look() -> None:
            seen.update(one.value for one in journal.read_new() if isinstance(one, ValueSeen))
            # The API names what it makes by numbers, one after the other.
            missing.append(set(range(1, min(len(missing), 9) + 1)) - seen)

        run(place, replace(POSTS, stop=9), each_poll=look)
    assert len(missing) >= 9
    assert not any(missing)
