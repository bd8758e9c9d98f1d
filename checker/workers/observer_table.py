"""The table of observers, which learn from the judged interactions of a worker. To add an observer, write its module and add a row.

Some observers set the pace: the number of lanes, and the slow operations to give up. Redirects, credentials and the
health of the target are handled before the verdict, so they are no observers. The worker passes each judged interaction to
the observers in the order of the rows, and writes the records that they return to the journal.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import partial
from typing import Final, NamedTuple, Protocol

from msgspec import Struct, field

from checker.checks.judge import CLEAN
from checker.core.case import Case
from checker.core.errors import StorageError
from checker.core.meta import GenerationMode
from checker.core.operation import Label
from checker.core.registry import LOWER_CASE, Registry
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import Purpose
from checker.corpus.inflight import InflightWriter
from checker.corpus.records import UNREACHED, Note, OperationError, Record, RefusalCounted, ValueGone
from checker.health import KIND, FirstAnswers
from checker.phases.attempt import Verdict
from checker.phases.case_factory import undescribed_method
from checker.refusals.reading import reason_of
from checker.values.pool import ValuePool
from checker.workers.case_scheduler import MOST_FAULTS, CaseScheduler
from checker.workers.context import WorkerContext
from checker.workers.observers.pacing import Slowness
from checker.workers.observers.signals import Signals
from checker.workers.recording.coverage import Showings
from checker.workers.recording.investigation_budget import InvestigationBudget
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.task_state import InFlight, LeasedTask
from checker.workers.recording.traffic import Draft
from checker.workers.target_health import TargetHealth

# A module-level name is ten times faster than a member of an enumeration.
_NEGATIVE = GenerationMode.NEGATIVE


class CaseCounts:
    """Counts each case once, when none of its requests is in flight any more."""

    def __init__(self, slots: InflightWriter, budget: InvestigationBudget) -> None:
        self._slots = slots
        self._budget = budget
        self._showings: dict[Label, Showings] = {}

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Count a case; if it was the last step of a sequence, count the earlier steps as well."""
        running = flight.task
        if not flight.is_counted:
            return
        if running.is_chained:
            for shot in flight.chain:
                self._count(running, shot.made.case, shot.said_status, shot.verdict)
        if flight.status < 0:
            # A step that was never sent.
            return
        self._count(running, flight.made.case, flight.status, verdict)
        if running.lease.known is not None and not running.lease.known.issuperset(
            verdict.judgement.grave(flight.made.label)
        ):
            # The remaining cases are left to other phases.
            running.ended_at_failure, running.stop = True, running.next_index
            self._slots.end(running.lease.id, running.next_index)

    def _count(self, running: LeasedTask, case: Case, status: int, verdict: Verdict) -> None:
        self._budget.earned += 1
        label, meta = case.operation.label, case.meta
        if case.other_method is not None and case.is_of_other_method:
            status = running.count_probe(label, status)
        else:
            is_wrong = meta is not None and meta.mode is _NEGATIVE
            running.count(label, status, is_wrong=is_wrong)
            if meta is not None and (is_wrong or meta.phase.data):
                running.note_tried(label, meta, status)
            self._note_shown(running, case, status, verdict.outcome)
        if running.is_news(status, has_failed=bool(verdict.judgement.failures)):
            running.tally(self._slots)

    def _note_shown(self, running: LeasedTask, case: Case, status: int, outcome: Outcome | None) -> None:
        content_type = outcome.content_type if isinstance(outcome, Response) else None
        label = case.operation.label
        showings = self._showings.get(label)
        if showings is None:
            showings = self._showings[label] = Showings.of(case.operation)
        running.firsts.update(running.shown.note(case, showings, status, content_type))


