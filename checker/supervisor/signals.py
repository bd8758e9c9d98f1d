"""Ctrl-C and SIGTERM while a run is on: counted, not raised; the loop looks at the count."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self

_HEARD = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """How often the user asked to stop. The handlers of before are back afterwards.

    Outside the main thread Python allows no handlers: nothing is heard there.
    """

    def __init__(self) -> None:
        self.count = 0
        self._previous: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _HEARD:
                self._previous[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
