"""The limits that a worker enforces on itself: memory, a watchdog, death with its parent."""

import ctypes
import faulthandler
import fcntl
import multiprocessing
import os
import signal
import sys
import time
from typing import NamedTuple

import psutil

_CHECK_S = 1.0
_WORTH = 10
"""A worker leaves only after this many times the CPU time that its successor needs for opening the description, so that
replacements cost less than a tenth.
"""
WATCHDOG_S = 60.0
"""Seconds without a sign of the loop after which a worker ends itself: more than every deadline of the supervisor, in case there is no supervisor. A native call that holds the GIL cannot prevent this, because a C thread ends the process.
"""

_PR_SET_PDEATHSIG = 1


class Limits:
    """The memory limits of a worker.

    The loop tests them in every round, which costs a comparison, and measures once a second. Create the object when the
    description is open, because growth counts from then on. A worker that is no child process (inline) has no limit, because
    its exit would not free memory. `once_s`: CPU-seconds of opening that a successor does not need.
    """

    def __init__(
        self, most_bytes: int, growth_bytes: int, *, once_s: float = 0.0, watchdog_s: float = WATCHDOG_S
    ) -> None:
        self._watchdog_s = watchdog_s
        self._next_at = 0.0
        self._process = psutil.Process() if multiprocessing.parent_process() else None
        if self._process is not None:
            opened_s = time.process_time()
            self._memory = Memory(most_bytes, growth_bytes, self._bytes(), opened_s, opened_s - once_s)

    def exceeded(self, now: float) -> bool:
        """Whether the worker has grown too much and should exit. `now` is a time of `time.monotonic`."""
        if now < self._next_at or self._process is None:
            return False
        self._next_at = now + _CHECK_S
        faulthandler.dump_traceback_later(self._watchdog_s, exit=True)
        return self._memory.is_spent(self._bytes(), time.process_time())

    def _bytes(self) -> int:
        assert self._process is not None
        return int(self._process.memory_info().rss)


class Memory(NamedTuple):
    """The memory that a worker may use: resident bytes, and CPU-seconds of its process."""

    most_bytes: int
    """The limit, or twice `opened_bytes` if that is more; otherwise a successor for a large description would be replaced at once."""
    growth_bytes: int
    """Growth since the description was opened. A replacement worker grows as much again."""
    opened_bytes: int
    opened_s: float
    again_s: float
    """Seconds in which a replacement opens the description. The first worker needs ten times as long, because it reads the description for all."""

    def is_spent(self, now_bytes: int, now_s: float) -> bool:
        """Whether to exit.

        At the limit, the worker exits at once. Because of growth, it exits only after enough work to pay for opening
        the description again.
        """
        if now_bytes > max(self.most_bytes, 2 * self.opened_bytes):
            return True
        grown = now_bytes - self.opened_bytes
        return grown > self.growth_bytes and now_s - self.opened_s >= _WORTH * self.again_s


def die_with_parents() -> None:
    """Let the system end this process with its supervisor or its fork server, whatever the process is doing (Linux).

    On other systems, the end of the queue and the watchdog have to do this.
    """
    parent = multiprocessing.parent_process()
    if parent is None or not sys.platform.startswith("linux"):
        return
    # The parent process is the fork server. It outlives the supervisor while workers live, because they hold the pipe,
    # and it stops only when the pipe is closed.
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    # The sentinel is a pipe that the supervisor holds open. Closing it raises SIGIO, which ends the process without the GIL.
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(parent.sentinel, fcntl.F_GETFL)
    fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)
    if not parent.is_alive():
        # The supervisor died before the signal was set up.
        os._exit(1)


def end_watchdog() -> None:
    """Stop the watchdog, because the worker is leaving normally."""
    faulthandler.cancel_dump_traceback_later()
