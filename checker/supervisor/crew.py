"""The workers that are alive now: started, listened to, looked at, removed."""

import time
from collections.abc import Callable, Iterable

from msgspec import Struct

from checker.config.settings import RunSettings
from checker.core.system import likely_limit, limit_reached
from checker.corpus.records import Note, OperationError, WorkerGone
from checker.supervisor.handle import Departure, Launcher, WorkerHandle
from checker.supervisor.lifecycle import RunLifecycle
from checker.supervisor.lock import Ownership
from checker.supervisor.signals import Interrupts
from checker.supervisor.state import Deadlines, WorkerState, overdue
from checker.workers.leaving import Leaving, LeavingKind
from checker.workers.messages import Conclude, Down, GivenCredentials, Opened, Up, WantedCredentials


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


_LABEL = "Run checks"
_TICK_S = 0.2


class Conclusion(Struct, frozen=True):
    """The tools for the work after all workers have left."""

    opened: Opened
    settings: RunSettings
    deadlines: Deadlines
    interrupts: Interrupts
    hear_of_credentials: Callable[[int, WantedCredentials | GivenCredentials], None]
    """Told which worker has none, or has fetched some; answers it."""
    is_cut: bool
    """Whether the run came to no end of its own: then no check has anything to say of it."""

    @property
    def only_cleans(self) -> bool:
        """Whether what the run made is removed, and no check says anything."""
        return self.is_cut or not self.opened.concludes


def conclude(crew: Crew, lifecycle: RunLifecycle, wanted: Conclusion) -> None:
    """Let class checks say what they have to say of the whole run, and clean up; an error of the run if they cannot."""
    if wanted.only_cleans and not wanted.opened.cleans:
        return
    incarnation = lifecycle.next_incarnation()
    worker = crew.start(incarnation, wanted.settings, time.monotonic())
    word = None
    if isinstance(worker, Departure):
        reason = worker.reason
    else:
        reason = _followed(crew, worker, lifecycle.first, wanted)
        lifecycle.read_last(incarnation)
        word = worker.state.last_word
        lifecycle.write(WorkerGone(incarnation, reason))
    is_done = word is not None and word.kind is LeavingKind.CONCLUDED
    if not is_done and wanted.only_cleans:
        text = f"what the run made was not removed; the next run tries again: the worker {reason}"
        lifecycle.write(Note("left_behind", "", "", text))
    elif not is_done:
        text = f"`after_run` of the checks did not come to its end: the worker {reason}"
        lifecycle.write(OperationError(_LABEL, "", "Check Error", text))
    lifecycle.read()


def _followed(
    crew: Crew,
    worker: CrewMember,
    first: int,
    wanted: Conclusion,
) -> str:
    """Return the end of a worker that only concludes."""
    reason, count = "", wanted.interrupts.count
    while worker.state.incarnation in crew.workers:
        said, gone = crew.listen(_TICK_S)
        for _, message in said:
            match message:
                case Opened():
                    worker.state.opened = True
                    worker.tell(Conclude(first, wanted.only_cleans))
                case WantedCredentials() | GivenCredentials():
                    # To remove what the run made, somebody has to be logged in.
                    wanted.hear_of_credentials(worker.state.incarnation, message)
                case Leaving():
                    worker.state.last_word = message
                case _:
                    pass  # It has no task that it could speak of.
        now = time.monotonic()
        late = overdue(worker.state, worker.handle.snapshot(), wanted.deadlines, now)
        if wanted.interrupts.count > count:
            late = late or "was interrupted"
        if gone or late:
            reason = late or ""
            if late:
                worker.handle.kill()
            ended = crew.remove(worker)
            worker.handle.forget()
            word = worker.state.last_word
            reason = reason or (ended.reason if word is None else word.reason)
    return reason
