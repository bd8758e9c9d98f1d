"""Everything that one incarnation of a worker works with."""

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
from checker.workers.time_accounting import TimeAccounting


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
