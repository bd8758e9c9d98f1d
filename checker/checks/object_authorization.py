"""A resource of one user is not shown to another user."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from checker.checks.context import PASSED, CheckContext, CheckTools, Found, JudgedInteraction, Peers
from checker.checks.resources import concerns, concrete_path, is_done, line_of, method_of
from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.failures import Failure, Severity
from checker.core.operation import Operation
from checker.core.request import Location
from checker.core.resource_names import ends_with_variable
from checker.core.resources import named_values
from checker.core.response import Response
from checker.core.send import Exchanging

_READING: Final = "GET"
_MOST_NODES: Final = 10_000
Thing = Mapping[str, Any]


class ObjectLevelAuthorizationViolation(
    Failure, code="ST402", title="Object-level authorization bypass", severity=Severity.CRITICAL
):
    """A user reads a resource of another user that is not public."""


def reads_member(operation: Operation) -> bool:
    """Whether an operation reads a single resource."""
    is_member = ends_with_variable(operation.resource_path)
    return operation.method == _READING and is_member and operation.resource_status is None


def has_peers(tools: CheckTools | None) -> bool:
    """Whether several users are configured."""
    return tools is not None and tools.peers is not None


def was_made_before(case: Case, response: Response) -> bool:
    """Whether a case uses a value of an earlier response."""
    return bool(case.meta is not None and case.meta.bindings)


def object_level_authorization(context: CheckContext) -> Exchanging[Found]:
    """Fail if a peer can read a resource that a user created in the sequence, and it is neither public nor listed for the peer."""
    tools = context.tools
    if tools is None or tools.peers is None or _is_wrong(context.case):
        return True
    owner = tools.peers.caller_of(context.response.request)
    creator = _creator(context, tools.peers, owner)
    mine = None if creator is None else _thing(context.case, context.response)
    if owner is None or creator is None or mine is None:
        return True
    for peer in tools.peers.names:
        if peer != owner:
            leak = yield from _leak(context, tools.peers, (peer, owner), creator, mine)
            if leak is not None:
                return leak
    return PASSED


def _leak(
    context: CheckContext, peers: Peers, users: tuple[str, str], creator: JudgedInteraction, mine: Thing
) -> Exchanging[Failure | None]:
    """Return the failure if a peer receives the resource of its owner; `users` are the two."""
    peer, owner = users
    try:
        anonymous = context.make(context.case, with_credentials=False)
        request = replace(anonymous, headers=list(anonymous.headers))
        peers.lend(context.case, request, peer)
    except CheckerError as error:
        context.unjudged.append(f"a request cannot be made as the peer {peer!r} ({error})")
        return None
    answer = yield request
    if not _shows(context.case, answer, mine):
        return None
    public = yield anonymous
    if _shows(context.case, public, mine):
        # A public resource is judged by `ignored_auth`.
        return None
    if (yield from _is_listed(context, peers, peer, creator, mine)):
        return None
    assert isinstance(answer, Response)
    failure = ObjectLevelAuthorizationViolation(
        f"Made by {owner!r} with: {line_of(creator.request)}\n"
        f"Read by {peer!r} with: {line_of(request)} ({answer.status_code})\n"
        f"Both got the same {len(_scalars(mine))} values; without credentials it is not shown"
    )
    failure.request = request
    return failure


def _is_listed(
    context: CheckContext, peers: Peers, peer: str, creator: JudgedInteraction, mine: Thing
) -> Exchanging[bool]:
    """Whether the collection lists the resource for the peer, so that it is shared on purpose."""
    path = creator.case.operation.path
    if _READING not in _methods_at(creator.case.operation, path) or creator.request is None:
        return False
    base = context.make(context.case, with_credentials=False)
    request = replace(base, target=creator.request.path, headers=list(base.headers))
    peers.lend(context.case, request, peer)
    answer = yield request
    if not isinstance(answer, Response) or answer.status_code >= 300:
        return False
    wanted = _scalars(mine).items()
    return any(wanted <= _scalars(one).items() for one in _things(_body(answer)))


def _methods_at(operation: Operation, path: str) -> frozenset[str]:
    return frozenset(method for methods in operation.methods_at(path) for method in methods)


def _is_wrong(case: Case) -> bool:
    """Whether a case is invalid on purpose, or uses no value of an earlier response."""
    meta = case.meta
    return meta is None or meta.mode.is_negative or not meta.bindings


def _creator(context: CheckContext, peers: Peers, owner: str | None) -> JudgedInteraction | None:
    """Return the step in which the caller created the resource of the case."""
    case = context.case
    for step in reversed(context.sequence):
        is_member = len(concrete_path(case)) == len(concrete_path(step.case)) + 1
        is_made = method_of(step.case) == "POST" and is_done(step) and is_member
        if is_made and concerns(case, step.case):
            is_own = owner is not None and peers.caller_of(step.request) == owner
            return step if is_own and _is_named_in(step, case) else None
    return None


def _is_named_in(creator: JudgedInteraction, case: Case) -> bool:
    """Whether a case takes its path from the response to the creation."""
    assert case.meta is not None
    label, answer = creator.case.operation.label, creator.outcome
    took = any(one.producer == label and one.location is Location.PATH for one in case.meta.bindings)
    return took and isinstance(answer, Response)


def _thing(case: Case, answer: Response) -> Thing | None:
    """Return the object with the requested identifier and at least one other value; None if there is none."""
    names = {str(value) for value in named_values(case).values()}
    for one in _things(_body(answer)):
        values = _scalars(one)
        if len(values) > 1 and any(str(value) in names for value in values.values()):
            return one
    return None


def _shows(case: Case, answer: object, mine: Thing) -> bool:
    """Whether a response shows the same resource: all common values are equal, and more than the identifier is common."""
    if not isinstance(answer, Response) or not 200 <= answer.status_code < 300 or answer.redirects:
        return False
    theirs = _thing(case, answer)
    if theirs is None:
        return False
    ours, others = _scalars(mine), _scalars(theirs)
    shared = ours.keys() & others.keys()
    names = {str(value) for value in named_values(case).values()}
    says_more = any(str(ours[key]) not in names for key in shared)
    return says_more and all(ours[key] == others[key] for key in shared)


def _scalars(thing: Thing) -> dict[str, Any]:
    return {key: value for key, value in thing.items() if isinstance(value, str | int | float)}


def _body(answer: Response) -> Any:
    try:
        return answer.json()
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        return None


def _things(body: Any) -> Iterator[Thing]:
    """Yield the objects of a body, outermost first."""
    return islice(_objects(body), _MOST_NODES)


def _objects(body: Any) -> Iterator[Thing]:
    pending = [body]
    while pending:
        value = pending.pop(0)
        if isinstance(value, dict):
            yield value
            pending += value.values()
        elif isinstance(value, list):
            pending += value
