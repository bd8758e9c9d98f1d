from dataclasses import replace

from checker.core.operation import Label
from checker.workers.flight import Running
from checker.workers.messages import LONG_WAIT_S, Task, Waits

TASK = Task("t", "fuzzing", (Label("GET /a"),), seed=1, start=0, stop=9, slice_s=8.0)


def test_long_waits_are_counted_and_short_ones_are_added_up() -> None:
    running = Running.of(TASK)
    for elapsed_s in (0.25, LONG_WAIT_S, 0.125, 9.0):
        running.waited(elapsed_s)
    assert running.waits == Waits(requests=4, short_s=0.375, long=2, long_s=9.0 + LONG_WAIT_S)
    assert running.waits + running.waits == Waits(
        requests=8, short_s=0.75, long=4, long_s=18.0 + 2 * LONG_WAIT_S
    )


def test_a_task_that_is_not_known_to_be_fast_has_one_long_wait() -> None:
    known, unknown = Running.of(TASK), Running.of(replace(TASK, makes_ahead=False))
    for running in (known, unknown):
        running.waited(0.1)
        assert not running.has_waited
        running.waited(1.0)
    assert (known.has_waited, unknown.has_waited) == (False, True)
