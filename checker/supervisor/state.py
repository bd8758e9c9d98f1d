"""The state of workers as the supervisor knows it, and the deadlines that it checks. Pure: `now` is an argument, in monotonic seconds."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.corpus.inflight import Progress, Slot, Stage
from checker.corpus.records import Note
from checker.health import TARGET
from checker.supervisor.plans import remainder
from checker.workers.messages import PATIENCE, Leaving, Task

_AHEAD_S = 0.1
"""Seconds of work that a worker may have beyond its second task. A turn may be shorter than the exchange of messages that leases it."""
# The stages in which the worker computes and waits for no response.
_ALONE = (Stage.MAKE, Stage.HOOK, Stage.JUDGE, Stage.RECORD)
_STUCK_S = 3.0
STALL_S: Final = 30.0  # Seconds without a request that are reported.
STALLED: Final = "stalled"  # Kind of these notes.
MOST_STALLS: Final = 20
_WAITING: Final = "waiting"
_NONE = Progress()


class Deadlines(Struct, frozen=True):
    """Seconds after which a worker counts as hung."""

    stages: Mapping[Stage, float]
    heartbeat_s: float = 15.0
    opening_s: float = 120.0

    @classmethod
    def of(cls, timeout_s: float, *, waiting_s: float = 0.0) -> "Deadlines":
        """Return the deadlines for a time limit of requests. `waiting_s` is the time for which the run waits for the API description to appear."""
        send_s = timeout_s + 5.0
        return cls(
            {
                Stage.MAKE: 10.0,
                Stage.HOOK: 30.0,
                Stage.SEND: send_s,
                Stage.JUDGE: 10.0,
                Stage.RECORD: 10.0,
                # Between two requests of a shrink, candidates may be rejected before they are sent.
                Stage.SHRINK: send_s + 15.0,
                # The command of a request without a response is sent with a time limit of `PATIENCE` times the usual one.
                Stage.CONFIRM: PATIENCE * timeout_s + 15.0,
            },
            opening_s=120.0 + waiting_s,
        )

    @classmethod
    def of_run(cls, settings: RunSettings) -> "Deadlines":
        """Return the deadlines of a run, by the longest time limit of all operations."""
        return cls.of(
            max(one.http.timeout_s for one in settings.operations.everywhere()),
            waiting_s=(settings.target.wait_for_schema_s or 0.0) + settings.documents.max_total_time_s,
        )


class WorkerSnapshot(Struct, frozen=True):
    """The work of a worker at one moment. It contains ages instead of times, because the worker's clock may differ."""

    silent_s: float | None  # Seconds since its last heartbeat; None before the first one.
    acting: Slot | None  # The slot whose code is running; None if the worker is waiting.
    acting_s: float  # Seconds since that slot began its stage, without time spent waiting for a processor.
    slots: tuple[Slot, ...]
    progress: Mapping[str, Progress]  # Keyed by task id.
    tallies: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    """Task id -> (failed cases since its lease, first 2xx status or 0, indices without a case)."""
    sent: int = 0  # Number of requests that the worker sent.

    def in_flight(self, task: str) -> list[int]:
        """Return the indices of a task that are under way."""
        return [slot.index for slot in self.slots if slot.stage is not Stage.IDLE and slot.task == task]

    def rest_of(self, task: Task) -> Task:
        """Return the rest of a task if the worker dies now."""
        done = self._progress_of(task)
        return remainder(task, done.reached, self.in_flight(task.id), done.redone)

    def without_end(self, rest: Task) -> Task:
        """Return the rest of a task; empty if the task ends at a failure and a case has failed."""
        # The worker may have died between the failure that ended the task and the message about it. Otherwise a
        # successor would send the rest of the list, and the requests would depend on the death.
        is_ended = self._progress_of(rest).is_ended
        return replace(rest, stop=rest.start, redo=()) if is_ended else rest

    def _progress_of(self, task: Task) -> Progress:
        return self.progress.get(task.id, _NONE)


