"""Checks that operations which require credentials refuse requests without credentials, and with wrong ones."""

import base64
from collections.abc import Collection, Iterable, Iterator
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from checker.checks.context import PASSED, CheckContext, CheckTools, Found, Instead
from checker.checks.resources import is_one_of, line_of
from checker.checks.rules import denies_condition
from checker.core.case import Case
from checker.core.contract import Outcome
from checker.core.credentials import Credentials, drop, put
from checker.core.digests import digest
from checker.core.errors import CheckerError
from checker.core.failures import Failure, Severity
from checker.core.operation import Operation
from checker.core.request import Location, WireRequest
from checker.core.resources import REMOVING, SAFE
from checker.core.response import Response
from checker.core.security import UNAUTHORIZED, SecurityRequirement
from checker.core.send import Exchanging

_MOST: Final = 16  # Members of a body that are changed.
_ALONE: Final = 4  # Members that are also changed individually.
_ALPHABETS: Final = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
_NEXT: Final = str.maketrans({one: all_[at - 1] for all_ in _ALPHABETS for at, one in enumerate(all_)})


def other_things(context: CheckContext, *, texts_only: bool = False) -> Iterator[Case]:
    """Yield valid variants of a case: a few with one text or number of the body changed, then one with all of them changed.

    A single change keeps the other members, which may refer to existing resources. All changes together are needed if
    several members must be unique.
    """
    tools, body = context.tools, context.case.body
    if tools is None or not isinstance(body, dict):
        return
    changed: dict[str, Any] = {}
    for name, value in islice(body.items(), _MOST):
        if not isinstance(value, str) and texts_only:
            other = value
        else:
            if isinstance(value, str):
                other = value.translate(_NEXT)
            else:
                other = value + 1 if isinstance(value, int) and not isinstance(value, bool) else value
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


_FIRST_OF = 4  # One in this many removals is first sent without credentials, and by a peer: few sequences get that far.
_TOO_FAST = 429
_CONFLICT = 409
_BASIC = "basic"
_AUTHORIZATION = "Authorization"
_BY_HEADER = frozenset(("http", "oauth2", "openIdConnect"))


class IgnoredAuth(
    Failure, code="ST401", title="API accepts requests without authentication", severity=Severity.CRITICAL
):
    """An operation that requires credentials serves requests without them, or with wrong ones."""


class _Attempt(Struct, frozen=True):
    """A request with missing or wrong credentials."""

    detail: str
    accepted: str  # Title of the failure if the request succeeds.
    unexpected: str  # Title of the failure for any other response, except a refusal because of credentials.


_WITHOUT = _Attempt(
    "no credentials provided",
    "API accepts requests without authentication",
    "Unexpected response to a request without authentication",
)
_WRONG = _Attempt(
    "invalid credentials provided",
    "API accepts invalid authentication",
    "Unexpected response to invalid authentication",
)


def asks_for_credentials(operation: Operation) -> bool:
    """Whether an operation requires credentials, and all of them can be left out."""
    return bool(operation.security) and all(
        not one.is_none
        and not one.undeclared
        and all(of.location is not None or of.type in _BY_HEADER for of in one.schemes)
        for one in operation.security
    )


def may_be_ignored(case: Case, response: Response) -> bool:
    """Whether the check may fail on an interaction or send requests for it; False for most requests with credentials."""
    sent = response.request
    if sent is None or sent.confirms or sent.is_probed or sent.is_of_check:
        return True
    if response.status_code // 100 not in (2, 5):
        return False
    if case.meta is None or is_asked_first(case, False):
        return True
    return not (_has_common_credentials(sent) or _has_key(case.operation, sent))


def is_accepted(case: Case, response: Response, tools: CheckTools) -> bool:
    """Whether a request with credentials was accepted and may be repeated without them."""
    sent = response.request
    if sent is None or response.status_code // 100 != 2 or response.redirects:
        return False
    if not (_has_common_credentials(sent) or _has_key(case.operation, sent)):
        return False
    if removes_what_was_made(case) or _has_wrong_path(case):
        return False
    return _carries(sent, credential_places(case.operation.security))


