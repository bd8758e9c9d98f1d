"""The border to user code: checks of arguments and functions, calls in progress, tracebacks without lines of checker."""

import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from types import FrameType, TracebackType
from typing import Any, Final, ParamSpec, TypeVar

from checker.core.errors import CheckerError, IncorrectUsage, LoaderError


def refuse_coroutine(function: object, what: str) -> None:
    """Raise `IncorrectUsage` if `function` is `async`; the message contains `what` it is: "hook 'map_query'"."""
    call = type(function).__call__ if callable(function) else None
    if any(inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one) for one in (function, call)):
        raise IncorrectUsage(f"{what} is `async`, and nothing awaits it; write it with plain `def`")


class RunningCode:
    """The functions or objects of one kind (hooks, checks, sources of credentials) that are on the call stack of this thread.

    A `before_call` hook that sends its own request would be called for that request as well, and so on without end. The
    same applies to a check that validates a response, and to a provider whose login is a request. `inspect.unwrap` gives one identity to
    all wrappers of a function.
    """

    __slots__ = ("_now",)

    def __init__(self, kind: str) -> None:
        self._now: ContextVar[tuple[Any, ...]] = ContextVar(kind, default=())

    def __bool__(self) -> bool:
        """Whether any code of this kind is running."""
        return bool(self._now.get())

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


_NOT_OF_USERS: Final = frozenset(["checker", "hypothesis", "_pytest", "pluggy", "unittest", "asyncio", "anyio"])


def is_of_user(frame: FrameType) -> bool:
    """Whether a line belongs to user code, and not to checker or a test runner."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _NOT_OF_USERS


def described(error: BaseException) -> str:
    """Return the class and the text of an error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def users_traceback(error: BaseException) -> str:
    """Return the traceback of an error from the first line of user code on; empty if there is none, as for a call with wrong arguments."""
    found: TracebackType | None = error.__traceback__
    while found is not None and not is_of_user(found.tb_frame):
        found = found.tb_next
    return "" if found is None else "".join(traceback.format_exception(type(error), error, found))


Arguments = ParamSpec("Arguments")
Given = TypeVar("Given")


def plainly(function: Callable[Arguments, Given]) -> Callable[Arguments, Given]:
    """Return a function whose expected errors have a traceback that starts at the caller, because frames of checker do not help users.

    Exceptions of user code remain as their cause. Unexpected errors are bugs of this tool and keep their whole traceback.
    """

    @wraps(function)
    def asked(*arguments: Arguments.args, **named: Arguments.kwargs) -> Given:
        # For pytest: the line above it is the user's.
        __tracebackhide__ = True
        try:
            return function(*arguments, **named)
        except LoaderError as error:
            # The message includes the errors of parsers and HTTP clients that caused it.
            raise error.with_traceback(None) from None
        except (CheckerError, ConnectionError, TimeoutError) as error:
            found = error.__traceback__
            assert found is not None
            while found.tb_next is not None:
                found = found.tb_next
            if is_of_user(found.tb_frame):
                # An application in this process raised it, and the user needs to see its line.
                raise
            raise error.with_traceback(None) from error.__cause__

    return asked


def require(is_right: object, name: str, wanted: str, given: object) -> None:
    """Raise `IncorrectUsage` for the argument `name` unless `is_right`; `wanted` states the right kind: `a dict of values`."""
    if not is_right:
        raise IncorrectUsage(f"`{name}` must be {wanted}, got {given!r:.80}")


def require_names(**given: object) -> None:
    """Raise `IncorrectUsage` for the first argument that is neither None nor a mapping whose keys are texts."""
    for name, values in given.items():
        is_right = isinstance(values, Mapping) and all(isinstance(key, str) for key in values)
        require(values is None or is_right, name, "a dict of names and values", values)


def require_texts(**given: object) -> None:
    """Raise `IncorrectUsage` for the first argument that is neither None nor a text."""
    for name, value in given.items():
        require(value is None or isinstance(value, str), name, "a text", value)


def require_function(decorator: str, given: object) -> None:
    """Raise `IncorrectUsage` if the object below a decorator of tests is not a function."""
    if not isinstance(given, type) and callable(given):
        return
    hint = "; write it above each of its methods" if isinstance(given, type) else ""
    raise IncorrectUsage(f"`{decorator}` decorates a function, got {given!r:.80}{hint}")


def several(name: str, given: Any, wanted: str) -> tuple[Any, ...]:
    """Return the members of the argument `name`; a single text is one member. Raises `IncorrectUsage` for an object without members."""
    require(isinstance(given, Iterable) and not isinstance(given, bytes), name, wanted, given)
    return (given,) if isinstance(given, str) else tuple(given)


def takes(function: Callable[..., object], count: int) -> bool:
    """Whether a callable takes this number of positional arguments; True if it has no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True
