"""Handles of workers on any machine, and the pool of living workers. A handle contains no descriptor, path, process or clock of the other machine."""

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct

from checker.config.settings import RunSettings
from checker.core.system import likely_limit, limit_reached
from checker.supervisor.lock import Ownership
from checker.supervisor.state import WorkerSnapshot, WorkerState
from checker.workers.messages import Down, Up


class Departure(Struct, frozen=True):
    """The end of a worker that did not announce it."""

    reason: str  # A phrase such as `killed by SIGSEGV`.
    is_from_outside: bool = False
    """Whether the worker was killed by SIGKILL. An operator or the OOM killer may have sent it, so no case is known to be the cause."""


class WorkerHandle(Protocol):
    """A worker, from outside."""

    @property
    def pid(self) -> int | None:
        """Return the process id of the worker on this machine; None if it has no process of its own here."""
        ...

    def tell(self, message: Down) -> None:
        """Send a message; a dead worker gets none. Never waits."""
        ...

    def hear(self) -> tuple[list[Up], bool]:
        """Return the messages since the last call, in order, and whether no more can follow. Never waits.

        When a message is returned, all records that the worker wrote before it are in the corpus of this machine. A worker
        without a shared disk sends the frames of its journal first, and its handle appends them.
        """
        ...

    def snapshot(self) -> WorkerSnapshot:
        """Return the state of the worker, or its state at the end."""
        ...

    def kill(self) -> None:
        """Kill the worker. A thread of this process cannot be killed; it is abandoned."""
        ...

    def reap(self) -> Departure:
        """Kill the worker if it lives, release its resources, and return how it ended. `snapshot` still works."""
        ...

    def forget(self) -> None:
        """Remove the slots of the worker after their content is recorded."""
        ...


class Launcher(Protocol):
    """Starts workers."""

    def start(self, incarnation: int, settings: RunSettings, ownership: Ownership) -> WorkerHandle:
        """Start a worker with this number. Raises `OSError` or `EOFError` if that is impossible.

        Processes of this machine are registered with the ownership, so that none outlives a dead supervisor.
        """
        ...

    def wait(self, timeout_s: float) -> None:
        """Wait until a worker that is not reaped has sent a message or ended, at most `timeout_s`."""
        ...

    def capacity(self) -> int:
        """Return the number of workers that could be started now."""
        ...

    def close(self) -> None:
        """Release the resources that workers share."""
        ...


class LiveWorker(Struct, frozen=True):
    """A living worker: its state and its handle."""

    state: WorkerState
    handle: WorkerHandle


class WorkerPool:
    """The living workers by incarnation."""

    def __init__(self, launcher: Launcher, ownership: Ownership) -> None:
        self.launcher = launcher
        self._ownership = ownership
        self.workers: dict[int, LiveWorker] = {}

    def start(self, incarnation: int, settings: RunSettings, now: float) -> LiveWorker | Departure:
        """Start a worker, or return why the system cannot start one."""
        try:
            handle = self.launcher.start(incarnation, settings, self._ownership)
        # Too few open files or too little memory. If retries do not help, the run ends with one sentence (`Restarts`).
        except (OSError, EOFError) as error:
            why = limit_reached(error) or likely_limit()
            return Departure(": ".join(filter(None, ("no process could be started", why))))
        worker = LiveWorker(WorkerState(incarnation, now), handle)
        self.workers[incarnation] = worker
        return worker

    def listen(self, timeout_s: float) -> tuple[list[tuple[LiveWorker, Up]], list[LiveWorker]]:
        """Wait for workers; return their messages, and the workers that are gone."""
        self.launcher.wait(timeout_s)
        received: list[tuple[LiveWorker, Up]] = []
        gone: list[LiveWorker] = []
        for worker in self.workers.values():
            messages, is_over = worker.handle.hear()
            received += [(worker, message) for message in messages]
            if is_over:
                gone.append(worker)
        return received, gone

    def remove(self, worker: LiveWorker) -> Departure:
        del self.workers[worker.state.incarnation]
        return worker.handle.reap()

    @property
    def ready(self) -> list[int]:
        """Return the incarnations that have opened the description."""
        return [one for one, worker in self.workers.items() if worker.state.opened]

    def tell_each(self, messages: Iterable[tuple[int, Down]]) -> None:
        for incarnation, message in messages:
            if (worker := self.workers.get(incarnation)) is not None:
                worker.handle.tell(message)

    def tell_all(self, message: Down) -> None:
        for worker in self.workers.values():
            worker.handle.tell(message)

    def close(self) -> None:
        # All are killed before the first is waited for, so that the waiting times do not add up.
        for worker in self.workers.values():
            worker.handle.kill()
        for worker in list(self.workers.values()):
            self.remove(worker)
            worker.handle.forget()
        self.launcher.close()