class WorkerState(Struct):
    """The supervisor's state of one worker."""

    incarnation: int
    started_at: float
    opened: bool = False
    journal: str = ""  # The path of its journal; empty until it has opened one.
    leases: dict[str, Task] = field(default_factory=dict)  # Task id -> task, in the order of work.
    leased_at: float = 0.0  # The time when the first of these tasks became the current work.
    waiting: set[str] = field(default_factory=set)
    """Ids of slow leases: the worker only waits for their requests in flight."""
    last_word: Leaving | None = None
    _sent: int = -1
    _moved_at: float = 0.0
    """The last time when the number of its requests changed, or when it had no lease."""
    _doing: str = _WAITING

    def stall(
        self, snapshot: WorkerSnapshot, now: float, began: float, *, is_gone: bool = False, has_rate: bool = False
    ) -> Note | None:
        """Return a note about a long time in which a worker with leases sent no request, once the worker sends requests again.

        `began`: when the run began. `has_rate`: a worker may be waiting for its turn under a rate limit, which needs no note.
        """
        is_moving = snapshot.sent != self._sent or not self.leases
        since, doing = self._moved_at, self._doing
        self._doing = _WAITING if snapshot.acting is None else f"in stage {snapshot.acting.stage.name.lower()}"
        if is_moving:
            self._sent, self._moved_at = snapshot.sent, now
        is_over = bool(since) and (is_moving or is_gone)
        # The length of the stall is known only when it is over.
        if not is_over or now - since < STALL_S or (has_rate and doing == _WAITING):
            return None
        times = f"from {since - began:.0f} s to {now - began:.0f} s of the run"
        return Note(STALLED, TARGET, "", f"worker {self.incarnation} sent no request {times}; it was {doing}")

    @property
    def slow(self) -> int:
        return sum(task.is_slow for task in self.leases.values())

    @property
    def busy(self) -> int:
        """Return the number of leases that keep the worker busy."""
        return len(self.leases) - self.slow - len(self.waiting)

    def wants(self, ahead: int) -> bool:
        """Whether the worker should get another lease. `ahead` is the number of tasks that wait beside the current one."""
        if self.busy > ahead:
            return False
        # Short tasks need more than two leases ahead, or the worker idles during each exchange with the supervisor.
        return ahead < 2 or sum(task.slice_s for task in self.leases.values()) < _AHEAD_S

    def take(self, task: Task, now: float) -> None:
        if not self.leases:
            self.leased_at = now
        self.leases[task.id] = task

    def wait(self, task: str) -> None:
        """Mark a lease as slow, so that it does not keep the worker busy."""
        if task in self.leases:
            self.waiting.add(task)

    def give_back(self, tasks: Iterable[tuple[str, int, bool]], now: float) -> list[tuple[Task, int, bool, float]]:
        """Remove leases. Return (task, next index, finished, seconds since it became the current work) of each."""
        back: list[tuple[Task, int, bool, float]] = []
        for name, reached, finished in tasks:
            if name in self.leases:
                back.append((self.leases.pop(name), reached, finished, now - self.leased_at))
                self.leased_at = now
        self.waiting &= self.leases.keys()
        return back


def is_stuck(snapshot: WorkerSnapshot) -> bool:
    """Whether the code of one case has been running for long without waiting for a response, so that the worker could not exit."""
    # Without this, a hook that hangs at the time limit was killed, and the report did not say why the rest was missing.
    acting = snapshot.acting
    return acting is not None and acting.stage in _ALONE and snapshot.acting_s > _STUCK_S


def overdue(state: WorkerState, snapshot: WorkerSnapshot, deadlines: Deadlines, now: float) -> str | None:
    """Return why a worker counts as hung; None if it does not. Only the case whose code runs can hang a worker. Other cases may wait for any time."""
    if not state.opened:
        late = now - state.started_at > deadlines.opening_s
        return "hung while it opened the API description" if late else None
    stage_s = 0.0
    if snapshot.acting is not None:
        stage_s = deadlines.stages.get(snapshot.acting.stage, 0.0)
        if stage_s and snapshot.acting_s > stage_s:
            return f"hung in {snapshot.acting.stage.name.lower()} for more than {stage_s:.0f} s"
    # The loop sends no heartbeat while the code of a case runs, so the deadline of the stage must be over as well.
    silence_s = max(deadlines.heartbeat_s, stage_s)
    silent_s = now - state.started_at
    if snapshot.silent_s is not None:
        silent_s = min(silent_s, snapshot.silent_s)
    if silent_s > silence_s:
        return f"sent no message for {silence_s:.0f} s"
    return None
