from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.operation import Label
from checker.corpus.inflight import Progress, Slot, Stage
from checker.supervisor.plans import left
from checker.supervisor.state import Deadlines, WorkerSnapshot, WorkerState, overdue
from checker.workers.messages import Task
from tests.asking import saying

DEADLINES = Deadlines.of(10.0)


def task(name: str, start: int = 0, redo: tuple[int, ...] = ()) -> Task:
    return Task(name, "fuzzing", (Label("GET /a"),), 1, start, 100, 8.0, redo=redo)


def standing(opened: bool = True) -> WorkerState:
    return WorkerState(1, started_at=0.0, opened=opened)


def snapshot(stage: Stage | None, acting_s: float = 0.0, silent_s: float | None = None) -> WorkerSnapshot:
    slot = None if stage is None else Slot(stage, "t", 3, 0, None)
    return WorkerSnapshot(silent_s, slot, acting_s, () if slot is None else (slot,), {})


def test_a_stage_has_its_time() -> None:
    assert overdue(standing(), snapshot(Stage.MAKE, 9.9), DEADLINES, 9.9) is None
    assert overdue(standing(), snapshot(Stage.MAKE, 10.1), DEADLINES, 10.1) == ("hung in make for more than 10 s")
    assert overdue(standing(), snapshot(Stage.SEND, 14.9), DEADLINES, 14.9) is None
    assert overdue(standing(), snapshot(Stage.HOOK, 29.9), DEADLINES, 29.9) is None


def test_a_worker_that_waits_needs_a_heartbeat_only() -> None:
    assert overdue(standing(), snapshot(None, silent_s=10.0), DEADLINES, 100.0) is None
    assert overdue(standing(), snapshot(None, silent_s=20.0), DEADLINES, 100.0) == ("sent no message for 15 s")


def test_a_long_stage_may_be_silent() -> None:
    assert overdue(standing(), snapshot(Stage.SHRINK, 29.0), DEADLINES, 29.0) is None
    assert overdue(standing(), snapshot(Stage.SHRINK, 31.0), DEADLINES, 31.0) is not None


def test_a_worker_that_just_began_has_time_for_its_first_heartbeat() -> None:
    fresh = WorkerState(1, started_at=100.0, opened=True)
    assert overdue(fresh, snapshot(None), DEADLINES, 110.0) is None


def test_opening_has_its_own_time() -> None:
    assert overdue(standing(opened=False), snapshot(None), DEADLINES, 119.0) is None
    assert overdue(standing(opened=False), snapshot(None), DEADLINES, 121.0) is not None


def test_in_flight_are_the_busy_slots_of_the_task() -> None:
    slots = (
        Slot(Stage.SEND, "t", 3, 0, None),
        Slot(Stage.IDLE, "", 0, 0, None),
        Slot(Stage.JUDGE, "u", 4, 0, None),
        Slot(Stage.MAKE, "t", 5, 0, None),
    )
    assert WorkerSnapshot(0.0, None, 0.0, slots, {}).in_flight("t") == [3, 5]


def test_time_is_counted_from_the_moment_at_which_it_had_nothing_to_do() -> None:
    worker = standing()
    worker.take(task("a"), 10.0)
    worker.take(task("b"), 11.0)
    ((first, reached, finished, spent_s),) = worker.give_back([("a", 100, True)], 18.0)
    assert (first.id, reached, finished, spent_s) == ("a", 100, True, 8.0)
    assert list(worker.leases) == ["b"]
    ((_, _, _, spent_s),) = worker.give_back([("b", 100, True)], 20.0)
    assert spent_s == 2.0


def test_what_only_waits_keeps_nobody_busy() -> None:
    worker = standing()
    for one in (task("a"), task("b"), replace(task("c"), is_slow=True)):
        worker.take(one, 0.0)
    assert (worker.busy, worker.slow) == (2, 1)
    worker.wait("a")
    worker.wait("of another life")
    assert (worker.busy, worker.slow) == (1, 1)
    worker.give_back([("a", 1, False)], 1.0)
    assert (worker.busy, worker.slow) == (1, 1)


def test_what_it_never_held_does_not_come_back() -> None:
    assert standing().give_back([("x", 1, True)], 1.0) == []


def test_a_request_of_the_slowest_operation_has_its_time() -> None:
    said = saying({}, {"include-path": "/slow", "request-timeout": 60}, request_timeout=2)
    deadlines = Deadlines.of_run(RunSettings("openapi.json", "run", 1, operations=said))
    assert deadlines.stages == Deadlines.of(60.0).stages


def test_nothing_is_left_of_a_task_whose_last_case_failed() -> None:
    seen = WorkerSnapshot(0.0, None, 0.0, (), {"t": Progress(4, is_ended=True)})
    listed = replace(task("t"), known=frozenset())
    over = seen.without_end(seen.rest_of(listed))
    assert (over.start, over.stop, left(over)) == (4, 4, 0)
    calm = replace(seen, progress={"t": Progress(4)})
    assert left(calm.without_end(calm.rest_of(listed))) == 96


def test_a_worker_without_a_request_for_30_s_is_reported_once_it_goes_on() -> None:
    state, moving = standing(), replace(snapshot(None), sent=7)
    state.take(task("a"), 1.0)
    assert state.stall(moving, 10.0, 4.0) is None
    assert state.stall(moving, 50.0, 4.0) is None
    found = state.stall(replace(moving, sent=8), 60.0, 4.0)
    assert found is not None
    assert found.text == "worker 1 sent no request from 6 s to 56 s of the run; it was waiting"
    assert state.stall(replace(moving, sent=8), 89.0, 4.0, is_gone=True) is None
    assert state.stall(replace(moving, sent=8), 91.0, 4.0, is_gone=True) is not None


def test_a_worker_without_leases_is_not_stalled() -> None:
    state, idle = standing(), replace(snapshot(None), sent=7)
    assert all(state.stall(idle, second, 0.0) is None for second in range(1, 100))


def test_a_worker_that_may_wait_for_a_rate_has_no_note() -> None:
    state, waiting = standing(), replace(snapshot(None), sent=7)
    state.take(task("a"), 1.0)
    assert state.stall(waiting, 10.0, 0.0) is None
    assert state.stall(replace(waiting, sent=8), 50.0, 0.0, has_rate=True) is None
    busy = snapshot(Stage.SHRINK)
    assert state.stall(replace(busy, sent=8), 60.0, 0.0, has_rate=True) is None
    assert state.stall(replace(busy, sent=9), 90.0, 0.0, has_rate=True) is not None
