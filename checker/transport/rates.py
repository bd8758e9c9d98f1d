"""Rate limits: evenly spaced send times, shared by all processes through a file."""

import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct, field

UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
"""Seconds of each unit that a rate may be given in."""
AUTO: Final = "auto"
"""In place of a rate: no limit of ours, and patience where the target asks for it."""
_MARGIN: Final = 1 + 1e-6
"""The sum of a thousand floats must not come out below a second."""
_TIME: Final = struct.Struct("<d")


def interval_s(rate: str) -> float:
    """Seconds between two requests at a rate such as `50/s`."""
    count, _, unit = rate.partition("/")
    return UNITS[unit] / int(count) * _MARGIN


class RateLimit(Struct):
    """Hands out times to send at: each a fixed interval after the one before, and none before now.

    A count within each second would let two bursts meet at its border; evenly spaced times hold in every second.
    """

    interval_s: float
    path: Path | None = None
    """The file that processes share; None: this process alone."""
    clock: Callable[[], float] = time.monotonic
    """Seconds since a moment that all processes share."""
    _last: float = field(default=float("-inf"))

    def reserve(self) -> float:
        """Reserve and return the next free time of the clock."""
        if self.path is None:
            self._last = max(self.clock(), self._last + self.interval_s)
            return self._last
        with _locked(self.path) as descriptor:
            written = os.pread(descriptor, _TIME.size, 0)
            last = _TIME.unpack(written)[0] if len(written) == _TIME.size else float("-inf")
            due = max(self.clock(), last + self.interval_s)
            os.pwrite(descriptor, _TIME.pack(due), 0)
        return due


class RateLimits(Struct):
    """The limits of one process, by rate."""

    folder: Path | None = None
    """Where those of all workers of a run stand; None: this process alone."""
    clock: Callable[[], float] = time.monotonic
    _known: dict[str, RateLimit] = field(default_factory=dict)

    def of(self, rate: str) -> RateLimit:
        """The limit that all who name this rate share."""
        found = self._known.get(rate)
        if found is None:
            path = None if self.folder is None else self.folder / rate.replace("/", "-per-")
            found = self._known[rate] = RateLimit(interval_s(rate), path, self.clock)
        return found


def forget_rates(folder: Path) -> None:
    """Begin anew: the clock of an earlier run may have been another one."""
    for path in folder.iterdir() if folder.is_dir() else ():
        path.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    # The system lets go of the lock when its holder dies.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)
