"""Plain interactions, for reports: many, cheap to write, and removed first when space runs out.

Interactions are stored in segments that can be read and removed separately. Dull and notable interactions have separate
segments.
"""

import os
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from checker.corpus import files
from checker.corpus.codec import FrameEncoder, pack
from checker.corpus.files import AppendFile
from checker.corpus.journal import JournalReader, Loss, damage_note, records_at
from checker.corpus.layout import RunLayout
from checker.corpus.records import Interaction, Note, StoredBody

Keep = Callable[[bytes], int]  # Stores a body and returns its offset in the file.


class InteractionDraft(Protocol):
    """An interaction that is encoded only when it is written: most interactions that are held back are never written."""

    @property
    def label(self) -> str: ...

    def __len__(self) -> int:
        """Return the approximate memory in bytes."""
        ...

    def encode(self, keep: Keep) -> bytes:
        """Return the interaction as bytes, without the bodies that `keep` stores."""
        ...


FRAME_RECORDS = 128
FRAME_BYTES = 256 << 10
SEGMENT_BYTES = 64 << 20
SUFFIX = ".traffic"
DULL = "-dull-"  # In the names of segments to which no finding, saved example or new signal refers.
_MOST_KNOWN = 1 << 16  # Digests of bodies that a segment remembers: 10 MB.
_HELD_BYTES = 32 << 20  # Bytes of bodies that a reader caches.
_MANY = 64
_SHARE = 8


class InterestingAndLast:
    """Policy for runs without requested traffic: interesting interactions at once, and the last few of each operation at the end.

    If there are many, only one in eight is held back: dropping an interaction that has left the processor's caches costs as
    much as judging it.
    """

    def __init__(self, *, last: int = 4, held_bytes: int = 16 << 20) -> None:
        self._last = last
        self._held_bytes = held_bytes
        self._size = 0
        self._held: dict[str, deque[tuple[int, InteractionDraft]]] = {}
        """Each interaction with its size, because computing the size costs a call."""
        self._offered: dict[str, int] = {}

    def admit(self, label: str, draft: InteractionDraft, *, interesting: bool) -> bool:
        """Return True for interesting interactions; hold back the others."""
        if interesting:
            return True
        offered = self._offered[label] = self._offered.get(label, 0) + 1
        if offered > _MANY and offered % _SHARE:
            return False
        waiting = self._held.get(label)
        if waiting is None:
            waiting = self._held[label] = deque()
        size = len(draft)
        waiting.append((size, draft))
        self._size += size
        while len(waiting) > self._last or (self._size > self._held_bytes and waiting):
            self._size -= waiting.popleft()[0]
        return False

    def rest(self) -> Iterator[InteractionDraft]:
        for waiting in self._held.values():
            yield from (draft for _, draft in waiting)
        self._held.clear()
        self._size = 0


class TrafficWriter:
    """Appends interactions. Each one written costs 3-5 us, compression and system call included.

    Without a policy it keeps every interaction, as cassettes need it.
    """

    def __init__(
        self, path: Path, policy: InterestingAndLast | None = None, *, segment_bytes: int = SEGMENT_BYTES
    ) -> None:
        """The names of the segments begin with `path`."""
        self._policy = policy
        self._notable = _Segments(path, "-notable-", segment_bytes)
        self._dull = _Segments(path, DULL, segment_bytes)
        self.waiting: list[tuple[_Segments, InteractionDraft]] = []
        """Admitted, but not encoded yet."""

    def offer(self, draft: InteractionDraft, *, interesting: bool) -> None:
        """Keep an interaction if the policy admits it; `catch_up` encodes it."""
        policy = self._policy
        if policy is None or policy.admit(draft.label, draft, interesting=interesting):
            self.waiting.append((self._notable if interesting else self._dull, draft))

    def catch_up(self) -> None:
        """Encode the offered interactions in idle time. Raises `StorageError`."""
        waiting = self.waiting
        if waiting:
            self.waiting = []
            for segments, draft in waiting:
                segments.add(draft)

    def flush(self) -> None:
        """Write everything to the system. Raises `StorageError`."""
        self.catch_up()
        self._notable.write()
        self._dull.write()

    def close(self) -> None:
        """Write the rest and close. Raises `StorageError`; the files are closed even then."""
        try:
            for draft in self._policy.rest() if self._policy is not None else ():
                self.waiting.append((self._dull, draft))
            self.flush()
        finally:
            self.release()

    def release(self) -> None:
        """Close the files. Unflushed data is lost."""
        self._notable.close()
        self._dull.close()


