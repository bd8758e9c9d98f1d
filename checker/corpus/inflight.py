"""The current work of a worker, in memory that outlives it: a slot for each lane, a heartbeat, the progress of its tasks.

The worker and the supervisor map the file into memory. Every store is one aligned 64-bit word. A case is written in this
order: stage idle, everything else, stage. A reader after `kill -9`, or in between, sees one complete state or an idle lane,
never a mix. Times are those of `time.monotonic_ns`, which all processes share on Linux and macOS.
"""

import mmap
import os
import struct
from enum import IntEnum
from pathlib import Path
from time import monotonic_ns
from zlib import crc32

from msgspec import Struct

from checker.corpus import files


class Stage(IntEnum):
    """The stage of a lane's case. Each stage has its own deadline."""

    IDLE = 0
    MAKE = 1
    HOOK = 2
    SEND = 3
    JUDGE = 4
    RECORD = 5
    SHRINK = 6
    CONFIRM = 7


class Slot(Struct, frozen=True):
    """The state of one lane when its worker last wrote it."""

    stage: Stage
    task: str  # Task id; empty when idle.
    index: int
    since_ns: int  # When the stage began.
    recipe: bytes | None  # Choices of the case; None before it is made.


class Progress(Struct, frozen=True):
    """The progress of a worker in a task."""

    reached: int = 0  # One more than the highest index that is known to be made.
    redone: int = 0  # Number of repeated cases that were begun; they come in order.
    is_ended: bool = False  # Whether the task ended early because a case failed.


_MAKE = Stage.MAKE
_MAKING = int(_MAKE)
_MAGIC = 0x31544F4C53  # "SLOT1"
_WORD = 8
_PAGE = 4096

# Words of the header.
_H_MAGIC, _H_LANES, _H_HEARTBEAT, _H_ACTING, _H_PID, _H_SENT = range(6)
_PROGRESS_WORD = 64
_PROGRESS_ENTRIES = 128
_TALLY_WORD = _PROGRESS_WORD + 2 * _PROGRESS_ENTRIES
"""First word of the tallies. There is one word for each entry of the progress."""
_STATUS_BITS = 10
_FAILED_BITS = 32
_HEADER_BYTES = _PAGE
_ENDED = 1 << 62  # Flag in the next index of a task that ended early.
_REDONE_SHIFT = 40
_INDEX_MASK = (1 << _REDONE_SHIFT) - 1
"""Mask of the next index in the progress of a task. The bits above it count the repeated cases that were begun."""

# Words of a slot after its stage.
_S_SINCE, _S_TASK, _S_INDEX, _S_LENGTH = range(1, 5)
_BEGUN = struct.Struct("@4Q")  # All words of the header. Native byte order, so that each is stored atomically.
_RECIPE_OFFSET = 8 * _WORD
_SLOT_BYTES = 3 * _PAGE
INLINE_BYTES = _SLOT_BYTES - _RECIPE_OFFSET  # A longer recipe goes to a spill file.

_SPILLED = 1 << 63
_SPILL_HEADER = struct.Struct("<I")


