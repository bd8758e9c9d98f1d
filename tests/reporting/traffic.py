"""Workers that leave traffic on disk, and do nothing else."""

from dataclasses import dataclass
from pathlib import Path

from checker.corpus.codec import pack
from checker.corpus.layout import RunLayout
from checker.corpus.records import Interaction
from checker.corpus.traffic import Keep, TrafficWriter

from .samples import interaction


@dataclass(frozen=True)
class Described:
    """An interaction that is to be written as it is."""

    interaction: Interaction

    @property
    def label(self) -> str:
        return self.interaction.label

    def __len__(self) -> int:
        return len(self.interaction.exchange.response_body)

    def encode(self, keep: Keep) -> bytes:
        return pack(self.interaction)


class Workers:
    """Traffic of any number of incarnations."""

    def __init__(self, folder: Path) -> None:
        self.layout = RunLayout(folder)
        self.layout.create()
        self._writers: dict[int, TrafficWriter] = {}

    def path(self, incarnation: int) -> Path:
        """Where what was flushed stands."""
        (path,) = [path for number, path in self.layout.traffic_paths() if number == incarnation]
        return path

    def record(self, incarnation: int, case: str, at: float) -> None:
        """What stays in the worker until it is flushed."""
        one = interaction(case=case, at=at, worker=incarnation)
        self.keep(incarnation, one)

    def keep(self, incarnation: int, one: Interaction) -> None:
        if incarnation not in self._writers:
            self._writers[incarnation] = TrafficWriter(self.layout.traffic(incarnation, 1000 + incarnation))
        self._writers[incarnation].offer(Described(one), interesting=True)

    def flush(self) -> None:
        for writer in self._writers.values():
            writer.flush()

    def tell(self, incarnation: int, case: str, at: float) -> None:
        """What can be read at once."""
        self.record(incarnation, case, at)
        self.flush()

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()
