"""The lock that allows one supervisor per corpus, and the removal of processes that a dead supervisor left behind."""

import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from checker.core.errors import UsageError
from checker.corpus import files
from checker.corpus.files import AppendFile, Lock
from checker.corpus.layout import RunLayout

# The system reports start times relative to its boot, so `psutil` returns different times after each correction of the clock.
_SAME_START_S = 1.0
# A system call may hold up a killed process, but no code of it runs any more, so the run can begin before the process ends.
_PATIENCE_S = 2.0


class Ownership:
    """The right to write into a corpus, and the list of the processes of its run.

    A process is identified by its pid and its start time, because the system reuses pids.
    """

    def __init__(self, layout: RunLayout) -> None:
        self._layout = layout
        self._path = layout.root / "processes"
        self._lock: Lock | None = None
        self._list: AppendFile | None = None

    def __enter__(self) -> Self:
        """Raises `UsageError` if another process holds the lock, `StorageError` if nothing can be written."""
        self._layout.create()
        held = files.take_lock(self._layout.lock)
        if isinstance(held, int):
            holder = f" (pid {held})" if held else ""
            raise UsageError(
                f"another checker is working in {self._layout.root}{holder}; "
                "wait for it, or start this run in another working directory"
            )
        self._lock = held
        kill_leftovers(self._path)
        files.remove_file(self._path)
        self._list = AppendFile(self._path)
        self.register(os.getpid())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._list is not None:
            self._list.close()
            files.remove_file(self._path)
        if self._lock is not None:
            self._lock.release()

    def register(self, pid: int) -> None:
        """Add a process that must not outlive this supervisor."""
        began = _began_at(pid)
        if self._list is not None and began is not None:
            self._list.append(f"{pid} {began!r}\n".encode())


def kill_leftovers(path: Path) -> list[int]:
    """Kill the listed processes that are still running. Return their pids."""
    found = []
    for line in (files.read_file(path) or b"").decode("ascii", "replace").splitlines():
        digits, _, since = line.partition(" ")
        try:
            pid, began = int(digits), float(since)
        except ValueError:
            pid, began = 0, 0.0
        actual = _began_at(pid) if pid > 0 and pid != os.getpid() else None
        if actual is not None and abs(actual - began) < _SAME_START_S:
            found.append(pid)
    for pid in found:
        # The process may have ended meanwhile.
        with suppress(psutil.Error):
            psutil.Process(pid).kill()
    deadline = time.monotonic() + _PATIENCE_S
    while any(_began_at(pid) is not None for pid in found) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def _began_at(pid: int) -> float | None:
    """Return the start time of a process, in seconds since the epoch; None if it is gone, or only its exit status is left."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None
