"""The built-in checks as functions `(context, response, case)`, for checks of users that call them."""

from collections.abc import Callable, Mapping
from functools import cache

from checker.checks.context import CheckContext
from checker.checks.judge import Judge, JudgeSettings
from checker.checks.table import BUILT_IN
from checker.core.case import Case
from checker.core.failures import FailureGroup
from checker.core.response import Response

BuiltInCheck = Callable[[CheckContext, Response, Case], None]


def __getattr__(name: str) -> BuiltInCheck:
    """Return the function of a check; the same one each time, because users compare checks."""
    if name not in BUILT_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _function(name)


@cache
def _function(name: str) -> BuiltInCheck:
    row = BUILT_IN[name]

    def check(context: CheckContext, response: Response, case: Case) -> None:
        given = context.config.get("checks", {}).get(name, {})
        # The switch of a check, such as the limit of `max_response_time`, stands where others have their section.
        settings = {name: given if isinstance(given, Mapping) else {name: given}}
        judge = Judge((row,), JudgeSettings(settings, context.truncation), context.tools)
        work = judge.judge(case, response, context.sequence)
        try:
            request = next(work)
            while True:
                request = work.send(case.exchange(request))
        except StopIteration as end:
            judgement = end.value
        for _, error in judgement.errors:
            raise error
        failures = list(judgement.failures)
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise FailureGroup("\n\n".join(f"{one.title}\n{one.message}" for one in failures), failures)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = row.run.__doc__
    return check
