"""The knowledge that workers of one run share through their journals: signals, values, demands, probes, creations."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from checker.core.operation import Label
from checker.core.phases import phase_names
from checker.core.response import Response
from checker.corpus.journal import JournalReader, JournalWriter
from checker.corpus.records import (
    CaseFared,
    DemandHeard,
    OperationProbed,
    PartsCounted,
    Record,
    ResourceChanged,
    ValueGone,
    ValueSeen,
)
from checker.phases.attempt import Verdict
from checker.values.pool import LayeredPool, ValuePool
from checker.workers.messages import PEER_RECORDS, Task
from checker.workers.observers.creations import CreationHistory
from checker.workers.observers.demands import DemandLearner
from checker.workers.observers.signals import SignalSet
from checker.workers.recording.task_state import InFlight


class ProbedOperations(Struct):
    """The operations that any worker has probed in this run, for checks that probe each operation once (`Check.probes`)."""

    _begun: set[tuple[str, Label]] = field(default_factory=set)
    """(task, operation) that this worker has probed, or that no check of the task probes."""
    _by_task: dict[tuple[str, Label], int] = field(default_factory=dict)
    """(task, operation) -> index of the probed case."""
    _judged: dict[Label, set[str]] = field(default_factory=dict)
    """Operation -> phases in which a probe was judged."""

    def absorb(self, record: Record) -> None:
        """Take in a record of any worker. Records about other things are ignored."""
        if not isinstance(record, OperationProbed):
            return
        label = Label(record.label)
        self._by_task[record.task, label] = record.index
        if record.is_judged:
            self._judged.setdefault(label, set()).add(record.phase)

    def is_begun(self, task: str, label: Label) -> bool:
        """Whether a case of an operation was probed in a task, or no check probes it."""
        return (task, label) in self._begun or (task, label) in self._by_task

    def begin(self, task: str, label: Label) -> None:
        """Note that a task probes an operation, or that no check of the task does."""
        self._begun.add((task, label))

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[OperationProbed]:
        """Return a record if the request of a case was probed."""
        outcome, task = verdict.outcome, flight.task.lease
        sent = outcome.request if isinstance(outcome, Response) else None
        if sent is None or not sent.is_probed:
            return ()
        is_judged = not verdict.judgement.unjudged
        record = OperationProbed(flight.made.label, task.id, task.phase, flight.index, is_judged=is_judged)
        self.absorb(record)
        return (record,)

    def is_done(self, flight: InFlight) -> bool:
        """Whether a case must not be probed, because its task has probed another case of the operation, or an earlier phase has.

        Other tasks of the same phase do not count, because they may run at the same time and their speed must not decide
        which requests are sent. A probe without a verdict (404, 409) does not count in later phases. A case that is
        repeated after the death of a worker is probed again, because the failure may not have been investigated.
        """
        task, label = flight.task.lease, flight.made.label
        if (task.id, label) in self._begun:
            return True
        index = self._by_task.get((task.id, label))
        if index is not None:
            return index != flight.index
        judged, names = self._judged.get(label, ()), phase_names()
        if not judged or flight.task.is_endless:
            return bool(judged)
        return any(one in names[: names.index(task.phase)] for one in judged)


_PEERS_S = 1.0  # Seconds between two readings of other workers' journals, in `fuzz`.


class Knowledge(Struct):
    """The knowledge of observers that outlives a task, and its exchange with other workers."""

    values: ValuePool
    signals: SignalSet = field(default_factory=SignalSet)
    demands: DemandLearner | None = None  # None if nothing is learned from refusals.
    creations: CreationHistory | None = None  # None if no failure will be investigated.
    probed: ProbedOperations = field(default_factory=ProbedOperations)
    peers: dict[str, JournalReader] = field(default_factory=dict)  # Journals of all workers of the run, by path.
    _followed: dict[str, JournalReader] = field(default_factory=dict)  # Those of `peers` with living writers.
    _ended: set[str] = field(default_factory=set)  # Journals of dead workers, which are read once more.
    journal: JournalWriter | None = None  # The journal of this worker.
    _read_at: float = 0.0

    @property
    def is_layered(self) -> bool:
        """Whether requests depend only on earlier layers, as in `run`."""
        return isinstance(self.values, LayeredPool)

    def follow(self, journals: Sequence[str], ended: Sequence[str] = (), signals: Iterable[int] = ()) -> None:
        """Read these journals of other workers from now on, those of dead workers once more. Take these signals as recorded."""
        self.signals.learn(signals)
        for path in journals:
            if path not in self.peers:
                self.peers[path] = self._followed[path] = JournalReader(Path(path), kinds=PEER_RECORDS)
        self._ended.update(ended)

    def begin(self, task: Task) -> None:
        """Prepare for a task, which may use what all workers saw in earlier layers."""
        is_resumed = bool(task.start or task.redo)
        self.values.begin(task.phase, task.labels[0], self._news(), is_resumed=is_resumed, is_slow=task.is_slow)
        if self.demands is not None:
            self.demands.begin(task.phase, task.labels[0], task.start)

    def tick(self, now: float) -> None:
        if self.is_layered or now - self._read_at <= _PEERS_S:
            return
        self._read_at = now
        for record in self._news():
            if isinstance(record, ValueSeen | ValueGone | ResourceChanged):
                self.values.absorb(record)

    def _news(self) -> Iterator[Record]:
        journal = self.journal
        for path, reader in self._followed.items():
            is_own = journal is not None and path == str(journal.path)
            # In `fuzz` a worker already knows its own journal. In `run`, the journal counts from the next layer on.
            if is_own and not self.is_layered:
                continue
            news = journal.news(reader) if journal is not None and is_own else reader.read_new()
            for record in news:
                if self.demands is not None and isinstance(record, DemandHeard | PartsCounted | CaseFared):
                    self.demands.absorb(record)
                self.probed.absorb(record)
                yield record
        # A night leaves hundreds of dead workers, and each look at a journal takes 40 us.
        for path in self._ended:
            self._followed.pop(path, None)
        self._ended.clear()
