"""Workers on this machine, as processes or as threads: two pipes, and slots in a file that outlives them.

A worker that is ready to run and gets no processor does not hang.
"""

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext, ForkServerProcess, SpawnContext, SpawnProcess
from multiprocessing.util import Finalize
from pathlib import Path
from time import monotonic_ns
from typing import Final

from checker.config.settings import RunSettings
from checker.core.errors import StorageError
from checker.core.system import STOP_SIGNALS
from checker.corpus import inflight
from checker.corpus.files import Lock, take_lock
from checker.corpus.inflight import InflightReader, Stage
from checker.corpus.layout import RunLayout
from checker.supervisor.handle import Departure
from checker.supervisor.lock import Ownership
from checker.supervisor.state import WorkerSnapshot
from checker.workers.entry import PATIENCE_S, Work, live, main
from checker.workers.messages import Down, Up
from checker.workers.queues import Receiver, Sender

_PROCESSES: Final = Path("/proc")
_WAITED: Final = 1
"""Place of the nanoseconds in the queue of a processor among the words of `schedstat` (Linux, scheduler/sched-stats)."""
_NANO: Final = 1e-9


def waited_s(pid: int, processes: Path = _PROCESSES) -> float:
    """Seconds that the main thread of a process has waited for a processor; 0 where the system does not say, or it is gone."""
    try:
        return int((processes / str(pid) / "schedstat").read_bytes().split()[_WAITED]) * _NANO
    except (OSError, ValueError, IndexError):
        return 0.0


def age_s(mark_ns: int, now_ns: int) -> float:
    """Seconds since a mark, by the clock."""
    return (now_ns - mark_ns) * _NANO


class FairAge:
    """The age of a mark that a process made with its clock, without the time in which the process waited for a processor since."""

    __slots__ = ("_mark_ns", "_seen_s", "_waited_s")

    def __init__(self) -> None:
        self._mark_ns = 0
        self._seen_s = 0.0
        """Waited in all, when last looked at."""
        self._waited_s = 0.0
        """Waited in all, when last looked at before the mark was there."""

    def of(self, mark_ns: int, now_ns: int, waited_s: float) -> float:
        """Return the seconds since the mark; `waited_s` is the total waiting time so far.

        What it waited between the last look and the mark is taken off as well, because the time of the mark is not known exactly.
        """
        if mark_ns != self._mark_ns:
            self._mark_ns, self._waited_s = mark_ns, self._seen_s
        # Of one that is gone the system says nothing any more.
        self._seen_s = max(self._seen_s, waited_s)
        return max(0.0, age_s(mark_ns, now_ns) - (self._seen_s - self._waited_s))


class LocalWorker:
    """One incarnation that shares the disk and the clock of the supervisor."""

    _sentinel: int | None = None
    """Becomes readable when the worker ends, too."""

    def __init__(self, incarnation: int, settings: RunSettings, sender: Sender, receiver: Receiver) -> None:
        self._slots = RunLayout(Path(settings.corpus.folder)).inflight(incarnation)
        self._sender = sender
        self._receiver = receiver
        self._has_news = False
        self._is_over = False
        self._silence = FairAge()
        self._acting = FairAge()
        self.is_reaped = False

    def tell(self, message: Down) -> None:
        """Send; to the dead, nothing."""
        self._sender.send(message)

    def hear(self) -> tuple[list[Up], bool]:
        """Return the messages since the last call, and whether they were the last."""
        self._sender.flush()
        said: list[Up] = []
        while self._has_news and (message := self._receiver.get_nowait()) is not None:
            if isinstance(message, Up):
                said.append(message)
        # Not the exit code: when the fork server dies it reads 255 although the worker lives. EOF cannot lie.
        return said, self._is_over or self._receiver.closed

    def snapshot(self) -> WorkerSnapshot:
        """Return the state of the worker, or its state at the end."""
        reader = InflightReader(self._slots)
        slots = tuple(reader.slots())
        lane, heartbeat_ns = reader.acting_lane, reader.heartbeat_ns
        acting = slots[lane] if lane is not None and lane < len(slots) else None
        if acting is not None and acting.stage is Stage.IDLE:
            acting = None
        now_ns, waited = monotonic_ns(), self._waited_s(reader.pid)
        # Looked at each time, also when there is no mark: what it waited before one is not taken off.
        silent_s = self._silence.of(heartbeat_ns or now_ns, now_ns, waited)
        since_ns = now_ns if acting is None else acting.since_ns
        acting_s = self._acting.of(since_ns, now_ns, waited)
        if acting is not None and acting.stage is Stage.HOOK:
            # Code of users is quick, or stuck; ours may have much to do for a first case, and few processors.
            acting_s = age_s(since_ns, now_ns)
        return WorkerSnapshot(
            silent_s=silent_s if heartbeat_ns else None,
            acting=acting,
            acting_s=acting_s,
            slots=slots,
            progress=reader.progress(),
            tallies=reader.tallies(),
            sent=reader.sent,
        )

    def _waited_s(self, pid: int) -> float:
        """Seconds that it waited for a processor so far."""
        return waited_s(pid)

    def forget(self) -> None:
        """Remove what it left in flight."""
        inflight.remove(self._slots)

    def sources(self) -> list[int]:
        """Descriptors that become readable when there is something to hear."""
        mine = [self._receiver.fileno()]
        return mine if self._sentinel is None else [*mine, self._sentinel]

    def note(self, ready: set[int]) -> None:
        """Note the readable descriptors before anything is read, so that no message before the end is missed."""
        self._is_over = self._sentinel in ready
        self._has_news = self._is_over or self._receiver.fileno() in ready


