"""What the process that writes reports is told, and what it tells."""

import json
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

from msgspec.structs import astuple

from checker.core.reports import WritingProgress
from checker.reporting.whole import discard

_LOOK_S = 0.2
"""Between two looks at what is new."""
_TOLD_S = 0.1
"""Between two words on how far it came."""
_OF_LATE_S = 1.0
"""Of writing: what was written before counts half."""
_TO_BE_SURE = 20
"""Interactions that took nothing are reckoned in: to look takes its time whatever it finds, and a few that were found would
seem slow."""


class Progressing(Protocol):
    """Says how a run goes on."""

    @property
    def is_over(self) -> bool:
        """Whether what is on disk is all there is."""
        ...

    def is_late(self, beyond_s: float = 0.0) -> bool:
        """Whether nobody waits any more, or has not for so long."""
        ...

    def tell(self, written: int) -> None:
        """So many interactions are written."""
        ...

    def wait(self) -> None:
        """A moment, unless the run is over before, or there was much to do since the last one."""
        ...


class WritingSpeed:
    """What one interaction takes, of late. Pure: `now` is an argument, in seconds."""

    def __init__(self) -> None:
        self._written = 0
        self._since = 0.0
        self._count = 0.0
        self._spent_s = 0.0

    def begin(self, now: float) -> None:
        """From now on something may be written."""
        self._since = now

    def note(self, now: float, written: int) -> None:
        """So many are written since the first one; where there was nothing to write, the time does not count."""
        if written > self._written:
            self._count += written - self._written
            self._spent_s += now - self._since
        self._written, self._since = written, now
        if self._spent_s > _OF_LATE_S:
            self._count /= 2
            self._spent_s /= 2

    @property
    def each_s(self) -> float:
        """Seconds; 0 while nobody knows."""
        return self._spent_s / (self._count + _TO_BE_SURE) if self._count else 0.0


class ReportOrders:
    """What the process is told: that the run is over, and until when what is left is waited for.

    Nobody waits for reports of which nobody has the other end of the pipe: what there is of them is removed, and the
    process ends, whatever it is doing.
    """

    def __init__(
        self, down: Connection, paths: Sequence[Path], tells: Connection | None = None
    ) -> None:
        """`tells`: where somebody wants to know how far it is."""
        self.is_over = False
        """Whether the run is: what is on disk is all there is."""
        self._until = inf
        self._down = down
        self._paths = paths
        self._changed = threading.Event()
        self._tells = tells
        self._speed = WritingSpeed()
        self._written = 0
        self._looks_since = self._told_at = time.monotonic()
        self._told = WritingProgress(0, 0.0, is_idle=False)
        threading.Thread(target=self._listen, daemon=True).start()

    def is_late(self, beyond_s: float = 0.0) -> bool:
        """Whether the time is over, or has been for so long."""
        return time.monotonic() > self._until + beyond_s

    def tell(self, written: int) -> None:
        """So many interactions are written; said now and then."""
        self._written = written
        now = time.monotonic()
        if now - self._told_at >= _TOLD_S:
            self._say(now, is_idle=False)

    def wait(self) -> None:
        """A moment, unless the run is over before, or there was so much to do that more of it waits already."""
        now = time.monotonic()
        is_idle = now - self._looks_since < _LOOK_S
        self._say(now, is_idle=is_idle)
        if is_idle:
            self._changed.wait(_LOOK_S)
        self._looks_since = time.monotonic()
        self._speed.begin(self._looks_since)

    def _say(self, now: float, *, is_idle: bool) -> None:
        self._told_at = now
        self._speed.note(now, self._written)
        if self._tells is None or self.is_over:
            return
        if (self._told.written, self._told.is_idle) != (self._written, is_idle):
            self._told = WritingProgress(self._written, self._speed.each_s, is_idle)
            # Whoever does not read it any more has closed the other pipe, too.
            with suppress(OSError):
                self._tells.send_bytes(json.dumps(astuple(self._told)).encode())

    def _listen(self) -> None:
        try:
            until = json.loads(self._down.recv_bytes())
            self._until = inf if until is None else until
            self.is_over = True
            self._changed.set()
            self._down.recv_bytes()
        except (EOFError, OSError):
            for path in self._paths:
                discard(path)
            os._exit(0)


class RunIsOver:
    """Of a run that is over, for reports that nobody hurries."""

    is_over = True

    def is_late(self, beyond_s: float = 0.0) -> bool:
        """Never."""
        return False

    def tell(self, written: int) -> None:
        """Nobody asks."""

    def wait(self) -> None:
        """There is nothing to wait for."""
