"""The built-in checks as functions `(context, response, case)`, which users' checks can call."""

from collections.abc import Mapping
from functools import cache

from checker.checks.context import CheckContext
from checker.checks.custom import UserCheck
from checker.checks.judge import Judge, JudgeSettings
from checker.checks.table import BUILT_IN
from checker.core.case import Case
from checker.core.failures import FailureGroup
from checker.core.response import Response
from checker.core.send import drive
from checker.core.user_code import require


class BuiltInChecks:
    """The functions by the names of the checks."""

    def __getattr__(self, name: str) -> UserCheck:
        return _function(name)


functions = BuiltInChecks()


@cache
def _function(name: str) -> UserCheck:
    row = BUILT_IN.get(name)
    if row is None:
        raise AttributeError(f"there is no check {name!r}")

    def check(context: CheckContext, response: Response, case: Case) -> None:
        is_given = isinstance(context, CheckContext)
        require(
            is_given, "context", f"that of your own check; else `case.validate_response(response, [{name!r}])`", context
        )
        given = context.config.get("checks", {}).get(name, {})
        # A switch, such as the limit of `max_response_time`, is a value where other checks have a section.
        settings = {name: given if isinstance(given, Mapping) else {name: given}}
        judge = Judge((row,), JudgeSettings(settings, context.truncation), context.tools)
        judgement = drive(judge.judge(case, response, context.sequence), case.exchange)
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
