"""The journal of one incarnation: all its records except plain interactions, appended by one writer, read by all processes."""

import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from checker.corpus.codec import HEADER, LIMIT_BYTES, FrameEncoder, Kinds, ScanEnding, pack, scan
from checker.corpus.files import AppendFile, read_piece
from checker.corpus.layout import RunLayout
from checker.corpus.records import (
    CorpusEntry,
    Finding,
    FindingReplayed,
    Note,
    Quarantined,
    Record,
    ResourceChanged,
    RunFinished,
    RunStarted,
    SignalsSeen,
    ValueGone,
    ValueSeen,
)
from checker.corpus.secrets import NO_SECRETS, Secrets

DAMAGED = "damaged_file"  # Kind of these notes.


class Loss(StrEnum):
    """The records that may be lost, by the content of the file."""

    JOURNAL = "findings, errors, counts and values that its process wrote down later may be missing"
    SNAPSHOT = "findings, values and signals of earlier runs may be missing"
    DESCRIPTION = "it was fetched again"
    TRAFFIC = "interactions that its process recorded later are missing in the reports"


def damage_note(path: Path, reason: str, loss: Loss) -> Note:
    """Return one sentence, the same for every reader that finds the damage, so that the fold reports it once."""
    return Note(DAMAGED, "", "", f"{path} is damaged: {reason}; {loss}")


FRAME_RECORDS = 128
FRAME_BYTES = 256 << 10
FLUSH_INTERVAL_S = 0.2
SYNC_INTERVAL_S = 1.0
"""A sync takes 5 to 14 ms. With one sync for each new failure, a run against a server that fails randomly took twice as long."""
TOGETHER_BYTES = 16 << 20  # Maximum size of the records in one frame. Readers take much larger frames for damage.
RECENT_RECORDS = 10_000  # Most records that a writer keeps in memory. If there are more, they are read from the file.
BUDGET_BYTES = 8 << 20  # Limit on the learned records of one journal, which keeps start-up short after a long run.

# Records of these classes must survive a power failure. A sync is slow, so others may lose their last second.
_DURABLE = (Finding, Quarantined, RunStarted, RunFinished)
# (classes, share of the budget above which they are not written). Values are dropped first, because workers learn them
# again most easily.
_EVICTION: tuple[tuple[type | tuple[type, ...], float], ...] = (
    ((ValueSeen, ValueGone, ResourceChanged), 0.5),
    (SignalsSeen, 0.75),
    (CorpusEntry, 1.0),
)
_READ_BYTES = 64 << 10  # Size of one read. Reads of 4 KiB took twice the time.
TOGETHER_READ_BYTES = 4 << 10
"""Size of one read if a thousand journals are read together: the next records of each are in memory, and a frame of equal ones unpacks
to a thousand times its size.
"""