class ValuesObserver(Struct):
    """Adds the values of responses to the pool, and removes those of deleted resources."""

    values: ValuePool
    is_layered: bool

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Record]:
        """Return the values of a response that other workers may use."""
        outcome = verdict.outcome
        if not isinstance(outcome, Response):
            return ()
        # Layers only share values of cases that any worker can make again.
        if self.is_layered and not flight.is_counted:
            return ()
        found = self.values.observe(flight.made.case, outcome, flight.task.lease.phase, flight.index)
        # Sequences depend only on their own steps. The resources that they removed are gone for all other tasks.
        is_step = self.is_layered and flight.task.is_chained
        return [one for one in found if isinstance(one, ValueGone)] if is_step else found


# A module-level name is ten times faster than a member of an enumeration.
_TEST = Purpose.TEST


class TrafficObserver(Struct):
    """Offers interactions to the writer of traffic."""

    recorder: Recorder

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Record an interaction. Notable interactions are kept even if others are not."""
        recorder, made, outcome = self.recorder, flight.made, verdict.outcome
        is_notable = flight.is_notable or verdict.purpose is not _TEST
        if not is_notable and verdict.judgement is not CLEAN:
            is_notable = recorder.defects.has_news(made.label, verdict.judgement.failures)
        if outcome is not None and outcome.earlier:
            recorder.traffic.on_the_way(made, outcome)
        draft = Draft(recorder.traffic, made, verdict)
        recorder.traffic.writer.offer(draft, interesting=is_notable)


_MOST_REFUSALS = 256  # Refusals of one operation that are read.


class Refusals(Struct):
    """Counts the refusals of valid cases, by operation and text."""

    recorder: Recorder
    _counts: dict[str, Counter[tuple[int, str]]] = field(default_factory=dict)
    _served: set[str] = field(default_factory=set)  # Operations with a 2xx response.

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[RefusalCounted]:
        """Return the count of a refusal when it reaches a power of two."""
        label, case, outcome = flight.made.label, flight.made.case, verdict.outcome
        if label in self._served or not isinstance(outcome, Response):
            return ()
        if (case.meta is not None and case.meta.mode is _NEGATIVE) or undescribed_method(case):
            return ()
        if 200 <= outcome.status_code < 300:
            self._served.add(label)
        if outcome.status_code < 400:
            return ()
        counts = self._counts.setdefault(label, Counter())
        if counts.total() >= _MOST_REFUSALS:
            return ()
        text = reason_of(outcome)
        text = "" if self.recorder.secrets.is_in(text) else text
        counts[outcome.status_code, text] += 1
        count = counts[outcome.status_code, text]
        return () if count & (count - 1) else (RefusalCounted(label, outcome.status_code, text, count),)


class NetworkErrors(Struct):
    """Reports network errors that are not failures of a check."""

    recorder: Recorder

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Record]:
        """Return the error of an outcome if it is the first of its kind."""
        outcome, label, recorder = verdict.outcome, flight.made.label, self.recorder
        if not isinstance(outcome, NetworkFailure) or verdict.judgement.failures:
            return ()
        if outcome.cause is not None:
            # A fault of the checker. It is counted with the other faults of its task (`faults`).
            flight.is_notable = True
            return ()
        if not recorder.is_new("network", label, outcome.kind.value):
            return ()
        flight.is_notable = True
        # A command without a time limit could wait longer than the request did, and get a response.
        is_timed, sent = outcome.kind is FailureKind.TIMEOUT, verdict.request
        command = "" if sent is None else recorder.reproduction(sent, is_timed=is_timed)
        components = recorder.traffic.components.of(verdict.case)
        text = ": ".join(filter(None, (outcome.kind.value, outcome.message)))
        phase = flight.task.lease.phase
        return (OperationError(label, phase, UNREACHED, text, request=command, components=components),)


class FirstAnswersObserver(Struct):
    """Counts the statuses of the first responses."""

    statuses: FirstAnswers
    recorder: Recorder
    is_saturated: bool = False

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Note]:
        """Count a response. Once there are enough, return a note with the sentence about them."""
        outcome = verdict.outcome
        if isinstance(outcome, Response) and self.statuses.note(outcome.status_code):
            self.is_saturated = True
            if self.statuses.sentence:
                self.recorder.note(Note(KIND, "", "", self.statuses.sentence))
                # The console shows the note during the run.
                self.recorder.flush()
        return ()


class Faults(Struct):
    """Reports exceptions that were raised while a case was sent or judged."""

    recorder: Recorder
    scheduler: CaseScheduler

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Report the errors of one case, only the first few for each operation. After errors of checks the operation is still tested."""
        outcome = verdict.outcome
        if isinstance(outcome, NetworkFailure) and outcome.cause is not None:
            self.scheduler.record_error(flight, outcome.cause)
        for _, error in verdict.judgement.errors:
            running, label = flight.task, flight.made.label
            running.raised[label] += 1
            if running.raised[label] <= MOST_FAULTS:
                self.recorder.gave_up(label, running.lease.phase, error)


