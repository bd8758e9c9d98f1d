"""What the supervisor holds of a worker, whatever kind of life it lives."""

from typing import Protocol

from checker.config.settings import RunSettings
from checker.workers.queues import Receiver, Sender


class WorkerHandle(Protocol):
    """One incarnation, from the outside."""

    @property
    def pid(self) -> int | None:
        """Process of its own; None when it lives in ours."""
        ...

    @property
    def receiver(self) -> Receiver:
        """What it says."""
        ...

    @property
    def sender(self) -> Sender:
        """What it is told."""
        ...

    @property
    def sentinel(self) -> int | None:
        """Becomes readable when its process ends, too; for `multiprocessing.connection.wait`."""
        ...

    def is_alive(self) -> bool:
        """Whether it still runs."""
        ...

    def kill(self) -> None:
        """End it now, without its help. A thread of our own process cannot be: it is abandoned."""
        ...

    def reap(self) -> str:
        """How it ended, for people. Kills it if it has not, and gives back what it held here."""
        ...


class Launcher(Protocol):
    """Starts workers."""

    def start(self, incarnation: int, settings: RunSettings) -> WorkerHandle:
        """A worker with this number, about to open. `OSError` or `EOFError` when none can be started."""
        ...

    def close(self) -> None:
        """Give back what outlives single workers."""
        ...
