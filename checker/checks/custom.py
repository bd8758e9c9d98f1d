"""Users' checks as ours: they raise where ours answer."""

from collections.abc import Callable
from typing import Any

from checker.checks.context import PASSED, Check, CheckContext, Failures
from checker.core.errors import CheckError
from checker.core.failures import FailedCheck, Failure
from checker.core.templates import error_template, sent_texts


def custom_check(name: str, function: Callable[..., Any]) -> Check:
    """A user's `(context, response, case)` as a check; an `AssertionError` is its failure.

    Anything else that it raises becomes a `CheckError`.
    """

    def check(context: CheckContext) -> Failures:
        try:
            function(context, context.response, context.case)
        except FailedCheck as failed:
            return (failed.failure,)
        except AssertionError as error:
            return (_failure(name, str(error), context),)
        except Exception as error:
            raise CheckError(name, error) from error
        return PASSED

    return check


def _failure(name: str, message: str, context: CheckContext) -> Failure:
    content = message.encode("utf-8", "surrogatepass")
    return Failure(
        check=name,
        title=f"Custom check failed: `{name}`",
        message=message,
        unique_key="",
        text=error_template(content, sent_texts(context.case), context.described),
    )
