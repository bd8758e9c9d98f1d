"""A case that is about another thing: what a request has made stands in the way of the same request."""

from copy import copy
from itertools import islice
from typing import Any, Final

from checker.checks.context import CheckContext
from checker.core.case import Case
from checker.core.verdicts import Outcome

_MOST: Final = 16
"""Members that are changed."""
_ALPHABETS: Final = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
_NEXT: Final = str.maketrans(
    {one: all_[at - 1] for all_ in _ALPHABETS for at, one in enumerate(all_)}
)


def another_thing(context: CheckContext) -> Case | None:
    """The case with other texts and numbers in its body, as far as it stays valid; None where nothing can be changed."""
    tools, body = context.tools, context.case.body
    if tools is None or not isinstance(body, dict):
        return None
    case, is_changed = copy(context.case), False
    case.body = dict(body)
    for name, value in islice(body.items(), _MOST):
        case.body[name] = _another(value)
        is_valid = False
        if case.body[name] != value:
            verdict = tools.judge_request(case.operation, context.make(case))
            is_valid = verdict.outcome is Outcome.VALID
        if not is_valid:
            case.body[name] = value
        is_changed = is_changed or is_valid
    return case if is_changed else None


def _another(value: Any) -> Any:
    if isinstance(value, str):
        return value.translate(_NEXT)
    return value + 1 if isinstance(value, int) and not isinstance(value, bool) else value
