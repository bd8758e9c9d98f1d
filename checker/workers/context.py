"""Everything that one incarnation of a worker works with."""

from enum import IntEnum

from msgspec import Struct

from checker.core.operation import Label
from checker.core.send import Transport
from checker.core.system import Clock
from checker.corpus.inflight import InflightWriter, Stage
from checker.health import FirstAnswers
from checker.phases.attempt import Tools
from checker.phases.case_factory import CaseFactory
from checker.workers.explorer import Explorer
from checker.workers.messages import Opened
from checker.workers.observers.hill_climbing import HillClimber
from checker.workers.observers.knowledge import Knowledge
from checker.workers.observers.pacing import Lanes
from checker.workers.observers.saved_examples import SavedExamples
from checker.workers.observers.witnesses import Sent
from checker.workers.recording.investigation_budget import InvestigationBudget
from checker.workers.recording.recorder import Recorder
from checker.workers.subject import RUN_ENGINE, TestedDescription


class Activity(IntEnum):
    """The activity of a worker. The order is that of the ledger in records."""

    MAKE = 0
    WAIT = 1
    JUDGE = 2
    RECORD = 3
    IDLE = 4


class TimeAccounting:
    """Seconds by activity.

    The worker has one thread, so the parts sum to the wall time. The time from `since` to the creation of this object, in
    which the process was started, counts as idle. Opening the document counts as making.
    """

    __slots__ = ("_clock", "_mark", "_part", "_seconds")

    def __init__(self, clock: Clock, since: float | None = None) -> None:
        self._clock = clock
        now = clock()
        self._mark = now if since is None else since
        self._part = Activity.IDLE
        self._seconds = [0.0] * len(Activity)
        self.enter(Activity.MAKE)

    def enter(self, part: Activity) -> float:
        """End the current activity and begin another. Return the current time."""
        now = self._clock()
        self._seconds[self._part] += now - self._mark
        self._mark = now
        self._part = part
        return now

    def take(self) -> tuple[float, float, float, float, float]:
        """Return the seconds since the last call: make, wait, judge, record, idle."""
        self.enter(self._part)
        make, wait, judge, record, idle = self._seconds
        self._seconds = [0.0] * len(Activity)
        return make, wait, judge, record, idle


class Stages(Struct, frozen=True):
    """The stages of a case. Stages in which user code may run are `HOOK`, which has its own deadline."""

    making: Stage
    calling: Stage
    judging: Stage


class WorkerContext(Struct):
    """Everything that one incarnation works with."""

    subject: TestedDescription
    opened: Opened
    factory: CaseFactory
    unhooked: CaseFactory | None
    """Makes cases as they are before `filter`, `map` and `flatmap` hooks, for reports about cases that kill these hooks; None if `before_generate` hooks control the draw."""
    tools: Tools
    explorer: Explorer  # Extends sequences of `fuzz`; its `chains` make those of the stateful phase.
    hill_climber: HillClimber | None  # None if no metric is maximised.
    http: Transport
    lanes: Lanes
    slots: InflightWriter
    recorder: Recorder
    knowledge: Knowledge
    ledger: TimeAccounting
    saved: SavedExamples
    investigation_budget: InvestigationBudget
    first_answers: FirstAnswers | None  # None if another worker observes the first responses, or if they were observed.
    first_look: Sent | None
    """The request that was sent before the run to check the credentials; None if there was none."""
    held_back: set[Label]  # Operations that are not sent before the end of the run, not even as steps of sequences.
    stages: Stages

    def close(self) -> None:
        """Release everything that the incarnation has opened. Data that is not flushed is lost."""
        # The thread may continue after the run. Loaded schemas send requests themselves from now on.
        RUN_ENGINE.set(None)
        self.http.close()
        self.slots.close()
        self.recorder.release()
