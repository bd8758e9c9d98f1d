"""Checks that created resources are available."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import unquote

from checker.checks.check import Config
from checker.checks.context import PASSED, CheckContext, Found, JudgedInteraction
from checker.checks.resources import (
    Sent,
    cache_note,
    concerns,
    concrete_path,
    is_done,
    is_elsewhere,
    may_change,
    method_of,
    request_of_check,
    status_of,
    told,
)
from checker.core.case import Case
from checker.core.contract import ResponsePlan
from checker.core.failures import Failure
from checker.core.operation import Location, Operation
from checker.core.resource_names import affinity, ends_with_variable, normalised, owner_of, resource_of, words
from checker.core.resources import REMOVING, named_values, place_of
from checker.core.response import Response
from checker.core.runtime_expressions import EvaluationContext, RuntimeExpression, candidates
from checker.core.schema import tokens_of
from checker.core.send import Exchanging

_CREATED, _MISSING = 201, 404
_MOST_NODES = 10_000
_REFERENCES = frozenset(("id", "ids", "uuid", "uuids", "guid", "ref", "refs", "key", "slug", "code"))
_WORD = re.compile(r"[^\W\d_]+")
_CERTAIN = 0.85  # Affinity above which the names of a field and a variable count as the same.


class EnsureResourceAvailability(
    Failure, code="ST302", title="Resource is not available after creation", needs_repetition=True
):
    """A resource is not available after it was created."""


def names_member(operation: Operation) -> bool:
    """Whether an operation is about a single resource."""
    return operation.method != "OPTIONS" and ends_with_variable(operation.resource_path)


def is_there(status: int, plan: ResponsePlan, config: Config) -> bool:
    """Whether every response with this status and plan passes."""
    return status != _MISSING and plan.answers is None


def ensure_resource_availability(context: CheckContext) -> Exchanging[Found]:
    """Fail on 404 for a resource that an earlier step created by POST and no step removed.

    Any write after the creation may have removed the resource, for example a `POST /flush` in a step between, or from
    another worker. So the steps up to the creation are sent again, followed only by the
    read. If the resource is available then, another write had removed it.
    """
    steps, case = context.sequence, context.case
    meta = case.meta
    if meta is None or not meta.bindings:
        return True
    if case.operation.status_of(context.response) != _MISSING:
        return PASSED
    part = meta.components.get(next((at for at, _ in case.operation.resource_places.values()), Location.PATH))
    if part is not None and part.mode.is_negative:
        return True
    for place in range(len(steps) - 1, -1, -1):
        creator = steps[place]
        if not creates_member(creator, case) or not is_named_by(creator, case):
            continue
        if _may_be_missing(context, place) or (yield from _is_removed(context, place)):
            return PASSED
        response = context.response
        message = (
            f"Received: {context.case.operation.status_of(response)}\n"
            f"Created with: {told(creator.case, creator.request)} ({status_of(creator)})\n"
            f"Not available with: {told(context.case, response.request)}{cache_note(response)}"
        )
        failure = EnsureResourceAvailability(message)
        failure.operation = str(creator.case.operation.label)
        failure.second_look_s = context.config["second-look"]
        return failure
    return PASSED


def _is_removed(context: CheckContext, place: int) -> Exchanging[bool]:
    """Whether a resource is available if the steps up to its creation (step `place`) are sent again and followed by the read alone."""
    if context.tools is None:
        return False
    earlier: list[Sent] = []
    for old in (*(step.case for step in context.sequence[: place + 1]), context.case):
        case = context.tools.renew(old, earlier)
        request = request_of_check(context, case)
        earlier.append(Sent(case, request, (yield request)))
    made, read = earlier[place], earlier[-1]
    return is_done(made) and is_named_by(made, read.case) and is_done(read)


def _may_be_missing(context: CheckContext, place: int) -> bool:
    """Whether the resource that a step created may be unavailable to a case for good reasons."""
    steps, case = context.sequence, context.case
    creator = steps[place]
    return (
        # Callers without credentials, or of another tenant, may not see the resource.
        creator.case.is_anonymous is not case.is_anonymous
        or is_elsewhere(case, context.response.request, creator.case, creator.request)
        # Many servers decode `%2F` before they select the operation.
        or any("/" in str(value) for value in case.path_parameters.values())
        # The 404 may be about another resource to which the body refers.
        or _names_others(case.body)
        or _is_about_argument(context)
        or any(_may_remove(step, case, creator) for step in steps[place + 1 :])
        # The resource was created below a removed one, or has the name of a removed one.
        or any(method_of(one.case) == REMOVING and is_done(one) and concerns(case, one.case) for one in steps[:place])
    )


def _names_others(body: object) -> bool:
    """Whether a body refers to other resources: `author_id`, `roomId`, `tagIds`."""
    found = body if isinstance(body, dict) else {}
    return any(len(parts := words(name)) > 1 and parts[-1] in _REFERENCES for name in islice(found, _MOST_NODES))


def _is_about_argument(context: CheckContext) -> bool:
    """Whether the error of a GraphQL field is about another argument than the identifier: `No such option`."""
    case, complaint = context.case, context.complaint
    given = case.body.get("arguments") if isinstance(case.body, dict) else None
    if complaint is None or not isinstance(given, dict):
        return False
    own = named_values(case).keys()
    known = {"id", "ids", *resource_of(case.operation.resource_path)}
    said = {word.lower() for word in _WORD.findall(complaint.text)}
    about = (set(words(name)) - known for name in islice(given, _MOST_NODES) if name not in own)
    return any(parts and parts <= said for parts in about)


def creates_member(step: JudgedInteraction, case: Case) -> bool:
    """Whether a step is a successful POST to the collection of a case's resource."""
    if method_of(step.case) != "POST" or not (is_done(step) or 300 <= status_of(step) < 400):
        return False
    is_member = len(concrete_path(case)) == len(concrete_path(step.case)) + 1
    return is_member and concerns(case, step.case)


