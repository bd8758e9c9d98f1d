"""Checks that other users can neither read nor change nor remove a user's resource."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, TypeGuard
from urllib.parse import urlsplit

from checker.checks.authentication import other_things
from checker.checks.context import PASSED, CheckContext, CheckTools, Found, Instead, JudgedInteraction, Peers
from checker.checks.deletion import as_get
from checker.checks.read_only import json_object
from checker.checks.resources import (
    body_of,
    concerns,
    concrete_path,
    is_bound,
    is_described,
    is_done,
    is_equal,
    is_one_of,
    is_success,
    line_of,
    method_of,
    resource_in,
    served_body,
)
from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.failures import Failure, Severity
from checker.core.request import Location, WireRequest
from checker.core.resource_names import ends_with_variable
from checker.core.resources import REMOVING, named_values
from checker.core.response import Response
from checker.core.send import Exchanging

_READING: Final = "GET"
_INCOMPLETE: Final = frozenset((400, 422))  # Statuses of a collection that requires a query.
_MOST_NODES: Final = 10_000
_ONE_OF: Final = 4  # One in this many updates and removals is also sent by a peer.
_TELLING: Final = 3  # Length from which a text is not equal to another by chance.
Thing = Mapping[str, Any]


class ObjectLevelAuthorizationViolation(
    Failure, code="ST402", title="Object-level authorization bypass", severity=Severity.CRITICAL
):
    """A user reads a resource of another user that is not public."""


class ForeignWrite(Failure, code="ST406", title="Resource of another user is changed", severity=Severity.CRITICAL):
    """A user changes or removes a resource of another user that is not shared."""


def may_write(case: Case, response: Response) -> bool:
    """Whether the check sends the request of a peer for an interaction, or judges the response to such a request."""
    sent, is_update = response.request, case.method != REMOVING
    if sent is None or not is_bound(case, response):
        return False
    return sent.is_of_check or sent.is_for("object_level_writes") or (is_update and is_one_of(case, _ONE_OF))


def removed_by_peer(case: Case, sent: WireRequest, tools: CheckTools) -> Exchanging[Instead | None]:
    """Return the removal by another user than the sender of `sent`, if it succeeds."""
    owner = None if tools.peers is None else tools.peers.caller_of(sent)
    peer = next((name for name in tools.peers.names if name != owner), None) if tools.peers and owner else None
    if peer is None:
        return None
    try:
        request = _lent(tools, case, peer)
    except CheckerError:
        # The check itself reports this error later.
        return None
    answer = yield request
    return (request, answer) if _is_served(answer) else None


def object_level_writes(context: CheckContext) -> Exchanging[Found]:
    """Fail if a peer changes or removes a resource that a user created in the sequence, and that is not shared.

    The peer sends the owner's accepted update with another text, and sends removals before the owner. The peer's request must
    succeed, and a read by the owner must show its effect.
    """
    case, tools, sent = context.case, context.tools, context.response.request
    creator = None if tools is None or tools.peers is None or case.meta is None else _creator(context)
    if tools is None or tools.peers is None or sent is None or creator is None:
        return True
    owner, caller = tools.peers.caller_of(creator.request), tools.peers.caller_of(sent)
    own: WireRequest = sent
    is_foreign = caller != owner
    peer, answer = caller, context.response
    if owner is None or caller is None or (sent.is_of_check and not is_foreign):
        return True
    if not is_foreign:
        other = _with_new_text(context)
        peer = next((name for name in tools.peers.names if name != owner), None)
        request = None if other is None or peer is None else _as_user(context, peer, other)
        outcome = None if request is None else (yield request)
        if request is None or peer is None or not _is_served(outcome):
            return PASSED
        own, answer = request, outcome
    reading = _as_user(context, owner, as_get(case))
    read = None if reading is None else (yield reading)
    seen = context.exchanges[-1:]
    shown = [one.outcome for one in reversed(context.sequence)] if is_foreign else [context.response]
    known = (_thing(context, one) for one in shown if isinstance(one, Response))
    before = next((one for one in known if one is not None), None)
    has_effect = isinstance(read, Response) and _has_effect(before, own, read)
    if not is_foreign:
        # Later steps are judged by the owner's update, so it is sent again.
        yield replace(sent, is_of_check=True)
    mark = named_values(case) if own.method == REMOVING else before
    if not has_effect or mark is None or (yield from _is_shared(context, tools.peers, (f"{peer}", owner), mark)):
        return PASSED
    failure = ForeignWrite(
        f"Made by {owner!r} with: {line_of(creator.request)}\n"
        f"Sent by {peer!r}: {line_of(own)} ({answer.status_code})\n"
        f"{owner!r} then reads {'that it is gone' if own.method == REMOVING else 'the new value'}",
        unique_key=own.method,
    )
    failure.request = own
    return failure.showing_with(seen)


def _with_new_text(context: CheckContext) -> Case | None:
    """Return a variant of an update with a text that no step of its sequence has sent; None if there is none."""
    known = {repr(value) for step in context.sequence for one in _things(step.case.body) for value in one.values()}
    variants = (one for one in other_things(context, texts_only=True) if isinstance(one.body, dict))
    given = context.case.body if isinstance(context.case.body, dict) else {}
    news = ((one, [value for name, value in one.body.items() if value != given.get(name)]) for one in variants)
    return next((one for one, values in news if not any(repr(value) in known for value in values)), None)


def _has_effect(before: Thing | None, request: WireRequest, read: Response) -> bool:
    """Whether a read shows the effect of a write."""
    if request.method == REMOVING:
        return read.status_code in (404, 410)
    shown, sent = resource_in(read) or {}, json_object(request)
    return any(
        name in sent and is_equal(shown.get(name), sent[name]) and not is_equal(value, sent[name])
        for name, value in (before or {}).items()
    )


def has_peers(tools: CheckTools | None) -> bool:
    """Whether several users are configured."""
    return tools is not None and tools.peers is not None


def object_level_authorization(context: CheckContext) -> Exchanging[Found]:
    """Fail if a peer can read a resource that a user created in the sequence, and that is neither public nor shared."""
    tools, meta = context.tools, context.case.meta
    if tools is None or tools.peers is None or meta is None or meta.mode.is_negative or not meta.bindings:
        return True
    peers, sent = tools.peers, context.response.request
    creator = _creator(context)
    owner = None if creator is None else peers.caller_of(creator.request)
    if creator is None or owner is None:
        return True
    if sent is not None and sent.is_of_check:
        # This is the printed command of a failure, so the response is the peer's.
        request = _as_user(context, owner)
        own = None if request is None else (yield request)
        mine = _thing(context, own) if _is_served(own) else None
        asking: list[tuple[str | None, WireRequest | None]] = [(peers.caller_of(sent), sent)]
    else:
        mine = _thing(context, context.response) if peers.caller_of(sent) == owner else None
        asking = [(name, None) for name in peers.names]
    if mine is None:
        return True
    for peer, request in asking:
        if peer is not None and peer != owner:
            leak = yield from _leak(context, peers, (peer, owner), creator, mine, request)
            if leak is not None:
                return leak
    return PASSED


def _as_user(context: CheckContext, user: str, case: Case | None = None) -> WireRequest | None:
    """Return the request of a case (default: the judged one) with a user's credentials. If it cannot be made, return None and add a note."""
    assert context.tools is not None
    try:
        return _lent(context.tools, case or context.case, user)
    except CheckerError as error:
        context.unjudged.append(f"a request cannot be made as the peer {user!r} ({error})")
        return None


