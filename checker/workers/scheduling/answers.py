"""What becomes of the answer to a request: a verdict, another request of the same attempt, or a fault that costs the case."""

import time
from collections import deque
from collections.abc import Collection, Iterable

from checker.core.operation import Label
from checker.core.response import FailureKind, NetworkFailure, Outcome
from checker.core.send import Purpose
from checker.phases.attempt import Verdict, attempt, plain_verdict, rest_of_attempt
from checker.workers.context import WorkerContext
from checker.workers.recording.drafts import Answered, answered
from checker.workers.recording.leased import InFlight
from checker.workers.scheduling.case_scheduler import CaseScheduler
from checker.workers.scheduling.first_accepted import FirstAccepted

_UNCOUNTED = NetworkFailure(
    FailureKind.GIVEN_UP, "the target served nobody; it was sent again", 0.0
)
_ABANDONED = NetworkFailure(FailureKind.GIVEN_UP, "the run ended before an answer came", 0.0)


class Answers:
    """Judges answers of one worker. All that was sent is on record, whatever becomes of it."""

    def __init__(self, context: WorkerContext, supply: CaseScheduler) -> None:
        self.parked: deque[InFlight] = deque()
        """Attempts that want another answer and wait for a lane."""
        self.first_accepted = FirstAccepted(context)
        self._context = context
        self._slots = context.slots
        self._traffic = context.recorder.traffic
        self._supply = supply

    @property
    def waiting(self) -> list[InFlight]:
        """Attempts that are not in the air and not over: they wait for a lane, or for the responses to earlier cases."""
        return [*self.parked, *(flight for flight, _ in self.first_accepted.held)]

    def is_sent_again(self, flight: InFlight, failure: NetworkFailure) -> bool:
        """Servers close connections after so many requests, or so long, without a word: that says nothing of this request."""
        wanted = flight.wanted
        if wanted is None or wanted.fresh or not failure.may_be_late:
            return False
        # It may have arrived, so it is on record.
        lost = Answered(wanted, failure, time.time())
        self._traffic.unjudged(flight.made, (lost,), flight.purpose)
        wanted.fresh = True
        self.parked.append(flight)
        return True

    def ask_again(self, flight: InFlight) -> None:
        """Send the request of a case once more: its answer says nothing of it. What was sent is on record."""
        answers = flight.answers or with_answer(flight, _UNCOUNTED)
        self._traffic.unjudged(flight.made, answers, flight.purpose)
        self.parked.append(flight)
        self._begin_anew(flight)

    def held_back(self, labels: Collection[Label]) -> list[InFlight]:
        """Attempts of these operations that wait for a lane: they wait for the end of the run instead."""
        held = [
            one for one in self.parked if one.made.label in labels and not one.running.task.is_last
        ]
        for flight in held:
            self.parked.remove(flight)
            self._traffic.unjudged(flight.made, flight.answers, Purpose.RETRY)
            flight.answers = ()
        return held

    def begin_anew(self) -> None:
        """Make the requests of attempts that wait once more: what they carry may not count any more."""
        for flight in self.parked:
            self._traffic.unjudged(flight.made, flight.answers, Purpose.RETRY)
            self._begin_anew(flight)

    def _begin_anew(self, flight: InFlight) -> None:
        flight.is_doubtful = False
        flight.answers = ()
        tools, case = self._context.tools, flight.made.case
        if flight.work is not None or not tools.is_plain:
            flight.work = attempt(tools, case, flight.before)
            flight.wanted = next(flight.work)
        assert flight.wanted is not None
        flight.wanted.fresh = True

    def judged(self, flight: InFlight, outcome: Outcome) -> Verdict | None:
        """The end of an attempt; None when it wants another answer, waits for those to earlier cases, or cannot be judged."""
        self._slots.act(flight.slot, self._context.judging_stage)
        try:
            if not flight.is_looked_at and self.first_accepted.holds(flight, outcome):
                return None
            if flight.work is not None:
                flight.answers = with_answer(flight, outcome)
                flight.wanted = flight.work.send(outcome)
            else:
                request, tools, case = flight.wanted, self._context.tools, flight.made.case
                assert request is not None
                before = flight.before
                plain = plain_verdict(tools, case, request, outcome, before)
                if plain is not None:
                    return plain
                flight.answers = with_answer(flight, outcome)
                flight.work = rest_of_attempt(tools, case, request, outcome, before)
                flight.wanted = next(flight.work)
        except StopIteration as end:
            verdict: Verdict = end.value
            self._traffic.beside(flight.made, flight.answers, verdict)
            return verdict
        except Exception as error:  # noqa: BLE001 - the wall: it costs this case only
            answers = flight.answers or with_answer(flight, outcome)
            self._traffic.unjudged(flight.made, answers, flight.purpose)
            self._supply.forgo(flight, error)
        else:
            self.parked.append(flight)
        return None

    def abandon(self, flying: Iterable[InFlight]) -> None:
        """Leave what waits for a lane or flies: nobody will judge it, and what was sent is on record all the same."""
        for flight in self.parked:
            self._abandon(flight, flight.answers)
        for flight, response in self.first_accepted.held:
            self._abandon(flight, with_answer(flight, response))
        for flight in flying:
            self._abandon(flight, with_answer(flight, _ABANDONED))

    def _abandon(self, flight: InFlight, answers: tuple[Answered, ...]) -> None:
        self._traffic.unjudged(flight.made, answers, flight.purpose)
        flight.running.charge(flight)


def with_answer(flight: InFlight, outcome: Outcome) -> tuple[Answered, ...]:
    """What came of the requests of a flight, the one that it waits for included."""
    assert flight.wanted is not None
    return (*flight.answers, answered(flight.wanted, outcome))
