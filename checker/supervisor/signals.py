"""The signals that ask the program to end: raised before a run, counted during it, fatal after it."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self

from checker.core.system import STOP_SIGNALS


class Interrupts:
    """The number of interrupts by the user. They are counted within `with`, and the previous handlers are restored afterwards.

    Outside the main thread Python allows no handlers, so that nothing is counted.
    """

    def __init__(self) -> None:
        self.count = 0
        self._taken: int | None = None
        self._previous: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _heard():
                self._previous[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def take_one_more(self) -> None:
        """Count the next interrupt without an exception; the one after it raises `KeyboardInterrupt`.

        Used while reports are written: the first interrupt ends the writing in order, the second one at once.
        """
        self._taken = self.count + 1

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self._taken is not None and self.count > self._taken:
            raise KeyboardInterrupt


def raise_interrupts() -> None:
    """Let the signals raise `KeyboardInterrupt`, outside of a run."""
    for number in _heard():
        signal.signal(number, signal.default_int_handler)


def end_at_interrupts() -> None:
    """Let the signals end the process at once, when all output is written."""
    for number in _heard():
        signal.signal(number, signal.SIG_DFL)


def _heard() -> list[signal.Signals]:
    """Return the signals to handle, without a SIGHUP that `nohup` has the program ignore."""
    return [
        number
        for number in STOP_SIGNALS
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    ]
