"""Everything that one incarnation of a worker works with."""

from collections.abc import Callable
from enum import IntEnum
from types import TracebackType
from typing import Self

from msgspec import Struct

from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.operation import Label
from checker.core.request import BaseUrl
from checker.core.send import Transport
from checker.corpus.inflight import InflightWriter, Stage
from checker.health import FirstAnswers
from checker.phases.attempt import Tools
from checker.phases.case_factory import CaseFactory
from checker.phases.sequences import SequenceBuilder, SequenceExtender
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.class_checks import ClassChecks
from checker.workers.messages import Opened
from checker.workers.observers.hill_climbing import HillClimber
from checker.workers.observers.knowledge import Knowledge
from checker.workers.observers.pacing import Concurrency, SlowLanes
from checker.workers.observers.saved_examples import SavedExamples
from checker.workers.observers.witnesses import Sent
from checker.workers.recording.investigation_budget import InvestigationBudget
from checker.workers.recording.recorder import Recorder
from checker.workers.selected import SelectedOperations


class Activity(IntEnum):
    """The activity of a worker; the order is that of the ledger in records."""

    MAKE = 0
    WAIT = 1
    JUDGE = 2
    RECORD = 3
    IDLE = 4


class TimeAccounting:
    """Seconds by part. One thread does one thing at a time, so the parts sum to the wall by construction.

    What passed between `since` and now, while the process was started, was idle; opening the document is making.
    """

    __slots__ = ("_clock", "_mark", "_part", "_seconds")

    def __init__(self, clock: Callable[[], float], since: float | None = None) -> None:
        self._clock = clock
        now = clock()
        self._mark = now if since is None else since
        self._part = Activity.IDLE
        self._seconds = [0.0] * len(Activity)
        self.enter(Activity.MAKE)

    def enter(self, part: Activity) -> float:
        """Close the current part and begin another; gives the time now."""
        now = self._clock()
        self._seconds[self._part] += now - self._mark
        self._mark = now
        self._part = part
        return now

    def take(self) -> tuple[float, float, float, float, float]:
        """Seconds since the last call: make, wait, judge, record, idle."""
        self.enter(self._part)
        make, wait, judge, record, idle = self._seconds
        self._seconds = [0.0] * len(Activity)
        return make, wait, judge, record, idle


class WorkerContext(Struct):
    """Everything that one incarnation works with."""

    settings: RunSettings
    operations: OperationResolver
    """The settings of each operation."""
    opened: Opened
    selected: SelectedOperations
    factory: CaseFactory
    unhooked: CaseFactory | None
    """Makes cases as they are before `filter`, `map` and `flatmap` hooks see them, for reports of those that these kill;
    None when `before_generate` hooks decide what is drawn."""
    tools: Tools
    explorer: SequenceExtender
    """How sequences of `fuzz` go on."""
    hill_climber: HillClimber | None
    """None where no metric is to be made large."""
    chains: SequenceBuilder
    """How those of the stateful phase do."""
    origin: BaseUrl
    http: Transport
    pacing: Concurrency
    slow_lanes: SlowLanes
    lane_count: int
    slots: InflightWriter
    slot_count: int
    recorder: Recorder
    knowledge: Knowledge
    ledger: TimeAccounting
    once_s: float
    """CPU-seconds of opening that no later worker needs (`Description.once_s`)."""
    saved: SavedExamples
    investigation_budget: InvestigationBudget
    class_checks: ClassChecks
    credentials: CredentialKeeper | None
    """None where all that requests carry is known from the start."""
    first_answers: FirstAnswers | None
    """None if another worker observes the first responses, or that is done."""
    first_look: Sent | None
    """The request that was sent before the run to check the credentials; None if there was none."""
    held_back: set[Label]
    """Operations that are not sent before the end of the run, as steps of others neither."""
    making_stage: Stage
    """`HOOK` wherever users' code may run: it has a deadline of its own."""
    calling_stage: Stage
    judging_stage: Stage

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()
        self.slots.close()
        release(self.recorder)
        self.knowledge.close()


def release(recorder: Recorder) -> None:
    """Close the files of a recorder. What is not flushed is lost."""
    # A worker that ends early must release its files itself: workers in threads have no end of a process.
    recorder.traffic.writer.release()
    recorder.journal.release()
