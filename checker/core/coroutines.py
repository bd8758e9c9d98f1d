"""Functions of users are called, and not awaited: an `async` one would never run, and say nothing."""

import inspect

from checker.core.errors import IncorrectUsage


def refuse_coroutine(function: object, what: str) -> None:
    """Raise `IncorrectUsage` where `function` is `async`; `what` it is stands in the message: "hook 'map_query'"."""
    call = type(function).__call__ if callable(function) else None
    if any(
        inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one)
        for one in (function, call)
    ):
        raise IncorrectUsage(f"{what} is `async`, and nothing awaits it; write it with plain `def`")
