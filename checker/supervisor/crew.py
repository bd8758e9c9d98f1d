"""The workers that are alive now: started, listened to, looked at, buried."""

from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import wait

from checker.config.settings import RunSettings
from checker.corpus import inflight
from checker.corpus.inflight import InflightReader
from checker.corpus.layout import RunLayout
from checker.supervisor.launchers.handle import Launcher, WorkerHandle
from checker.supervisor.lock import Ownership
from checker.supervisor.state import WorkerSnapshot, WorkerState
from checker.workers.messages import Down, Up


@dataclass(frozen=True, slots=True)
class CrewMember:
    """A living incarnation: what is known of it, and the way to reach it."""

    standing: WorkerState
    handle: WorkerHandle

    def tell(self, message: Down) -> None:
        """Send; to the dead, nothing."""
        self.handle.sender.send(message)


class Crew:
    """All living workers by incarnation."""

    def __init__(self, layout: RunLayout, launcher: Launcher, ownership: Ownership) -> None:
        self._layout = layout
        self._launcher = launcher
        self._ownership = ownership
        self.workers: dict[int, CrewMember] = {}

    def start(self, incarnation: int, settings: RunSettings, now: float) -> CrewMember | None:
        """One more worker; None when the system gives none."""
        try:
            handle = self._launcher.start(incarnation, settings)
        except (OSError, EOFError):
            return None
        if handle.pid is not None:
            self._ownership.register(handle.pid)
        worker = CrewMember(WorkerState(incarnation, now), handle)
        self.workers[incarnation] = worker
        return worker

    def listen(self, timeout_s: float) -> tuple[list[tuple[CrewMember, Up]], list[CrewMember]]:
        """The one wait of the house: what workers said, and those that are gone."""
        sources: list[int] = []
        for worker in self.workers.values():
            sources.append(worker.handle.receiver.fileno())
            if worker.handle.sentinel is not None:
                sources.append(worker.handle.sentinel)
        ready = set(wait(sources, timeout_s))
        said: list[tuple[CrewMember, Up]] = []
        gone: list[CrewMember] = []
        for worker in self.workers.values():
            worker.handle.sender.flush()
            ended = worker.handle.sentinel in ready
            if ended or worker.handle.receiver.fileno() in ready:
                said += [(worker, message) for message in _messages(worker)]
            # Not the exit code: when the fork server dies it reads 255 although the worker lives. EOF cannot lie.
            if ended or worker.handle.receiver.closed:
                gone.append(worker)
        return said, gone

    def vitals(self, worker: CrewMember) -> WorkerSnapshot:
        """What it is doing, or was when it died."""
        reader = InflightReader(self._layout.inflight(worker.standing.incarnation))
        slots = tuple(reader.slots())
        lane = reader.acting_lane
        acting = slots[lane] if lane is not None and lane < len(slots) else None
        if acting is not None and acting.stage is inflight.Stage.IDLE:
            acting = None
        return WorkerSnapshot(
            reader.heartbeat_ns, acting, slots, reader.progress(), reader.tallies()
        )

    def bury(self, worker: CrewMember) -> str:
        """Make sure that it is gone; how it ended, for people."""
        del self.workers[worker.standing.incarnation]
        return worker.handle.reap()

    def forget(self, worker: CrewMember) -> None:
        """Remove what it left in flight, once that is on record."""
        inflight.remove(self._layout.inflight(worker.standing.incarnation))

    @property
    def ready(self) -> list[int]:
        """Incarnations that have the description and can work."""
        return [one for one, worker in self.workers.items() if worker.standing.opened]

    def tell_each(self, told: Iterable[tuple[int, Down]]) -> None:
        """Send each its own."""
        for incarnation, message in told:
            if (worker := self.workers.get(incarnation)) is not None:
                worker.tell(message)

    def tell_all(self, message: Down) -> None:
        """Send to everybody."""
        for worker in self.workers.values():
            worker.tell(message)

    def close(self) -> None:
        """End everybody."""
        for worker in self.workers.values():
            worker.handle.kill()
        for worker in list(self.workers.values()):
            self.bury(worker)
            self.forget(worker)
        self._launcher.close()


def _messages(worker: CrewMember) -> list[Up]:
    found: list[Up] = []
    while (message := worker.handle.receiver.get_nowait()) is not None:
        if isinstance(message, Up):
            found.append(message)
    return found
