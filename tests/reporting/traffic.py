"""Workers that leave traffic on disk, and do nothing else."""

from pathlib import Path

from checker.corpus.codec import RecordEncoder
from checker.corpus.layout import RunLayout
from checker.corpus.records import Interaction
from checker.corpus.traffic import TrafficWriter
from checker.workers.drafts import Described

from .samples import interaction


class Workers:
    """Traffic of any number of incarnations."""

    def __init__(self, folder: Path) -> None:
        self.layout = RunLayout(folder)
        self.layout.create()
        self._writers: dict[int, TrafficWriter] = {}

    def path(self, incarnation: int) -> Path:
        return self.layout.traffic(incarnation, 1000 + incarnation)

    def record(self, incarnation: int, case: str, at: float) -> None:
        """What stays in the worker until it is flushed."""
        one = interaction(case=case, at=at, worker=incarnation)
        self.keep(incarnation, one)

    def keep(self, incarnation: int, one: Interaction) -> None:
        if incarnation not in self._writers:
            self._writers[incarnation] = TrafficWriter(self.path(incarnation))
        self._writers[incarnation].offer(Described(one, RecordEncoder().encode), interesting=True)

    def flush(self) -> None:
        for writer in self._writers.values():
            writer.flush()

    def tell(self, incarnation: int, case: str, at: float) -> None:
        """What can be read at once."""
        self.record(incarnation, case, at)
        self.flush()
