"""The worker as a thread of this process: for debuggers, and for applications that cannot cross processes."""

import threading
from multiprocessing import Pipe

from checker.config.settings import RunSettings
from checker.supervisor.launchers.handle import Departure
from checker.supervisor.launchers.local import LocalLauncher, LocalWorker
from checker.supervisor.lock import Ownership
from checker.workers.entry import PATIENCE_S, Work, live
from checker.workers.queues import Receiver, Sender

_GRACE_S = 2.0


class InlineWorker(LocalWorker):
    """One incarnation in a thread. The same loop, the same queues; only `kill` cannot do what it says."""

    def __init__(self, incarnation: int, settings: RunSettings, work: Work | None) -> None:
        down_reading, down_writing = Pipe(duplex=False)
        up_reading, up_writing = Pipe(duplex=False)
        super().__init__(incarnation, settings, Sender(down_writing), Receiver(up_reading))
        queues = (Receiver(down_reading), Sender(up_writing, patience_s=PATIENCE_S))
        self._thread = threading.Thread(
            target=live,
            args=(incarnation, settings, queues, work),
            name=f"worker-{incarnation}",
            # One that hangs must not keep the process.
            daemon=True,
        )
        self._thread.start()

    def _waited_s(self, pid: int) -> float:
        """Return 0: the figure of the system is about the supervising thread."""
        return 0.0

    def kill(self) -> None:
        """Let it see the end of its queue; it leaves when it looks."""
        self._sender.close()

    def reap(self) -> Departure:
        """Return the end of the worker."""
        self.kill()
        self._thread.join(_GRACE_S)
        self._receiver.close()
        self.is_reaped = True
        return Departure("abandoned: it hangs" if self._thread.is_alive() else "ended")


class InlineLauncher(LocalLauncher):
    """Starts workers as threads of this process."""

    def __init__(self, work: Work | None = None) -> None:
        super().__init__()
        self._work = work

    def start(self, incarnation: int, settings: RunSettings, ownership: Ownership) -> InlineWorker:
        """A worker in a thread."""
        worker = InlineWorker(incarnation, settings, self._work)
        self._started(worker)
        return worker

    def close(self) -> None:
        """Nothing outlives a thread."""
