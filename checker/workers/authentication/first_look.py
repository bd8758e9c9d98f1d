"""Whether credentials that stand from the beginning are let in anywhere, before hundreds of requests are refused."""

from collections.abc import Callable, Sequence
from itertools import islice

from checker.config.auth import Authentication
from checker.core.case import Case
from checker.core.errors import ConfigError
from checker.core.operation import Operation
from checker.core.response import Response
from checker.core.security import is_open
from checker.core.send import Transport
from checker.health import looks_dangerous
from checker.phases.attempt import Tools
from checker.phases.case_factory import GeneratedCase
from checker.phases.case_parts import literal_of
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.observers.witnesses import Sent
from checker.workers.selected import SelectedOperations

HARMLESS = ("GET", "HEAD")
_MOST_TRIED = 3
_MOST_READ = 200
"""Operations that are read to find some: a large description is not read for this."""


def is_harmless(operation: Operation) -> bool:
    """Whether a request to the operation changes nothing, as far as the description tells, and needs no input."""
    if looks_dangerous(operation.path, operation.operation_id):
        return False
    is_needy = operation.body_required or any(one.required for one in operation.parameters)
    return operation.method in HARMLESS and not is_needy


def look_first(selected: SelectedOperations, schemes: SchemeCredentials, tools: Tools, http: Transport) -> Sent | None:
    """The request that was not refused; None where none was made, or none was answered.

    Raises `ConfigError` when up to three operations that ask for what is configured all answer 401.

    What has to be fetched is not tried: logins say themselves that they fail.
    """
    configured = schemes.configured
    if not configured.is_static:
        return None
    asking = _first(selected, lambda one: _asks(one, schemes, configured))
    if configured.basic is not None and not asking:
        # Nothing that was read declares it; who gives it nevertheless knows what the description does not say.
        asking = _first(selected, lambda one: True)
    refusing = []
    for operation in asking:
        case = Case(operation, "first-look")
        request = tools.maker.make(case)
        outcome = http.send(0, request)
        if not isinstance(outcome, Response):
            return None
        if outcome.status_code != 401:
            made = GeneratedCase(case, operation.label, (), (), literal_of(case))
            return Sent(made, request, outcome.status_code)
        refusing.append(operation.label)
    if refusing:
        raise ConfigError(
            f"the credentials that are configured were refused: {', '.join(refusing)} answered 401; correct them in "
            "`[auth]` or `--auth` (`checker auth check` tries each of them)"
        )
    return None


def _first(selected: SelectedOperations, asks: Callable[[Operation], bool]) -> Sequence[Operation]:
    """The first few that are closed, harmless, and ask for that."""
    first = islice(selected.values(), _MOST_READ)
    found = (one for one in first if is_harmless(one) and not is_open(one.security) and asks(one))
    return tuple(islice(found, _MOST_TRIED))


def _asks(operation: Operation, schemes: SchemeCredentials, configured: Authentication) -> bool:
    """Whether all that it asks for is there."""
    alternatives = [one.schemes for one in operation.security if not one.undeclared]
    if configured.basic is not None:
        return any(all(of.scheme == "basic" for of in one) for one in alternatives)
    chosen = schemes.chosen(operation)
    return any(set(one) <= set(chosen) for one in alternatives)
