"""Deleted resources are gone."""

import json
import re
from collections.abc import Sequence
from copy import copy
from typing import Any, Final

from checker.checks.context import PASSED, CheckContext, Found, JudgedInteraction
from checker.checks.resources import (
    body_of,
    cache_note,
    concerns,
    concrete_path,
    has_read,
    is_done,
    is_elsewhere,
    is_of_one_caller,
    is_same,
    is_valid,
    method_of,
    status_of,
    told,
)
from checker.core.case import NOT_SET, Case
from checker.core.failures import Failure, Severity
from checker.core.operation import Operation
from checker.core.resource_names import ends_with_variable, normalised, noun_of, resource_of
from checker.core.resources import REMOVING, SAFE, named_values
from checker.core.response import Response
from checker.core.send import Exchanging

_DEPTH: Final = 3
_FLAGS: Final = frozenset(("deleted", "isdeleted", "softdeleted", "removed", "isremoved", "archived", "isarchived"))
_TIMES: Final = frozenset(
    f"{done}{when}"
    for done in ("deleted", "deletion", "removed", "archived", "trashed")
    for when in ("at", "on", "time", "date", "timestamp")
)
_STATES: Final = frozenset(("state", "status", "lifecycle", "lifecyclestate", "phase"))
_ENDED: Final = re.compile(
    r"(?:(?:pending|scheduled|marked)[ _-]?(?:for[ _-]?)?)?(?:delet|remov|archiv|expir|terminat|trash|cancell?|revok|deactivat)(?:ed|e|ing|ion)"
    r"|inactive|disabled|closed|gone",
    re.IGNORECASE,
)
_WRAPPERS: Final = frozenset(("data", "result", "item", "attributes", "metadata")) | _STATES
"""Names of members that may contain the resource or its state."""


def says_deleted(response: Response) -> bool:
    """Whether the body is an object that is marked as deleted: by a flag, a deletion time, or a final state."""
    return _is_tombstone(body_of(response), _DEPTH)


def _is_tombstone(value: Any, depth: int) -> bool:
    if not isinstance(value, dict) or not depth:
        return False
    return any(_says(normalised(str(name)), inner, depth) for name, inner in value.items())


def _says(name: str, value: Any, depth: int) -> bool:
    if name in _FLAGS:
        return value is True
    if name in _TIMES:
        return isinstance(value, str | int) and bool(value)
    if name in _STATES and isinstance(value, str):
        return _ENDED.fullmatch(value) is not None
    return name in _WRAPPERS and _is_tombstone(value, depth - 1)


