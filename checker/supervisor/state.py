"""The supervisor's knowledge of its workers, and due actions. Pure: `now` is an argument, in seconds of a monotonic clock."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.corpus.inflight import Progress, Slot, Stage
from checker.supervisor.plans import remainder
from checker.workers.leaving import Leaving
from checker.workers.messages import Task

MOST_AHEAD = 16
"""Tasks that one worker holds."""
_AHEAD_S = 0.1
"""Work that a worker has beyond its second task: turns may be so short that asking for each would take longer."""
_ALONE = (Stage.MAKE, Stage.HOOK, Stage.JUDGE, Stage.RECORD)
_STUCK_S = 3.0
_NONE = Progress()


class Deadlines(Struct, frozen=True):
    """The time that one thing may take before its worker counts as hung. Seconds."""

    stages: Mapping[Stage, float]
    heartbeat_s: float = 15.0
    opening_s: float = 120.0

    @classmethod
    def of(
        cls, request_timeout_s: float, *, hook_s: float = 30.0, shrink_s: float = 5.0, waiting_s: float = 0.0
    ) -> "Deadlines":
        """Deadlines of a run with this request time-out; `waiting_s`: for the API description to be there."""
        send_s = request_timeout_s + 5.0
        return cls(
            {
                Stage.MAKE: 10.0,
                Stage.HOOK: hook_s,
                Stage.SEND: send_s,
                Stage.JUDGE: 10.0,
                Stage.RECORD: 10.0,
                # From one request of a shrink to the next: those in between may all be refused before they are sent.
                Stage.SHRINK: shrink_s + send_s + 10.0,
                Stage.CONFIRM: send_s + 10.0,
            },
            opening_s=120.0 + waiting_s,
        )

    @classmethod
    def of_run(cls, settings: RunSettings) -> "Deadlines":
        """Deadlines of a run with these settings: of all operations the slowest has to have its time."""
        return cls.of(
            max(one.http.request_timeout_s for one in settings.operations.everywhere()),
            waiting_s=(settings.target.wait_for_schema_s or 0.0) + settings.documents.max_total_time_s,
        )


class WorkerSnapshot(Struct, frozen=True):
    """The work of a worker at one moment. Ages, not times: its clock may be another."""

    silent_s: float | None
    """Since its loop last turned; None when it never got so far."""
    acting: Slot | None
    """Whose code runs; None when it waits, or never began."""
    acting_s: float
    """Since that began its stage, as far as that counts against it."""
    slots: tuple[Slot, ...]
    progress: Mapping[str, Progress]
    """By task id."""
    tallies: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    """Task id -> cases that failed since it was leased, and the first 2xx answer (0: none)."""
    sent: int = 0
    """Number of requests that the worker sent."""

    def in_flight(self, task: str) -> list[int]:
        """Return the indices of a task that were begun and not ended."""
        return [slot.index for slot in self.slots if slot.stage is not Stage.IDLE and slot.task == task]

    def rest_of(self, task: Task) -> Task:
        """Return what is left of a task if the worker is gone."""
        done = self._progress_of(task)
        return remainder(task, done.reached, self.in_flight(task.id), done.redone)

    def without_end(self, rest: Task) -> Task:
        """Return what is left of a task: nothing if it was to end at a failure and a case failed."""
        is_ended = self._progress_of(rest).is_ended
        return replace(rest, stop=rest.start, redo=()) if is_ended else rest

    def _progress_of(self, task: Task) -> Progress:
        return self.progress.get(task.id, _NONE)


class WorkerState(Struct):
    """One incarnation, as far as it is the supervisor's business."""

    incarnation: int
    started_at: float
    opened: bool = False
    leases: dict[str, Task] = field(default_factory=dict)
    """In the order in which it works on them."""
    leased_at: float = 0.0
    """When the first of them became its work."""
    waiting: set[str] = field(default_factory=set)
    """Those that turned out to be slow: it only waits for what is in flight of them."""
    last_word: Leaving | None = None

    @property
    def slow(self) -> int:
        """Leases that only wait beside the others."""
        return sum(task.is_slow for task in self.leases.values())

    @property
    def busy(self) -> int:
        """Leases that keep it busy."""
        return len(self.leases) - self.slow - len(self.waiting)

    def wants(self, ahead: int) -> bool:
        """Whether it should have one more, if it keeps so many waiting beside the one that it works on."""
        if self.busy > ahead:
            return False
        return ahead < 2 or sum(task.slice_s for task in self.leases.values()) < _AHEAD_S

    def take(self, task: Task, now: float) -> None:
        """One more lease."""
        if not self.leases:
            self.leased_at = now
        self.leases[task.id] = task

    def wait(self, task: str) -> None:
        """One of its leases is slow, and keeps it busy no longer."""
        if task in self.leases:
            self.waiting.add(task)

    def give_back(self, tasks: Iterable[tuple[str, int, bool]], now: float) -> list[tuple[Task, int, bool, float]]:
        """(task, next index, finished, seconds since it had nothing to do) of those that it held."""
        back = [
            (self.leases.pop(name), reached, finished, now - self.leased_at)
            for name, reached, finished in tasks
            if name in self.leases
        ]
        self.waiting &= self.leases.keys()
        return back


def is_stuck(snapshot: WorkerSnapshot) -> bool:
    """Whether a worker did not leave because the code of one case runs in it, without waiting for a response."""
    acting = snapshot.acting
    return acting is not None and acting.stage in _ALONE and snapshot.acting_s > _STUCK_S


def overdue(state: WorkerState, snapshot: WorkerSnapshot, deadlines: Deadlines, now: float) -> str | None:
    """Return why a worker counts as hung; None if it does not.

    Only the case whose code runs can hang its worker: the others wait for their turn, however long that takes.
    """
    if not state.opened:
        late = now - state.started_at > deadlines.opening_s
        return "hung while it opened the API description" if late else None
    stage_s = 0.0
    if snapshot.acting is not None:
        stage_s = deadlines.stages.get(snapshot.acting.stage, 0.0)
        if stage_s and snapshot.acting_s > stage_s:
            return f"hung in {snapshot.acting.stage.name.lower()} for more than {stage_s:.0f} s"
    # While a case acts its loop does not turn: the deadline of the stage goes first.
    silence_s = max(deadlines.heartbeat_s, stage_s)
    silent_s = now - state.started_at
    if snapshot.silent_s is not None:
        silent_s = min(silent_s, snapshot.silent_s)
    if silent_s > silence_s:
        return f"gave no sign of life for {silence_s:.0f} s"
    return None
