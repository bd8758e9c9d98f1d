"""Whether credentials that stand from the beginning are let in anywhere, before hundreds of requests are refused."""

from itertools import islice

from checker.config.auth import Authentication
from checker.core.case import Case
from checker.core.errors import ConfigError
from checker.core.operation import Operation
from checker.core.response import Response
from checker.core.send import Transport
from checker.phases.attempt import Tools
from checker.workers.schemes import SchemeCredentials
from checker.workers.selected import SelectedOperations

HARMLESS = ("GET", "HEAD")
_MOST_TRIED = 3
_MOST_READ = 200
"""Operations that are read to find some: a large description is not read for this."""


def is_harmless(operation: Operation) -> bool:
    """Whether a request to it changes nothing and needs no input."""
    is_needy = operation.body_required or any(one.required for one in operation.parameters)
    return operation.method in HARMLESS and not is_needy


def refuse_wrong_credentials(
    selected: SelectedOperations, schemes: SchemeCredentials, tools: Tools, http: Transport
) -> None:
    """Raise `ConfigError` when up to three operations that ask for what is configured all answer 401.

    What has to be fetched is not tried: logins say themselves that they fail.
    """
    configured = schemes.configured
    if not configured.is_static:
        return
    first = islice(selected.values(), _MOST_READ)
    asking = (one for one in first if is_harmless(one) and _asks(one, schemes, configured))
    refusing = []
    for operation in islice(asking, _MOST_TRIED):
        outcome = http.send(0, tools.maker.make(Case(operation, "first-look")))
        if not isinstance(outcome, Response) or outcome.status_code != 401:
            return
        refusing.append(operation.label)
    if refusing:
        raise ConfigError(
            f"the credentials that are configured were refused: {', '.join(refusing)} answered 401; correct them in "
            "`[auth]` or `--auth` (`checker auth check` tries each of them)"
        )


def _asks(operation: Operation, schemes: SchemeCredentials, configured: Authentication) -> bool:
    """Whether all that it asks for is there."""
    alternatives = operation.security
    if not alternatives or any(one.is_none for one in alternatives):
        return False
    if configured.basic is not None:
        return True
    chosen = schemes.chosen(operation)
    return any(set(one.schemes) <= set(chosen) for one in alternatives if not one.undeclared)
