"""The workers that are alive now: started, listened to, looked at, removed."""

from collections.abc import Iterable

from msgspec import Struct

from checker.config.settings import RunSettings
from checker.core.system import likely_limit, limit_reached
from checker.supervisor.handle import Departure, Launcher, WorkerHandle
from checker.supervisor.lock import Ownership
from checker.supervisor.state import WorkerState
from checker.workers.messages import Down, Up


class CrewMember(Struct, frozen=True):
    """A living incarnation: what is known of it, and the way to reach it."""

    state: WorkerState
    handle: WorkerHandle

    def tell(self, message: Down) -> None:
        """Send a message; a dead worker gets none."""
        self.handle.tell(message)


class Crew:
    """All living workers by incarnation."""

    def __init__(self, launcher: Launcher, ownership: Ownership) -> None:
        self._launcher = launcher
        self._ownership = ownership
        self.workers: dict[int, CrewMember] = {}

    def start(self, incarnation: int, settings: RunSettings, now: float) -> CrewMember | Departure:
        """Return one more worker, or why the system gives none."""
        try:
            handle = self._launcher.start(incarnation, settings, self._ownership)
        except (OSError, EOFError) as error:
            why = limit_reached(error) or likely_limit()
            return Departure(": ".join(filter(None, ("no process could be started", why))))
        worker = CrewMember(WorkerState(incarnation, now), handle)
        self.workers[incarnation] = worker
        return worker

    def listen(self, timeout_s: float) -> tuple[list[tuple[CrewMember, Up]], list[CrewMember]]:
        """Wait for workers; return their messages, and the workers that are gone."""
        self._launcher.wait(timeout_s)
        said: list[tuple[CrewMember, Up]] = []
        gone: list[CrewMember] = []
        for worker in self.workers.values():
            messages, is_over = worker.handle.hear()
            said += [(worker, message) for message in messages]
            if is_over:
                gone.append(worker)
        return said, gone

    def remove(self, worker: CrewMember) -> Departure:
        """Make sure that the worker is gone; return how it ended."""
        del self.workers[worker.state.incarnation]
        return worker.handle.reap()

    @property
    def ready(self) -> list[int]:
        """Incarnations that have the description and can work."""
        return [one for one, worker in self.workers.items() if worker.state.opened]

    def tell_each(self, told: Iterable[tuple[int, Down]]) -> None:
        """Send each worker its own message."""
        for incarnation, message in told:
            if (worker := self.workers.get(incarnation)) is not None:
                worker.tell(message)

    def tell_all(self, message: Down) -> None:
        """Send a message to all workers."""
        for worker in self.workers.values():
            worker.tell(message)

    def close(self) -> None:
        """Kill all workers."""
        for worker in self.workers.values():
            worker.handle.kill()
        for worker in list(self.workers.values()):
            self.remove(worker)
            worker.handle.forget()
        self._launcher.close()
