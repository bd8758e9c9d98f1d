"""The knowledge that workers of one run share through their journals: signals, values, demands, probes, creations."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from checker.corpus.journal import JournalReader
from checker.corpus.records import DemandHeard, PartsCounted, Record, ResourceChanged, ValueGone, ValueSeen
from checker.values.pool import LayeredPool, ValuePool
from checker.workers.messages import Task
from checker.workers.observers.creations import CreationHistory
from checker.workers.observers.demands import DemandLearner
from checker.workers.observers.probes import ProbedOperations
from checker.workers.observers.signals import SignalSet

_PEERS_S = 1.0
"""Between two looks into the journals of peers, in `fuzz`."""


class Knowledge(Struct):
    """The part of what observers learn that outlives a task, and its exchange with other workers."""

    values: ValuePool
    signals: SignalSet = field(default_factory=SignalSet)
    demands: DemandLearner | None = None
    """None where nothing is learned of refusals."""
    creations: CreationHistory | None = None
    """None where no failure is to be investigated."""
    probed: ProbedOperations = field(default_factory=ProbedOperations)
    peers: dict[str, JournalReader] = field(default_factory=dict)
    """Journals of all workers of the run, by their paths."""
    _read_at: float = 0.0

    @property
    def is_layered(self) -> bool:
        """Whether requests depend on earlier layers alone, as in `run`."""
        return isinstance(self.values, LayeredPool)

    def follow(self, journals: Sequence[str]) -> None:
        """Read these journals of peers from now on."""
        for path in journals:
            self.peers.setdefault(path, JournalReader(Path(path)))

    def begin(self, task: Task) -> None:
        """Prepare for a task: it may use what all workers saw in earlier layers."""
        self.values.begin(task.phase, task.labels[0], self._news, is_resumed=bool(task.start or task.redo))
        if self.demands is not None:
            self.demands.begin(task.phase)

    def tick(self, now: float) -> None:
        """Take in what peers saw, if it is time."""
        if self.is_layered or now - self._read_at <= _PEERS_S:
            return
        self._read_at = now
        for record in self._news():
            if isinstance(record, ValueSeen | ValueGone | ResourceChanged):
                self.values.absorb(record)

    def _news(self) -> Iterator[Record]:
        for reader in self.peers.values():
            for record in reader.read_new():
                if self.demands is not None and isinstance(record, DemandHeard | PartsCounted):
                    self.demands.absorb(record)
                self.probed.absorb(record)
                yield record
            # Every replaced worker leaves a journal behind. Keeping them open would leak file descriptors.
            reader.close()

    def close(self) -> None:
        """Close the journals of peers."""
        for reader in self.peers.values():
            reader.close()
