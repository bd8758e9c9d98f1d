"""The layout of a corpus directory."""

import struct
from pathlib import Path
from zlib import crc32

from msgspec import Struct

from checker.corpus import files

_MAGIC = b"CHKSNAP1"
_FIXED = struct.Struct("<8sQI")
_CHECKSUM = struct.Struct("<I")
READ_BYTES = 1 << 16
"""A head is shorter: thousands of incarnations fit."""


class SnapshotHeader(Struct, frozen=True):
    """The header of a snapshot, before its frames."""

    highest: int = 0
    """Highest incarnation that was ever compacted: the next number must be above it."""
    covered: frozenset[int] = frozenset()
    """Incarnations whose journals must not be read any more, if they are still there."""

    def encode(self) -> bytes:
        """Return the header as bytes."""
        head = _FIXED.pack(_MAGIC, self.highest, len(self.covered))
        head += struct.pack(f"<{len(self.covered)}Q", *sorted(self.covered))
        return head + _CHECKSUM.pack(crc32(head))


def read_head(data: bytes | None) -> tuple[SnapshotHeader, int] | None:
    """Return the head and the offset of the frames; None if the head is damaged. Without data nothing is covered."""
    if data is None:
        return SnapshotHeader(), 0
    if len(data) < _FIXED.size:
        return None
    magic, highest, count = _FIXED.unpack_from(data)
    end = _FIXED.size + 8 * count
    if magic != _MAGIC or len(data) < end + _CHECKSUM.size:
        return None
    if _CHECKSUM.unpack_from(data, end)[0] != crc32(data[:end]):
        return None
    covered = frozenset(struct.unpack_from(f"<{count}Q", data, _FIXED.size))
    return SnapshotHeader(highest, covered), end + _CHECKSUM.size


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
        """Return the file of the resources that runs have made at their targets and not removed."""
        return self.root / "made.jsonl"

    @property
    def documents(self) -> Path:
        """Return the folder of the API descriptions, by digest."""
        return self.root / "documents"

    @property
    def caches(self) -> Path:
        """Return the folder of cached results for Hypothesis. Created when it is needed."""
        return self.root / "hypothesis"

    @property
    def snapshot(self) -> Path:
        """Return the snapshot: the content of closed journals, compacted."""
        return self.root / "snapshot"

    @property
    def lock(self) -> Path:
        """Return the file that the supervisor of the corpus locks."""
        return self.root / "lock"

    def journal(self, incarnation: int, pid: int) -> Path:
        """Return the journal of one incarnation of one process."""
        return self.journals / f"{_stem(incarnation, pid)}.journal"

    def traffic(self, incarnation: int, pid: int) -> Path:
        """Return the path of the traffic of one process of an incarnation, from which the names of its segments follow."""
        return self.traffics / _stem(incarnation, pid)

    def inflight(self, incarnation: int) -> Path:
        """Return the in-flight slots of one incarnation."""
        return self.inflights / f"{incarnation:0{_INCARNATION_DIGITS}d}.slots"

    def document(self, digest: str) -> Path:
        """Return the normalised API description with this digest."""
        return self.documents / f"{digest}.json"

    def create(self) -> None:
        """Make the directories that are missing. Raises `StorageError`."""
        directories = (self.journals, self.traffics, self.inflights, self.documents, self.rates)
        for path in (self.root, *directories):
            files.make_directory(path)
        ignored = self.root / ".gitignore"
        # A corpus holds responses and must not reach a repository by accident. A file that the user changed stays.
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
        found = read_head(files.read_file(self.snapshot, READ_BYTES))
        return SnapshotHeader() if found is None else found[0]

    def next_incarnation(self) -> int:
        """Return a number above every incarnation that the corpus has records of, compacted ones included.

        Only the holder of the lock asks, before it starts workers: a worker that was just started has left no trace.
        """
        traces = (*self.journal_paths(), *self.traffic_paths(), *self.inflight_paths())
        return max([self.head().highest, *(number for number, _ in traces)]) + 1


def _stem(incarnation: int, pid: int) -> str:
    return f"{incarnation:0{_INCARNATION_DIGITS}d}-{pid}"


def _numbered(directory: Path, suffix: str) -> list[tuple[int, Path]]:
    found = []
    for path in files.list_directory(directory):
        number = path.name[:_INCARNATION_DIGITS]
        if path.name.endswith(suffix) and number.isascii() and number.isdigit():
            found.append((int(number), path))
    return sorted(found)