class JournalWriter:
    """Append records to one file. After `hand_over`, records survive the death of the process; after `commit`, they also survive a power failure."""

    def __init__(
        self, path: Path, *, budget_bytes: int = BUDGET_BYTES, secrets: Secrets = NO_SECRETS, recalls: Kinds = ()
    ) -> None:
        """Records are written with references in place of `secrets`. Records of the kinds `recalls` are kept for `news`."""
        self.path = path
        self._conceal = secrets.conceal
        self._recalls = recalls
        self._recent: list[Record] | None = []
        self._file = AppendFile(path)
        self._budget_bytes = budget_bytes
        self._frames = FrameEncoder()
        self._buffer: list[bytes] = []
        self._buffered_bytes = 0
        self._oldest = 0.0
        self._is_ahead = False
        """Whether records were handed over since the last sync."""
        self._synced_at = 0.0

    def write(self, record: Record) -> None:
        """Commit findings, quarantines, and the beginning and end of a run; append all other records."""
        if isinstance(record, _DURABLE):
            self.commit(record)
        else:
            self.append(record)

    def append(self, record: Record, now: float | None = None) -> None:
        """Buffer a record. It is written with its frame, at most 200 ms later if `tick` is called. Raises `StorageError`."""
        size, budget = self._file.size, self._budget_bytes
        # Half of the budget is the least share in `_EVICTION`, so most records need no search.
        if size > budget * 0.5 and any(size > share * budget and isinstance(record, of) for of, share in _EVICTION):
            return
        self._add(record, now)
        if len(self._buffer) >= FRAME_RECORDS or self._buffered_bytes >= FRAME_BYTES:
            self.flush()

    def tick(self, now: float) -> None:
        """Flush records that were buffered 200 ms ago, and sync records that were flushed a second ago. `now` is a time of `time.monotonic`."""
        if self._buffer and now - self._oldest >= FLUSH_INTERVAL_S:
            self.flush()
        if self._is_ahead and now - self._synced_at >= SYNC_INTERVAL_S:
            self._sync()
            self._synced_at = now

    def flush(self) -> None:
        """Write buffered records to the file. The records survive this process, but not a power failure. Raises `StorageError`."""
        if self._buffer:
            frame = self._frames.frame(self._buffer)
            self._buffer = []
            self._buffered_bytes = 0
            self._file.append(frame)

    def commit(self, *records: Record) -> None:
        """Write records, and everything before them, to the disk before returning. Raises `StorageError`.

        If the process dies meanwhile, all of them are written or none, up to `TOGETHER_BYTES`.
        """
        self.hand_over(*records)
        self._sync()

    def hand_over(self, *records: Record) -> None:
        """Write records, and all records before them, so that they survive this process. Raises `StorageError`.

        A power failure may lose the records of the last second.
        """
        for record in records:
            self._add(record)
            if self._buffered_bytes >= TOGETHER_BYTES:
                self.flush()
        self.flush()
        self._is_ahead = True

    def news(self, reader: "JournalReader") -> list[Record]:
        """Return what a reader of this file would return now; from memory, unless there were too many records since the last call."""
        self.flush()
        recent, self._recent = self._recent, []
        if recent is None:
            return reader.read_new()
        # The reader must never return records that were returned from memory.
        reader.position = self._file.size
        return recent

    def close(self) -> None:
        """Flush and close. Raises `StorageError`; the file is closed even then."""
        try:
            self.flush()
            if self._is_ahead:
                self._sync()
        finally:
            self.release()

    def release(self) -> None:
        """Close the file without a flush: after a failed write a further one would fail as well."""
        self._file.close()

    def _sync(self) -> None:
        self._file.sync()
        self._is_ahead = False

    def _add(self, record: Record, now: float | None = None) -> None:
        written = self._conceal(record)
        if self._recent is not None and isinstance(written, self._recalls):
            self._recent.append(written)
            if len(self._recent) > RECENT_RECORDS:
                self._recent = None
        encoded = pack(written)
        if not self._buffer:
            self._oldest = time.monotonic() if now is None else now
        self._buffer.append(encoded)
        self._buffered_bytes += len(encoded)


class JournalReader(Struct):
    """Follows one journal, which may still be written. Damaged content raises no error."""

    path: Path
    kinds: Kinds = ()  # Records that are returned; empty: all.
    read_bytes: int = _READ_BYTES  # Size of one read.
    position: int = 0  # Bytes whose records were returned.
    damage: str | None = None
    """The reason why the rest of the file is unreadable. A torn tail is no damage, because its writer was killed."""

    def read_new(self) -> list[Record]:
        """Return the records of the frames that were completed since the last call, without an incomplete last frame."""
        records: list[Record] = []
        while found := self.read_some():
            records += found
        return records

    def read_some(self) -> list[Record]:
        """Return the records of the next piece of the file; empty if there is no further whole frame."""
        wanted = self.read_bytes
        while self.damage is None:
            data = read_piece(self.path, self.position, wanted)
            found = scan(data, self.kinds)
            self.position += found.consumed
            if found.ending is ScanEnding.DAMAGED:
                self.damage = f"{found.reason} at byte {self.position}"
            if found.records or len(data) < wanted:
                return found.records
            # The first frame is longer than one read. With a fixed size, the reader would never get past such a frame.
            wanted = len(data) + found.missing
        return []

    def notes(self, loss: Loss = Loss.JOURNAL) -> list[Note]:
        return [] if self.damage is None else [damage_note(self.path, self.damage, loss)]


