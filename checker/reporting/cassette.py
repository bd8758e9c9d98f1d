"""The cassette of a run: knows before it that the file can be written, and after it whose traffic to read."""

from collections.abc import Iterator
from pathlib import Path

from checker.config.settings import RunSettings
from checker.corpus.exchange import Secrets
from checker.corpus.fold import RunView
from checker.corpus.layout import RunLayout
from checker.corpus.records import Interaction, Record
from checker.corpus.traffic import TrafficReader
from checker.reporting.vcr import (
    CassetteSettings,
    all_interactions,
    check_writable,
    write_cassette,
)


class Cassette:
    """A listener of records that ends with a file."""

    def __init__(self, settings: RunSettings, path: Path) -> None:
        """Raises `UsageError` when the file cannot be written."""
        check_writable(path)
        self._settings = settings
        self._path = path
        self._first: int | None = None

    def on_record(self, incarnation: int, record: Record) -> None:
        """The lowest incarnation of the run tells its traffic from that of earlier runs."""
        if self._first is None or incarnation < self._first:
            self._first = incarnation

    def finish(self, view: RunView) -> tuple[str, str]:
        """(format, path) of the file that was written. Raises `StorageError`."""
        settings = self._settings
        head = CassetteSettings(
            command=settings.command,
            seed=view.run.seed if view.run else settings.seed,
            base_url=view.opened.base_url if view.opened else "",
            preserve_bytes=settings.preserve_bytes,
            sanitization=settings.sanitization,
            secrets=Secrets(settings.headers),
        )
        traffic = recorded_traffic(RunLayout(Path(settings.corpus_dir)), self._first)
        write_cassette(self._path, head, all_interactions(traffic, view.findings.values()))
        return "VCR", str(self._path)


def recorded_traffic(layout: RunLayout, first: int | None) -> Iterator[Interaction]:
    """Plain interactions of a run whose lowest incarnation is `first`, one worker after the other."""
    if first is None:
        return
    for incarnation, path in layout.traffic_paths():
        if incarnation >= first:
            reader = TrafficReader(path)
            try:
                yield from reader.stream()
            finally:
                reader.close()