_READS = frozenset(("GET", "HEAD", "QUERY", "PATCH"))
"""OPTIONS is not among them: servers support it for each route, whether or not the resource exists."""
_NOTHING: tuple[object, ...] = (None, [], {})
_SHOWING = frozenset(("GET", "HEAD"))
_CREATED = 201
_FAR: Final = 7_654_321
_GROUPS: Final = ("0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ")
"""Characters that replace each other in an invented name. Hexadecimal digits are separate groups, so that a UUID stays a UUID."""
_OTHERS: Final = str.maketrans({one: all_[at - len(all_) // 2] for all_ in _GROUPS for at, one in enumerate(all_)})
_GONE = frozenset((404, 410))


class UseAfterFree(Failure, code="ST301", title="Use after free", severity=Severity.CRITICAL, needs_repetition=True):
    """A resource still exists after it was deleted."""


def is_read(operation: Operation) -> bool:
    """Whether an operation works only on an existing resource."""
    return operation.resource_method in _READS


def use_after_free(context: CheckContext) -> Exchanging[Found]:
    """Fail on a response with a resource that an earlier step of the sequence has deleted.

    A response that the server also gives for a name that never existed proves nothing. For a resource below the deleted one,
    the deleted one is requested again, because servers with soft deletes keep everything below it. If a step has created
    something below the deleted resource since then, a 404 for the deleted resource is a failure of that step. A list of the
    collection that contains the deleted resource is a failure if a GET of the resource does not find it.
    """
    case, steps = context.case, context.sequence
    if case.operation.status_of(context.response) in _GONE:
        return _made_below(context)
    if not 200 <= case.operation.status_of(context.response) < 300:
        return PASSED
    listed = next((step for place, step in enumerate(steps) if _is_listed(context, step, place)), None)
    if listed is not None and (yield from _is_missing(context, listed)):
        failure = _failure(context, listed)
        # An index may show a removal late.
        failure.second_look_s = 1.0
        return failure
    for place in range(len(steps) - 1, -1, -1):
        deleted = steps[place]
        if (
            _is_deletion(deleted)
            and concerns(case, deleted.case)
            and not is_elsewhere(case, context.response.request, deleted.case, deleted.request)
            and _was_there(deleted, steps[:place])
            and not any(_creates(step, deleted) for step in steps[place + 1 :])
            and (is_same(case, deleted.case) or not _shows_nothing(context.response))
            and not says_deleted(context.response)
        ):
            is_below = not is_same(case, deleted.case)
            if is_below and (yield from _is_kept(context, deleted)):
                return PASSED
            if (yield from answers_any_name(context, deleted.case)):
                # The response only repeats the request, or is a sub-resource that is empty for any name.
                return PASSED
            return _failure(context, deleted)
    return PASSED


def _is_listed(context: CheckContext, step: JudgedInteraction, place: int) -> bool:
    """Whether a response contains, in a list, a resource that a step of the sequence deleted."""
    case, steps, items = context.case, context.sequence, body_of(context.response)
    if not (_is_deletion(step) and isinstance(items, list) and is_of_one_caller(context, step)):
        return False
    nouns = {noun_of(resource_of(one.operation.resource_path)) for one in (case, step.case)}
    name = str(next(reversed([*named_values(step.case).values()]), ""))
    shown = (one for one in items if isinstance(one, dict) and str(one.get("id", "")) == name)
    return (
        len(nouns) == 1
        and len(name) > 1
        and any(not _is_tombstone(one, _DEPTH) for one in shown)
        and _was_there(step, steps[:place])
        and not any(_creates(one, step) for one in steps[place + 1 :])
    )


def _is_missing(context: CheckContext, deleted: JudgedInteraction) -> Exchanging[bool]:
    """Whether a GET of a deleted resource does not find it, if a GET is described."""
    answer = (yield context.make(as_get(deleted.case))) if has_read(deleted.case.operation) else None
    return isinstance(answer, Response) and answer.status_code in _GONE


def _is_kept(context: CheckContext, deleted: JudgedInteraction) -> Exchanging[bool]:
    """Whether the server still returns the deleted resource, marked as deleted (a soft delete)."""
    answer = yield context.make(as_get(deleted.case))
    return isinstance(answer, Response) and 200 <= answer.status_code < 300 and says_deleted(answer)


def as_get(case: Case) -> Case:
    """Return a GET of the path of a case, without its body."""
    asked = copy(case)
    asked.method, asked.body, asked.media_type = "GET", NOT_SET, None
    return asked


def answers_any_name(context: CheckContext, named: Case) -> Exchanging[bool]:
    """Whether the server returns 2xx for a name that never existed, so that its response proves nothing about the resource of `named`.

    The judged case concerns that resource, or a resource below it. Methods other than GET and HEAD are replaced by GET,
    because an update of a new name may create it.
    """
    case, gone = context.case, list(named_values(named).values())[-1:]
    if case.operation.resource_places:
        return False
    asked = copy(case) if method_of(case) in _SHOWING else as_get(case)
    asked.path_parameters = {
        name: invented(value) if str(value) == str(gone[0]) else value for name, value in case.path_parameters.items()
    }
    if asked.path_parameters == case.path_parameters:
        return False
    answer = yield context.make(asked)
    return isinstance(answer, Response) and 200 <= answer.status_code < 300


def invented(value: Any) -> Any:
    """Return a name of the same form that no resource has: a distant number, or a text with other letters and digits.

    A name without ASCII letters and digits is returned unchanged.
    """
    return value.translate(_OTHERS) if isinstance(value, str) else value + _FAR if isinstance(value, int) else value


def _made_below(context: CheckContext) -> Found:
    """Return the failure of a step that created something below a deleted resource.

    Some services restore the deleted resource in this case. Here the current response shows that the deleted resource
    does not exist.
    """
    case, steps = context.case, context.sequence
    if method_of(case) not in _SHOWING or not is_valid(case):
        return PASSED
    for place in range(len(steps) - 1, -1, -1):
        made = steps[place]
        operation = made.case.operation
        is_made = method_of(made.case) == "POST" and status_of(made) == _CREATED
        is_collection = is_made and bool(operation.methods_at(f"{operation.path}/0"))
        if not (is_collection and is_valid(made.case)):
            continue
        deleted = _deletion_of_owner(made, case, steps[:place])
        is_settled = not any(_changes(step, case) for step in steps[place + 1 :])
        if deleted is not None and is_settled and is_of_one_caller(context, made, deleted):
            response = context.response
            gone = f", as of `{told(context.case, response.request)}` ({response.status_code})"
            return _used(told(made.case, made.request), status_of(made), deleted, gone + cache_note(response), made)
    return PASSED


def _deletion_of_owner(
    made: JudgedInteraction, owner: Case, before: Sequence[JudgedInteraction]
) -> JudgedInteraction | None:
    """Return the step that deleted the owner of a collection; None if a later step may have created the owner again."""
    is_below = len(concrete_path(made.case)) == len(concrete_path(owner)) + 1
    if not is_below or not concerns(made.case, owner):
        return None
    for place in range(len(before) - 1, -1, -1):
        step = before[place]
        if _is_deletion(step) and is_same(step.case, owner):
            return step if _was_there(step, before[:place]) else None
        if _changes(step, owner):
            return None
    return None


def _changes(step: JudgedInteraction, owner: Case) -> bool:
    """Whether a step may have changed a resource or one that contains it."""
    return method_of(step.case) not in SAFE and concerns(owner, step.case)


def _is_deletion(step: JudgedInteraction) -> bool:
    template = step.case.operation.resource_path
    return method_of(step.case) == REMOVING and ends_with_variable(template) and is_done(step)


def _was_there(deleted: JudgedInteraction, before: Sequence[JudgedInteraction]) -> bool:
    """Whether an earlier step showed that the deleted resource existed."""
    meta = deleted.case.meta
    producers = () if meta is None else tuple(binding.producer for binding in meta.bindings)
    return any(
        is_done(step) and (step.case.operation.label in producers or is_same(step.case, deleted.case))
        for step in before
    )


def _creates(step: JudgedInteraction, deleted: JudgedInteraction) -> bool:
    """Whether a step may have created the deleted resource again, or restored it: `POST /files/{id}/restore`."""
    is_writing = method_of(step.case) not in SAFE | {REMOVING, "PATCH"}
    is_around = concerns(deleted.case, step.case) or concerns(step.case, deleted.case)
    return is_writing and status_of(step) < 400 and is_around


def _shows_nothing(response: Response) -> bool:
    """Whether a response is empty, so that it proves nothing about resources below the deleted one."""
    try:
        return not response.readable.content or response.json() in _NOTHING
    except (json.JSONDecodeError, UnicodeDecodeError):
        return False


def _failure(context: CheckContext, deleted: JudgedInteraction) -> Failure:
    response = context.response
    asked = told(context.case, response.request)
    return _used(asked, response.status_code, deleted, cache_note(response), deleted)


def _used(request: str, status: int, deleted: JudgedInteraction, more: str, about: JudgedInteraction) -> Failure:
    """Return the failure of a request that was answered with a status after a deletion. The failure belongs to the operation of the step `about`."""
    failure = UseAfterFree(
        f"`{request}` is answered with {status} after `{told(deleted.case, deleted.request)}` "
        f"was answered with {status_of(deleted)}; expected 404 or 410{more}"
    )
    failure.operation = str(about.case.operation.label)
    return failure
