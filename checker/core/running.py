"""User code that is on the call stack: what it does must not call it again."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class RunningCode:
    """The functions or objects of one kind (hooks, checks, sources of credentials) that are on the call stack of this thread.

    A `before_call` hook that sends a request of its own would be called for that request, and so on without end; so would a
    check that validates a response, and a provider whose login is a request. `inspect.unwrap` gives one identity to all
    wrappers of a function.
    """

    __slots__ = ("_now",)

    def __init__(self, kind: str) -> None:
        self._now: ContextVar[tuple[Any, ...]] = ContextVar(kind, default=())

    def __contains__(self, code: Any) -> bool:
        running = self._now.get()
        return bool(running) and inspect.unwrap(code) in running

    @contextmanager
    def adding(self, code: Any) -> Iterator[None]:
        """Count `code` as running until the block ends."""
        token = self._now.set((*self._now.get(), inspect.unwrap(code)))
        try:
            yield
        finally:
            self._now.reset(token)
