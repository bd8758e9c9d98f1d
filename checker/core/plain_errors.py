"""Errors that users are to expect, as they come out of the Python API: where they were called from, and none of our lines."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from checker.core.errors import CheckerError, LoaderError

Arguments = ParamSpec("Arguments")
Given = TypeVar("Given")


def plainly(function: Callable[Arguments, Given]) -> Callable[Arguments, Given]:
    """A function whose expected errors begin at its caller: their sentence says all that there is to know.

    What users' code has raised stays below them as their cause. Errors that nobody expects are mistakes of ours, and
    keep their lines.
    """

    @wraps(function)
    def asked(*arguments: Arguments.args, **named: Arguments.kwargs) -> Given:
        # For pytest: the line above it is the user's.
        __tracebackhide__ = True
        try:
            return function(*arguments, **named)
        except LoaderError as error:
            # Below it are those of parsers and HTTP clients: what they have to say stands in its sentence.
            raise error.with_traceback(None) from None
        except (CheckerError, ConnectionError, TimeoutError) as error:
            raise error.with_traceback(None) from error.__cause__

    return asked
