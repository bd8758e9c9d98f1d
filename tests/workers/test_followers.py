"""Steps of sequences wait for a lane, and for a slot where they have none."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.checks.judge import CLEAN
from checker.core.meta import Drawn, Step
from checker.core.operation import Label
from checker.core.response import Response
from checker.corpus.known import TRIES
from checker.corpus.records import FIXED, FLAKY, NOT_REPRODUCED, FindingReplayed
from checker.corpus.secrets import Secrets
from checker.phases.case_factory import OutOfDate
from checker.workers.case_scheduler import CaseScheduler, Follower, FollowerQueue
from checker.workers.messages import Replay
from checker.workers.recording.task_state import SAVED_INDEX

LABEL = Label("GET /things")


def _queue(saved: int) -> tuple[FollowerQueue, Any]:
    """A queue of so many failing sequences of an earlier run, and their task."""
    found = SimpleNamespace(label=LABEL)
    place = SimpleNamespace(
        saved=SimpleNamespace(load=lambda label: [("a", "b")] * saved),
        factory=SimpleNamespace(remake=lambda step, *, name, phase: found),
        explorer=SimpleNamespace(chains=SimpleNamespace(follow=lambda sent, seed, index, phase: found)),
        held_back=frozenset(),
    )
    task = SimpleNamespace(id="1", labels=(LABEL,), seed=1, replay=None)
    running = SimpleNamespace(lease=task, is_closed=False, is_chained=True, flying=0, phase=None)
    queue = FollowerQueue(cast("Any", place))
    queue.add_saved(cast("Any", running))
    return queue, running


def test_more_sequences_of_an_earlier_run_than_slots_wait_for_one() -> None:
    queue, running = _queue(2)
    assert queue.pop_ready(has_slot=False) is None
    flight = SimpleNamespace(task=running, chain=(), made=None, rest=(), is_counted=True, index=7, slot=3)
    queue.extend(cast("Any", flight), cast("Any", None), is_news=False, leaving=None)
    following = queue.pop_ready(has_slot=False)
    assert following is not None
    assert (following.index, following.slot) == (7, 3)
    assert queue.pop_ready(has_slot=False) is None
    assert [one.slot for one in (queue.pop_ready(has_slot=True), queue.pop_ready(has_slot=True)) if one] == [None, None]  # fmt: skip
    assert queue.pop_ready(has_slot=True) is None


def test_a_failure_waits_for_follow_up_cases_below_it_which_can_begin() -> None:
    queue, running = _queue(1)
    saved = queue.waiting[0]
    queue.waiting.append(Follower(running, saved.index - 1, cast("Any", None)))
    earlier = queue.pop_ready(has_slot=True, before=saved.index)
    assert earlier is not None
    assert earlier.index == saved.index - 1
    assert queue.pop_ready(has_slot=True, before=saved.index) is None


@pytest.mark.parametrize(("index", "counted"), [(7, [True]), (SAVED_INDEX, [False])])
def test_the_end_of_a_run_counts_steps_of_its_own_sequences_alone(index: int, counted: list[bool]) -> None:
    """The next step is dropped. The steps before it, which were sent, are cases of the run unless an earlier run saved them."""
    context = SimpleNamespace(
        slots=SimpleNamespace(leave=lambda slot: None),
        tools=SimpleNamespace(is_plain=True, maker=SimpleNamespace(make=None)),
        lanes=SimpleNamespace(slots=4),
        stages=SimpleNamespace(calling=None),
    )
    scheduler, told = CaseScheduler(cast("Any", context), cast("Any", None)), list[bool]()
    scheduler.over_observers = lambda flight, verdict: told.append(flight.is_counted)
    running = SimpleNamespace(lease=SimpleNamespace(again=()), flying=1)
    before = SimpleNamespace(verdict=None)
    made: Any = None
    scheduler.followers.waiting.append(Follower(cast("Any", running), index, made, (cast("Any", before),), slot=3))
    scheduler.stop()
    assert told == counted


@pytest.mark.parametrize(
    ("status", "text", "checks", "seen", "result"),
    [
        (200, b"", ["c"], set(), FIXED),
        (200, b"seldom", ["c"], set(), NOT_REPRODUCED),
        (404, b"", ["c"], set(), NOT_REPRODUCED),
        (400, b'{"error": "The name is too long"}', ["c"], set(), FIXED),
        (400, b'{"error": "The name already exists"}', ["c"], set(), NOT_REPRODUCED),
        (200, b"", ["c"], {"f1"}, FLAKY),
        (200, b"", ["other"], set(), None),
        (200, b"", [], set(), None),
    ],
)
def test_the_last_try_of_an_earlier_finding_decides_what_became_of_it(
    status: int, text: bytes, checks: list[str], seen: set[str], result: str | None
) -> None:
    written: list[FindingReplayed] = []
    place = SimpleNamespace(
        tools=SimpleNamespace(judge_of=lambda case: SimpleNamespace(names=checks)),
        recorder=SimpleNamespace(
            journal=SimpleNamespace(write=written.append),
            defects=SimpleNamespace(fingerprints=seen),
            secrets=Secrets([("X", "a1b2c3d4e5")]),
        ),
    )
    # Corpora have a reference in place of the secret.
    sent = (b"/things?key={secret:header:X}", None)
    replay = Replay("f1", "c", (), (500,), is_minimal=True, sent=sent, shows_surely=text != b"seldom")
    request = SimpleNamespace(target=b"/things?key=a1b2c3d4e5", body=None)
    running = SimpleNamespace(lease=SimpleNamespace(id="1", replay=replay), is_closed=False)
    made = SimpleNamespace(case=None, label=LABEL)
    flight = SimpleNamespace(task=running, chain=(), made=made, rest=(), index=SAVED_INDEX + TRIES - 1)
    verdict = SimpleNamespace(
        judgement=CLEAN, request=request, outcome=Response(status, {"Content-Type": "application/json"}, text)
    )
    FollowerQueue(cast("Any", place)).extend(cast("Any", flight), cast("Any", verdict), is_news=False, leaving=None)
    assert [one.result for one in written] == ([] if result is None else [result])


def test_a_later_step_of_another_description_ends_a_replay() -> None:
    written: list[FindingReplayed] = []

    def remake(step: Step, *, name: str, phase: Any) -> Any:
        raise OutOfDate("GET /things: case 3 of the coverage phase is a different case now")

    journal = SimpleNamespace(write=written.append)
    place = SimpleNamespace(factory=SimpleNamespace(remake=remake), recorder=SimpleNamespace(journal=journal))
    step = Step(LABEL, Drawn(()))
    replay = Replay("f1", "c", (step, step), (201, 500), is_minimal=True)
    lease = SimpleNamespace(id="1", replay=replay)
    running = SimpleNamespace(lease=lease, is_closed=False, is_chained=False, phase=None)
    made = SimpleNamespace(case=SimpleNamespace(id="c1"), label=LABEL)
    flight = SimpleNamespace(task=running, chain=(), made=made, rest=(step,), index=SAVED_INDEX, slot=0)
    verdict = SimpleNamespace(judgement=CLEAN, outcome=Response(201, {}))
    queue = FollowerQueue(cast("Any", place))
    queue.extend(cast("Any", flight), cast("Any", verdict), is_news=False, leaving=None)
    assert [one.result for one in written] == [NOT_REPRODUCED]
    assert not queue.waiting
