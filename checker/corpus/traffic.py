"""Plain interactions, for reporters: many, cheap to write, the first thing to give way when space runs out."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from checker.corpus import files
from checker.corpus.damage import Loss
from checker.corpus.files import AppendFile
from checker.corpus.frames import FrameEncoder
from checker.corpus.journal import JournalReader
from checker.corpus.records import Interaction, Note


class Draft(Protocol):
    """An interaction that is encoded when it is written: most of those that are held back never are."""

    @property
    def label(self) -> str:
        """Of its operation."""
        ...

    def __len__(self) -> int:
        """About how many bytes of memory it takes."""
        ...

    def encode(self) -> bytes:
        """The interaction as bytes."""
        ...


FRAME_RECORDS = 128
FRAME_BYTES = 256 << 10
_READ_BYTES = 64 << 10
"""Answers that are all alike become a thousand times as large when they are read."""
_OLDER = ".older"
_MANY = 64
_SHARE = 8


class TrafficPolicy(Protocol):
    """Which interactions are worth their bytes."""

    budget_bytes: int
    """Of the files of one incarnation."""

    def admit(self, label: str, draft: Draft, *, interesting: bool) -> bool:
        """Whether to write it now."""
        ...

    def rest(self) -> Iterator[Draft]:
        """What to write at the end."""
        ...


class InterestingAndLast:
    """For a night: interesting ones at once, and the last few of each operation at the end.

    Written eviction order: dull ones beyond the last few of their operation; then, when the budget is spent, the older
    half of everything written. Where there are many, one in eight counts: to take leave of an interaction that has left
    the processor's caches costs as much as to judge it.
    """

    def __init__(
        self, *, last: int = 4, held_bytes: int = 16 << 20, budget_bytes: int = 64 << 20
    ) -> None:
        self.budget_bytes = budget_bytes
        self._last = last
        self._held_bytes = held_bytes
        self._size = 0
        self._held: dict[str, deque[tuple[int, Draft]]] = {}
        """With the size of each: asking costs a call."""
        self._offered: dict[str, int] = {}

    def admit(self, label: str, draft: Draft, *, interesting: bool) -> bool:
        """Write what is interesting; hold back the rest."""
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

    def rest(self) -> Iterator[Draft]:
        """The last few of each operation."""
        for waiting in self._held.values():
            yield from (draft for _, draft in waiting)
        self._held.clear()
        self._size = 0


class TrafficWriter:
    """Appends interactions: 3-5 us each that is written, compression and system call included.

    Without a policy it keeps every one, whatever it costs: that is what a cassette wants.
    """

    def __init__(self, path: Path, policy: TrafficPolicy | None = None) -> None:
        self.path = path
        self._policy = policy
        self._file = AppendFile(path)
        self._frames = FrameEncoder()
        self._waiting: list[Draft] = []
        """Admitted, not encoded yet."""
        self._buffer: list[bytes] = []
        self._size = 0

    def offer(self, draft: Draft, *, interesting: bool) -> None:
        """Keep an interaction if the policy says so; `catch_up` encodes it."""
        policy = self._policy
        if policy is None or policy.admit(draft.label, draft, interesting=interesting):
            self._waiting.append(draft)

    def catch_up(self) -> None:
        """Encode what was offered, when there is time for it. Raises `StorageError`."""
        waiting = self._waiting
        if waiting:
            self._waiting = []
            for draft in waiting:
                self._add(draft.encode())

    def flush(self) -> None:
        """Hand everything to the system. Raises `StorageError`."""
        self.catch_up()
        self._write()

    def _write(self) -> None:
        if not self._buffer:
            return
        frame = self._frames.frame(self._buffer)
        self._buffer = []
        self._size = 0
        policy = self._policy
        if policy is not None and self._file.size + len(frame) > policy.budget_bytes // 2:
            self._turn_over()
        self._file.append(frame)

    def close(self) -> None:
        """Write the rest and close. Raises `StorageError`; the file is closed then, too."""
        try:
            self.catch_up()
            for draft in self._policy.rest() if self._policy is not None else ():
                self._add(draft.encode())
            self._write()
        finally:
            self._file.close()

    def _add(self, encoded: bytes) -> None:
        self._buffer.append(encoded)
        self._size += len(encoded)
        if len(self._buffer) >= FRAME_RECORDS or self._size >= FRAME_BYTES:
            self._write()

    def _turn_over(self) -> None:
        self._file.close()
        files.rename(self.path, _older(self.path))
        self._file = AppendFile(self.path)


class TrafficReader:
    """Interactions of one traffic file, oldest first. Never raises for what the file holds."""

    def __init__(self, path: Path) -> None:
        self._older = JournalReader(_older(path), read_bytes=_READ_BYTES)
        self._reader = JournalReader(path, read_bytes=_READ_BYTES)

    def stream(self) -> Iterator[Interaction]:
        """All interactions, a frame or so at a time: a cassette may be larger than memory."""
        for reader in (self._older, self._reader):
            while records := reader.read_some():
                for record in records:
                    if isinstance(record, Interaction):
                        yield record

    def notes(self) -> list[Note]:
        """One for each file that is damaged."""
        return [*self._older.notes(Loss.TRAFFIC), *self._reader.notes(Loss.TRAFFIC)]

    def close(self) -> None:
        """Close the files."""
        self._older.close()
        self._reader.close()


def forget(path: Path) -> None:
    """Remove the traffic of an incarnation of an earlier run."""
    files.remove_file(path)
    files.remove_file(_older(path))


def _older(path: Path) -> Path:
    return path.with_name(path.name + _OLDER)
