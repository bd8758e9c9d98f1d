"""Handlers of users while a run goes on: they are shown its events in a thread that follows what it leaves on disk."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from checker.commands.extending import HANDLERS, EventHandler, HandlerContext
from checker.config.settings import RunSettings
from checker.core.errors import ConfigError
from checker.corpus.fold import RunView
from checker.corpus.layout import RunLayout
from checker.reporting.writing import RunEvents

_LOOK_S: Final = 0.2
"""Between two looks at what is new."""


class _Progress:
    """The progress of the run for readers of the corpus on disk."""

    def __init__(self) -> None:
        self.is_over = False
        self.until = inf
        """When nobody waits any more, of `time.monotonic`."""
        self._changed = threading.Event()

    def is_late(self, beyond_s: float = 0.0) -> bool:
        return time.monotonic() > self.until + beyond_s

    def tell(self, written: int) -> None:
        """Accept an event without waiting for handlers."""

    def wait(self) -> None:
        self._changed.wait(_LOOK_S)

    def end(self, until: float | None) -> None:
        self.until = inf if until is None else until
        self.is_over = True
        self._changed.set()


class EventHandlers(Struct):
    """The handlers of one run. What goes wrong in one costs no other, and not the run."""

    context: HandlerContext
    problems: dict[str, str] = field(default_factory=dict)
    """Handler -> what went wrong in it: it is called no more."""
    _handlers: list[EventHandler] = field(default_factory=list)
    _progress: _Progress = field(default_factory=_Progress)
    _thread: threading.Thread | None = None

    @classmethod
    def begin(cls, settings: RunSettings, params: Mapping[str, Any]) -> "EventHandlers | None":
        """Make and start those that are registered; None where there are none. Raises `ConfigError` for one that cannot start."""
        if not HANDLERS:
            return None
        mine = cls(HandlerContext(settings))
        for kind in HANDLERS:
            try:
                one = kind(**params)
                one.start(mine.context)
            except Exception as error:
                raise ConfigError(
                    f"the handler {kind.__name__} cannot start: {_told(error)}"
                ) from error
            mine._handlers.append(one)
        return mine

    def follow(self, settings: RunSettings, first: int) -> None:
        """Show them the events of a run that has begun, in a thread; `first`: its lowest incarnation."""
        if self._thread is None:
            arguments = (RunLayout(Path(settings.corpus_dir)), first)
            self._thread = threading.Thread(target=self._show, args=arguments, daemon=True)
            self._thread.start()

    def finish(
        self, view: RunView, exit_code: int, until: float | None, given_up: Callable[[], bool]
    ) -> None:
        """Wait for the rest of the events and shut down; until a moment of `time.monotonic`, or until an interrupt."""
        self._progress.end(until)
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(_LOOK_S)
            if given_up() or self._progress.is_late(_LOOK_S):
                self.problems["handlers"] = "they were not ready in time"
                break
        self.context.statistics, self.context.exit_code = view, exit_code
        for one in self._handlers:
            self._guarded(one, partial(one.shutdown, self.context))

    def _show(self, layout: RunLayout, first: int) -> None:
        with closing(RunEvents(layout, first)) as events:
            self.context.statistics = events.view
            for event in events.all(self._progress):
                for one in self._handlers:
                    if type(one).__name__ not in self.problems:
                        self._guarded(one, partial(one.handle_event, self.context, event))

    def _guarded(self, one: EventHandler, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - the wall: users' code
            self.problems.setdefault(type(one).__name__, _told(error))


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
