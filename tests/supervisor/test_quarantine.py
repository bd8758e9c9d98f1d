"""What is blamed for a death, and what is told of it."""

import pytest
from msgspec.structs import replace

from checker.core.meta import Drawn, Step
from checker.core.operation import Label
from checker.corpus.codec import pack
from checker.corpus.inflight import Slot, Stage
from checker.corpus.records import Component, CorpusEntry, Quarantined
from checker.supervisor.deaths import RestartDecision, given_up, is_quarantined, quarantined_case
from checker.supervisor.handle import Departure
from checker.supervisor.state import WorkerSnapshot, is_stuck
from checker.workers.messages import EXTRA_INDEX, Task

LABEL = Label("GET /users")
STEP = Step(LABEL, Drawn((1, "x")), ())
TASK = Task("00000000000000aa", "exploration", (LABEL,), 5, 0, 9, 1.0)
SLOT = Slot(Stage.HOOK, TASK.id, 3, 10**9, None)
CRASHED = Departure("killed by SIGSEGV")
KILLED = Departure("killed by SIGKILL", is_from_outside=True)
INNOCENT = RestartDecision(strikes=1, quarantines_case=False, quarantines_task=False, ends_run=False, pause_s=0.0)


def test_a_case_that_was_tried_again_tells_its_command() -> None:
    parts = (Component("query", "positive", ("token",)),)
    command = "curl -X GET http://x/users"
    left = Quarantined(TASK.id, LABEL, 3, "", "", 0, (STEP,), command, "", parts)
    told = quarantined_case(TASK, replace(SLOT, recipe=pack(left)), 2, "why")
    assert (told.request, told.steps, told.stage) == (left.request, (STEP,), "hook")
    assert told.components == parts


def test_a_case_without_a_command_tells_its_choices() -> None:
    entry = CorpusEntry(LABEL, (STEP,), (), 0.0)
    told = quarantined_case(TASK, replace(SLOT, recipe=pack(entry)), 2, "why")
    assert told.request == "seed 5, case 3, choices [1, 'x']"
    assert quarantined_case(TASK, SLOT, 2, "why").request == "seed 5, case 3: it was not made yet"


@pytest.mark.parametrize(
    ("index", "ended", "expected"),
    [(3, CRASHED, False), (EXTRA_INDEX + 3, CRASHED, True), (EXTRA_INDEX + 3, KILLED, False)],
)
def test_a_case_that_is_never_made_again_is_blamed_at_once(index: int, ended: Departure, expected: bool) -> None:
    assert is_quarantined(replace(SLOT, index=index), INNOCENT, ended) is expected


def test_a_case_that_is_on_record_is_not_blamed_for_what_was_made_of_its_answer() -> None:
    done = replace(SLOT, index=EXTRA_INDEX + 3, stage=Stage.RECORD)
    assert not is_quarantined(done, INNOCENT, CRASHED)


def test_only_what_waits_for_nobody_is_stuck() -> None:
    making = replace(SLOT, stage=Stage.MAKE)
    acting = WorkerSnapshot(0.0, making, 4.0, (making,), {})
    assert is_stuck(acting)
    assert not is_stuck(replace(acting, acting_s=2.0))
    assert not is_stuck(replace(acting, acting=replace(SLOT, stage=Stage.CONFIRM), acting_s=60.0))


def test_a_death_by_sigkill_names_a_remedy() -> None:
    assert given_up(CRASHED).endswith("the last one: killed by SIGSEGV")
    assert given_up(KILLED).endswith("use fewer workers, or give it more memory")
