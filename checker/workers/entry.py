"""The start of a worker process. The module is tiny, because the supervisor imports it without the other modules of a worker."""

import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import FrameType

from checker.config.settings import RunSettings
from checker.config.user_code import know_phases
from checker.core.system import STOP_SIGNALS, guarded_output, limit_reached
from checker.workers.limits import die_with_parents, end_watchdog
from checker.workers.messages import Leaving, LeavingKind
from checker.workers.queues import Receiver, Sender

Work = Callable[[int, RunSettings, Receiver, Sender], None]
"""The life of one incarnation: (incarnation, settings, down, up)."""

PATIENCE_S = 30.0
"""Seconds for which a worker waits for a supervisor that does not read its messages, because it is stopped or swapping."""


def main(incarnation: int, settings: RunSettings, down: Connection, up: Connection, work: Work | None = None) -> None:
    """Run one incarnation in this process. `work` replaces the worker loop."""
    die_with_parents()
    # The reader of the pipe may have ended, and a hook that prints must not fail because of that.
    guarded_output()
    # Terminals, `timeout` and service managers send signals to the whole process group, but only the supervisor decides
    # what happens. The handler does nothing. If the signals were ignored or blocked, processes started by hooks would
    # inherit that.
    for number in STOP_SIGNALS:
        signal.signal(number, _pass_over)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    know_phases(settings.phases)
    live(incarnation, settings, (Receiver(down), Sender(up, patience_s=PATIENCE_S)), work)
    end_watchdog()


def live(incarnation: int, settings: RunSettings, queues: tuple[Receiver, Sender], work: Work | None = None) -> None:
    """Run one incarnation in this thread. The queues are always closed afterwards, so that the supervisor notices the end of the worker."""
    down, up = queues
    try:
        try:
            (work or _loop())(incarnation, settings, down, up)
        except Exception as error:
            sentence = limit_reached(error)
            if not sentence:
                raise
            up.send(Leaving(LeavingKind.LIMIT, sentence))
        up.linger()
    finally:
        up.close()
        down.close()


def _pass_over(number: int, frame: FrameType | None) -> None:
    """Also pass an error to its original handler."""


def _loop() -> Work:
    # The only import inside a function: it loads everything that can crash or hang, which the supervisor must not load.
    from checker.workers.incarnation import work

    return work
