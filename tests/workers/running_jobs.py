"""Jobs of workers, answered by a function."""

from collections.abc import Callable
from typing import TypeVar

from checker.core.request import WireRequest
from checker.core.response import Outcome
from checker.workers.jobs import ForegroundJob, Job, Pause

Result = TypeVar("Result")


def ended(job: Job[Result], answer: Callable[[WireRequest], Outcome]) -> Result:
    """Return the result of a job. Its pauses take no time."""
    outcome: Outcome | None = None
    try:
        while True:
            wanted = next(job) if outcome is None else job.send(outcome)
            outcome = None if isinstance(wanted, Pause) else answer(wanted)
    except StopIteration as end:
        result: Result = end.value
        return result


def advance(job: ForegroundJob, answer: Callable[[WireRequest], Outcome]) -> None:
    """Run a job until it waits for an order, or is over. Its pauses take no time."""
    while not job.is_over:
        if job.request is not None:
            job.resume(answer(job.request))
            continue
        waits = job.waits_for_order
        job.resume(None)
        if waits:
            return
