"""Reports that follow their run, written by a process of its own: the run is not held up, and what is left at its end is little."""

import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess, SpawnContext, SpawnProcess
from pathlib import Path

from msgspec import Struct, field

from checker.config.settings import RunSettings
from checker.core.reports import WritingProgress
from checker.corpus.records import Note
from checker.reporting.report import INCOMPLETE
from checker.reporting.whole import discard
from checker.reporting.writing import FollowedRun, Target, WrittenReports, main

_TRIES = 2
"""Everything is on disk: another process can do what one that was killed has not."""
_POLL_S = 0.05
_GRACE_S = 1.3
"""What a process may take to say how far it came, when the time is over: more than it ever needs, for machines that are busy,
and with what reports may take (`cli.execute.REST_S`) still less than the two seconds after which a command is late."""
_LEAVING_S = 2.0
_INTERRUPTED = "interrupted"
_NOTHING_YET = WritingProgress(0, 0.0, is_idle=False)


class Finished(Struct, frozen=True):
    """What is to be told of such reports when their run is over."""

    problems: dict[str, str] = field(default_factory=dict)
    """Path -> why there is no report, as a sentence."""
    notes: tuple[Note, ...] = ()
    """What is missing in those that there are."""


class FollowingReports:
    """Follows a run into its reports; to be closed."""

    def __init__(self, settings: RunSettings, run: FollowedRun, targets: Sequence[Target]) -> None:
        """`targets`: (format, path) of each report."""
        self.targets = targets
        self._settings = settings
        self._run = run
        self._process: ForkServerProcess | SpawnProcess | None = None
        self._ends: tuple[Connection, ...] = ()
        self._told: WritingProgress | None = None
        """What it said last of how far it is."""
        self._last: WrittenReports | None = None
        self._start()

    def progress(self) -> WritingProgress | None:
        """How far they have come; None where nobody says so: there is time enough, or nobody writes."""
        if self._process is None:
            return None
        try:
            return self._told if self._heard() is None else None
        except (EOFError, OSError):
            return None

    def finish(self, until: float | None, given_up: Callable[[], bool]) -> Finished:
        """Wait for the rest of them, until that moment of `time.monotonic`, or until nobody wants it any more."""
        for _ in range(_TRIES):
            if self._process is None:
                self._start()
            written = self._answer(until, given_up)
            if written is not None:
                return self._finished(written)
            self.close()
        return self._finished(
            WrittenReports(problem="its process was killed, or none could be started")
        )

    def close(self) -> None:
        """End the process; what is not whole is removed."""
        self._end()
        for end in self._ends:
            end.close()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        # It sees the end of its pipe.
        self._ends[0].close()
        process.join(_LEAVING_S)
        if process.exitcode is None:
            process.kill()
            process.join(_LEAVING_S)
        if process.pid is not None:
            for _, path in self.targets:
                discard(Path(path), process.pid)

    def _start(self) -> None:
        context: ForkServerContext | SpawnContext
        if sys.platform.startswith("linux"):
            # The server is there already, for the workers.
            context = multiprocessing.get_context("forkserver")
        else:
            context = multiprocessing.get_context("spawn")
        down_reading, down = context.Pipe(duplex=False)
        up, up_writing = context.Pipe(duplex=False)
        self._ends = (down, up)
        self._told = None if self._settings.max_time_s is None else _NOTHING_YET
        about = self._settings.to_dict(), self._run.to_plain(), self.targets
        arguments = (*about, down_reading, up_writing)
        process = context.Process(target=main, args=arguments, name="checker-reports", daemon=True)
        try:
            process.start()
        except (OSError, EOFError):
            # Told in the end, if there is still none then.
            return
        finally:
            # Ours must go, or the end of the process would never be the end of the pipe.
            down_reading.close()
            up_writing.close()
        self._process = process

    def _answer(self, until: float | None, given_up: Callable[[], bool]) -> WrittenReports | None:
        """What the process says; None when it is dead."""
        down = self._ends[0]
        try:
            if not given_up():
                down.send_bytes(json.dumps(until).encode())
            while not given_up():
                if (written := self._heard(_POLL_S)) is not None:
                    return written
                if until is not None and time.monotonic() > until + _GRACE_S:
                    return self._last_word() or WrittenReports(problem="it was not ready in time")
        except (EOFError, OSError):
            return None
        return self._last_word() or WrittenReports(problem=_INTERRUPTED)

    def _last_word(self) -> WrittenReports | None:
        """What a process had finished before it heard that nobody waits."""
        self._end()
        with suppress(EOFError, OSError):
            return self._heard()
        return None

    def _heard(self, timeout_s: float = 0.0) -> WrittenReports | None:
        """The last word of the process, if it is there; how far it is is taken note of. Raises `EOFError` and `OSError`."""
        up = self._ends[1]
        while self._last is None and up.poll(timeout_s):
            said = up.recv_bytes()
            if said.startswith(b"["):
                self._told = WritingProgress(*json.loads(said))
            else:
                self._last = WrittenReports.from_bytes(said)
        return self._last

    def _finished(self, written: WrittenReports) -> Finished:
        if written.problem:
            failed = "was not" if written.problem == _INTERRUPTED else "cannot be"
            said = {path: f"{failed} written: {written.problem}" for _, path in self.targets}
        else:
            said = {path: f"cannot be written: {why}" for path, why in written.problems}
        names = {path: name for name, path in self.targets}
        problems = {path: f"{path}: the {names[path]} report {why}" for path, why in said.items()}
        notes = tuple(Note(*fields) for fields in written.notes)
        if written.left_out:
            least = "" if written.is_counted else "at least "
            text = (
                f"{least}{written.left_out:,} interactions are left out, the last ones: "
                "there was no time left to write them"
            )
            left = [path for _, path in self.targets if path not in problems]
            notes += tuple(Note(INCOMPLETE, "", "", f"{path}: {text}") for path in left)
        return Finished(problems, notes)
