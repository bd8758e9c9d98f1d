"""The layout of a corpus directory."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from checker.corpus import files
from checker.corpus.codec import scan
from checker.corpus.records import Record, SnapshotHeader

_HEADER_BYTES = 1 << 16  # The header of a snapshot is shorter: thousands of incarnations fit.
_INCARNATION_DIGITS = 8


class RunLayout(Struct, frozen=True):
    """Paths below the root of a corpus. Directories are 0700, files 0600: journals hold responses."""

    root: Path

    @property
    def journals(self) -> Path:
        """Return the folder of the journals, one for each incarnation."""
        return self.root / "journals"

    @property
    def traffics(self) -> Path:
        """Return the folder of the interactions, which only reporters read."""
        return self.root / "traffic"

    @property
    def inflights(self) -> Path:
        """Return the folder with the current work of each live worker."""
        return self.root / "inflight"

    @property
    def rates(self) -> Path:
        """Return the folder with the time of the next request, one file for each rate limit of the run."""
        return self.root / "rates"

    @property
    def made(self) -> Path:
        """Return the file of the resources that runs have created at their targets and not removed."""
        return self.root / "made.jsonl"

    @property
    def documents(self) -> Path:
        """Return the folder of the API descriptions, by digest."""
        return self.root / "documents"

    @property
    def caches(self) -> Path:
        """Return the folder of cached results for Hypothesis. It is created on demand."""
        return self.root / "hypothesis"

    @property
    def snapshot(self) -> Path:
        """Return the snapshot: the content of closed journals, compacted."""
        return self.root / "snapshot"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    def journal(self, incarnation: int, pid: int) -> Path:
        return self.journals / f"{_stem(incarnation, pid)}.journal"

    def traffic(self, incarnation: int, pid: int) -> Path:
        """Return the base path of the traffic of one process of an incarnation. The names of the segments of traffic are derived from this path."""
        return self.traffics / _stem(incarnation, pid)

    def inflight(self, incarnation: int) -> Path:
        return self.inflights / f"{incarnation:0{_INCARNATION_DIGITS}d}.slots"

    def document(self, digest: str) -> Path:
        return self.documents / f"{digest}.json"

    def create(self) -> None:
        """Make the directories that are missing. Raises `StorageError`."""
        directories = (self.journals, self.traffics, self.inflights, self.documents, self.rates)
        for path in (self.root, *directories):
            files.make_directory(path)
        ignored = self.root / ".gitignore"
        # A corpus contains responses and must not be committed by accident. A file that the user changed is kept.
        if not ignored.exists():
            files.write_file(ignored, b"*\n")

    def journal_paths(self) -> list[tuple[int, Path]]:
        """Return (incarnation, path) of the existing journals, oldest first."""
        return _numbered(self.journals, ".journal")

    def traffic_paths(self) -> list[tuple[int, Path]]:
        """Return (incarnation, path) of the existing segments of traffic, oldest incarnation first."""
        return _numbered(self.traffics, ".traffic")

    def inflight_paths(self) -> list[tuple[int, Path]]:
        """Return (incarnation, path) of the existing slot files, oldest first."""
        return _numbered(self.inflights, ".slots")

    def head(self) -> SnapshotHeader:
        """Return the header of the snapshot; empty if there is none."""
        return header_in(scan(files.read_file(self.snapshot, _HEADER_BYTES) or b"").records)

    def next_incarnation(self) -> int:
        """Return a number above every incarnation that the corpus has records of, compacted ones included.

        Only the holder of the lock may call this, before it starts workers: a worker that was just started has left no trace.
        """
        traces = (*self.journal_paths(), *self.traffic_paths(), *self.inflight_paths())
        return max([self.head().highest, *(number for number, _ in traces)]) + 1


def header_in(records: Iterable[Record]) -> SnapshotHeader:
    """Return the header of a snapshot with these records; an empty one without any."""
    return next((one for one in records if isinstance(one, SnapshotHeader)), SnapshotHeader())


def _stem(incarnation: int, pid: int) -> str:
    return f"{incarnation:0{_INCARNATION_DIGITS}d}-{pid}"


def _numbered(directory: Path, suffix: str) -> list[tuple[int, Path]]:
    found = []
    for path in files.list_directory(directory):
        number = path.name[:_INCARNATION_DIGITS]
        if path.name.endswith(suffix) and number.isascii() and number.isdigit():
            found.append((int(number), path))
    return sorted(found)
