"""A run as one stream of events: what writers of reports see while it goes on, built in or brought by users."""

from collections.abc import Iterator

from msgspec import Struct, field

from checker.corpus.fold import RunView
from checker.corpus.records import (
    Finding,
    Interaction,
    Note,
    OperationError,
    Quarantined,
    Record,
    RunFinished,
    RunStarted,
    SchemaOpened,
    WorkerGone,
)


class PhaseStarted(Struct, frozen=True):
    """The first operation is tested in a phase."""

    name: str


class PhaseFinished(Struct, frozen=True):
    """A phase is over. Phases may overlap, so all of them end with the run; of one that was killed none ends."""

    name: str
    tested: int
    """Operations."""
    failed: frozenset[str]
    """Those in which something failed, known or not."""
    errored: int


Event = (
    RunStarted
    | SchemaOpened
    | PhaseStarted
    | Interaction
    | Finding
    | OperationError
    | Note
    | Quarantined
    | WorkerGone
    | PhaseFinished
    | RunFinished
)
"""Everything that a writer may be shown. A finding comes as it was found and again as it was made smaller (`stage`)."""

_SHOWN = (
    RunStarted,
    SchemaOpened,
    Interaction,
    Finding,
    OperationError,
    Note,
    Quarantined,
    WorkerGone,
)


class EventStream(Struct):
    """Makes events of records. What journals do not say in so many words is worked out here."""

    view: RunView = field(default_factory=RunView)
    _begun: dict[str, None] = field(default_factory=dict)
    _started: set[str] = field(default_factory=set)
    """Names of runs: one that is gone on with has begun once."""
    _is_opened: bool = False
    _finished: RunFinished | None = None

    def follow(self, incarnation: int, record: Record) -> Iterator[Event]:
        """Events of one record of a journal."""
        self.view.absorb(incarnation, record)
        phase = getattr(record, "phase", "")
        if phase:
            yield from self.begin_phase(phase)
        match record:
            case RunStarted() if record.run in self._started:
                return
            case RunStarted():
                self._started.add(record.run)
            case SchemaOpened() if self._is_opened:
                # Each worker says what it opened.
                return
            case SchemaOpened():
                self._is_opened = True
            case RunFinished():
                self._finished = record
            case _:
                pass
        if isinstance(record, _SHOWN):
            yield record

    def interaction(self, record: Interaction) -> Iterator[Event]:
        """Events of one request and its answer, which stand in the traffic."""
        if record.phase:
            yield from self.begin_phase(record.phase)
        yield record

    def begin_phase(self, name: str) -> Iterator[Event]:
        """That a phase began, when that is news."""
        if name not in self._begun:
            self._begun[name] = None
            yield PhaseStarted(name)

    def end(self) -> Iterator[Event]:
        """What is to be told when nothing else will come."""
        if self._finished is None:
            return
        for name in self._begun:
            phase = self.view.phases.get(name)
            if phase is not None:
                failed = frozenset(phase.failed)
                yield PhaseFinished(name, len(phase.tested), failed, len(phase.errored))
        yield self._finished