class InflightWriter:
    """The slots of one worker. Only its thread writes. A call takes about half a microsecond."""

    def __init__(self, path: Path, lanes: int) -> None:
        self._path = path
        fd = files.create_sized(path, _HEADER_BYTES + lanes * _SLOT_BYTES)
        try:
            self._map = mmap.mmap(fd, 0)
        finally:
            os.close(fd)
        self._bytes = memoryview(self._map)
        self._words = self._bytes.cast("Q")
        self._slots = [(_HEADER_BYTES + lane * _SLOT_BYTES) // _WORD for lane in range(lanes)]
        self._progress: dict[str, int] = {}
        self._task, self._task_word = "0", 0
        self._words[_H_PID] = os.getpid()
        self._words[_H_LANES] = lanes
        self._words[_H_HEARTBEAT] = monotonic_ns()
        # The magic number is written last. Readers ignore a header without it, so a half-written header does not count.
        self._words[_H_MAGIC] = _MAGIC

    def heartbeat(self) -> None:
        self._words[_H_HEARTBEAT] = monotonic_ns()

    def send(self) -> None:
        """Count one more request. The journal contains it up to a second later, or never if the worker dies."""
        self._words[_H_SENT] += 1

    def begin(self, lane: int, task: str, index: int, next_index: int, redone: int = 0) -> None:
        """Begin to make a case, whose code runs from here on. The recipe of the previous case is forgotten.

        All cases of the task below `next_index` are done or in flight, even if the journal does not contain them. The
        same holds for the first `redone` of the cases that are made again.
        """
        words, slot = self._words, self._slots[lane]
        # Idle first and the stage last, so that after `kill -9` a reader sees an idle lane or a complete case.
        words[slot] = 0
        if task != self._task:
            self._task, self._task_word = task, int(task, 16)
        _BEGUN.pack_into(self._bytes, slot * _WORD + _WORD, monotonic_ns(), self._task_word, index, 0)
        words[slot] = _MAKING
        words[_H_ACTING] = lane + 1
        words[self._progress.get(task) or self._claim(task)] = (
            next_index | redone << _REDONE_SHIFT if redone else next_index
        )

    def enter(self, lane: int, stage: Stage, task: str, index: int) -> None:
        """Begin a stage of a case whose code runs from here on. `MAKE` forgets the recipe of the case before."""
        words, slot = self._words, self._slots[lane]
        words[slot] = 0
        words[slot + _S_SINCE] = monotonic_ns()
        if task != self._task:
            self._task, self._task_word = task, int(task, 16)
        words[slot + _S_TASK] = self._task_word
        words[slot + _S_INDEX] = index
        if stage is _MAKE:
            words[slot + _S_LENGTH] = 0
        words[slot] = stage
        words[_H_ACTING] = lane + 1

    def advance(self, lane: int, stage: Stage) -> None:
        """Begin another stage of the same case, with less to write than `enter`. The acting lane does not change."""
        words, slot = self._words, self._slots[lane]
        # A reader in between sees the old stage with the new time, which only delays a deadline.
        words[slot + _S_SINCE] = monotonic_ns()
        words[slot] = stage

    def act(self, lane: int, stage: Stage) -> None:
        """Begin another stage of the same case, whose code runs from here on."""
        words, slot = self._words, self._slots[lane]
        words[slot + _S_SINCE] = monotonic_ns()
        words[slot] = stage
        words[_H_ACTING] = lane + 1

    def leave(self, lane: int) -> None:
        self._words[self._slots[lane]] = 0

    def tally(self, task: str, failed: int, status: int, unmade: int) -> None:
        """Store the counts of a task since its lease: failed cases, first 2xx status (0: none), indices without a case.

        The journal contains them later, or never if the worker dies.
        """
        word = self._progress.get(task) or self._claim(task)
        entry = (word - _PROGRESS_WORD) // 2
        # All counts are in one word, which is stored atomically: a reader never sees the failures of one case with the
        # status of another.
        tally = (unmade << _FAILED_BITS | failed) << _STATUS_BITS | status
        self._words[_TALLY_WORD + entry] = tally

    def end(self, task: str, next_index: int) -> None:
        """End a task early: no case from `next_index` on is to be made."""
        self._words[self._progress.get(task) or self._claim(task)] = next_index | _ENDED

    def clear_acting(self) -> None:
        """Clear the acting case. If the process dies or hangs after this, no case is blamed."""
        self._words[_H_ACTING] = 0

    def recipe(self, lane: int, choices: bytes) -> None:
        """Store the choices of the case in this lane. Raises `StorageError` if a spill file cannot be written."""
        slot = self._slots[lane]
        # The length is cleared while the bytes are incomplete, so that no reader takes half a recipe for a complete one.
        self._words[slot + _S_LENGTH] = 0
        length = len(choices)
        if length <= INLINE_BYTES:
            start = slot * _WORD + _RECIPE_OFFSET
            self._bytes[start : start + length] = choices
            # The length is stored plus one, so that an empty recipe differs from no recipe.
            self._words[slot + _S_LENGTH] = length + 1
        else:
            # The file is not written atomically, so it has a checksum. The length in the slot is stored afterwards and
            # makes the file valid.
            files.write_file(_spill_path(self._path, lane), _SPILL_HEADER.pack(crc32(choices)) + choices)
            self._words[slot + _S_LENGTH] = _SPILLED | (length + 1)

    def close(self) -> None:
        """Unmap and remove the files: a worker that exits normally leaves nothing in flight."""
        lanes = len(self._slots)
        self._words.release()
        self._bytes.release()
        self._map.close()
        remove(self._path, lanes)

    def _claim(self, task: str) -> int:
        """Return the word for the progress of a task. The oldest of 128 entries is overwritten: a worker holds far fewer tasks at a time."""
        if len(self._progress) >= _PROGRESS_ENTRIES:
            word = self._progress.pop(next(iter(self._progress)))
        else:
            word = _PROGRESS_WORD + 2 * len(self._progress) + 1
        # The name is cleared first and written last, so that no task appears with the progress of another.
        self._words[word - 1] = 0
        self._words[word] = 0
        self._words[_TALLY_WORD + (word - _PROGRESS_WORD) // 2] = 0
        self._words[word - 1] = int(task, 16)
        self._progress[task] = word
        return word


class InflightReader:
    """The slots of a worker that is alive, hanging or dead. Missing or damaged files read as nothing in flight."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def heartbeat_ns(self) -> int:
        """Return the time of the last turn of the loop; 0 before the first."""
        return self._word(_H_HEARTBEAT)

    @property
    def acting_lane(self) -> int | None:
        """Return the lane whose code is running, or was running when the process died."""
        acting = self._word(_H_ACTING)
        return acting - 1 if 0 < acting <= self._word(_H_LANES) else None

    @property
    def pid(self) -> int:
        """Return the id of the writing process; 0 if it died before it wrote its id."""
        return self._word(_H_PID)

    @property
    def sent(self) -> int:
        """Return the number of requests that the worker sent. Logins, redirects and liveness checks are not counted."""
        return self._word(_H_SENT)

    def slots(self) -> list[Slot]:
        found = []
        for lane in range(self._word(_H_LANES)):
            slot = self._stable_slot(lane)
            if slot is None:
                break
            found.append(slot)
        return found

    def progress(self) -> dict[str, Progress]:
        """Return the progress of the last 128 tasks, by task id."""
        data = self._read(_PROGRESS_WORD * _WORD, _PROGRESS_ENTRIES * 2 * _WORD)
        words = struct.unpack(f"={len(data) // _WORD}Q", data)
        return {
            f"{task:016x}": Progress(word & _INDEX_MASK, (word & ~_ENDED) >> _REDONE_SHIFT, bool(word & _ENDED))
            for task, word in zip(words[::2], words[1::2], strict=False)
            if task and word
        }

    def tallies(self) -> dict[str, tuple[int, int, int]]:
        """Return task id -> (failed cases since its lease, first 2xx status or 0, indices without a case)."""
        tasks = self._read(_PROGRESS_WORD * _WORD, _PROGRESS_ENTRIES * 2 * _WORD)
        tallies = self._read(_TALLY_WORD * _WORD, _PROGRESS_ENTRIES * _WORD)
        names = struct.unpack(f"={len(tasks) // _WORD}Q", tasks)[::2]
        counts = struct.unpack(f"={len(tallies) // _WORD}Q", tallies)
        return {
            f"{task:016x}": (
                count >> _STATUS_BITS & (1 << _FAILED_BITS) - 1,
                count & (1 << _STATUS_BITS) - 1,
                count >> _STATUS_BITS + _FAILED_BITS,
            )
            for task, count in zip(names, counts, strict=False)
            if task
        }

    def _stable_slot(self, lane: int) -> Slot | None:
        offset = _HEADER_BYTES + lane * _SLOT_BYTES
        before = b""
        for _ in range(100):
            data = self._read(offset, _SLOT_BYTES)
            if len(data) < _SLOT_BYTES:
                return None
            head = data[: 5 * _WORD]
            stage, since, task, index, length = struct.unpack("=5Q", head)
            if not stage:
                return Slot(Stage.IDLE, "", 0, since, None)
            if data[: 4 * _WORD] == before:
                return Slot(Stage(stage), f"{task:016x}", index, since, self._recipe(lane, data, length))
            # The slot is valid only if a second read is equal, because the writer may have changed it during the first.
            before = data[: 4 * _WORD]
        # A slot that changes faster than it can be read twice is not stuck.
        return Slot(Stage.IDLE, "", 0, since, None)

    def _recipe(self, lane: int, data: bytes, length: int) -> bytes | None:
        if not length:
            return None
        size = (length & ~_SPILLED) - 1
        if length & _SPILLED:
            spill = files.read_file(_spill_path(self._path, lane))
            if spill is None or len(spill) != size + _SPILL_HEADER.size:
                return None
            (checksum,) = _SPILL_HEADER.unpack_from(spill)
            choices = spill[_SPILL_HEADER.size :]
            # A case without a recipe can still be blamed by its index. A wrong recipe would show another request.
            return choices if crc32(choices) == checksum else None
        return data[_RECIPE_OFFSET : _RECIPE_OFFSET + size]

    def _word(self, word: int) -> int:
        data = self._read(_H_MAGIC, 8 * _WORD)
        words = struct.unpack("=8Q", data) if len(data) == 8 * _WORD else (0,) * 8
        return words[word] if words[_H_MAGIC] == _MAGIC else 0

    def _read(self, offset: int, size: int) -> bytes:
        return files.read_piece(self._path, offset, size)


def remove(path: Path, lanes: int = 64) -> None:
    """Remove the slots of a worker that has ended, with their spill files."""
    files.remove_file(path)
    for lane in range(lanes):
        files.remove_file(_spill_path(path, lane))


def _spill_path(path: Path, lane: int) -> Path:
    return path.with_name(f"{path.name}.{lane}")
