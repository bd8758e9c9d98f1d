from msgspec.structs import replace

from checker.core.operation import Label
from checker.workers.messages import LONG_WAIT_S, MOST_TIMEOUTS, LeaseReport, Task
from checker.workers.recording.task_state import LeasedTask

LABEL = Label("GET /a")
TASK = Task("t", "fuzzing", (LABEL,), seed=1, start=0, stop=9, slice_s=8.0)


def test_long_waits_are_counted() -> None:
    running = LeasedTask.of(TASK)
    for elapsed_s in (0.25, LONG_WAIT_S, 0.125, 9.0):
        running.waited(elapsed_s)
    assert running.report == LeaseReport(requests=4, long=2)


def test_time_outs_in_a_row_are_those_of_cases_that_were_made_one_after_another() -> None:
    running = LeasedTask.of(TASK)
    told = []
    for _ in range(MOST_TIMEOUTS):
        index = running.take_index(0.0)
        assert index is not None
        told.append(running.timed_out(LABEL, index))
    assert told == [False, False, True]


def test_what_timed_out_together_counts_as_one() -> None:
    running = LeasedTask.of(TASK)
    indices = [running.take_index(0.0) for _ in range(3)]
    assert not any(running.timed_out(LABEL, index) for index in indices if index is not None)
    assert running.report.timeouts == 1


def test_time_outs_of_the_lease_before_count() -> None:
    running = LeasedTask.of(replace(TASK, start=4, timeouts=MOST_TIMEOUTS - 1))
    index = running.take_index(0.0)
    assert index is not None
    assert running.timed_out(LABEL, index)


def test_what_another_method_was_answered_is_a_case_and_no_answer_of_the_operation() -> None:
    running = LeasedTask.of(TASK)
    running.count(LABEL, 500)
    status = running.count_probe(LABEL, 204)
    assert running.cases == 2
    assert (running.statuses, running.probes) == ({(LABEL, 500): 1}, {(LABEL, 204): 1})
    assert not running.is_news(status, has_failed=False)