def ignored_auth(context: CheckContext) -> Exchanging[Found]:
    """Fail on 2xx for a request without credentials. Repeat a request that has credentials, once without credentials and once with wrong ones.

    The check sends two requests for the first accepted case of each operation (`WireRequest.is_probed`), or for the smallest
    case if none is accepted, and two to confirm a failure.
    """
    sent, tools = context.response.request, context.tools
    # The target of a redirect, such as a login page, may be public.
    is_elsewhere = context.response.redirects > 0
    if sent is None or tools is None or is_elsewhere or _has_wrong_path(context.case):
        return True
    places = credential_places(context.case.operation.security)
    operation = context.case.operation
    is_carried = _carries(sent, places)
    if context.response.status_code // 100 != 2:
        found = _of_failure(context, sent)
    elif not is_carried:
        # The request may carry other credentials, or those of its client.
        is_anonymous = not (sent.client_has_credentials or _has_common_credentials(sent))
        found = _failure(context, sent, context.response, _WITHOUT) if is_anonymous else True
    elif sent.is_of_check and _is_made_up(operation, sent):
        found = _failure(context, sent, context.response, _WRONG)
    elif context.sequence and is_asked_first(context.case, bool(sent.confirms)):
        # `sent_beforehand` has tested it, and the resource no longer exists.
        found = PASSED
    elif not (sent.confirms or sent.is_probed or context.case.meta is None):
        # A case without metadata comes from user code, which always wants this check.
        found = PASSED
    else:
        found = yield from _probes(context, tools, places)
    if not isinstance(found, Failure):
        return found
    is_let_in = yield from _is_let_in_by_given(context.case, found.request or sent, tools, places)
    return True if is_let_in else found


def _is_let_in_by_given(case: Case, sent: WireRequest, tools: CheckTools, places: Credentials) -> Exchanging[bool]:
    """Whether headers that the user configured for all requests are credentials that the description does not declare.

    A header counts as credentials if its name suggests them, or if the request is refused without it. A request that changes
    something is not repeated: instead, a GET of the same path must be refused without the headers and accepted with them.
    """
    try:
        given = given_headers(case, sent, tools, places)
        anonymous = replace(tools.anonymous.make(case), is_of_check=True)
    except CheckerError:
        return False
    if tools.bare is None or not given:
        return False
    if not given <= {name.lower() for name, _ in anonymous.headers}:
        return True
    bare = replace(tools.bare.make(case), is_of_check=True)
    for one in (bare, anonymous):
        # A service may refuse missing credentials and accept wrong ones. A request without the wrong ones of the failure is
        # then refused, as if the headers were credentials.
        put(one, _wrong(case.operation, sent))
    if sent.method in SAFE:
        return (yield from _is_unauthorized(bare))
    return (yield from _is_unauthorized(_reading(bare))) and not (yield from _is_unauthorized(_reading(anonymous)))


def _is_unauthorized(request: WireRequest) -> Exchanging[bool]:
    answer = yield request
    return isinstance(answer, Response) and answer.status_code in UNAUTHORIZED


def _reading(request: WireRequest) -> WireRequest:
    headers = [one for one in request.headers if not one[0].lower().startswith(b"content-")]
    return replace(request, method="GET", headers=headers, body=None)


def given_headers(case: Case, sent: WireRequest, tools: CheckTools, places: Credentials) -> set[bytes]:
    """Return the headers that the user configured for all requests, in lower case, without those that the description declares as credentials.

    Raises `CheckerError`.
    """
    if tools.bare is None:
        return set()
    others = replace(sent, headers=list(sent.headers))
    drop(others, places)
    bare = {name.lower() for name, _ in tools.bare.make(case).headers}
    return {name.lower() for name, _ in others.headers} - bare


def _of_failure(context: CheckContext, sent: WireRequest) -> Found:
    """Judge a response that is no 2xx.

    A 5xx for a request without credentials shows that the operation runs before it checks them. Other statuses are judged
    only to confirm a failure, because other requests may be refused for any reason.
    """
    operation = context.case.operation
    is_anonymous = not _carries(sent, credential_places(operation.security))
    if not (sent.is_of_check and sent.confirms):
        is_bare = is_anonymous and not _has_common_credentials(sent)
        has_failed = context.response.status_code // 100 == 5
        return _failure(context, sent, context.response, _WITHOUT) if is_bare and has_failed else True
    if is_anonymous:
        return _judged(context, sent, context.response, _WITHOUT) or PASSED
    if _is_made_up(operation, sent):
        return _judged(context, sent, context.response, _WRONG) or PASSED
    return True


