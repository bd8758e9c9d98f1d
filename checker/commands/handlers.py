"""Handlers of users while a run goes on: they are shown its events in a thread that follows what it leaves on disk."""

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from typing import Any, Final

from msgspec import Struct, field

from checker.commands.extending import HANDLERS, EventHandler, HandlerContext
from checker.config.settings import RunSettings
from checker.core.errors import ConfigError
from checker.corpus.fold import RunView
from checker.reporting.events import Event
from checker.reporting.writing import RunOnDisk

_LOOK_S: Final = 0.2
"""Between two looks at what is new."""


class EventHandlers(Struct):
    """The handlers of one run. What goes wrong in one costs no other, and not the run."""

    context: HandlerContext
    problems: dict[str, str] = field(default_factory=dict)
    """Handler -> what went wrong in it: it is called no more."""
    _handlers: list[EventHandler] = field(default_factory=list)
    _is_over: threading.Event = field(default_factory=threading.Event)
    """Whether the run has written everything."""
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

    def follow(self, run: RunOnDisk) -> None:
        """Show them the events of a run that has begun, in a thread."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._show, args=(run,), daemon=True)
            self._thread.start()

    def finish(self, view: RunView, exit_code: int, is_given_up: Callable[[], bool]) -> None:
        """Wait for the rest of the events, unless the user gives that up, and shut all handlers down."""
        self._is_over.set()
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(_LOOK_S)
            if is_given_up():
                self.problems["handlers"] = "they had not seen all events when the user gave up"
                break
        self.context.statistics, self.context.exit_code = view, exit_code
        for one in self._handlers:
            self._guarded(one, partial(one.shutdown, self.context))

    def _show(self, run: RunOnDisk) -> None:
        with closing(run.events()) as events:
            self.context.statistics = events.view
            is_over = False
            while not is_over:
                # Asked before anything is read, because what is written after the answer would be missed.
                is_over = self._is_over.wait(_LOOK_S)
                for event in events.new():
                    self._show_event(event)
            for event in events.end():
                self._show_event(event)

    def _show_event(self, event: Event) -> None:
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
