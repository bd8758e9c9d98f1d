"""Operations that refuse anonymous callers although the description declares no security for them."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from checker.core.case import Case
from checker.core.credentials import Credentials
from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label, Operation
from checker.core.response import Response
from checker.core.security import UNAUTHORIZED
from checker.core.send import Transport
from checker.corpus.fold import UNDECLARED_AUTH
from checker.corpus.records import Note
from checker.generation.sources.context import Rejected
from checker.health import SafetyGate
from checker.phases.case_factory import CaseFactory
from checker.transport.prepare import RequestMaker, put
from checker.workers.authentication.first_look import is_harmless
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.selected import SelectedOperations

_MOST_LOOKED_AT: Final = 10
"""Operations that nothing is known of."""
_MOST_KNOWN: Final = 100
_MOST_READ: Final = 200
"""Operations that are read to find some: a large description is not read for this."""


class AuthNeeds:
    """Asks such operations, one request without credentials and one with those of each configured scheme."""

    def __init__(
        self, schemes: SchemeCredentials, maker: RequestMaker, gate: SafetyGate, http: Transport, factory: CaseFactory
    ) -> None:
        """`maker`: makes requests without credentials of schemes, and none of the run's."""
        self._schemes = schemes
        self._maker = maker
        self._gate = gate
        self._http = http
        self._factory = factory

    def found(self, selected: SelectedOperations, known: Mapping[str, str]) -> Iterator[Note]:
        """A note for each that a scheme opens, with the name of that; from now on its requests carry those credentials.

        `known`: label -> scheme, or nothing, of operations that refused in an earlier run; of others those are asked that
        change nothing and need no input. What has to be fetched is not tried.
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
                text = f"refused without credentials, let in with those of {scheme!r}, which its requests carry"
                yield Note(UNDECLARED_AUTH, label, scheme, text)

    def _opening(self, label: Label, likely: str) -> str:
        """Name of the scheme that opens an operation; empty where it is open, or stays closed."""
        try:
            case = self._factory.make(label, 0, 0, PhaseInfo("discovery")).case
        except (CheckerError, Rejected):
            # It is told where it is tested.
            return ""
        operation = case.operation
        names = [name for name in self._schemes.static if self._is_free(operation, name)]
        if operation.security or not self._is_refused(case):
            return ""
        for name in sorted(names, key=lambda name: name != likely):
            if not self._is_refused(case, self._schemes.static[name]):
                return name
        return ""

    def _is_free(self, operation: Operation, name: str) -> bool:
        """Whether no parameter stands where a scheme puts its credentials: workers that begin later must make the same cases."""
        place, field = self._schemes.declared[name].place
        return all((one.location, one.name.lower()) != (place, field.lower()) for one in operation.parameters)

    def _is_refused(self, case: Case, credentials: Credentials | None = None) -> bool:
        """Whether a request is answered 401 or 403; what is not to be sent, or not answered, is not."""
        try:
            request = self._maker.make(case)
        except CheckerError:
            return False
        if self._gate.refuses(case, request):
            return False
        if credentials is not None:
            put(request, credentials)
        outcome = self._http.send(0, request)
        self._gate.observe(case, request, outcome)
        return isinstance(outcome, Response) and outcome.status_code in UNAUTHORIZED
