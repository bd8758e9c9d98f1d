"""Methods that the description does not have for a path are answered with 405, which says what is allowed."""

from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import has_made_up_path, path_of
from checker.core.failures import CauseScope, Failure
from checker.core.security import UNAUTHORIZED

_NOT_ALLOWED = 405
_TOO_FAST = 429
_NEW = "QUERY"
_UNKNOWN = frozenset((400, 501))
"""By which the parsers of servers that are older than a method refuse it, before any application sees it."""


class UnsupportedMethodResponse(Failure, code="ST204", title="Unsupported methods", cause_scope=CauseScope.API):
    """A method that is not described was not answered with 405, or that did not say what is allowed."""


def unsupported_method(context: CheckContext) -> Found:
    """Fail on an answer other than 405 with `Allow` (RFC 9110, 15.5.6) to a method that is not described."""
    request = context.response.request
    if request is None or request.method == "OPTIONS" or _is_described(context):
        return True
    status, method = context.response.status_code, request.method
    if status == _NOT_ALLOWED:
        if "allow" in context.response.headers:
            return PASSED
        return UnsupportedMethodResponse(
            f"The answer to {method} is 405 without an `Allow` header, which must list the methods that are allowed",
            unique_key="missing_allow_header",
        )
    if _is_about_something_else(context, status) or is_unknown_method(context):
        return PASSED
    return UnsupportedMethodResponse(
        f"Wrong status for the method {method}\nReceived: {status}\nExpected: {_NOT_ALLOWED}\n"
        f"Describe the method, or answer it with 405 and an `Allow` header",
        unique_key="wrong_status",
    )


def is_unknown_method(context: CheckContext) -> bool:
    """Whether an answer says that the server does not know a method at all (501 by RFC 9110, 9.1), which is newer than most servers."""
    request = context.response.request
    is_new = request is not None and request.method == _NEW and not _is_described(context)
    return is_new and context.response.status_code in _UNKNOWN


def _is_about_something_else(context: CheckContext, status: int) -> bool:
    """Whether a status is no statement about the method: 401, 403, 404 and 429."""
    if status == 404:
        return has_made_up_path(context)
    is_secured = status in UNAUTHORIZED and bool(context.case.operation.security)
    return status == _TOO_FAST or is_secured


def _is_described(context: CheckContext) -> bool:
    """Whether the description has the method for the path as it was sent, in whichever template."""
    request = context.response.request
    assert request is not None
    declared = context.case.operation.methods_at(path_of(context, request))
    if request.method == "HEAD":
        # Servers that answer GET answer HEAD (RFC 9110, 9.3.2).
        return any(methods & {"HEAD", "GET"} for methods in declared)
    return any(request.method in methods for methods in declared)
