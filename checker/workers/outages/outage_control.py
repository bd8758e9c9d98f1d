"""What an outage of the target means for the cases of one worker: those in the air, those that wait, those to come."""

from collections.abc import Iterable

from msgspec import Struct

from checker.checks.judge import UNJUDGED
from checker.core.response import NetworkFailure, Outcome
from checker.phases.attempt import Verdict
from checker.workers.context import WorkerContext
from checker.workers.outage_messages import Examine, GoOn, Hold
from checker.workers.outages.health import TargetHealth
from checker.workers.recording.leased import InFlight
from checker.workers.scheduling.answers import Answers, with_answer
from checker.workers.scheduling.case_scheduler import CaseScheduler


class OutageControl(Struct, frozen=True):
    """Has cases sent again, put back or left out."""

    context: WorkerContext
    health: TargetHealth
    scheduler: CaseScheduler
    answers: Answers

    def obey(self, order: Hold | Examine | GoOn, flying: Iterable[InFlight]) -> None:
        """Nothing that is in the air at the end of an outage was sent to a target that serves."""
        if isinstance(order, GoOn):
            # What was answered before it says whether the target serves is counted apart from what comes after.
            self.scheduler.counts.report(self.scheduler.held)
            self.context.recorder.is_turned_away = not order.serves
        self.health.obey(order)
        if not isinstance(order, GoOn):
            return
        for flight in flying:
            flight.is_doubtful = True
        labels = frozenset(order.held_back)
        for flight in self.answers.held_back(labels):
            self.scheduler.put_back(flight)
        self.answers.begin_anew()
        self.scheduler.hold_back(labels)

    def holds(self, flight: InFlight, verdict: Verdict, outcome: Outcome) -> bool:
        """Whether an answer is not to count, since the target may serve nobody: then the request is sent again later."""
        is_last, made = flight.running.task.is_last, flight.made
        is_held = flight.is_doubtful or self.health.holds(
            made, verdict.request, outcome, is_last=is_last
        )
        if not is_held:
            if self.health.excuses(outcome, is_last=is_last):
                verdict.judgement = UNJUDGED
            return False
        if is_last and isinstance(outcome, NetworkFailure):
            # It was left to the end for this, and is known for it now.
            flight.running.exhausted(made.label)
            answers = with_answer(flight, outcome)
            self.context.recorder.traffic.unjudged(made, answers, flight.purpose)
            self.scheduler.release(flight)
        else:
            self.answers.ask_again(flight)
        return True
