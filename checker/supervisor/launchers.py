"""Workers on this machine, as processes or threads: two pipes, and slots in a file that outlives them.

The time that a worker waits for a processor is not counted against it.
"""

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import pairwise
from multiprocessing import Pipe, forkserver, resource_tracker, util
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext, ForkServerProcess, SpawnContext, SpawnProcess
from pathlib import Path
from time import monotonic_ns
from typing import Any, Final

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
"""Index of the nanoseconds spent waiting for a processor in `/proc/PID/schedstat` (Linux, scheduler/sched-stats)."""
_NANO: Final = 1e-9


def waited_s(pid: int, processes: Path = _PROCESSES) -> float:
    """Return the seconds that the main thread of a process has waited for a processor; 0 if the system does not report it."""
    try:
        return int((processes / str(pid) / "schedstat").read_bytes().split()[_WAITED]) * _NANO
    except (OSError, ValueError, IndexError):
        return 0.0


def age_s(mark_ns: int, now_ns: int) -> float:
    """Return the seconds since a mark."""
    return (now_ns - mark_ns) * _NANO


class FairAge:
    """The age of a mark that a process made, without the time that the process has waited for a processor since then."""

    __slots__ = ("_mark_ns", "_seen_s", "_waited_s")

    def __init__(self) -> None:
        self._mark_ns = 0
        self._seen_s = 0.0
        """Total waiting time at the last reading."""
        self._waited_s = 0.0
        """Total waiting time at the last reading before the mark."""

    def of(self, mark_ns: int, now_ns: int, waited_s: float) -> float:
        """Return the seconds since the mark; `waited_s` is the total waiting time so far.

        Waiting time between the last reading and the mark is subtracted, too, because it cannot be separated from later
        waiting.
        """
        if mark_ns != self._mark_ns:
            self._mark_ns, self._waited_s = mark_ns, self._seen_s
        # For a dead process the system reports 0.
        self._seen_s = max(self._seen_s, waited_s)
        return max(0.0, age_s(mark_ns, now_ns) - (self._seen_s - self._waited_s))


class LocalWorker:
    """A worker that shares the disk and the clock of the supervisor."""

    _sentinel: int | None = None  # A descriptor that becomes readable when the worker ends.

    def __init__(self, incarnation: int, settings: RunSettings, sender: Sender, receiver: Receiver) -> None:
        self._slots = RunLayout(Path(settings.corpus.folder)).inflight(incarnation)
        self._sender = sender
        self._receiver = receiver
        self._has_news = False
        self._is_over = False
        self._heartbeat_ns = 0
        self._silence = FairAge()
        self._acting = FairAge()
        self.is_reaped = False

    @property
    def pid(self) -> int | None:
        """Return None: a thread has no process of its own."""
        return None

    def tell(self, message: Down) -> None:
        self._sender.send(message)

    def hear(self) -> tuple[list[Up], bool]:
        """Return the messages since the last call, and whether they were the last."""
        self._sender.flush()
        messages: list[Up] = []
        while self._has_news and (message := self._receiver.get_nowait()) is not None:
            if isinstance(message, Up):
                messages.append(message)
        # The exit code is not used here: when the fork server dies, it reads 255 although the worker is alive. EOF is reliable.
        return messages, self._is_over or self._receiver.closed

    def snapshot(self) -> WorkerSnapshot:
        """Return the state of the worker, or its state at the end."""
        reader = InflightReader(self._slots)
        slots = tuple(reader.slots())
        # A worker that ends normally removes its slots before its last message. The last heartbeat of the worker still counts.
        self._heartbeat_ns = heartbeat_ns = reader.heartbeat_ns or self._heartbeat_ns
        lane = reader.acting_lane
        acting = slots[lane] if lane is not None and lane < len(slots) else None
        if acting is not None and acting.stage is Stage.IDLE:
            acting = None
        now_ns, waited = monotonic_ns(), self._waited_s(reader.pid)
        # Both ages are updated at each call, even without a mark, so that only waiting after the mark is subtracted.
        silent_s = self._silence.of(heartbeat_ns or now_ns, now_ns, waited)
        since_ns = now_ns if acting is None else acting.since_ns
        acting_s = self._acting.of(since_ns, now_ns, waited)
        if acting is not None and acting.stage is Stage.HOOK:
            # Hooks are judged by wall time: they are either fast or stuck. The stages of the checker may compute for
            # long on a busy machine.
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
        return waited_s(pid)

    def forget(self) -> None:
        inflight.remove(self._slots)

    def sources(self) -> list[int]:
        """Return the descriptors that become readable when there are messages."""
        mine = [self._receiver.fileno()]
        return mine if self._sentinel is None else [*mine, self._sentinel]

    def note(self, ready: set[int]) -> None:
        """Record which descriptors are readable. This happens before reading, so that no message before the end of a worker is missed."""
        self._is_over = self._sentinel in ready
        self._has_news = self._is_over or self._receiver.fileno() in ready


