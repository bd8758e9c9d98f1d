"""Closed journals, compacted into one file by rename: start-up reads little, and a kill in the middle loses nothing.

A head (`checker.corpus.snapshot_headers`), then frames. A journal whose incarnation is covered was taken in already: it is on its way
out, and never read again.
"""

from collections.abc import Collection

from msgspec import Struct, field

from checker.corpus import files
from checker.corpus.codec import RecordEncoder
from checker.corpus.condense import Numbered, condense
from checker.corpus.damage import Loss, damage_note
from checker.corpus.frames import FrameEncoder, ScanEnding, scan
from checker.corpus.journal import JournalReader
from checker.corpus.layout import RunLayout
from checker.corpus.learned import SignalsSeen, ValueSeen
from checker.corpus.records import CorpusEntry, Note, Record
from checker.corpus.snapshot_headers import SnapshotHeader, read_head

LIMIT_BYTES = 48 << 20
"""Of a snapshot. With the journals of one run, start-up stays below 64 MiB."""

_FRAME_RECORDS = 128
_FRAME_BYTES = 1 << 20
# What a corpus can do without when it grows too large; values go first, because `condense` puts them last.
_LEARNED = (CorpusEntry, SignalsSeen, ValueSeen)


class Snapshot(Struct, frozen=True):
    """The records of earlier incarnations."""

    records: tuple[Record, ...] = ()
    head: SnapshotHeader = field(default_factory=SnapshotHeader)
    notes: tuple[Note, ...] = ()
    """One for each file that is damaged: the snapshot, and the journals that were just taken in."""


def read_snapshot(layout: RunLayout) -> Snapshot:
    """The snapshot of a corpus; an empty one when there is none. Never raises for what the file holds."""
    data = files.read_file(layout.snapshot)
    if data is None:
        return Snapshot()
    found_head = read_head(data)
    if found_head is None:
        return Snapshot(notes=(_damage(layout, "its beginning cannot be read"),))
    head, start = found_head
    found = scan(data, start)
    if found.ending is ScanEnding.CLEAN:
        return Snapshot(tuple(found.records), head)
    # It appeared whole: what is short here was not torn by a kill.
    reason = f"{found.reason or 'it breaks off'} at byte {start + found.consumed}"
    return Snapshot(tuple(found.records), head, (_damage(layout, reason),))


def compact(layout: RunLayout, closed: Collection[int] | None = None) -> Snapshot:
    """Take journals into the snapshot and remove them: those of `closed` incarnations, or all there are.

    Only the holder of the lock may call it, and only for incarnations whose writers are dead. Raises `StorageError`.
    """
    known = read_snapshot(layout)
    _sweep(layout)
    present = layout.journal_paths()
    taken = [(n, path) for n, path in present if closed is None or n in closed]
    covered = known.head.covered.intersection(n for n, _ in present)
    fresh = [(n, path) for n, path in taken if n not in covered]
    if fresh:
        pairs: list[Numbered] = [(0, record) for record in known.records]
        readers = [(number, JournalReader(path)) for number, path in fresh]
        for number, reader in readers:
            pairs += [(number, record) for record in reader.finish()]
        damage = [note for _, reader in readers for note in reader.notes()]
        covered |= {number for number, _ in fresh}
        head = SnapshotHeader(max(known.head.highest, *covered), covered)
        kept, data = _encoded(condense(pairs), head)
        known = Snapshot(tuple(kept), head, (*known.notes, *damage))
        files.put_in_place(files.write_temporary(layout.snapshot, data), layout.snapshot)
    for _, path in taken:
        files.remove_file(path)
    return known


def _encoded(records: list[Record], head: SnapshotHeader) -> tuple[list[Record], bytes]:
    encode, frame = RecordEncoder().encode, FrameEncoder().frame
    parts, kept, buffer = [head.encode()], list[Record](), list[bytes]()
    size = buffered = 0
    for record in records:
        if size > LIMIT_BYTES and isinstance(record, _LEARNED):
            continue
        kept.append(record)
        buffer.append(encode(record))
        buffered += len(buffer[-1])
        if len(buffer) >= _FRAME_RECORDS or buffered >= _FRAME_BYTES:
            parts.append(frame(buffer))
            size += len(parts[-1])
            buffer, buffered = [], 0
    if buffer:
        parts.append(frame(buffer))
    return kept, b"".join(parts)


def _damage(layout: RunLayout, reason: str) -> Note:
    return damage_note(layout.snapshot, reason, Loss.SNAPSHOT)


def _sweep(layout: RunLayout) -> None:
    """Remove what a killed compaction left behind."""
    for path in files.list_directory(layout.root):
        if path.name.startswith(f"{layout.snapshot.name}.") and path.name.endswith(".tmp"):
            files.remove_file(path)
