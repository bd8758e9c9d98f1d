"""The last word of users' checks: a worker of its own calls `after_run` when all others have left."""

import time
from collections.abc import Callable

from checker.config.settings import RunSettings
from checker.corpus.records import OperationError, WorkerGone
from checker.supervisor.chronicle import Chronicle
from checker.supervisor.crew import Crew, CrewMember
from checker.supervisor.state import Deadlines, overdue
from checker.workers.messages import Conclude, Leaving, LeavingKind, Opened

_LABEL = "Run checks"
_TICK_S = 0.2


def conclude(
    crew: Crew,
    chronicle: Chronicle,
    settings: RunSettings,
    deadlines: Deadlines,
    is_interrupted: Callable[[], bool],
) -> None:
    """Let class checks say what they have to say of the run; an error of the run if they cannot."""
    incarnation = chronicle.next_incarnation()
    worker = crew.start(incarnation, settings, time.monotonic())
    reason, word = "no process could be started", None
    if worker is not None:
        reason = _followed(crew, worker, chronicle.first, deadlines, is_interrupted)
        chronicle.read_last(incarnation)
        word = worker.standing.last_word
        chronicle.write(WorkerGone(incarnation, reason))
    if word is None or word.kind is not LeavingKind.CONCLUDED:
        text = f"`after_run` of the checks did not come to its end: the worker {reason}"
        chronicle.write(OperationError(_LABEL, "", "Check Error", text))
    chronicle.read()


def _followed(
    crew: Crew,
    worker: CrewMember,
    first: int,
    deadlines: Deadlines,
    is_interrupted: Callable[[], bool],
) -> str:
    """How a worker that has nothing else to do ended."""
    reason = ""
    while worker.standing.incarnation in crew.workers:
        said, gone = crew.listen(_TICK_S)
        for _, message in said:
            match message:
                case Opened():
                    worker.standing.opened = True
                    worker.tell(Conclude(first))
                case Leaving():
                    worker.standing.last_word = message
                case _:
                    pass  # It has no task that it could speak of.
        now = time.monotonic()
        late = overdue(worker.standing, crew.vitals(worker), deadlines, now)
        if is_interrupted():
            late = late or "was interrupted"
        if gone or late:
            reason = late or ""
            if late:
                worker.handle.kill()
            ended = crew.bury(worker)
            crew.forget(worker)
            word = worker.standing.last_word
            reason = reason or (ended if word is None else word.reason)
    return reason