class LocalLauncher:
    """Waits for the workers of this launcher."""

    def __init__(self, work: Work | None = None) -> None:
        self._work = work
        self._workers: list[LocalWorker] = []

    def wait(self, timeout_s: float) -> None:
        """Wait until a worker has sent a message or ended, at most `timeout_s`."""
        self._workers = [one for one in self._workers if not one.is_reaped]
        sources = [source for one in self._workers for source in one.sources()]
        ready = {one for one in wait(sources, timeout_s) if isinstance(one, int)}
        for worker in self._workers:
            worker.note(ready)

    def capacity(self) -> int:
        """Return that there is no limit: the user sets the number of workers."""
        return sys.maxsize

    def close(self) -> None:
        """Do nothing. Threads need no cleanup, and the fork server serves the next run of this process and ends with the process."""


_CLOSE_GRACE_S = 2.0


class InlineWorker(LocalWorker):
    """A worker in a thread, with the same loop and the same queues. `kill` only asks it to exit: a thread cannot be killed."""

    def __init__(self, incarnation: int, settings: RunSettings, work: Work | None) -> None:
        down_reading, down_writing = Pipe(duplex=False)
        up_reading, up_writing = Pipe(duplex=False)
        super().__init__(incarnation, settings, Sender(down_writing), Receiver(up_reading))
        queues = (Receiver(down_reading), Sender(up_writing, patience_s=PATIENCE_S))
        self._thread = threading.Thread(
            target=live,
            args=(incarnation, settings, queues, work),
            name=f"worker-{incarnation}",
            # A hanging worker must not keep the process alive.
            daemon=True,
        )
        self._thread.start()

    def _waited_s(self, pid: int) -> float:
        """Return 0: the system would report the time of the supervisor's thread."""
        return 0.0

    def kill(self) -> None:
        """Close the queue of the worker, which exits when it reads the end."""
        self._sender.close()

    def reap(self) -> Departure:
        self.kill()
        self._thread.join(_CLOSE_GRACE_S)
        self._receiver.close()
        self.is_reaped = True
        return Departure("abandoned: it hangs" if self._thread.is_alive() else "ended")


class InlineLauncher(LocalLauncher):
    """Starts workers as threads of this process."""

    def start(self, incarnation: int, settings: RunSettings, ownership: Ownership) -> InlineWorker:
        worker = InlineWorker(incarnation, settings, self._work)
        self._workers.append(worker)
        return worker


_PRELOADED = ["checker.workers.starting.preloaded"]
_GRACE_S = 1.0
# SIGKILL has no effect inside of some system calls (a dead network file system). The run then continues without the worker.
_REAP_S = 5.0
_HASH_SEED = "PYTHONHASHSEED"
_STREAMS: Final = 3
_FOLDERS = "checker-locked-"  # Prefix of temporary folders that belong to one process.


