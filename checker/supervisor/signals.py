"""Signals that ask the program to end, and what they do: counted during a run, raised before it, deadly after it."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self

from checker.core.system import STOP_SIGNALS


class Interrupts:
    """The number of requests of the user to stop: counted, not raised. The previous handlers are restored afterwards.

    Outside the main thread Python allows no handlers: nothing is heard there. Without `with` nothing is heard either.
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
        """Count one more interrupt; the next one after it raises `KeyboardInterrupt`.

        For the time of the report: a user who interrupts twice does not want it.
        """
        self._taken = self.count + 1

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self._taken is not None and self.count > self._taken:
            raise KeyboardInterrupt


def raise_interrupts() -> None:
    """Let all of them raise `KeyboardInterrupt`, for the time when nothing is counted."""
    for number in _heard():
        signal.signal(number, signal.default_int_handler)


def end_at_interrupts() -> None:
    """Let all of them end the process at once: for when everything is said and written."""
    for number in _heard():
        signal.signal(number, signal.SIG_DFL)


def _heard() -> list[signal.Signals]:
    """`nohup` has a program ignore SIGHUP, and means it."""
    return [
        number
        for number in STOP_SIGNALS
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    ]
