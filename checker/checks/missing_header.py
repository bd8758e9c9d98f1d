"""A request without a required header is refused."""

from checker.checks.authentication import cause_of_open_operations, credential_places, given_headers
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.negative_data import is_missing_header
from checker.checks.rules import PRECONDITION_REQUIRED, has_made_up_path, matches_status, verdict_of
from checker.core.failures import CauseScope, Failure
from checker.core.operation import Operation
from checker.core.request import CONDITIONS, Location
from checker.core.scenarios import Scenario

EXPECTED = ("400", "401", "403", "406", "415", "422")
_AUTHORIZATION = "authorization"


class MissingHeaderNotRejected(Failure, code="ST203", title="Missing header not rejected", cause_scope=CauseScope.API):
    """A request without a required header was not refused."""

    is_of_credentials = False
    """Whether the header contains credentials, so that `ignored_auth` reports the failure as well."""

    def cause(self, label: str) -> str:
        return cause_of_open_operations() if self.is_of_credentials else super().cause(label)


def asks_for_headers(operation: Operation) -> bool:
    """Whether an operation has required headers, including those of its credentials."""
    return bool(operation.security) or any(
        one.required and one.location is Location.HEADER for one in operation.parameters
    )


def missing_required_header(context: CheckContext) -> Found:
    """Fail if a request whose only fault is a missing required header is not refused."""
    name = _missing(context)
    if name is None:
        return True
    status = context.response.status_code
    is_authorization = name.lower() == _AUTHORIZATION
    expected = ("401",) if is_authorization else context.config["expected-statuses"]
    if matches_status(status, expected):
        return PASSED
    if status == PRECONDITION_REQUIRED and name.lower() in CONDITIONS:
        return PASSED
    if status == 404 and has_made_up_path(context):
        # Servers look up the resource before they check the headers.
        return PASSED
    # The user may have configured credentials in other headers. `ignored_auth` finds out whether they are credentials.
    tools, sent = context.tools, context.response.request
    if (
        tools is not None
        and sent is not None
        and _is_of_credentials(context, name)
        and given_headers(context.case, sent, tools, credential_places(context.case.operation.security))
    ):
        return True
    shown = ", ".join(sorted(expected))
    failure = MissingHeaderNotRejected(
        f"Got {status} when missing required {name!r} header, expected {shown}", unique_key=name.lower()
    )
    failure.is_of_credentials = status // 100 == 2 and _is_of_credentials(context, name)
    return failure


def _is_of_credentials(context: CheckContext, name: str) -> bool:
    places = credential_places(context.case.operation.security)
    return name.lower() in map(str.lower, places.headers)


def _missing(context: CheckContext) -> str | None:
    """Return the name of the missing header; None if none is missing, or if the request has other faults."""
    meta, operation = context.case.meta, context.case.operation
    request = context.response.request
    if meta is None or request is None:
        return None
    data = meta.phase.data
    if data.get("scenario") != Scenario.MISSING_PARAMETER:
        named = None
    else:
        named = data.get("parameter") if data.get("parameter_location") == Location.HEADER else None
    if named is not None:
        is_declared = any(
            one.required and one.location is Location.HEADER and one.name.lower() == named.lower()
            for one in operation.parameters
        )
        is_optional = any(one.is_none for one in operation.security)
        return None if _is_sent(context, named) or (is_optional and not is_declared) else named
    required = [
        one.name
        for one in operation.parameters
        if one.required and one.location is Location.HEADER and not _is_sent(context, one.name)
    ]
    verdict = verdict_of(context) if required else None
    if verdict is None or not all(map(is_missing_header, verdict.invalid)):
        return None
    return required[0]


def _is_sent(context: CheckContext, name: str) -> bool:
    request = context.response.request
    return request is not None and request.header(name.encode("latin-1", "replace")) is not None