def _lent(tools: CheckTools, case: Case, user: str) -> WireRequest:
    """Return the request of a case with the credentials of a user. Raises `CheckerError`."""
    assert tools.peers is not None
    anonymous = tools.anonymous.make(case)
    request = replace(anonymous, headers=list(anonymous.headers), is_of_check=True)
    tools.peers.lend(case, request, user)
    return request


def _leak(
    context: CheckContext,
    peers: Peers,
    users: tuple[str, str],
    creator: JudgedInteraction,
    mine: Thing,
    sent: WireRequest | None,
) -> Exchanging[Failure | None]:
    """Return the failure if a peer gets the resource of its owner. `users` are (owner, peer).

    `sent` is the peer's request if the judged response answers it.
    """
    peer, owner = users
    request = sent or _as_user(context, peer)
    if request is None:
        return None
    answer = (yield request) if sent is None else context.response
    if not _shows(context, answer, mine):
        return None
    public = yield context.make(context.case, with_credentials=False)
    if _shows(context, public, mine):
        # A public resource is judged by `ignored_auth`.
        return None
    if (yield from _is_shared(context, peers, users, mine)):
        return None
    # Another request may have removed the resource before it was read without credentials.
    if not _shows(context, (yield replace(request)), mine):
        return None
    assert isinstance(answer, Response)
    failure = ObjectLevelAuthorizationViolation(
        f"Made by {owner!r} with: {line_of(creator.request)}\n"
        f"Read by {peer!r} with: {line_of(request)} ({answer.status_code})\n"
        f"Both got the same {len(_scalars(mine))} values; without credentials it is not shown"
    )
    failure.request = request
    return failure


def _is_shared(context: CheckContext, peers: Peers, users: tuple[str, str], mine: Thing) -> Exchanging[bool]:
    """Whether the collection shows that its members are shared, because it lists the resource for the peer.

    A collection in pages may list the resource on another page. Then the collection is shared if it lists the same
    members for both users. If the list is refused without a query, nothing is known about the members: the result is True, with a note.
    """
    case = context.case
    path, _, rest = case.operation.path.rstrip("/").rpartition("{")
    if not is_described(case.operation, _READING, path.rstrip("/")):
        return False
    listed = []
    for user in users:
        request = _as_user(context, user)
        if request is None:
            return True
        target = request.path.rstrip(b"/").rsplit(b"/", 1 + rest.count("/"))[0]
        answer = yield replace(request, target=target, is_of_check=False)
        if isinstance(answer, Response) and answer.status_code in _INCOMPLETE:
            context.unjudged.append(
                f"the collection cannot be read ({answer.status_code}), so that its members may be shared"
            )
            return True
        body = served_body(answer)
        # The object around the list is left out, because it may contain the time of the response.
        listed.append([_scalars(one) for one in islice(_things(body), isinstance(body, dict), None)])
    theirs, ours = listed
    names = {str(value) for value in named_values(case).values()}
    wanted = _scalars(mine).items()

    def is_it(one: Mapping[str, Any]) -> bool:
        return any(str(value) in names for value in one.values()) if _is_below(case) else wanted <= one.items()

    if any(map(is_it, theirs)):
        return True
    is_on_page = any(map(is_it, ours))
    # After a removal, the list may be empty.
    is_unknown = not theirs and case.method == REMOVING
    return not is_on_page and theirs == ours and (is_unknown or any(len(one) > 1 for one in theirs))


