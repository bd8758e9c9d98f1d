"""Workers on this machine: two pipes, slots in a file that outlives them, and how long they waited for a processor.

A worker that is ready to run and gets no processor does not hang.
"""

from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic_ns
from typing import Final

from checker.config.settings import RunSettings
from checker.corpus import inflight
from checker.corpus.inflight import InflightReader, Stage
from checker.corpus.layout import RunLayout
from checker.supervisor.state import WorkerSnapshot
from checker.workers.messages import Down, Up
from checker.workers.queues import Receiver, Sender

_PROCESSES: Final = Path("/proc")
_WAITED: Final = 1
"""Place of the nanoseconds in the queue of a processor among the words of `schedstat` (Linux, scheduler/sched-stats)."""
_NANO: Final = 1e-9


def waited_s(pid: int, processes: Path = _PROCESSES) -> float:
    """Seconds that the main thread of a process has waited for a processor; 0 where the system does not say, or it is gone."""
    try:
        return int((processes / str(pid) / "schedstat").read_bytes().split()[_WAITED]) * _NANO
    except (OSError, ValueError, IndexError):
        return 0.0


def age_s(mark_ns: int, now_ns: int) -> float:
    """Seconds since a mark, by the clock."""
    return (now_ns - mark_ns) * _NANO


class FairAge:
    """The age of a mark that a process made with its clock, without the time in which the process waited for a processor since."""

    __slots__ = ("_mark_ns", "_seen_s", "_waited_s")

    def __init__(self) -> None:
        self._mark_ns = 0
        self._seen_s = 0.0
        """Waited in all, when last looked at."""
        self._waited_s = 0.0
        """Waited in all, when last looked at before the mark was there."""

    def of(self, mark_ns: int, now_ns: int, waited_s: float) -> float:
        """Return the seconds since the mark; `waited_s` is the total waiting time so far.

        What it waited between the last look and the mark is taken off as well: nobody saw when the mark was made.
        """
        if mark_ns != self._mark_ns:
            self._mark_ns, self._waited_s = mark_ns, self._seen_s
        # Of one that is gone the system says nothing any more.
        self._seen_s = max(self._seen_s, waited_s)
        return max(0.0, age_s(mark_ns, now_ns) - (self._seen_s - self._waited_s))


class LocalWorker:
    """One incarnation that shares the disk and the clock of the supervisor."""

    _sentinel: int | None = None
    """Becomes readable when the worker ends, too."""

    def __init__(
        self, incarnation: int, settings: RunSettings, sender: Sender, receiver: Receiver
    ) -> None:
        self._slots = RunLayout(Path(settings.corpus.folder)).inflight(incarnation)
        self._sender = sender
        self._receiver = receiver
        self._has_news = False
        self._is_over = False
        self._silence = FairAge()
        self._acting = FairAge()
        self.is_reaped = False

    def tell(self, message: Down) -> None:
        """Send; to the dead, nothing."""
        self._sender.send(message)

    def hear(self) -> tuple[list[Up], bool]:
        """Return the messages since the last call, and whether they were the last."""
        self._sender.flush()
        said: list[Up] = []
        while self._has_news and (message := self._receiver.get_nowait()) is not None:
            if isinstance(message, Up):
                said.append(message)
        # Not the exit code: when the fork server dies it reads 255 although the worker lives. EOF cannot lie.
        return said, self._is_over or self._receiver.closed

    def snapshot(self) -> WorkerSnapshot:
        """Return the state of the worker, or its state at the end."""
        reader = InflightReader(self._slots)
        slots = tuple(reader.slots())
        lane, heartbeat_ns = reader.acting_lane, reader.heartbeat_ns
        acting = slots[lane] if lane is not None and lane < len(slots) else None
        if acting is not None and acting.stage is Stage.IDLE:
            acting = None
        now_ns, waited = monotonic_ns(), self._waited_s(reader.pid)
        # Looked at each time, also when there is no mark: what it waited before one is not taken off.
        silent_s = self._silence.of(heartbeat_ns or now_ns, now_ns, waited)
        since_ns = now_ns if acting is None else acting.since_ns
        acting_s = self._acting.of(since_ns, now_ns, waited)
        if acting is not None and acting.stage is Stage.HOOK:
            # Code of users is quick, or stuck; ours may have much to do for a first case, and few processors.
            acting_s = age_s(since_ns, now_ns)
        return WorkerSnapshot(
            silent_s=silent_s if heartbeat_ns else None,
            acting=acting,
            acting_s=acting_s,
            slots=slots,
            progress=reader.progress(),
            tallies=reader.tallies(),
            sent=reader.sent,
        )

    def _waited_s(self, pid: int) -> float:
        """Seconds that it waited for a processor so far."""
        return waited_s(pid)

    def forget(self) -> None:
        """Remove what it left in flight."""
        inflight.remove(self._slots)

    def sources(self) -> list[int]:
        """Descriptors that become readable when there is something to hear."""
        mine = [self._receiver.fileno()]
        return mine if self._sentinel is None else [*mine, self._sentinel]

    def note(self, ready: set[int]) -> None:
        """Note the readable descriptors before anything is read, so that no message before the end is missed."""
        self._is_over = self._sentinel in ready
        self._has_news = self._is_over or self._receiver.fileno() in ready


class LocalLauncher:
    """Waits for the workers that it started, wherever on this machine they live."""

    def __init__(self) -> None:
        self._workers: list[LocalWorker] = []

    def _started(self, worker: LocalWorker) -> None:
        self._workers.append(worker)

    def wait(self, timeout_s: float) -> None:
        """Until one of them has said something or ended, or the time is over."""
        self._workers = [one for one in self._workers if not one.is_reaped]
        sources = [source for one in self._workers for source in one.sources()]
        ready = {one for one in wait(sources, timeout_s) if isinstance(one, int)}
        for worker in self._workers:
            worker.note(ready)