def is_named_by(creator: JudgedInteraction, case: Case) -> bool:
    """Whether the last variable of the path is the identifier that the creator returned."""
    answer = creator.outcome
    assert isinstance(answer, Response)
    last = case.operation.resource_path.rstrip("/").rpartition("/")[2]
    values = named_values(case)
    names = [name for name in values if f"{{{name}}}" in last]
    wanted = {name: str(values[name]) for name in names}
    urls = (value.partition("?")[0].rstrip("/") for value in answer.headers.get("location", ()))
    if len(names) == 1 and wanted[names[0]] in (unquote(url.rpartition("/")[2]) for url in urls):
        return True
    said = set(_scalars_of(answer))
    return bool(names) and all(
        wanted[name] in said and _is_identity(case, name, creator, wanted[name]) for name in names
    )


def _is_identity(case: Case, name: str, creator: JudgedInteraction, wanted: str) -> bool:
    """Whether a variable's value comes from a field of the creator's response with the same meaning.

    Values of other fields, such as a weight, may fill a variable without being an identifier. Another request of the same
    operation may have created the resource whose identifier equals a number in this creator's response.
    """
    assert case.meta is not None
    label = creator.case.operation.label
    for one in case.meta.bindings:
        if ((one.location, one.name), one.producer) == (place_of(case.operation, name), label):
            field = normalised(one.pointer.rpartition("/")[2])
            owner = owner_of(case.operation.resource_path, name)
            resource = resource_of(creator.case.operation.resource_path)
            is_name = affinity(name, owner, field, resource) >= _CERTAIN
            if not is_name:
                return False
            assert isinstance(creator.outcome, Response)
            is_response = one.pointer.startswith("/")
            place = RuntimeExpression(one.pointer, is_response, "body", tokens=tokens_of(one.pointer))
            return wanted in map(str, candidates(place, EvaluationContext(creator.case, creator.outcome)))
    return False


def _scalars_of(answer: Response) -> Iterator[str]:
    """Yield the scalars of a response as text: possible identifiers of the created resource."""
    try:
        body = answer.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        return
    # A list with another status than 201 contains search results.
    if answer.status_code == _CREATED or isinstance(body, dict):
        yield from islice(_scalars(body), _MOST_NODES)


def _scalars(body: Any) -> Iterator[str]:
    pending = [body]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str | int | float):
            yield str(value)


def _may_remove(step: JudgedInteraction, case: Case, creator: JudgedInteraction) -> bool:
    """Whether a step that was not refused may have removed the resource of a case."""
    if not may_change(step):
        return False
    if step.case.operation.label == creator.case.operation.label:
        return False
    if concerns(case, step.case) or concerns(step.case, case) or _uses_parent(step, case):
        return True
    meta = creator.case.meta
    if meta is None or method_of(step.case) != REMOVING:
        return False
    gone = {str(value) for value in named_values(step.case).values()}
    return any(one.location is not Location.PATH and str(one.literal) in gone for one in meta.bindings)


def _uses_parent(step: JudgedInteraction, case: Case) -> bool:
    """Whether a step is an action on a resource in the path of a case, such as the checkout of a cart, or names such a resource in its values.

    The action may have consumed the resource with everything below it.
    """
    meta = step.case.meta
    used = {str(value) for value in named_values(step.case).values()}
    used |= {str(one.literal) for one in meta.bindings} if meta is not None else set()
    return not used.isdisjoint(str(value) for value in named_values(case).values())