def _is_served(answer: object) -> TypeGuard[Response]:
    return is_success(answer) and not answer.redirects


def _creator(context: CheckContext) -> JudgedInteraction | None:
    """Return the step that created the resource of the case: a POST to its collection, or a step whose response contains it as new."""
    case, steps = context.case, context.sequence
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        if method_of(step.case) != "POST" or not is_done(step):
            continue
        if len(concrete_path(case)) == len(concrete_path(step.case)) + 1 and concerns(case, step.case):
            return step if _is_named_in(step, case) else None
        if _is_named_in(step, case) and _is_new(context, step, steps[:place]):
            return step
    return None


def _is_new(context: CheckContext, step: JudgedInteraction, before: Sequence[JudgedInteraction]) -> bool:
    """Whether a response contains the resource of the case, and neither its request nor earlier responses do.

    `POST /carts/{id}/checkout` creates an order, but the request of `POST /favorites` names an existing product.
    """
    case, answer = context.case, step.outcome
    asked = {str(value) for value in named_values(case).values()}
    known = {str(value) for value in named_values(step.case).values()}
    known |= {str(value) for one in _things(step.case.body) for value in _scalars(one).values()}
    known |= {str(value) for value in step.case.query.values()}
    for earlier in before:
        if isinstance(earlier.outcome, Response):
            known |= {str(value) for one in _things(body_of(earlier.outcome)) for value in _scalars(one).values()}
    if asked <= known or not isinstance(answer, Response):
        return False
    if _is_below(case):
        return True
    location = next(iter(answer.headers.get("location", ())), "")
    if location and context.response.request is not None:
        try:
            path = urlsplit(location).path
        except ValueError:
            # `http://[x` is no URL.
            return False
        return path.rstrip("/").encode("utf-8", "replace") == context.response.request.path.rstrip(b"/")
    mine = _thing(context, context.response)
    return mine is not None and _shows(context, answer, mine)


def _is_named_in(creator: JudgedInteraction, case: Case) -> bool:
    """Whether a case takes its path from the response to the creation."""
    assert case.meta is not None
    label, answer = creator.case.operation.label, creator.outcome
    took = any(one.producer == label and one.location is Location.PATH for one in case.meta.bindings)
    return took and isinstance(answer, Response)


def _is_below(case: Case) -> bool:
    """Whether the path of a case leads below a resource."""
    return not ends_with_variable(case.operation.resource_path)


def _marks(context: CheckContext) -> set[str]:
    """Return values that identify a body: the identifiers in the path, or, below a resource, the values that the sequence sent."""
    if not _is_below(context.case):
        return {str(value) for value in named_values(context.case).values()}
    sent = (value for step in context.sequence for one in _things(step.case.body) for value in _scalars(one).values())
    return {value for value in sent if isinstance(value, str) and len(value) >= _TELLING}


def _thing(context: CheckContext, answer: Response) -> Thing | None:
    """Return the object with an identifying value and, beside an identifier, another value; None if there is none."""
    marks, fewest = _marks(context), 1 if _is_below(context.case) else 2
    for one in _things(body_of(answer)):
        values = _scalars(one)
        if len(values) >= fewest and any(str(value) in marks for value in values.values()):
            return one
    return None


def _shows(context: CheckContext, answer: object, mine: Thing) -> bool:
    """Whether a response contains the same object: all common values are equal, and there are others besides the identifier."""
    if not _is_served(answer):
        return False
    theirs = _thing(context, answer)
    if theirs is None:
        return False
    ours, others = _scalars(mine), _scalars(theirs)
    shared, marks = ours.keys() & others.keys(), _marks(context)
    says_more = any((str(ours[key]) in marks) is _is_below(context.case) for key in shared)
    return says_more and all(ours[key] == others[key] for key in shared)


def _scalars(thing: Thing) -> dict[str, Any]:
    return {key: value for key, value in thing.items() if isinstance(value, str | int | float)}


def _things(body: Any) -> Iterator[Thing]:
    """Yield the objects of a body, outermost first, at most `_MOST_NODES`."""
    pending, count = deque([body]), 0
    while pending and count < _MOST_NODES:
        value = pending.popleft()
        if isinstance(value, dict):
            count += 1
            yield value
            pending += value.values()
        elif isinstance(value, list):
            pending += value