class _Segments:
    """Files of one kind of traffic, one after the other. Each is created when there is something to write."""

    def __init__(self, path: Path, kind: str, segment_bytes: int) -> None:
        self._path = path
        self._kind = kind
        self._segment_bytes = segment_bytes
        self._count = 0
        self._open: AppendFile | None = None
        self._frames = FrameEncoder()
        self._places: dict[bytes, int] = {}
        """Digest of each body of this segment -> offset of its frame."""
        self._buffer: list[bytes] = []
        self._size = 0

    def add(self, draft: InteractionDraft) -> None:
        encoded = draft.encode(self._keep)
        self._buffer.append(encoded)
        self._size += len(encoded)
        if len(self._buffer) >= FRAME_RECORDS or self._size >= FRAME_BYTES:
            self.write()

    def write(self) -> None:
        """Write the buffer to the system, and end a segment that is full. A body and the interactions that refer to it are in the same segment."""
        if self._buffer:
            frame = self._frames.frame(self._buffer)
            self._buffer = []
            self._size = 0
            self._file.append(frame)
            if self._is_full:
                self.close()

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
            self._places.clear()

    def _keep(self, content: bytes) -> int:
        """Return the offset of the frame that holds a body. The body is written before any interaction that refers to it."""
        name = blake2b(content, digest_size=16).digest()
        place = self._places.get(name)
        if place is None:
            if len(self._places) >= _MOST_KNOWN:
                self._places.clear()
            file = self._file
            place = self._places[name] = file.size
            file.append(self._frames.frame([pack(StoredBody(content))]))
            if self._is_full:
                # Buffered data belongs to this segment, so it is written before the segment ends.
                self._size = FRAME_BYTES
        return place

    @property
    def _is_full(self) -> bool:
        return self._open is not None and self._open.size >= self._segment_bytes

    @property
    def _file(self) -> AppendFile:
        if self._open is None:
            name = f"{self._path.name}{self._kind}{self._count:06d}{SUFFIX}"
            self._open = AppendFile(self._path.with_name(name))
            self._count += 1
        return self._open


class TrafficReader:
    """Reads the interactions of one segment, oldest first. Damaged content raises no error."""

    def __init__(self, path: Path) -> None:
        self._reader = JournalReader(path)
        self._bodies: OrderedDict[int, bytes] = OrderedDict()
        self._size = 0
        self._lost: Note | None = None
        self._began_at = 0.0

    def stream(self) -> Iterator[Interaction]:
        """Yield all interactions, about a frame at a time, because all interactions may not fit into memory."""
        while records := self._reader.read_some():
            for record in records:
                if isinstance(record, Interaction):
                    exchange = record.exchange
                    if exchange.body_at is not None:
                        exchange = replace(exchange, body=self._body(exchange.body_at), body_at=None)
                    if exchange.response_body_at is not None:
                        body = self._body(exchange.response_body_at)
                        exchange = replace(exchange, response_body=body, response_body_at=None)
                    yield replace(record, exchange=exchange)

    @property
    def began_at(self) -> float:
        """Return the time of the first interaction, in seconds since the epoch; 0 without any. The segment does not stay in memory."""
        if not self._began_at:
            self._began_at = next((one.at for one in TrafficReader(self._reader.path).stream()), 0.0)
        return self._began_at

    def notes(self) -> list[Note]:
        lost = [] if self._lost is None else [self._lost]
        return self._reader.notes(Loss.TRAFFIC) or lost

    def forget_bodies(self) -> None:
        """Drop the cached bodies, when no further interaction of the segment is wanted."""
        self._bodies.clear()
        self._size = 0

    def _body(self, place: int) -> bytes:
        """Return the body whose frame begins at `place`; empty if it cannot be read."""
        content = self._bodies.get(place)
        if content is not None:
            self._bodies.move_to_end(place)
            return content
        stored = next((one for one in records_at(self._reader.path, place) if isinstance(one, StoredBody)), None)
        if stored is None:
            self._lost = damage_note(self._reader.path, f"no body at byte {place}", Loss.TRAFFIC)
        content = self._bodies[place] = b"" if stored is None else stored.content
        self._size += len(content)
        while self._size > _HELD_BYTES and len(self._bodies) > 1:
            self._size -= len(self._bodies.popitem(last=False)[1])
        return content


TRIMMED = "trimmed"  # Kind of the note on traffic that was removed before a report could show it.
_PARTS = 16  # A segment is removed as a whole, so up to this fraction of the allowed size is removed unnecessarily.
_LEAST = 64 << 10


def segment_bytes(max_bytes: int, workers: int) -> int:
    """Return the size at which a segment of traffic ends, if the corpus may take `max_bytes`."""
    return min(SEGMENT_BYTES, max(_LEAST, max_bytes // (_PARTS * workers)))


def trim(layout: RunLayout, max_bytes: int, alive: Collection[int] = ()) -> int:
    """Remove traffic until the corpus takes at most `max_bytes`, if that is possible. Return the number of removed bytes.

    Only the holder of the lock may call this. Files to which a worker of the incarnations `alive` may still write stay.
    Raises `StorageError`.
    """
    folders = (layout.traffics, layout.journals, layout.documents, layout.inflights)
    snapshot = _stat(layout.snapshot)
    whole = sum(map(files.directory_bytes, folders)) + (snapshot.st_size if snapshot else 0)
    # The supervisor asks once a second, and a night has a thousand journals.
    if whole <= max_bytes:
        return 0
    segments = {path: found for _, path in layout.traffic_paths() if (found := _stat(path))}
    # Workers append to their last segments. Records written to a removed file would be lost.
    last = {(one, DULL in path.name): path for one, path in sorted(layout.traffic_paths()) if one in alive}
    ranked = sorted(
        (path for path in segments if path not in last.values()),
        # Dull segments first, because no finding, saved example or new signal refers to them; then the oldest.
        key=lambda path: (DULL not in path.name, segments[path].st_mtime_ns, path.name),
    )
    removed = 0
    for path in ranked:
        if whole - removed <= max_bytes:
            break
        files.remove_file(path)
        removed += segments[path].st_size
    return removed


def trimmed_note(max_bytes: int) -> Note:
    """Return the note about removed traffic; equal notes count once."""
    text = (
        f"the corpus reached {max_bytes:,} bytes (`corpus.max-size`), so the oldest traffic was removed: "
        "reports lack the interactions that they had not read yet"
    )
    return Note(TRIMMED, "", "", text)


def _stat(path: Path) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return path.stat()
    return None
