"""The memory of a run (`max-memory`): the size, and the workers that are replaced to stay within the limit."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil
from msgspec import Struct, field

from checker.core.system import shown_size

LEAST_GROWTH_BYTES: Final = 16 << 20
"""Growth for which a replacement pays off: a new worker fills its caches again, and shared pages are counted differently when
processes start or end.
"""
MOST_VAIN_LOOKS: Final = 3
"""Readings in a row, a second apart, after which the run ends. Shared pages are counted differently when processes start or
end, so one reading is not enough.
"""


class MemoryBudget(Struct):
    """The memory limit of a run, and the workers that are replaced to stay below it."""

    most_bytes: int
    _opened: dict[int, int] = field(default_factory=dict)  # Worker -> its bytes at the first reading.
    _leaving: set[int] = field(default_factory=set)  # Workers that were told to exit but whose memory is not free yet.
    _vain_looks: int = 0  # Readings in a row above the limit in which no worker had grown.
    _whole_bytes: int = 0

    def look(self, whole_bytes: int, workers: Mapping[int, int], *, is_opening: bool = False) -> int | None:
        """Return the worker to replace, which is the one that grew most; None if no worker has to be replaced.

        `whole_bytes` is the memory of the whole run. `workers` holds the memory of each worker that has opened the description.
        `is_opening`: another worker is opening the description. That takes twice the memory for many seconds if the
        description is large, so the reading is not compared with the limit.
        """
        self._whole_bytes = whole_bytes
        self._opened = {worker: self._opened.get(worker, size) for worker, size in workers.items()}
        self._leaving &= workers.keys()
        # Only one worker is replaced at a time, because memory becomes free only when a worker has ended, and the
        # replacement has to fill its caches again.
        if whole_bytes <= self.most_bytes or self._leaving:
            self._vain_looks = 0
            return None
        grown = {worker: size - self._opened[worker] for worker, size in workers.items()}
        most = max(grown, key=grown.__getitem__, default=None)
        if most is None or grown[most] < LEAST_GROWTH_BYTES:
            self._vain_looks = 0 if is_opening else self._vain_looks + 1
            return None
        self._vain_looks = 0
        self._leaving.add(most)
        return most

    @property
    def fault(self) -> str:
        """Return why the run has to end; empty if it may continue."""
        if self._vain_looks < MOST_VAIN_LOOKS:
            return ""
        return (
            f"the run was ended: it takes {self._whole_bytes >> 20:,} MiB of memory, more than the "
            f"{shown_size(self.most_bytes)} of `max-memory`, and none of its workers has grown, so that replacing them "
            "would not help; give it more memory, or fewer workers"
        )


def memory_of_tree(root: int | None = None) -> dict[int, int]:
    """Return process id -> bytes of a process (None: this one) and all processes below it.

    A page that n processes share counts 1/n in each, on Linux.
    """
    first = psutil.Process(root)
    found = {}
    for process in (first, *first.children(recursive=True)):
        with suppress(psutil.Error):
            # The resident size alone counts the pages of the fork server once for each worker, 60 MiB each.
            found[process.pid] = _shared_size(process.pid) or int(process.memory_info().rss)
    return found


def _shared_size(pid: int) -> int:
    """Return the proportional set size of a process (proc_pid_smaps(5)); 0 if the system does not report it. Takes 1-2 ms."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) << 10
    return 0