def is_asked_first(case: Case, confirms: bool) -> bool:
    """Whether the check has to send its requests before a case: before a removal, because nothing can be removed afterwards."""
    return removes_what_was_made(case) and (confirms or is_one_of(case, _FIRST_OF))


def removes_what_was_made(case: Case) -> bool:
    """Whether a valid case removes a resource that its sequence created."""
    meta = case.meta
    is_known = meta is not None and bool(meta.bindings) and not meta.mode.is_negative
    return is_known and case.method == REMOVING


def sent_beforehand(
    case: Case, sent: WireRequest, tools: CheckTools, failing: Collection[int] = (2,)
) -> Exchanging[Instead | None]:
    """Return the first request without credentials, or with wrong ones, that succeeds; None if all are refused.

    `failing`: classes of statuses that count as a success.
    """
    places = credential_places(case.operation.security)
    if not _carries(sent, places):
        return None
    try:
        wanted = _attempts(case, sent, tools, places)
    except CheckerError:
        # The check itself reports this error later.
        return None
    for _, request in wanted:
        answer = yield request
        if not isinstance(answer, Response) or answer.redirects:
            continue
        if answer.status_code // 100 in failing:
            return request, answer
    return None


def _has_common_credentials(request: WireRequest) -> bool:
    return request.header(b"authorization") is not None or request.header(b"cookie") is not None


def _has_key(operation: Operation, request: WireRequest) -> bool:
    """Whether a request has an API key at a declared place, with its usual name."""
    places = credential_places(operation.security)
    pairs = request.target.partition(b"?")[2].split(b"&")
    return any(request.header(name.encode("latin-1", "replace")) for name in places.headers) or any(
        pair.startswith(f"{name}=".encode()) for name in places.query for pair in pairs
    )


def _probes(context: CheckContext, tools: CheckTools, places: Credentials) -> Exchanging[Found]:
    sent = context.response.request
    assert sent is not None
    try:
        wanted = _attempts(context.case, sent, tools, places)
    except CheckerError as error:
        context.unjudged.append(f"a request cannot be made without credentials ({error})")
        return PASSED
    for what, request in wanted:
        answer = yield request
        if isinstance(answer, Response) and answer.status_code == _CONFLICT:
            other = yield from _about_others(context, tools, places, what)
            request, answer = other or (request, answer)
        if isinstance(answer, Response):
            failure = _judged(context, request, answer, what)
            if failure is not None:
                return failure
    return PASSED if wanted else True


def _about_others(
    context: CheckContext, tools: CheckTools, places: Credentials, what: _Attempt
) -> Exchanging[Instead | None]:
    """Send an attempt with other bodies, so that it does not conflict with what the accepted request created.

    Return the first attempt that is served or refused because of its credentials, otherwise one with a server error. Other
    refusals prove nothing: the new values may be invalid for reasons that the description does not state.
    """
    sent = context.response.request
    assert sent is not None
    broken: Instead | None = None
    for case in other_things(context):
        tried = _attempts(case, sent, tools, places)
        request = next((request for attempt, request in tried if attempt is what), None)
        answer = None if request is None else (yield request)
        if request is None or not isinstance(answer, Response):
            continue
        if answer.status_code // 100 == 2 or answer.status_code in (*UNAUTHORIZED, _TOO_FAST):
            return request, answer
        if answer.status_code // 100 == 5:
            broken = broken or (request, answer)
    return broken


def _attempts(
    case: Case, sent: WireRequest, tools: CheckTools, places: Credentials
) -> list[tuple[_Attempt, WireRequest]]:
    """Return the attempts for a request; none if a hook adds credentials that the description does not declare."""
    bare = replace(tools.anonymous.make(case), is_of_check=True)
    drop(bare, places)
    if bare.header(b"authorization") is not None and "Authorization" not in places.headers:
        return []
    wrong = replace(bare, headers=list(bare.headers))
    put(wrong, _wrong(case.operation, sent))
    return [(_WITHOUT, bare), (_WRONG, wrong)]