class LocalLauncher:
    """Waits for the workers that it started, wherever on this machine they live."""

    def __init__(self) -> None:
        self._workers: list[LocalWorker] = []

    def _started(self, worker: LocalWorker) -> None:
        self._workers.append(worker)

    def wait(self, timeout_s: float) -> None:
        """Until one of them has said something or ended, or the time is over."""
        self._workers = [one for one in self._workers if not one.is_reaped]
        sources = [source for one in self._workers for source in one.sources()]
        ready = {one for one in wait(sources, timeout_s) if isinstance(one, int)}
        for worker in self._workers:
            worker.note(ready)


_CLOSE_GRACE_S = 2.0


class InlineWorker(LocalWorker):
    """One incarnation in a thread. The same loop, the same queues; only `kill` cannot do what it says."""

    def __init__(self, incarnation: int, settings: RunSettings, work: Work | None) -> None:
        down_reading, down_writing = Pipe(duplex=False)
        up_reading, up_writing = Pipe(duplex=False)
        super().__init__(incarnation, settings, Sender(down_writing), Receiver(up_reading))
        queues = (Receiver(down_reading), Sender(up_writing, patience_s=PATIENCE_S))
        self._thread = threading.Thread(
            target=live,
            args=(incarnation, settings, queues, work),
            name=f"worker-{incarnation}",
            # One that hangs must not keep the process.
            daemon=True,
        )
        self._thread.start()

    def _waited_s(self, pid: int) -> float:
        """Return 0: the figure of the system is about the supervising thread."""
        return 0.0

    def kill(self) -> None:
        """Let it see the end of its queue; it leaves when it looks."""
        self._sender.close()

    def reap(self) -> Departure:
        """Return the end of the worker."""
        self.kill()
        self._thread.join(_CLOSE_GRACE_S)
        self._receiver.close()
        self.is_reaped = True
        return Departure("abandoned: it hangs" if self._thread.is_alive() else "ended")


class InlineLauncher(LocalLauncher):
    """Starts workers as threads of this process."""

    def __init__(self, work: Work | None = None) -> None:
        super().__init__()
        self._work = work

    def start(self, incarnation: int, settings: RunSettings, ownership: Ownership) -> InlineWorker:
        """A worker in a thread."""
        worker = InlineWorker(incarnation, settings, self._work)
        self._started(worker)
        return worker

    def close(self) -> None:
        """Nothing outlives a thread."""


_PRELOADED = ["checker.workers.starting.preloaded"]
_GRACE_S = 1.0
_REAP_S = 5.0
_HASH_SEED = "PYTHONHASHSEED"
_FOLDER = "checker-fork-"
"""Prefix of temporary folders that hold the socket of a fork server."""


