"""The handling of a response: a verdict, another request of the same attempt, or an error of the case."""

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable

from checker.core.operation import Label
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import Purpose
from checker.phases.attempt import Verdict, attempt, rest_of_attempt
from checker.workers.case_scheduler import CaseScheduler, Follower
from checker.workers.context import WorkerContext
from checker.workers.recording.task_state import InFlight
from checker.workers.recording.traffic import Answered, answered

Placed = InFlight | Follower  # A case, its task, and its index in the task.


def earliest_in(flying: Iterable[Placed]) -> dict[str, int]:
    """Return the lowest index of each task."""
    earliest: dict[str, int] = {}
    for one in flying:
        task = one.task.lease.id
        earliest[task] = min(one.index, earliest.get(task, one.index))
    return earliest


Landed = tuple[InFlight, Outcome]  # A case and its response, before the response is judged.


class FirstAccepted:
    """Chooses, for each operation, the case for which a check sends its probes (`Check.probes`): the first accepted one.

    The first case is the one with the lowest index in its task, not the one with the earliest response. So the same
    seed probes the same cases for any number of lanes. A response that may be the first waits until all cases with lower
    indices are judged. Probing fixed indices instead would miss operations that accept few cases.
    """

    def __init__(self, context: WorkerContext) -> None:
        self.held: list[Landed] = []
        self._judge_of = context.tools.judge_of
        self._probed = context.knowledge.probed

    def holds(self, flight: InFlight, outcome: Outcome) -> bool:
        """Whether a response is held back, because it may be the first accepted one and cases with lower indices are not judged yet."""
        if not isinstance(outcome, Response) or outcome.status_code // 100 != 2:
            return False
        running, label, wanted = flight.task, flight.made.label, flight.wanted
        if wanted is None or wanted.is_of_check or not flight.is_counted:
            return False
        task = running.lease
        if self._probed.is_done(flight):
            return False
        flight.is_looked_at = True
        is_accepted = self._judge_of(flight.made.case).probes(flight.made.case, outcome, flight.before)
        if is_accepted is None:
            self._probed.begin(task.id, label)
        if not is_accepted:
            return False
        if running.is_endless:
            # `fuzz` does not promise the same requests, and cases with lower indices may always be in flight.
            self._choose(flight, outcome)
            return False
        if any(_is_rival(one, flight) and one.index < flight.index for one, _ in self.held):
            return False
        self.held.append((flight, outcome))
        return True

    def due(self, flying: Callable[[], Iterable[Placed]]) -> list[Landed]:
        """Return the responses that can be judged now, and mark the requests to probe. `flying`: all cases that are not judged."""
        due: list[Landed] = []
        if not self.held:
            return due
        earliest = earliest_in(flying())
        flights = [flight for flight, _ in self.held]
        for flight, response in self.held:
            if any(_is_rival(one, flight) and one.index < flight.index for one in flights):
                due.append((flight, response))
            elif flight.index <= earliest[flight.task.lease.id]:
                self._choose(flight, response)
                due.append((flight, response))
        self.held = [one for one in self.held if one not in due]
        return due

    def _choose(self, flight: InFlight, response: Outcome) -> None:
        assert isinstance(response, Response)
        assert response.request is not None
        response.request.is_probed = True
        self._probed.begin(flight.task.lease.id, flight.made.label)


def _is_rival(one: InFlight, other: InFlight) -> bool:
    return one.task is other.task and one.made.label == other.made.label


_UNCOUNTED = NetworkFailure(FailureKind.GIVEN_UP, "the target served no request; the case was sent again", 0.0)
_ABANDONED = NetworkFailure(FailureKind.GIVEN_UP, "the run ended before a response arrived", 0.0)


