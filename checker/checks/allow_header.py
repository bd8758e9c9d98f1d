"""The methods in the `Allow` header are those of the description."""

from checker.checks.check import InteractionKind
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import path_of
from checker.core.failures import CauseScope, Failure
from checker.core.scenarios import Scenario

_OPTIONS = "OPTIONS"
_ALWAYS = frozenset(("HEAD", "OPTIONS"))
"""Methods that servers support by themselves, described or not."""


class AllowHeaderMismatch(Failure, code="ST205", title="Invalid Allow header", cause_scope=CauseScope.API):
    """`Allow` has methods that are not described, or lacks some that are."""


def may_be_options(kind: InteractionKind) -> bool:
    """Whether an interaction may be an OPTIONS request: one that is described, or a probe of other methods."""
    return kind.method == _OPTIONS or kind.scenario == Scenario.UNSPECIFIED_METHOD


def allow_header_conformance(context: CheckContext) -> Found:
    """Fail on a response to OPTIONS whose `Allow` (RFC 9110, 10.2.1) differs from the described methods of the path."""
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
    extra = allowed - frozenset.union(*templates)
    if not missing and not extra:
        return PASSED
    lines = [f"Received: Allow: {', '.join(values)}"]
    if missing:
        lines.append(f"Described and not listed: {', '.join(sorted(missing))}")
    if extra:
        lines.append(f"Listed and not described: {', '.join(sorted(extra))}")
    rule = f"missing {','.join(sorted(missing))} extra {','.join(sorted(extra))}"
    failure = AllowHeaderMismatch("\n".join(lines), unique_key=rule)
    # Routers that list only one of several routes do so at every path.
    return failure if extra else failure.sharing("methods that are not listed")
