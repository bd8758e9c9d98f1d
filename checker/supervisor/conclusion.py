"""The last word of users' checks: a worker of its own calls `after_run` when all others have left."""

import time
from collections.abc import Callable

from msgspec import Struct

from checker.config.settings import RunSettings
from checker.corpus.records import Note, OperationError, WorkerGone
from checker.supervisor.crew import Crew, CrewMember
from checker.supervisor.launchers.handle import Departure
from checker.supervisor.lifecycle import RunLifecycle
from checker.supervisor.signals import Interrupts
from checker.supervisor.state import Deadlines, overdue
from checker.workers.leaving import Leaving, LeavingKind
from checker.workers.messages import Conclude, GivenCredentials, Opened, WantedCredentials

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
        word = worker.standing.last_word
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
    while worker.standing.incarnation in crew.workers:
        said, gone = crew.listen(_TICK_S)
        for _, message in said:
            match message:
                case Opened():
                    worker.standing.opened = True
                    worker.tell(Conclude(first, wanted.only_cleans))
                case WantedCredentials() | GivenCredentials():
                    # To remove what the run made, somebody has to be logged in.
                    wanted.hear_of_credentials(worker.standing.incarnation, message)
                case Leaving():
                    worker.standing.last_word = message
                case _:
                    pass  # It has no task that it could speak of.
        now = time.monotonic()
        late = overdue(worker.standing, worker.handle.snapshot(), wanted.deadlines, now)
        if wanted.interrupts.count > count:
            late = late or "was interrupted"
        if gone or late:
            reason = late or ""
            if late:
                worker.handle.kill()
            ended = crew.remove(worker)
            worker.handle.forget()
            word = worker.standing.last_word
            reason = reason or (ended.reason if word is None else word.reason)
    return reason