class Observer(Protocol):
    """Learns from interactions."""

    def saw(self, flight: InFlight, verdict: Verdict) -> Iterable[Record] | None:
        """Learn from an interaction; return records for the journal.

        `flight` is the case with its task, phase and index; `verdict` is its request, outcome and failures.
        """
        ...


class Moment(Enum):
    """When an observer is called."""

    JUDGED = "judged"  # Time when the outcome is judged.
    OVER = "over"
    """When no request of the case is in flight, its failures are investigated, and its sequence has ended (`flight.chain` has
    the steps before). If the worker dies before, the case is made again. So nothing that is learned at this moment is
    learned twice.
    """
    SENT = "sent"
    """At `JUDGED`, and for each attempt of an investigation, with the investigated case as `flight`."""


class ObserverTools(Struct, frozen=True):
    """The objects from which observers are built."""

    context: WorkerContext
    scheduler: CaseScheduler
    health: TargetHealth
    slowness: Slowness


class ObserverRow(NamedTuple):
    """One observer."""

    name: str
    make: Callable[[ObserverTools], Observer | None]
    """Returns the observer of one worker; None if there is nothing to observe in the run."""
    moment: Moment = Moment.JUDGED
    one_in: int = 1  # The observer is called for the first interaction and for every `one_in`-th one after it.
    until_saturated: bool = False
    """Whether the observer has an attribute `is_saturated`. Once it is true, the observer is no longer called."""
    only_unusual: bool = False
    """Whether the observer learns nothing from a response of the run's own cases that passes all checks."""
    is_shared: bool = False
    """Whether the records determine requests of other workers in `run`.

    They are flushed before the case counts as finished, because the death of a worker must not change the requests of others.
    """


OBSERVERS: Final = Registry[ObserverRow](
    "observer",
    (
        (row.name, row)
        for row in (
            ObserverRow(
                "pacing", lambda tools: None if tools.context.lanes.pacing.fixed else tools.context.lanes.pacing
            ),
            ObserverRow("faults", lambda tools: Faults(tools.context.recorder, tools.scheduler), only_unusual=True),
            ObserverRow("slowness", lambda tools: tools.slowness),
            ObserverRow("witnesses", lambda tools: tools.health.served),
            ObserverRow(
                "first_answers",
                lambda tools: (
                    FirstAnswersObserver(tools.context.first_answers, tools.context.recorder)
                    if tools.context.first_answers is not None
                    else None
                ),
                until_saturated=True,
            ),
            ObserverRow("saved_examples", lambda tools: tools.context.saved, only_unusual=True),
            ObserverRow("signals", lambda tools: Signals(tools.context.knowledge.signals)),
            ObserverRow("probes", lambda tools: tools.context.knowledge.probed, is_shared=True),
            ObserverRow("demands", lambda tools: tools.context.knowledge.demands, is_shared=True),
            ObserverRow("refusals", lambda tools: Refusals(tools.context.recorder)),
            ObserverRow(
                "values",
                lambda tools: ValuesObserver(tools.context.knowledge.values, tools.context.knowledge.is_layered),
                is_shared=True,
            ),
            ObserverRow("creations", lambda tools: tools.context.knowledge.creations, Moment.SENT),
            ObserverRow("hill_climber", lambda tools: tools.context.hill_climber),
            ObserverRow("network_errors", lambda tools: NetworkErrors(tools.context.recorder), only_unusual=True),
            # This observer is last, because the results of the others decide how much of the interaction is kept.
            ObserverRow("traffic", lambda tools: TrafficObserver(tools.context.recorder)),
            ObserverRow(
                "counts", lambda tools: CaseCounts(tools.context.slots, tools.context.investigation_budget), Moment.OVER
            ),
        )
    ),
    names=LOWER_CASE,
)
register = OBSERVERS.add_row
"""Add an observer from outside the package, after the existing ones. Raises `IncorrectUsage`."""

