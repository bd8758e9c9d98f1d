"""Closed journals, compacted into one file that is renamed into place: start-up reads little, and a kill at any time loses nothing.

The file has frames as journals have, with its header in the first. The header names the incarnations whose journals the
snapshot contains: such a journal is about to be removed and must not be read, because its records would count twice.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush

from msgspec import Struct, field
from msgspec.structs import replace

from checker.corpus import files
from checker.corpus.codec import FrameEncoder, ScanEnding, pack, scan
from checker.corpus.fold import RunView, fold
from checker.corpus.journal import JournalReader, Journals, Loss, damage_note
from checker.corpus.layout import RunLayout, header_in
from checker.corpus.records import (
    FIXED,
    GONE,
    Above,
    CorpusEntry,
    Finding,
    FindingReplayed,
    Note,
    Quarantined,
    Record,
    SignalsSeen,
    SnapshotHeader,
    ValueGone,
    ValueSeen,
    agree,
)

_QUICK_S = 0.35
"""Entries up to this cost count as equal, in seconds. On a busy machine a response of 1 ms takes 100 ms."""


def favoured(entries: Iterable[CorpusEntry]) -> list[CorpusEntry]:
    """Return a small set of entries that together have all ids of observed behaviour: greedy, most new ids for their cost first.

    The result does not depend on the order of `entries`, because that order depends on timing.
    """
    # Deduplicated by `repr`, because a literal in a binding may be a list, which has no hash.
    ordered = sorted(
        {repr(entry): entry for entry in entries}.values(), key=lambda one: (_cost(one), one.label, repr(one))
    )
    # Greedy, because the smallest set of entries that covers all ids is the set cover problem, which is NP-hard.
    uncovered = {number for entry in ordered for number in entry.ids}
    heap = [(-_worth(entry, uncovered), place) for place, entry in enumerate(ordered)]
    heapify(heap)
    kept = []
    while heap and uncovered:
        worth, place = heappop(heap)
        entry = ordered[place]
        now = -_worth(entry, uncovered)
        if not now:
            continue
        if now > worth:
            # Entries that were taken since then cover some of these ids, so the position in the heap is outdated. The
            # entry is pushed back (lazy greedy).
            heappush(heap, (now, place))
            continue
        uncovered.difference_update(entry.ids)
        kept.append(entry)
    return kept


def _cost(entry: CorpusEntry) -> float:
    """Return the cost of an entry in seconds, at least `_QUICK_S` per step: differences between faster ones are noise."""
    return min(max(_QUICK_S, entry.cost_s), 3600.0) * max(len(entry.steps), 1)


def _worth(entry: CorpusEntry, uncovered: set[int]) -> float:
    return sum(number in uncovered for number in set(entry.ids)) / _cost(entry)


_VALUES = 64

Numbered = tuple[int, Record]


def condense(pairs: Sequence[Numbered]) -> list[Record]:
    """Return the records that outlive their runs, most important first, from (incarnation, record) pairs.

    These are findings, quarantined cases, entries, signals and values. Other records of finished runs are not needed, and
    journals of unfinished runs stay.
    """
    view = fold((number, record) for number, record in pairs if isinstance(record, _OF_FAILURES))
    records: list[Record] = []
    for finding in open_findings(view):
        # Reports are ordered by the time when the first version was seen.
        first_seen_at = view.sights.first_seen(finding.fingerprint)[0][0]
        if finding.at == first_seen_at:
            versions = [finding]
        else:
            bare = finding.brief
            bare = replace(bare, investigation=replace(bare.investigation, stage="found"), at=first_seen_at)
            versions = [bare, finding]
        records += versions
    plain = [record for _, record in pairs]
    records += view.quarantined.values()
    records += favoured(record for record in plain if isinstance(record, CorpusEntry))
    signals: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for record in plain:
        if isinstance(record, SignalsSeen):
            signals[record.label] |= dict(record.ids)
    records += (SignalsSeen(label, tuple(sorted(ids.items()))) for label, ids in sorted(signals.items()))
    records += _values(plain)
    return records


_OF_FAILURES = Finding | FindingReplayed | Quarantined


def open_findings(view: RunView) -> list[Finding]:
    """Return the findings that no replay has shown to be fixed, and whose operation still exists, since they were seen last."""
    closed = {name: one.at for name, one in view.replayed.items() if one.result in (FIXED, GONE)}
    seen_at = view.sights.last_seen_at
    return [one for name, one in view.findings.items() if name not in closed or seen_at(name) > closed[name]]


def records_before(layout: RunLayout, incarnation: int) -> Iterator[Numbered]:
    """Yield the (incarnation, record) pairs of the runs that ended before an incarnation began."""
    known = read_snapshot(layout)
    for record in known.records:
        yield 0, record
    for number, path in layout.journal_paths():
        if number < incarnation and number not in known.head.covered:
            for record in JournalReader(path).read_new():
                yield number, record


class Known(Struct, frozen=True):
    """The open findings and the sequences of the runs before an incarnation."""

    findings: Sequence[Finding]  # The open findings.
    entries: Sequence[CorpusEntry]
    """Sequences that together show everything that the runs saw, best for their cost first."""


def known_before(layout: RunLayout, incarnation: int) -> Known | None:
    """Return what the runs that ended before an incarnation began have left; None if there was no such run."""
    view, entries, is_empty = RunView(), list[CorpusEntry](), True
    for number, record in records_before(layout, incarnation):
        is_empty = False
        if isinstance(record, _OF_FAILURES):
            view.absorb(number, record)
        elif isinstance(record, CorpusEntry):
            entries.append(record)
    return None if is_empty else Known(open_findings(view), favoured(entries))


def _values(records: Iterable[Record]) -> list[Record]:
    """Return the newest 64 values of each place that no later DELETE removed."""
    found: dict[tuple[str, str], dict[tuple[type, object], dict[Above, ValueSeen]]] = {}
    for record in records:
        # In the order of the records: a value that is seen after its removal exists again.
        if isinstance(record, ValueSeen):
            place = found.setdefault((record.producer, record.pointer), {})
            key = (type(record.value), record.value)
            # Moved to the end: dictionaries are ordered, so the last entries are those seen most recently.
            contexts = place[key] = place.pop(key, {})
            contexts[record.above] = record
        elif isinstance(record, ValueGone) and record.succeeded:
            for place in found.values():
                contexts = place.get((type(record.value), record.value), {})
                for above in [one for one in contexts if agree(one, record.above)]:
                    del contexts[above]
    return [
        value
        for place in found.values()
        for value in [one for contexts in place.values() for one in contexts.values()][-_VALUES:]
    ]


LIMIT_BYTES = 48 << 20  # Maximum size of a snapshot. With the journals of one run, start-up stays below 64 MiB.

_FRAME_RECORDS = 128
_FRAME_BYTES = 1 << 20
# Classes that are omitted above the limit. Values are omitted first, because `condense` puts them last.
_LEARNED = (CorpusEntry, SignalsSeen, ValueSeen)


class Snapshot(Struct, frozen=True):
    """The records of earlier incarnations."""

    records: tuple[Record, ...] = ()
    head: SnapshotHeader = field(default_factory=SnapshotHeader)
    notes: tuple[Note, ...] = ()
    """One for each damaged file: the snapshot, and the journals that were just compacted."""


def read_snapshot(layout: RunLayout) -> Snapshot:
    """Return the snapshot of a corpus; an empty one if it is missing or damaged."""
    data = files.read_file(layout.snapshot)
    if data is None:
        return Snapshot()
    found = scan(data)
    notes: tuple[Note, ...] = ()
    if found.ending is not ScanEnding.CLEAN:
        # The file was renamed into place when complete, so a short frame is damage and no torn tail.
        reason = f"{found.reason or 'it breaks off'} at byte {found.consumed}"
        notes = (damage_note(layout.snapshot, reason, Loss.SNAPSHOT),)
    return Snapshot(tuple(found.records[1:]), header_in(found.records), notes)


def compact(layout: RunLayout, closed: Collection[int] | None = None) -> Snapshot:
    """Move journals into the snapshot and remove them: those of `closed` incarnations, or all.

    Only the holder of the lock may call this, and only for incarnations whose writers are dead. Raises `StorageError`.
    """
    known = read_snapshot(layout)
    # Temporary files of a killed compaction.
    for path in files.list_directory(layout.root):
        if path.name.startswith(f"{layout.snapshot.name}.") and path.name.endswith(".tmp"):
            files.remove_file(path)
    present = layout.journal_paths()
    taken = [(n, path) for n, path in present if closed is None or n in closed]
    # Incarnations without a journal are dropped from the header, which would otherwise grow for ever.
    covered = {n for n, _ in present}.intersection(known.head.covered)
    fresh = [(n, path) for n, path in taken if n not in covered]
    if fresh:
        pairs: list[Numbered] = [(0, record) for record in known.records]
        readers = [(number, JournalReader(path)) for number, path in fresh]
        for number, reader in readers:
            pairs += [(number, record) for record in reader.read_new()]
        damage = [note for _, reader in readers for note in reader.notes()]
        covered |= {number for number, _ in fresh}
        # The highest incarnation is kept after its journal is gone, because a new process must not get its number.
        head = SnapshotHeader(max(known.head.highest, *covered), tuple(sorted(covered)))
        kept, data = _encoded(condense(pairs), head)
        known = Snapshot(tuple(kept), head, (*known.notes, *damage))
        files.put_in_place(files.write_temporary(layout.snapshot, data), layout.snapshot)
    # Journals are removed only now. A kill before this line leaves journals that the header covers, and readers skip those.
    for _, path in taken:
        files.remove_file(path)
    return known


def lasting_records(layout: RunLayout) -> Snapshot:
    """Return the records of a corpus that outlive their runs: findings, deadly cases, sequences, signals and values.

    The notes are about damaged files.
    """
    known = read_snapshot(layout)
    pairs: list[Numbered] = [(0, record) for record in known.records]
    journals = Journals(layout)
    pairs += journals.finish_all()
    notes = journals.notes()
    return Snapshot(tuple(condense(pairs)), known.head, (*known.notes, *notes))


def add_to_snapshot(layout: RunLayout, records: Iterable[Record]) -> tuple[Note, ...]:
    """Add lasting records of other corpora; return notes about a damaged snapshot.

    The journals stay, so the last run of this corpus does as well.

    Only the holder of the lock may call this. Raises `StorageError`.
    """
    known = read_snapshot(layout)
    _, data = _encoded(condense([(0, record) for record in (*known.records, *records)]), known.head)
    files.replace_file(layout.snapshot, data)
    return known.notes


def _encoded(records: list[Record], head: SnapshotHeader) -> tuple[list[Record], bytes]:
    frame = FrameEncoder().frame
    parts, kept, buffer = [frame([pack(head)])], list[Record](), list[bytes]()
    size = buffered = 0
    for record in records:
        # Findings are never omitted, because nothing can learn them again.
        if size > LIMIT_BYTES and isinstance(record, _LEARNED):
            continue
        kept.append(record)
        buffer.append(pack(record))
        buffered += len(buffer[-1])
        if len(buffer) >= _FRAME_RECORDS or buffered >= _FRAME_BYTES:
            parts.append(frame(buffer))
            size += len(parts[-1])
            buffer, buffered = [], 0
    if buffer:
        parts.append(frame(buffer))
    return kept, b"".join(parts)
