"""The worker as a thread of this process: for debuggers, and for applications that cannot cross processes."""

import threading
from multiprocessing import Pipe

from checker.config.settings import RunSettings
from checker.workers.entry import PATIENCE_S, Work, live
from checker.workers.queues import Receiver, Sender

_GRACE_S = 2.0


class InlineWorker:
    """One incarnation in a thread. The same loop, the same queues; only `kill` cannot do what it says."""

    pid: int | None = None
    sentinel: int | None = None

    def __init__(self, incarnation: int, settings: RunSettings, work: Work | None) -> None:
        down_reading, down_writing = Pipe(duplex=False)
        up_reading, up_writing = Pipe(duplex=False)
        self.sender = Sender(down_writing)
        self.receiver = Receiver(up_reading)
        queues = (Receiver(down_reading), Sender(up_writing, patience_s=PATIENCE_S))
        self._thread = threading.Thread(
            target=live,
            args=(incarnation, settings, queues, work),
            name=f"worker-{incarnation}",
            # One that hangs must not keep the process.
            daemon=True,
        )
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def kill(self) -> None:
        """Let it see the end of its queue; it leaves when it looks."""
        self.sender.close()

    def reap(self) -> str:
        """How it ended, for people."""
        self.kill()
        self._thread.join(_GRACE_S)
        self.receiver.close()
        return "abandoned: it hangs" if self.is_alive() else "ended"


class InlineLauncher:
    """Starts workers as threads of this process."""

    def __init__(self, work: Work | None = None) -> None:
        self._work = work

    def start(self, incarnation: int, settings: RunSettings) -> InlineWorker:
        """A worker in a thread."""
        return InlineWorker(incarnation, settings, self._work)

    def close(self) -> None:
        """Nothing outlives a thread."""
