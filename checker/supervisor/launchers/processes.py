"""Workers as processes of their own: forked from a server that has their modules on Linux, spawned elsewhere."""

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.context import ForkServerContext, ForkServerProcess, SpawnContext, SpawnProcess
from multiprocessing.util import Finalize
from pathlib import Path

from checker.config.settings import RunSettings
from checker.core.errors import StorageError
from checker.core.system import STOP_SIGNALS
from checker.corpus.files import Lock, take_lock
from checker.supervisor.launchers.handle import Departure
from checker.supervisor.launchers.local import LocalLauncher, LocalWorker
from checker.supervisor.lock import Ownership
from checker.workers.entry import Work, main
from checker.workers.queues import Receiver, Sender

_PRELOADED = ["checker.workers.starting.preloaded"]
_GRACE_S = 1.0
_REAP_S = 5.0
_HASH_SEED = "PYTHONHASHSEED"
_FOLDER = "checker-fork-"
"""Prefix of temporary folders that hold the socket of a fork server."""


class ProcessWorker(LocalWorker):
    """One incarnation in a process."""

    def __init__(
        self,
        context: ForkServerContext | SpawnContext,
        incarnation: int,
        settings: RunSettings,
        work: Work | None,
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
        # One that closed its queue is about to end, perhaps with a traceback that somebody wants to read.
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