class ProcessWorker(LocalWorker):
    """A worker in a process."""

    def __init__(
        self,
        context: ForkServerContext | SpawnContext,
        incarnation: int,
        settings: RunSettings,
        work: Work | None,
        *,
        forks: bool = False,
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
            with _forked_helpers() if forks else nullcontext(), _no_interrupts(), _same_hashes():
                self._process.start()
        except BaseException:
            self._sender.close()
            self._receiver.close()
            raise
        finally:
            # The copies in this process must be closed, because otherwise the end of the worker would not close the pipe.
            down_reading.close()
            up_writing.close()
        # Readable when the process or the fork server ended. Both mean the end of the worker.
        self._sentinel = self._process.sentinel

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def reap(self) -> Departure:
        self.is_reaped = True
        self._sender.close()
        self._receiver.close()
        # A worker that closed its queue is about to exit, perhaps while it writes a traceback to stderr.
        self._process.join(_GRACE_S)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join(_REAP_S)
        code = self._process.exitcode
        if code is None:
            return Departure("unkillable")
        self._process.close()
        if code >= 0:
            return Departure(f"exit code {code}")
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return Departure(f"killed by {name}", is_from_outside=code == -signal.SIGKILL)


class ProcessLauncher(LocalLauncher):
    """Starts workers as processes. `forks`: whether the fork server may be a fork of this process, which has no code of users."""

    def __init__(self, work: Work | None = None, *, forks: bool = False) -> None:
        super().__init__(work)
        self._forks = forks
        self._context: ForkServerContext | SpawnContext
        if sys.platform.startswith("linux"):
            remove_folders_of_dead()
            # The socket of the fork server is in a folder that a later run recognises. The default name `pymp-*` is
            # common to all programs with multiprocessing.
            config = getattr(multiprocessing.current_process(), "_config", None)
            if config is not None and config.get("tempdir") is None:
                with suppress(OSError, StorageError):
                    folder = locked_folder()
                    config["tempdir"] = str(folder)
                    util.Finalize(None, shutil.rmtree, args=(folder, True), exitpriority=-100)
            self._context = multiprocessing.get_context("forkserver")
            if work is None:
                self._context.set_forkserver_preload(_PRELOADED)
        else:
            self._context = multiprocessing.get_context("spawn")

    def start(self, incarnation: int, settings: RunSettings, ownership: Ownership) -> ProcessWorker:
        """Start a worker in a process. Raises `OSError` or `EOFError` if the system gives none."""
        worker = ProcessWorker(self._context, incarnation, settings, self._work, forks=self._forks)
        if worker.pid is not None:
            ownership.register(worker.pid)
        self._workers.append(worker)
        return worker


def locked_folder() -> Path:
    """Return a new temporary folder of this process. If the process is killed, a later run removes the folder. Raises `OSError`.

    A lock inside is held until the process ends. A pid in the name would not be enough, because containers may share the
    folder for temporary files.
    """
    # The folder gets its final name after it is locked. Otherwise another run could take its process for dead.
    new = Path(tempfile.mkdtemp(prefix="checker-new-"))
    take_lock(new / "lock")
    return new.rename(new.with_name(new.name.replace("checker-new-", _FOLDERS, 1)))


def remove_folders_of_dead() -> None:
    """Remove the locked folders of processes that were killed."""
    folders: list[Path] = []
    # `gettempdir` raises if there is no folder for temporary files.
    with suppress(OSError):
        folders = list(Path(tempfile.gettempdir()).glob(f"{_FOLDERS}*"))
    for folder in folders:
        with suppress(OSError, StorageError):
            is_ours = folder.is_dir() and folder.lstat().st_uid == os.getuid()
            if is_ours and isinstance(lock := take_lock(folder / "lock"), Lock):
                shutil.rmtree(folder, ignore_errors=True)
                lock.release()


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block SIGHUP, SIGINT and SIGTERM in all processes that start meanwhile: only the supervisor handles them.

    The resource tracker unblocks SIGINT and SIGTERM when it starts, so it is started first. It does not touch SIGHUP.
    """
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


@contextmanager
def _forked_helpers() -> Iterator[None]:
    """Make the helpers of multiprocessing that are started in this block forks of this process, which has imported two thirds of the modules that workers need.

    The helpers are not forked if this process has another hash seed than workers must have (`_same_hashes`), or if it
    has threads, whose locks a fork would keep.
    """
    spawn = util.spawnv_passfds
    if not sys.flags.hash_randomization and threading.active_count() == 1:
        util.spawnv_passfds = _fork_passfds  # type: ignore[assignment]
    try:
        yield
    finally:
        util.spawnv_passfds = spawn


def _fork_passfds(path: bytes, arguments: Sequence[Any], descriptors: Sequence[int]) -> int:
    """Return the process id of a fork that runs the Python code after `-c` in `arguments`, with these descriptors and the standard streams."""
    # Buffered output would be written twice.
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        for before, after in pairwise((_STREAMS - 1, *sorted(descriptors), os.sysconf("SC_OPEN_MAX"))):
            os.closerange(before + 1, after)
        # The fork has a copy of a held lock, because the server is being started.
        vars(forkserver._forkserver).update(vars(forkserver.ForkServer()))
        exec(str(arguments[-1]), {})
    except SystemExit:
        code = 0
    except BaseException:  # noqa: BLE001 - an error of any class must reach stderr, and no code of this process
        sys.excepthook(*sys.exc_info())
    finally:
        # The registered finalizers belong to this process, so the fork must not run them.
        os._exit(code)


@contextmanager
def _same_hashes() -> Iterator[None]:
    """Give processes that are started in this block the same hash seed in every run.

    Hypothesis iterates over sets of characters when it shrinks, so hashes change the requests. The seed is read at the start
    of a process; forked workers have the seed of the fork server.
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