class Journals:
    """Finds journals as they appear, and follows all of them. Only the records of one incarnation are in order."""

    def __init__(
        self,
        layout: RunLayout,
        *,
        above: int | None = None,
        below: int | None = None,
        kinds: Kinds = (),
        read_bytes: int = _READ_BYTES,
    ) -> None:
        """`above`: read journals of the run that began after this incarnation, without results of `checker replay`; None: all.

        `below`: read only journals of earlier incarnations; None: all.
        Only records of these `kinds` are read; empty: all.
        """
        self._layout = layout
        self._kinds = kinds
        self._above = above
        self._below = below
        self._read_bytes = read_bytes
        self._readers: dict[int, list[JournalReader]] = {}
        self._known: set[Path] = set()
        self._damage: list[Note] = []
        """Notes on journals that are finished."""

    def read_new(self, *, known_only: bool = False) -> Iterator[tuple[int, Record]]:
        """Yield (incarnation, record) for everything that incarnations above `above` wrote since the last call.

        With `known_only` the directory is not listed, for callers that know that there is no new journal.
        """
        if not known_only:
            self._discover()
        for incarnation in self._readers:
            for record in self._new(incarnation):
                yield incarnation, record

    def new_of_each(self) -> list[tuple[int, Iterator[Record]]]:
        """Return (incarnation, iterator of records since the last call). The iterator reads the file piece by piece."""
        self._discover()
        return [(incarnation, self._new(incarnation)) for incarnation in self._readers]

    def finish(self, incarnation: int) -> Iterator[tuple[int, Record]]:
        """Yield the last records of a dead incarnation, which will write nothing more."""
        if incarnation not in self._readers:
            self._discover()
        for reader in self._readers.pop(incarnation, ()):
            # An incomplete last frame will never be completed.
            while found := reader.read_some():
                yield from ((incarnation, record) for record in found)
            self._damage += reader.notes()

    def finish_all(self) -> Iterator[tuple[int, Record]]:
        """Yield the last records of all incarnations: no writer is alive."""
        self._discover()
        for incarnation in list(self._readers):
            yield from self.finish(incarnation)

    def notes(self) -> list[Note]:
        current = (note for readers in self._readers.values() for reader in readers for note in reader.notes())
        return [*self._damage, *current]

    def _new(self, incarnation: int) -> Iterator[Record]:
        for reader in self._readers[incarnation]:
            while found := reader.read_some():
                yield from found

    def _discover(self) -> None:
        found = [
            (incarnation, path)
            for incarnation, path in self._layout.journal_paths()
            if (self._above is None or incarnation > self._above)
            and (self._below is None or incarnation < self._below)
            and path not in self._known
        ]
        # Records that the snapshot contains would count twice.
        covered = self._layout.head().covered if found else ()
        for incarnation, path in found:
            self._known.add(path)
            if incarnation not in covered and (self._above is None or not holds_replays(path)):
                reader = JournalReader(path, self._kinds, self._read_bytes)
                self._readers.setdefault(incarnation, []).append(reader)


_FIRST_FRAME_BYTES = 1 << 16


class LastRun(Struct, frozen=True):
    """The run of a corpus that was begun or resumed last."""

    started: RunStarted
    first: int  # Incarnation of the supervisor that began it. Lower incarnations belong to earlier runs.
    journal: Path  # Journal of the supervisor that continued the run last.


def last_run(layout: RunLayout) -> LastRun | None:
    """Return the last run; None if the corpus has none, or only the snapshot of finished runs."""
    begun = [
        (incarnation, path, record)
        for incarnation, path in layout.journal_paths()
        if isinstance(record := _first_record(path), RunStarted)
    ]
    if not begun:
        return None
    _, path, last = begun[-1]
    # A resumed run has one journal per supervisor. The first one contains its seed and its start.
    started = [(incarnation, run) for incarnation, _, run in begun if run.run == last.run]
    first, run = min(started, key=lambda pair: pair[0])
    return LastRun(run, first, path)


def holds_replays(path: Path) -> bool:
    """Whether a journal contains only results of `checker replay`, so that it belongs to no run."""
    return isinstance(_first_record(path), FindingReplayed) and all(
        isinstance(record, FindingReplayed) for record in JournalReader(path).read_new()
    )


def _first_record(path: Path) -> Record | None:
    """Return the first record of a journal. A supervisor commits the beginning of its run as the first frame."""
    # Only the first frame is read, because each worker reads all journals at its start.
    records = records_at(path, 0, most_bytes=_FIRST_FRAME_BYTES)
    return records[0] if records else None


def records_at(path: Path, place: int, *, most_bytes: int = HEADER.size + LIMIT_BYTES) -> list[Record]:
    """Return the records of the frame that begins at a place; empty if it is damaged, incomplete or longer than `most_bytes`."""
    head = read_piece(path, place, HEADER.size)
    length = HEADER.unpack(head)[0] if len(head) == HEADER.size else 0
    return scan(read_piece(path, place, min(HEADER.size + length, most_bytes))).records
