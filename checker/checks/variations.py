"""A case that is about another thing: what a request has made stands in the way of the same request."""

from collections.abc import Iterator
from copy import copy
from itertools import islice
from typing import Any, Final

from checker.checks.context import CheckContext, CheckTools
from checker.core.case import Case
from checker.core.verdicts import Outcome

_MOST: Final = 16
"""Members that are changed."""
_ALONE: Final = 4
"""Of them, how many are changed alone."""
_ALPHABETS: Final = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
_NEXT: Final = str.maketrans(
    {one: all_[at - 1] for all_ in _ALPHABETS for at, one in enumerate(all_)}
)


def other_things(context: CheckContext) -> Iterator[Case]:
    """Yield the case with one text or number of its body changed, a few times, then with all of them changed; each stays valid.

    One at a time first: the others may refer to something that exists. All at last: several may have to be unique.
    """
    tools, body = context.tools, context.case.body
    if tools is None or not isinstance(body, dict):
        return
    changed: dict[str, Any] = {}
    for name, value in islice(body.items(), _MOST):
        other = _another(value)
        case = _with_body(context.case, body | {name: other})
        if other == value or not _is_valid(case, context, tools):
            continue
        changed[name] = other
        if len(changed) <= _ALONE:
            yield case
    together = _with_body(context.case, body | changed)
    if len(changed) > 1 and _is_valid(together, context, tools):
        yield together


def _with_body(case: Case, body: dict[str, Any]) -> Case:
    other = copy(case)
    other.body = body
    return other


def _is_valid(case: Case, context: CheckContext, tools: CheckTools) -> bool:
    verdict = tools.judge_request(case.operation, context.make(case))
    return verdict.outcome is Outcome.VALID


def _another(value: Any) -> Any:
    if isinstance(value, str):
        return value.translate(_NEXT)
    return value + 1 if isinstance(value, int) and not isinstance(value, bool) else value
