"""Checks that methods which the description does not declare for a path are answered with 405 and `Allow`."""

from checker.checks.check import InteractionKind
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import METHOD_NOT_ALLOWED, has_made_up_path, path_of
from checker.core.failures import CauseScope, Failure
from checker.core.scenarios import Scenario
from checker.core.security import UNAUTHORIZED

_TOO_FAST = 429
_NEW = "QUERY"
_NOT_IMPLEMENTED = 501
_UNKNOWN = frozenset((400, _NOT_IMPLEMENTED))
"""Statuses of HTTP parsers that do not know a method. These servers respond before the application gets the request."""


class UnsupportedMethodResponse(Failure, code="ST204", title="Unsupported methods", cause_scope=CauseScope.API):
    """An undeclared method was not answered with 405, or `Allow` is missing."""


def unsupported_method(context: CheckContext) -> Found:
    """Fail unless the response to an undeclared method is 405 with `Allow` (RFC 9110, 15.5.6)."""
    request = context.response.request
    if request is None or request.method == "OPTIONS" or _is_described(context):
        return True
    if request.method in context.case.operation.unwritable_methods:
        return PASSED
    status, method = context.response.status_code, request.method
    if status == METHOD_NOT_ALLOWED:
        if "allow" in context.response.headers:
            return PASSED
        return UnsupportedMethodResponse(
            f"The response to {method} is 405 without an `Allow` header, which must list the allowed methods",
            unique_key="missing_allow_header",
        )
    # 404 may be about an invented path, 401 and 403 about credentials.
    is_of_caller = status in UNAUTHORIZED and bool(context.case.operation.security)
    is_of_else = has_made_up_path(context) if status == 404 else status == _TOO_FAST or is_of_caller
    if is_of_else or (method == _NEW and is_unknown_method(context)):
        return PASSED
    return UnsupportedMethodResponse(
        f"Wrong status for the method {method}\nReceived: {status}\nExpected: {METHOD_NOT_ALLOWED}\n"
        f"Describe the method, or return 405 with an `Allow` header",
        unique_key="wrong_status",
    )


def is_unknown_method(context: CheckContext) -> bool:
    """Whether the server does not know an undeclared method (501 by RFC 9110, 9.1), which is no internal error. QUERY is newer than most servers."""
    request, status = context.response.request, context.response.status_code
    if request is None or status not in (_UNKNOWN if request.method == _NEW else {_NOT_IMPLEMENTED}):
        return False
    return not _is_described(context)


def _is_described(context: CheckContext) -> bool:
    """Whether the description declares the method for the sent path, in any matching template."""
    request = context.response.request
    assert request is not None
    declared = context.case.operation.methods_at(path_of(context, request))
    if request.method == "HEAD":
        # Servers that answer GET also answer HEAD (RFC 9110, 9.3.2).
        return any(methods & {"HEAD", "GET"} for methods in declared)
    return any(request.method in methods for methods in declared)


_OPTIONS = "OPTIONS"
_ALWAYS = frozenset(("HEAD", "OPTIONS"))  # Methods that servers support by themselves, described or not.


class AllowHeaderMismatch(Failure, code="ST205", title="Invalid Allow header", cause_scope=CauseScope.API):
    """`Allow` contains undeclared methods, or lacks declared ones."""


def may_be_options(kind: InteractionKind) -> bool:
    """Whether an interaction may be an OPTIONS request: a declared one, or a test of other methods."""
    return kind.method == _OPTIONS or kind.scenario == Scenario.UNSPECIFIED_METHOD


def allow_header_conformance(context: CheckContext) -> Found:
    """Fail on a response to OPTIONS whose `Allow` (RFC 9110, 10.2.1) differs from the declared methods of the path."""
    request = context.response.request
    values = context.response.headers.get("allow")
    if request is None or request.method != _OPTIONS or values is None:
        return True
    templates = context.case.operation.methods_at(path_of(context, request))
    if not templates:
        return True
    allowed = {one.strip().upper() for one in ",".join(values).split(",")} - {""} - _ALWAYS
    # If several templates match, a method of any of them is allowed, and a method of all of them is required.
    missing = frozenset.intersection(*templates) - _ALWAYS - allowed
    extra = allowed - frozenset.union(*templates) - context.case.operation.unwritable_methods
    if not missing and not extra:
        return PASSED
    lines = [f"Received: Allow: {', '.join(values)}"]
    if missing:
        lines.append(f"Described and not listed: {', '.join(sorted(missing))}")
    if extra:
        lines.append(f"Listed and not described: {', '.join(sorted(extra))}")
    rule = f"missing {','.join(sorted(missing))} extra {','.join(sorted(extra))}"
    failure = AllowHeaderMismatch("\n".join(lines), unique_key=rule)
    # A router that lists the methods of only one of several routes has this fault on every path.
    return failure if extra else failure.sharing("methods that are not listed")