class ProcessWorker(LocalWorker):
    """One incarnation in a process."""

    def __init__(
        self, context: ForkServerContext | SpawnContext, incarnation: int, settings: RunSettings, work: Work | None
    ) -> None:
        down_reading, down_writing = context.Pipe(duplex=False)
        up_reading, up_writing = context.Pipe(duplex=False)
        super().__init__(incarnation, settings, Sender(down_writing), Receiver(up_reading))
        self._process: ForkServerProcess | SpawnProcess = context.Process(
            target=main,
            args=(incarnation, settings, down_reading, up_writing, work),
            name=f"checker-worker-{incarnation}",
        )
        try:
            with _no_interrupts(), _same_hashes():
                self._process.start()
        except BaseException:
            self._sender.close()
            self._receiver.close()
            raise
        finally:
            # Ours must go, or the end of the worker would never be the end of the pipe.
            down_reading.close()
            up_writing.close()
        # Readable when the process ended, or the fork server did: both mean that it is over.
        self._sentinel = self._process.sentinel

    @property
    def pid(self) -> int | None:
        """Of the worker."""
        return self._process.pid

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()

    def reap(self) -> Departure:
        """Return the end of the worker."""
        self.is_reaped = True
        self._sender.close()
        self._receiver.close()
        # A worker that closed its queue is about to end, perhaps with a traceback on stderr.
        self._process.join(_GRACE_S)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join(_REAP_S)
        code = self._process.exitcode
        if code is None:
            return Departure("unkillable")
        self._process.close()
        return _ending(code)


class ProcessLauncher(LocalLauncher):
    """Starts workers as processes."""

    def __init__(self, work: Work | None = None) -> None:
        super().__init__()
        self._work = work
        self._context: ForkServerContext | SpawnContext
        if sys.platform.startswith("linux"):
            remove_folders_of_dead()
            _use_own_folder()
            self._context = multiprocessing.get_context("forkserver")
            if work is None:
                self._context.set_forkserver_preload(_PRELOADED)
        else:
            self._context = multiprocessing.get_context("spawn")

    def start(self, incarnation: int, settings: RunSettings, ownership: Ownership) -> ProcessWorker:
        """A worker in a process. `OSError` or `EOFError` when the system gives none."""
        worker = ProcessWorker(self._context, incarnation, settings, self._work)
        if worker.pid is not None:
            ownership.register(worker.pid)
        self._started(worker)
        return worker

    def close(self) -> None:
        """The fork server stays: it ends with this process, and the next run of this process uses it again."""


def remove_folders_of_dead() -> None:
    """Remove the folders of fork servers whose process was killed."""
    folders: list[Path] = []
    # Without a folder for temporary files there are none.
    with suppress(OSError):
        folders = list(Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"))
    for folder in folders:
        with suppress(OSError, StorageError):
            is_ours = folder.is_dir() and folder.lstat().st_uid == os.getuid()
            if is_ours and isinstance(lock := take_lock(folder / "lock"), Lock):
                shutil.rmtree(folder, ignore_errors=True)
                lock.release()


def _use_own_folder() -> None:
    """Have multiprocessing put the socket of the fork server into a folder that a later run can tell from all others.

    By itself it makes `pymp-*`, which any program that uses multiprocessing does. The lock inside is held until this
    process ends. A pid would not do: containers may share the folder for temporary files.
    """
    config = getattr(multiprocessing.current_process(), "_config", None)
    if config is None or config.get("tempdir") is not None:
        return
    with suppress(OSError, StorageError):
        # The folder gets its name when it is locked: before that, another run could take its owner for dead.
        new = Path(tempfile.mkdtemp(prefix="checker-new-"))
        take_lock(new / "lock")
        folder = new.rename(new.with_name(new.name.replace("checker-new-", _FOLDER, 1)))
        config["tempdir"] = str(folder)
        Finalize(None, shutil.rmtree, args=(folder, True), exitpriority=-100)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block the signals that ask to end in all processes that start meanwhile: they are for the supervisor alone.

    The tracker unblocks SIGINT and SIGTERM when it starts, so it is started before; SIGHUP it knows nothing of.
    """
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


@contextmanager
def _same_hashes() -> Iterator[None]:
    """Let processes that start meanwhile hash text alike in every run.

    Hypothesis goes through sets of characters when it shrinks: their order decides what is sent. A process takes its
    seed of hashes when it starts, and forked workers take their server's.
    """
    previous = os.environ.get(_HASH_SEED)
    os.environ[_HASH_SEED] = "0"
    try:
        yield
    finally:
        if previous is None:
            del os.environ[_HASH_SEED]
        else:
            os.environ[_HASH_SEED] = previous


def _ending(code: int) -> Departure:
    if code >= 0:
        return Departure(f"exit code {code}")
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return Departure(f"killed by {name}", is_from_outside=code == -signal.SIGKILL)