class Answers:
    """Judges the responses of one worker. Every request is recorded, even if its response is not judged."""

    def __init__(self, context: WorkerContext, supply: CaseScheduler) -> None:
        self.parked: deque[InFlight] = deque()
        """Attempts that need another request and wait for a lane."""
        self.first_accepted = FirstAccepted(context)
        self._context = context
        self._slots = context.slots
        self._traffic = context.recorder.traffic
        self._supply = supply

    @property
    def waiting(self) -> list[InFlight]:
        """Return the attempts that wait for a lane, or for the verdicts on earlier cases."""
        return [*self.parked, *(flight for flight, _ in self.first_accepted.held)]

    def resends(self, flight: InFlight, failure: NetworkFailure) -> bool:
        """Whether a case is sent again because its connection was closed. Servers close idle and old connections without notice."""
        wanted = flight.wanted
        if wanted is None or wanted.fresh or not failure.may_be_late:
            return False
        # The request may have arrived, so it is recorded.
        lost = Answered(wanted, failure, time.time())
        self._traffic.unjudged(flight.made, (lost,), flight.purpose)
        wanted.fresh = True
        self.parked.append(flight)
        return True

    def retry(self, flight: InFlight) -> None:
        """Send the request of a case again, because its response does not count. Both requests are recorded."""
        answers = flight.answers or with_answer(flight, _UNCOUNTED)
        self._traffic.unjudged(flight.made, answers, flight.purpose)
        self._begin_anew(flight)

    def held_back(self, labels: Collection[Label]) -> list[InFlight]:
        """Remove and return the waiting attempts of operations that are deferred to the end of the run."""
        held = [one for one in self.parked if one.made.label in labels and not one.task.lease.is_last]
        for flight in held:
            self.parked.remove(flight)
            self._traffic.unjudged(flight.made, flight.answers, Purpose.RETRY)
            flight.answers = ()
        return held

    def begin_anew(self) -> None:
        """Build the requests of waiting attempts again, because their credentials may be outdated."""
        waiting = tuple(self.parked)
        self.parked.clear()
        for flight in waiting:
            self._traffic.unjudged(flight.made, flight.answers, Purpose.RETRY)
            self._begin_anew(flight)

    def _begin_anew(self, flight: InFlight) -> None:
        """Build the request of an attempt again and queue it. An error, for example in a login, fails only its case."""
        flight.is_doubtful = False
        flight.answers = ()
        tools, case = self._context.tools, flight.made.case
        try:
            if flight.work is not None or not tools.is_plain:
                flight.work = attempt(tools, case, flight.before)
                flight.wanted = next(flight.work)
        except StopIteration:
            self._supply.release(flight)
        except Exception as error:  # noqa: BLE001 - an error fails only this case
            self._supply.fail(flight, error)
        else:
            assert flight.wanted is not None
            flight.wanted.fresh = True
            self.parked.append(flight)

    def judged(self, flight: InFlight, outcome: Outcome) -> Verdict | None:
        """Return the verdict on a case; None if it needs another request, waits for earlier cases, or cannot be judged."""
        self._slots.act(flight.slot, self._context.stages.judging)
        try:
            if not flight.is_looked_at and self.first_accepted.holds(flight, outcome):
                return None
            if flight.work is not None:
                flight.answers = with_answer(flight, outcome)
                flight.wanted = flight.work.send(outcome)
            else:
                request, case = flight.wanted, flight.made.case
                assert request is not None
                case.sent = request.headers
                judge = self._context.tools.judge_of(case)
                if not isinstance(outcome, Response):
                    return Verdict(case, request, outcome, judge.without_response(case, outcome))
                before = flight.before if flight.chain else ()
                judgement = judge.verdict(case, outcome, before)
                if judgement is not None:
                    return Verdict(case, request, outcome, judgement)
                flight.work = rest_of_attempt(self._context.tools, case, request, outcome, before)
                wanted = next(flight.work)
                flight.answers = with_answer(flight, outcome)
                flight.wanted = wanted
        except StopIteration as end:
            verdict: Verdict = end.value
            # Empty if no check sent a request of its own.
            if flight.answers:
                self._traffic.record_others(flight.made, flight.answers, verdict)
            return verdict
        except Exception as error:  # noqa: BLE001 - an error fails only this case
            answers = flight.answers or with_answer(flight, outcome)
            self._traffic.unjudged(flight.made, answers, flight.purpose)
            self._supply.fail(flight, error)
        else:
            self.parked.append(flight)
        return None

    def abandon(self, flying: Iterable[InFlight], landed: Iterable[Landed]) -> None:
        """Record requests that are waiting, in flight, or have an unjudged response. No check will judge them."""
        for flight in self.parked:
            self._abandon(flight, flight.answers)
        for flight, response in (*self.first_accepted.held, *landed):
            self._abandon(flight, with_answer(flight, response))
        for flight in flying:
            self._abandon(flight, with_answer(flight, _ABANDONED))

    def _abandon(self, flight: InFlight, answers: tuple[Answered, ...]) -> None:
        self._traffic.unjudged(flight.made, answers, flight.purpose)
        flight.task.charge(flight.requests)


def with_answer(flight: InFlight, outcome: Outcome) -> tuple[Answered, ...]:
    """Return the outcomes of the requests of a flight, including `outcome`."""
    assert flight.wanted is not None
    return (*flight.answers, answered(flight.wanted, outcome))