_Told = tuple[Callable[[InFlight, Verdict], Iterable[Record] | None], bool]
"""(method of an observer, whether its records are flushed at once)."""


class Observers:
    """The observers of one worker."""

    def __init__(self, tools: ObserverTools) -> None:
        self._journal = tools.context.recorder.journal
        self._record_error = tools.scheduler.record_error
        self._told: dict[Moment, list[list[_Told]]] = {moment: [[], []] for moment in Moment}
        """For each moment: all observers, then those that learn something from usual interactions."""
        # In `fuzz`, no request depends on which worker learns something first.
        is_run = tools.context.knowledge.is_layered
        for row in OBSERVERS.values():
            observer = row.make(tools)
            if observer is None:
                continue
            told = self._rationed(row, observer), row.is_shared and is_run
            for moment in {row.moment, Moment.JUDGED} if row.moment is Moment.SENT else {row.moment}:
                for each in self._told[moment][: 1 if row.only_unusual else 2]:
                    each.append(told)
        # No methods, because each would cost one more call per case.
        self.saw = partial(self._tell, self._told[Moment.JUDGED])
        """Pass a judged case to the observers."""
        self.over = partial(self._tell, self._told[Moment.OVER])
        """Pass a case without requests in flight to the observers."""
        self.sent = partial(self._tell, self._told[Moment.SENT])
        """Pass an attempt of an investigation to the observers."""

    def _tell(self, told: list[list[_Told]], flight: InFlight, verdict: Verdict) -> None:
        """Pass an interaction to the observers.

        The first error is reported as a fault of the case. It is not raised, because the failures of the case still have to
        be recorded.
        """
        first: Exception | None = None
        is_news = False
        is_usual = verdict.judgement is CLEAN and flight.is_counted and isinstance(verdict.outcome, Response)
        for saw, is_shared in told[is_usual]:
            try:
                records = saw(flight, verdict)
                if records:
                    for record in records:
                        self._journal.write(record)
                        is_news |= is_shared
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - the other observers must still run
                first = first or error
        if is_news:
            # The time is read once for all observers, because that is a system call.
            self._journal.flush()
        if first is not None:
            self._record_error(flight, first)

    def _rationed(self, row: ObserverRow, observer: Observer) -> Callable[[InFlight, Verdict], Iterable[Record] | None]:
        """Return a function that calls an observer as often as its row says. For most observers this is their own method."""
        if row.one_in <= 1 and not row.until_saturated:
            return observer.saw
        seen = 0

        def saw(flight: InFlight, verdict: Verdict) -> Iterable[Record] | None:
            nonlocal seen
            seen += 1
            if (seen - 1) % row.one_in:
                return None
            records = observer.saw(flight, verdict)
            if row.until_saturated and getattr(observer, "is_saturated", False):
                for told in self._told.values():
                    # New lists, because the loop that called this iterates over an old one and would skip the next observer.
                    told[:] = [[one for one in each if one[0] is not saw] for each in told]
            return records

        return saw
