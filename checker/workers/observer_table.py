"""The table of observers, which learn from the judged interactions of a worker. To add an observer, write its module and add a row to the table.

Some set the pace: the number of lanes, and the operations that are given up as slow. Redirects, credentials and the health of the
target come before the verdict, so they are no observers. The worker gives an observer each judged interaction, in the order of the rows, and
writes the records that it returns to the journal.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from checker.checks.judge import CLEAN
from checker.core.errors import StorageError
from checker.core.registry import LOWER_CASE, Registry
from checker.core.response import Response
from checker.corpus.records import Record
from checker.phases.attempt import Verdict
from checker.workers.context import WorkerContext
from checker.workers.observers.counts import CaseCounts
from checker.workers.observers.faults import Faults
from checker.workers.observers.first_answers import FirstAnswersObserver
from checker.workers.observers.network_errors import NetworkErrors
from checker.workers.observers.refusals import Refusals
from checker.workers.observers.signals import Signals
from checker.workers.observers.slowness import Slowness
from checker.workers.observers.traffic import TrafficObserver
from checker.workers.observers.values import ValuesObserver
from checker.workers.outages.health import TargetHealth
from checker.workers.recording.task_state import InFlight
from checker.workers.scheduling.case_scheduler import CaseScheduler


class Observer(Protocol):
    """Learns from interactions."""

    def saw(self, flight: InFlight, verdict: Verdict) -> Iterable[Record] | None:
        """Learn from an interaction; return what is to be written to the journal.

        `flight` is the case with its task, phase and index, `verdict` its request, outcome and failures.
        """
        ...


class Moment(Enum):
    """The moment at which an observer is called."""

    JUDGED = "judged"
    """Once the outcome is judged."""
    OVER = "over"
    """Once no request of the case is in flight, its failures have been investigated, and its sequence has ended (`flight.chain` has the
    steps before). If the worker dies before, the case is made again: what is learned at this moment is learned once."""
    SENT = "sent"
    """At `JUDGED`, and for each attempt of an investigation: then `flight` is the case that is looked into."""


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
    """Return the observer of one worker; None if there is nothing to learn in its run."""
    moment: Moment = Moment.JUDGED
    one_in: int = 1
    """The observer is called for the first interaction and for every `one_in`-th one after it."""
    until_saturated: bool = False
    """Whether the observer has an attribute `is_saturated`: once that is true, it is no longer called."""
    only_unusual: bool = False
    """Whether the observer learns nothing from a response of a case of the run with which all checks agree."""
    is_shared: bool = False
    """Whether its records decide requests of other workers in `run`. They are flushed before the case counts as over: a worker
    that dies in between must not change what others send."""


OBSERVERS: Final = Registry[ObserverRow](
    "observer",
    (
        (row.name, row)
        for row in (
            ObserverRow("pacing", lambda tools: None if tools.context.pacing.fixed else tools.context.pacing),
            ObserverRow("faults", lambda tools: Faults(tools.context.recorder, tools.scheduler), only_unusual=True),
            ObserverRow("slowness", lambda tools: tools.slowness),
            ObserverRow("witnesses", lambda tools: tools.health.served),
            ObserverRow(
                "first_answers",
                lambda tools: FirstAnswersObserver.of(tools.context.first_answers, tools.context.recorder),
                until_saturated=True,
            ),
            ObserverRow("saved_examples", lambda tools: tools.context.saved, only_unusual=True),
            ObserverRow("signals", lambda tools: Signals(tools.context.knowledge.signals)),
            ObserverRow("probes", lambda tools: tools.context.knowledge.probed, is_shared=True),
            ObserverRow("demands", lambda tools: tools.context.knowledge.demands, is_shared=True),
            ObserverRow("refusals", lambda tools: Refusals(tools.context.recorder)),
            ObserverRow("values", lambda tools: ValuesObserver.of(tools.context.knowledge), is_shared=True),
            ObserverRow("creations", lambda tools: tools.context.knowledge.creations, Moment.SENT),
            ObserverRow("hill_climber", lambda tools: tools.context.hill_climber),
            ObserverRow("network_errors", lambda tools: NetworkErrors(tools.context.recorder), only_unusual=True),
            # The last one: what others found decides how much of the exchange is kept.
            ObserverRow("traffic", lambda tools: TrafficObserver(tools.context.recorder)),
            ObserverRow(
                "counts", lambda tools: CaseCounts(tools.context.slots, tools.context.investigation_budget), Moment.OVER
            ),
        )
    ),
    names=LOWER_CASE,
)
register = OBSERVERS.add_row
"""Add an observer from outside the package; it follows those that are there. Raises `IncorrectUsage`."""

_Told = tuple[Callable[[InFlight, Verdict], Iterable[Record] | None], bool, bool]
"""(method of an observer, whether it is only called for unusual interactions, whether its records are flushed at once)."""


class Observers:
    """The observers of one worker."""

    def __init__(self, tools: ObserverTools) -> None:
        self._journal = tools.context.recorder.journal
        self._told: dict[Moment, list[_Told]] = {moment: [] for moment in Moment}
        # In `fuzz` nothing depends on which worker learns something first.
        is_run = tools.context.knowledge.is_layered
        for row in OBSERVERS.values():
            observer = row.make(tools)
            if observer is None:
                continue
            told = self._rationed(row, observer), row.only_unusual, row.is_shared and is_run
            self._told[row.moment].append(told)
            if row.moment is Moment.SENT:
                self._told[Moment.JUDGED].append(told)
        # Not methods: each would be one more call for every case.
        self.saw = partial(self._tell, self._told[Moment.JUDGED])
        """Tell of a case that was judged."""
        self.over = partial(self._tell, self._told[Moment.OVER])
        """Tell of a case of which no request is in flight any more."""
        self.sent = partial(self._tell, self._told[Moment.SENT])
        """Tell of an attempt of the investigation of a case."""

    def _tell(self, told: list[_Told], flight: InFlight, verdict: Verdict) -> None:
        """Pass an interaction to the observers. All of them are called before the first error is raised again, because the case was sent."""
        first: Exception | None = None
        is_usual = verdict.judgement is CLEAN and flight.is_counted and isinstance(verdict.outcome, Response)
        for saw, only_unusual, is_shared in told:
            if only_unusual and is_usual:
                continue
            try:
                records = saw(flight, verdict)
                if records:
                    for record in records:
                        self._journal.write(record)
                    if is_shared:
                        self._journal.flush()
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - the other observers must still run
                first = first or error
        if first is not None:
            raise first

    def _rationed(self, row: ObserverRow, observer: Observer) -> Callable[[InFlight, Verdict], Iterable[Record] | None]:
        """Return what asks an observer as often as its row says; most are asked each time, by their own method."""
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
                    told[:] = [one for one in told if one[0] is not saw]
            return records

        return saw
