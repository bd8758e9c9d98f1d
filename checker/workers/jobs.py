"""Jobs: the units of work in a worker that send requests. A job does no I/O itself; the loop sends its requests on a lane."""

import time
from collections.abc import Callable, Generator
from typing import TypeVar

from msgspec import Struct

from checker.core.request import WireRequest
from checker.core.response import Outcome
from checker.core.send import Transport
from checker.core.system import Clock

Question = TypeVar("Question")
Answer = TypeVar("Answer")
Result = TypeVar("Result")


class Pause(Struct, frozen=True):
    """A pause of a job. If the worker hangs during it, no case is blamed."""

    seconds: float | None = None  # None: wait until an order of the supervisor arrives, but not for long.


Job = Generator[WireRequest | Pause, Outcome | None, Result]
"""Yields requests and receives their outcomes, or yields a pause and receives None. Closing it drops requests in flight."""


def exchange(request: WireRequest) -> Job[Outcome]:
    """Return the outcome of one request."""
    outcome = yield request
    assert outcome is not None
    return outcome


def answered(work: Generator[Question, Answer, Result], answer: Callable[[Question], Job[Answer]]) -> Job[Result]:
    """Return the result of a generator whose questions a job answers: the requests of an attempt, or the candidates of a search."""
    try:
        question = next(work)
        while True:
            question = work.send((yield from answer(question)))
    except StopIteration as end:
        result: Result = end.value
        return result


class ForegroundJob:
    """A job that has precedence over the cases of the run: while there is one, nothing else is started."""

    def __init__(self, work: Job[None], clock: Clock = time.monotonic) -> None:
        self._work = work
        self._clock = clock
        self.is_over = False
        self.lane: int | None = None
        """The lane with its request in flight."""
        self.request: WireRequest | None = None
        """The next request, while it waits for a lane."""
        self._pause: Pause | None = None
        self._paused_at = 0.0
        self.resume(None)

    def resume(self, outcome: Outcome | None) -> None:
        """Run the job until it sends, pauses or ends."""
        self.lane = self.request = self._pause = None
        try:
            wanted = self._work.send(outcome) if outcome is not None else next(self._work)
        except StopIteration:
            self.is_over = True
            return
        if isinstance(wanted, Pause):
            self._pause, self._paused_at = wanted, self._clock()
        else:
            self.request = wanted

    def start(self, http: Transport, lane: int) -> None:
        assert self.request is not None
        request, self.request, self.lane = self.request, None, lane
        http.start(lane, request, patience_s=request.patience_s)
        http.flush()

    def pause_s(self, longest_s: float) -> float | None:
        """Return the remaining seconds of its pause, at most `longest_s`; None if it does not pause."""
        if self._pause is None:
            return None
        if self.waits_for_order:
            return longest_s
        assert self._pause.seconds is not None
        return min(longest_s, max(0.0, self._pause.seconds - (self._clock() - self._paused_at)))

    @property
    def waits_for_order(self) -> bool:
        """Whether its pause ends with the next order."""
        return self._pause is not None and self._pause.seconds is None

    @property
    def may_resume(self) -> bool:
        """Whether the job can resume: its pause has ended, or it was waiting for an order. Call this after reading the orders."""
        return self.waits_for_order or self.pause_s(1.0) == 0.0

    def close(self) -> None:
        """End the job. The requests of the job in flight are dropped."""
        self._work.close()
        self.is_over = True
