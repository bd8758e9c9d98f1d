"""The supervisor's handle of a worker on any machine: no descriptor, path, process or clock of the other side."""

from typing import Protocol

from msgspec import Struct

from checker.config.settings import RunSettings
from checker.supervisor.lock import Ownership
from checker.supervisor.state import WorkerSnapshot
from checker.workers.messages import Down, Up


class Departure(Struct, frozen=True):
    """The end of a worker that did not announce it."""

    reason: str
    """For people."""
    is_from_outside: bool = False
    """Whether SIGKILL from an operator or a system without memory may have ended it. Then no case is surely to blame."""


class WorkerHandle(Protocol):
    """One incarnation, from the outside."""

    def tell(self, message: Down) -> None:
        """Send; to the dead, nothing. Never waits."""
        ...

    def hear(self) -> tuple[list[Up], bool]:
        """Return the messages since the last call, in order, and whether they were the last. Never waits.

        Everything that it had written into its journal when it said something is in the corpus of this side by now: a worker that
        shares no disk streams the frames of its journal before its messages, and its handle appends them.
        """
        ...

    def snapshot(self) -> WorkerSnapshot:
        """Return the state of the worker, or its state at the end."""
        ...

    def kill(self) -> None:
        """End it now, without its help. A thread of our own process cannot be: it is abandoned."""
        ...

    def reap(self) -> Departure:
        """Return the end of the worker. Kills it if it lives, and releases its resources here; `snapshot` still works."""
        ...

    def forget(self) -> None:
        """Remove what it left in flight, once that is on record."""
        ...


class Launcher(Protocol):
    """Starts workers."""

    def start(self, incarnation: int, settings: RunSettings, ownership: Ownership) -> WorkerHandle:
        """A worker with this number, about to open. `OSError` or `EOFError` when none can be started.

        Processes of this machine are registered with the ownership, so that none outlives a supervisor that dies.
        """
        ...

    def wait(self, timeout_s: float) -> None:
        """Until one of its workers that are not reaped has said something or ended, or the time is over."""
        ...

    def close(self) -> None:
        """Give back what outlives single workers."""
        ...