def _judged(context: CheckContext, request: WireRequest, answer: Response, what: _Attempt) -> Failure | None:
    status = answer.status_code
    if status in UNAUTHORIZED or status == _TOO_FAST or 300 <= status < 400 or answer.redirects:
        return None
    # A server may hide a resource behind 404 (RFC 9110, 15.5.4), or the resource no longer exists.
    is_hidden = status == 404 and bool(context.case.path_parameters)
    # The resource that the accepted request created conflicts with a second one, or has changed since.
    if is_hidden or status == _CONFLICT or denies_condition(answer):
        context.unjudged.append(f"the response to a request was {status} ({what.detail})")
        return None
    failure = _failure(context, request, answer, what)
    failure.request = request
    return failure


def _failure(context: CheckContext, request: WireRequest, answer: Response, what: _Attempt) -> Failure:
    status = f"{answer.status_code} {answer.message}".rstrip()
    line = f"{request.method} {context.case.path}"
    title = what.accepted if answer.status_code < 300 else what.unexpected
    # All operations have one cause, because a service checks credentials in one place.
    failure = IgnoredAuth(
        f"Expected 401 or 403, got `{status}` for `{line}` ({what.detail})\nSent: {line_of(request)}", title=title
    )
    if request.is_of_check and not context.sequence:
        failure.request = request
    failure.sharing(what.detail)
    if answer.status_code >= 500:
        # A temporary error says nothing about credentials.
        failure.needs_repetition, failure.passing_cause = True, failure.shared_cause
    return failure


def cause_of_open_operations() -> str:
    """Return the cause of operations that serve requests without credentials."""
    failure = IgnoredAuth().sharing(_WITHOUT.detail)
    failure.check = ignored_auth.__name__
    return failure.cause("")


def _has_wrong_path(case: Case) -> bool:
    meta = case.meta
    part = None if meta is None else meta.components.get(Location.PATH)
    return part is not None and part.mode.is_negative


def _carries(request: WireRequest, places: Credentials) -> bool:
    return drop(replace(request, headers=list(request.headers)), places)


def _is_made_up(operation: Operation, sent: WireRequest) -> bool:
    """Whether a request carries the wrong credentials of an attempt."""
    wrong = replace(sent, headers=list(sent.headers))
    put(wrong, _wrong(operation, sent))
    return wrong.target == sent.target and sorted(wrong.headers) == sorted(sent.headers)


def _wrong(operation: Operation, sent: WireRequest) -> Credentials:
    """Return wrong credentials, the same for all requests to an operation, for the first security alternative of the request."""
    carried = [one for one in operation.security if _carries(sent, credential_places((one,)))]
    return credential_places(carried[:1], wrong_values(operation.label)[0])


def wrong_values(label: str) -> tuple[str, str]:
    """Return invalid credentials for an operation: (token, user and password encoded for basic authentication)."""
    token = digest("no credentials", label)
    return token, _basic(token)


def _basic(token: str) -> str:
    return base64.b64encode(f"nobody:{token}".encode()).decode()


def credential_places(alternatives: Iterable[SecurityRequirement], token: str = "") -> Credentials:
    """Return the credentials of security alternatives, each with a value derived from `token`."""
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    cookies: dict[str, str] = {}
    for scheme in (scheme for one in alternatives for scheme in one.schemes):
        match scheme.location:
            case None:
                if scheme.scheme == _BASIC:
                    authorization = f"Basic {_basic(token)}"
                else:
                    word = scheme.scheme.capitalize() if scheme.type == "http" else ""
                    authorization = f"{word or 'Bearer'} {token}"
                headers.setdefault(_AUTHORIZATION, authorization)
            case Location.QUERY:
                query[scheme.parameter] = token
            case Location.COOKIE:
                cookies[scheme.parameter] = token
            case _:
                headers[scheme.parameter] = token
    return Credentials(headers, query, cookies)
