"""Requests before the first case that test the configured credentials.

Wrong credentials end the run at once; otherwise hundreds of requests would be refused and nothing would be tested.
Operations that refuse anonymous requests without declaring security get the credentials of the scheme that they accept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from checker.checks.context import Maker
from checker.config.auth import Authentication
from checker.core.case import Case
from checker.core.credentials import Credentials, put
from checker.core.errors import CheckerError, ConfigError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label, Operation
from checker.core.response import Response
from checker.core.security import UNAUTHORIZED, is_open
from checker.core.send import Transport, send_alone
from checker.corpus.fold import UNDECLARED_AUTH
from checker.corpus.records import Note
from checker.generation.sources.context import Rejected
from checker.health import SafetyGate, looks_dangerous
from checker.phases.attempt import Tools
from checker.phases.case_factory import CaseFactory, GeneratedCase
from checker.phases.case_parts import literal_of
from checker.transport.prepare import RequestMaker
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.observers.witnesses import Sent
from checker.workers.selected import SelectedOperations

HARMLESS = ("GET", "HEAD")
_MOST_TRIED = 3
_MOST_READ = 200  # Operations that are read to find suitable ones. Reading a large description takes seconds.


def is_harmless(operation: Operation) -> bool:
    """Whether a request to the operation needs no input and changes nothing, according to the description.

    A `GET` that declares a redirect may be a logout.
    """
    if operation.method not in HARMLESS or looks_dangerous(operation.path, operation.operation_id):
        return False
    if operation.body_required or any(one.required for one in operation.parameters):
        return False
    return not any(one.startswith("3") for one in operation.contract.plan(200, None).documented_statuses)


def repeatable(selected: SelectedOperations) -> Sequence[Operation]:
    """Return the operation whose request shows at any time whether the target still serves the caller; empty if there is none.

    All workers choose the same one.
    """
    return _first(selected, lambda one: True)[:1]


def look_first(selected: SelectedOperations, schemes: SchemeCredentials, tools: Tools, http: Transport) -> Sent | None:
    """Return the request that was not answered with 401; None if none was sent or a request had no response.

    Raises `ConfigError` if up to three operations that require the configured credentials all answer 401. Credentials that
    must be fetched are not tested, because a failing login has its own error.
    """
    configured = schemes.configured
    if not configured.is_static:
        return None
    asking = _first(selected, lambda one: _asks(one, schemes, configured))
    if configured.basic is not None and not asking:
        # No operation declares basic authentication although the user configured it: the description is incomplete.
        asking = _first(selected, lambda one: True)
    refusing = []
    for operation in asking:
        case = Case(operation, "first-look")
        request = tools.maker.make(case)
        outcome = send_alone(http, request)
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
    """Return the first few harmless operations that require credentials according to `asks`."""
    first = islice(selected.values(), _MOST_READ)
    found = (one for one in first if is_harmless(one) and not is_open(one.security) and asks(one))
    return tuple(islice(found, _MOST_TRIED))


def _asks(operation: Operation, schemes: SchemeCredentials, configured: Authentication) -> bool:
    """Whether the configured credentials meet a declared alternative of the operation."""
    alternatives = [one.schemes for one in operation.security if not one.undeclared]
    if configured.basic is not None:
        return any(all(of.scheme == "basic" for of in one) for one in alternatives)
    chosen = schemes.chosen(operation)
    return any(set(one) <= set(chosen) for one in alternatives)


_MOST_LOOKED_AT: Final = 10  # Operations that are tried without knowledge from an earlier run.
_MOST_KNOWN: Final = 100


class AuthNeeds:
    """Sends requests to operations that declare no security: one without credentials, and one with the credentials of each configured scheme."""

    def __init__(
        self, schemes: SchemeCredentials, maker: RequestMaker, gate: SafetyGate, http: Transport, factory: CaseFactory
    ) -> None:
        """`maker` makes requests without credentials."""
        self._schemes = schemes
        self._maker = maker
        self._gate = gate
        self._http = http
        self._factory = factory

    def found(self, selected: SelectedOperations, known: Mapping[str, str]) -> Iterator[Note]:
        """Yield a note for each operation that accepts a scheme. From then on its requests carry these credentials.

        `known` maps operations that refused requests in an earlier run to their scheme, or to an empty text. Other
        operations are tried only if they are harmless. Credentials that must be fetched are not tried.
        """
        if not self._schemes.static:
            return
        labels = [Label(one) for one in islice(known, _MOST_KNOWN) if one in selected]
        harmless = (
            label
            for label, one in islice(selected.items(), _MOST_READ)
            if label not in known and not one.security and is_harmless(one)
        )
        labels += islice(harmless, _MOST_LOOKED_AT)
        for label in labels:
            scheme = self._opening(label, known.get(label, ""))
            if scheme:
                self._schemes.need(label, scheme)
                text = f"refused without credentials, accepted with those of {scheme!r}, which its requests carry"
                yield Note(UNDECLARED_AUTH, label, scheme, text)

    def _opening(self, label: Label, likely: str) -> str:
        """Return the security scheme whose credentials an operation accepts; empty if it needs none or accepts none."""
        case = discovery_case(self._factory, label)
        if case is None or case.operation.security or not self._is_refused(case):
            return ""
        # A parameter in the place of the credentials would get their value, and workers that start later would make
        # different cases.
        taken = {(one.location, one.name.lower()) for one in case.operation.parameters}
        places = {name: self._schemes.declared[name].place for name in self._schemes.static}
        names = [name for name, (place, field) in places.items() if (place, field.lower()) not in taken]
        for name in sorted(names, key=lambda name: name != likely):
            if not self._is_refused(case, self._schemes.static[name]):
                return name
        return ""

    def _is_refused(self, case: Case, credentials: Credentials | None = None) -> bool:
        """Whether the response is 401 or 403. False if the request must not be sent or has no response."""
        answer = answer_to(case, self._maker, self._gate, self._http, credentials)
        return answer is not None and answer.status_code in UNAUTHORIZED


def discovery_case(factory: CaseFactory, label: Label) -> Case | None:
    """Return the case of an operation that is sent before the run; None if there is none. The test of the operation reports the reason."""
    try:
        return factory.make(label, 0, 0, PhaseInfo("discovery")).case
    except (CheckerError, Rejected):
        return None


def answer_to(
    case: Case, maker: Maker, gate: SafetyGate, http: Transport, credentials: Credentials | None = None
) -> Response | None:
    """Return the response to a case before the run; None if the case cannot or must not be sent, or has no response."""
    try:
        request = maker.make(case)
    except CheckerError:
        return None
    if gate.refuses(case, request):
        return None
    if credentials is not None:
        put(request, credentials)
    outcome = send_alone(http, request)
    gate.observe(case, request, outcome)
    return outcome if isinstance(outcome, Response) else None
