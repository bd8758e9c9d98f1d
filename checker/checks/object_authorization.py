"""A resource of one user is not shown to another user."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from checker.checks.context import PASSED, CheckContext, CheckTools, Found, JudgedInteraction, Peers
from checker.checks.resources import body_of, concerns, concrete_path, is_done, line_of, method_of, served_body
from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.failures import Failure, Severity
from checker.core.request import Location, WireRequest
from checker.core.resources import named_values
from checker.core.response import Response
from checker.core.send import Exchanging

_READING: Final = "GET"
_INCOMPLETE: Final = frozenset((400, 422))
"""Statuses of a collection that needs a query."""
_MOST_NODES: Final = 10_000
Thing = Mapping[str, Any]


class ObjectLevelAuthorizationViolation(
    Failure, code="ST402", title="Object-level authorization bypass", severity=Severity.CRITICAL
):
    """A user reads a resource of another user that is not public."""


def has_peers(tools: CheckTools | None) -> bool:
    """Whether several users are configured."""
    return tools is not None and tools.peers is not None


def object_level_authorization(context: CheckContext) -> Exchanging[Found]:
    """Fail if a peer can read a resource that a user created in the sequence, and it is neither public nor shared."""
    tools, meta = context.tools, context.case.meta
    if tools is None or tools.peers is None or meta is None or meta.mode.is_negative or not meta.bindings:
        return True
    peers, sent = tools.peers, context.response.request
    creator = _creator(context)
    owner = None if creator is None else peers.caller_of(creator.request)
    if creator is None or owner is None:
        return True
    if sent is not None and sent.is_of_check:
        # The printed command of a failure: the response is that of the peer.
        request = _as_user(context, peers, owner)
        own = None if request is None else (yield request)
        mine = _thing(context.case, own) if isinstance(own, Response) and _is_served(own) else None
        asking: list[tuple[str | None, WireRequest | None]] = [(peers.caller_of(sent), sent)]
    else:
        mine = _thing(context.case, context.response) if peers.caller_of(sent) == owner else None
        asking = [(name, None) for name in peers.names]
    if mine is None:
        return True
    for peer, request in asking:
        if peer is not None and peer != owner:
            leak = yield from _leak(context, peers, (peer, owner), creator, mine, request)
            if leak is not None:
                return leak
    return PASSED


def _as_user(context: CheckContext, peers: Peers, user: str) -> WireRequest | None:
    """Return the request of the case with the credentials of a user; None, with a note, if it cannot be made."""
    try:
        anonymous = context.make(context.case, with_credentials=False)
        request = replace(anonymous, headers=list(anonymous.headers), is_of_check=True)
        peers.lend(context.case, request, user)
    except CheckerError as error:
        context.unjudged.append(f"a request cannot be made as the peer {user!r} ({error})")
        return None
    return request


def _leak(
    context: CheckContext,
    peers: Peers,
    users: tuple[str, str],
    creator: JudgedInteraction,
    mine: Thing,
    sent: WireRequest | None,
) -> Exchanging[Failure | None]:
    """Return the failure if a peer receives the resource of its owner; `users` are the two.

    `sent` is the request of the peer if the response of the context is the one to it.
    """
    peer, owner = users
    request = sent or _as_user(context, peers, peer)
    if request is None:
        return None
    answer = (yield request) if sent is None else context.response
    if not _shows(context.case, answer, mine):
        return None
    public = yield context.make(context.case, with_credentials=False)
    if _shows(context.case, public, mine):
        # A public resource is judged by `ignored_auth`.
        return None
    if (yield from _is_shared(context, peers, users, mine)):
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
    """Whether the collection shows that its members are shared: it lists the resource for the peer.

    A collection in pages may list the resource on another page. Then it is shared if it lists the same members for both users.
    True as well, with a note, if the list is refused without a query: nothing is known of the members then.
    """
    path = context.case.operation.path.rstrip("/").rpartition("/")[0]
    if not any(_READING in methods for methods in context.case.operation.methods_at(path)):
        return False
    listed = []
    for user in users:
        request = _as_user(context, peers, user)
        if request is None:
            return True
        answer = yield replace(request, target=request.path.rstrip(b"/").rpartition(b"/")[0], is_of_check=False)
        if isinstance(answer, Response) and answer.status_code in _INCOMPLETE:
            context.unjudged.append(
                f"the collection cannot be read ({answer.status_code}), so that its members may be shared"
            )
            return True
        body = served_body(answer)
        # Without the object around the list, which may hold the time of the response.
        listed.append([_scalars(one) for one in islice(_things(body), isinstance(body, dict), None)])
    theirs, ours = listed
    wanted = _scalars(mine).items()
    if any(wanted <= one.items() for one in theirs):
        return True
    is_on_page = any(wanted <= one.items() for one in ours)
    return not is_on_page and theirs == ours and any(len(one) > 1 for one in theirs)


def _is_served(answer: Response) -> bool:
    return 200 <= answer.status_code < 300 and not answer.redirects


def _creator(context: CheckContext) -> JudgedInteraction | None:
    """Return the step that created the resource of the case: a POST to its collection, or one whose response shows it as new."""
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
    """Whether a response shows the resource of the case, which neither its request nor earlier responses name.

    An order is made by `POST /carts/{id}/checkout`; the product of `POST /favorites` is named in the request.
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
    location = next(iter(answer.headers.get("location", ())), "")
    if location and context.response.request is not None:
        try:
            path = urlsplit(location).path
        except ValueError:
            # `http://[x` is no URL.
            return False
        return path.rstrip("/").encode("utf-8", "replace") == context.response.request.path.rstrip(b"/")
    mine = _thing(case, context.response)
    return mine is not None and _shows(case, answer, mine)


def _is_named_in(creator: JudgedInteraction, case: Case) -> bool:
    """Whether a case takes its path from the response to the creation."""
    assert case.meta is not None
    label, answer = creator.case.operation.label, creator.outcome
    took = any(one.producer == label and one.location is Location.PATH for one in case.meta.bindings)
    return took and isinstance(answer, Response)


def _thing(case: Case, answer: Response) -> Thing | None:
    """Return the object with the requested identifier and at least one other value; None if there is none."""
    names = {str(value) for value in named_values(case).values()}
    for one in _things(body_of(answer)):
        values = _scalars(one)
        if len(values) > 1 and any(str(value) in names for value in values.values()):
            return one
    return None


def _shows(case: Case, answer: object, mine: Thing) -> bool:
    """Whether a response shows the same resource: all common values are equal, and more than the identifier is common."""
    if not isinstance(answer, Response) or not _is_served(answer):
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
