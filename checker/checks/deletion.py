"""What was deleted is gone."""

import json
from collections.abc import Sequence

from checker.checks.context import PASSED, CheckContext, Found, JudgedInteraction
from checker.checks.resources import cache_note, is_done, method_of, status_of, told
from checker.checks.tombstones import says_deleted
from checker.core.case import Case
from checker.core.concrete_paths import concerns, concrete_path
from checker.core.failures import Failure, Severity
from checker.core.operation import Operation
from checker.core.resource_names import ends_with_variable
from checker.core.resources import REMOVING, SAFE
from checker.core.resources import status_of as answered
from checker.core.response import Response
from checker.core.scopes import is_elsewhere

_READS = frozenset(("GET", "HEAD", "QUERY", "PATCH"))
"""Not OPTIONS, which servers answer for routes, whether something is there or not."""
_NOTHING: tuple[object, ...] = (None, [], {})


class UseAfterFree(
    Failure,
    code="ST301",
    title="Use after free",
    severity=Severity.CRITICAL,
    needs_repetition=True,
):
    """A resource is still there after it was deleted."""


def is_read(operation: Operation) -> bool:
    """Whether an operation asks for a resource that has to be there."""
    return operation.resource_method in _READS


def use_after_free(context: CheckContext) -> Found:
    """Fail on an answer with a resource that an earlier step of the sequence had deleted."""
    case, steps = context.case, context.sequence
    if not 200 <= answered(case.operation, context.response) < 300:
        return PASSED
    for place in range(len(steps) - 1, -1, -1):
        deleted = steps[place]
        if (
            _is_deletion(deleted)
            and concerns(case, deleted.case)
            and not is_elsewhere(case, context.response.request, deleted.case, deleted.request)
            and _was_there(deleted, steps[:place])
            and not any(_creates(step, deleted) for step in steps[place + 1 :])
            and (_is_same(case, deleted.case) or not _shows_nothing(context.response))
            and not says_deleted(context.response)
        ):
            return _failure(context, deleted)
    return PASSED


def _is_deletion(step: JudgedInteraction) -> bool:
    template = step.case.operation.resource_path
    return method_of(step.case) == REMOVING and ends_with_variable(template) and is_done(step)


def _was_there(deleted: JudgedInteraction, before: Sequence[JudgedInteraction]) -> bool:
    """Whether an earlier step showed that there was something to delete."""
    meta = deleted.case.meta
    producers = () if meta is None else tuple(binding.producer for binding in meta.bindings)
    return any(
        is_done(step)
        and (step.case.operation.label in producers or _is_same(step.case, deleted.case))
        for step in before
    )


def _is_same(case: Case, other: Case) -> bool:
    return concrete_path(case) == concrete_path(other)


def _creates(step: JudgedInteraction, deleted: JudgedInteraction) -> bool:
    """Whether a step may have created again what was deleted."""
    is_writing = method_of(step.case) not in SAFE | {REMOVING, "PATCH"}
    return is_writing and status_of(step) < 400 and concerns(deleted.case, step.case)


def _shows_nothing(response: Response) -> bool:
    """Whether an answer is empty: below a deleted resource that shows nothing of it."""
    try:
        return not response.readable.content or response.json() in _NOTHING
    except (json.JSONDecodeError, UnicodeDecodeError):
        return False


def _failure(context: CheckContext, deleted: JudgedInteraction) -> Failure:
    response = context.response
    message = (
        f"`{told(context.case, response.request)}` is answered with {response.status_code} after "
        f"`{told(deleted.case, deleted.request)}` was answered with {status_of(deleted)}; "
        f"expected 404 or 410{cache_note(response)}"
    )
    failure = UseAfterFree(message)
    failure.operation = str(deleted.case.operation.label)
    return failure
