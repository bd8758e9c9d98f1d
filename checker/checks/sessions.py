"""Checks that a token is refused after the logout of its session."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Final

from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.resources import is_described, is_one_of, is_success, line_of, request_of_check
from checker.core.case import Case
from checker.core.failures import Failure, Severity
from checker.core.meta import Binding
from checker.core.operation import Location, Operation
from checker.core.resource_names import words
from checker.core.response import Response
from checker.core.security import UNAUTHORIZED
from checker.core.send import Exchanging

_ONE_OF: Final = 2  # One in this many accepted reads with a token of their sequence is followed by a logout.
_TOKENS: Final = frozenset(("auth", "authorization", "session", "sid", "token"))
_LOGOUTS: Final = ("logout", "log-out", "signout", "sign-out")


class TokenAfterLogout(
    Failure, code="ST407", title="Token is accepted after logout", severity=Severity.HIGH, needs_repetition=True
):
    """A session has ended, but its token still gives access."""


def reads_with_token(operation: Operation) -> bool:
    """Whether an operation reads, and takes a token outside its path and body."""
    names = (one.name for one in operation.parameters if one.location is not Location.PATH)
    return operation.method == "GET" and any(not _TOKENS.isdisjoint(words(name)) for name in names)


def is_chosen(case: Case, response: Response) -> bool:
    """Whether the check sends requests for an interaction."""
    sent = response.request
    if sent is None or sent.is_of_check or next(_tokens(case), None) is None:
        return False
    return sent.is_for("session_ends") or is_one_of(case, _ONE_OF)


def _tokens(case: Case) -> Iterator[Binding]:
    """Yield the bindings by which a case takes a token from a response of its sequence."""
    for one in case.meta.bindings if case.meta is not None else ():
        is_outside = one.location in (Location.HEADER, Location.COOKIE, Location.QUERY)
        if is_outside and one.producer.startswith("POST ") and not _TOKENS.isdisjoint(words(one.name)):
            yield one


def session_ends(context: CheckContext) -> Exchanging[Found]:
    """Fail if a token that a step of the sequence obtained is still accepted after a logout with it.

    The logout is a described POST beside the operation or the login. The server must accept the logout and refuse another
    token, because only then does access depend on the token.
    """
    case, sent, tools = context.case, context.response.request, context.tools
    token = next(_tokens(case), None)
    if sent is None or tools is None or token is None:
        return True
    base = tools.maker.base_path_of(case.operation)
    path = next(_logouts(case.operation, (case.operation.path, token.producer.partition(" ")[2])), None)
    text = str(getattr(case, token.location.container).get(token.name, ""))
    sent_texts = [sent.target, *(value for _, value in sent.headers)]
    if path is None or not text or sum(one.count(text.encode("utf-8", "replace")) for one in sent_texts) != 1:
        # A token that occurs twice may belong to the run as well.
        return True
    other = copy(case)
    setattr(other, token.location.container, {**getattr(case, token.location.container), token.name: text[::-1]})
    refused = yield request_of_check(context, other)
    if not isinstance(refused, Response) or refused.status_code not in UNAUTHORIZED:
        return PASSED
    again = request_of_check(context, case)
    logout = replace(again, method="POST", target=f"{base}{path}".encode() + again.target[len(again.path) :], body=None)
    ended = yield logout
    if not is_success(ended):
        return PASSED
    answer = yield again
    if not is_success(answer):
        return PASSED
    return TokenAfterLogout(
        f"{line_of(logout)} ({ended.status_code})\nThen with the same `{token.name}`: {line_of(again)} ({answer.status_code})\n"
        f"With another one: {refused.status_code}"
    ).showing_with(context.exchanges[1:])


def _logouts(operation: Operation, near: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths of described logouts beside some paths, or above them."""
    for path in near:
        parts = path.strip("/").split("/")
        for length in range(len(parts) - 1, -1, -1):
            for name in _LOGOUTS:
                found = "/" + "/".join((*parts[:length], name))
                if is_described(operation, "POST", found):
                    yield found
