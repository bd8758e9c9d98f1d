"""Errors that users are to expect, as they come out of the Python API: where they were called from, and none of our lines."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from checker.core.errors import CheckerError, LoaderError

Arguments = ParamSpec("Arguments")
Given = TypeVar("Given")


def plainly(function: Callable[Arguments, Given]) -> Callable[Arguments, Given]:
    """Return a function whose expected errors start their traceback at its caller: their sentence says all that there is to know.

    The exception of user code stays below them as their cause. Unexpected errors are bugs of this tool and keep
    their whole traceback.
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
