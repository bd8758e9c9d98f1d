"""The engine of the operations of a run, for user code in its workers."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from checker.checks.custom import ClassCheck
from checker.config.config import Config
from checker.config.operation_settings import HttpSettings
from checker.config.resolve import RunningSettings
from checker.config.settings import RunSettings
from checker.core.case import Case
from checker.core.digests import digest
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Outcome
from checker.core.send import Transport
from checker.kinds.protocol import ApiOperation
from checker.library.authentication import Asked, CallAuthentication, RequestSender, SendFrom
from checker.library.decorators import Attachments
from checker.library.engine import LibraryEngine
from checker.library.schema import LoadedSchema
from checker.transport.settings import reaching
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.logins import UserTraffic
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.starting.calling import transport_of
from checker.workers.subject import TestedDescription


class RunEngine(LibraryEngine):
    """Implements `checker.core.engine.Engine` with the settings, credentials, checks and rates of a run.

    Requests from user code are not cases of the run. The requests are recorded with the purpose `user`.
    """

    fetches_headers = False

    def __init__(self, subject: TestedDescription, traffic: UserTraffic | None = None) -> None:
        """`traffic` records each request that was sent."""
        config = Config.of_operations(subject.settings.operations)
        super().__init__(subject.description.schema, config, Attachments())
        self._subject = subject
        self.settings = RunningSettings(subject.settings, subject.operations)
        self.auth = _RunAuthentication(subject)
        to_target = transport_of(subject.settings)
        elsewhere = transport_of(subject.settings.with_changes(target={"transport": None, "app": None}))

        def connect(origin: BaseUrl, http: HttpSettings, lanes: int) -> Transport:
            is_of_run = origin.site == subject.origin.site or subject.settings.is_dry
            return (
                to_target(origin, http, lanes)
                if is_of_run
                else elsewhere(origin, reaching(http, subject.origin, origin), lanes)
            )

        self._sender = RequestSender(None, connect)
        self._traffic = None if subject.settings.is_dry else traffic
        self.schema = LoadedSchema(subject.description.schema, config, Attachments(engine=self))

    def send_for_schema(
        self, origin: BaseUrl, http: HttpSettings, request: WireRequest, own: RequestSender | None
    ) -> Outcome:
        """Return the outcome of a request of a schema that user code loaded. `own` sends to an application of this process.

        A request to the target of the run has the settings of the run, but for the time limit and `verify` of the call.
        """
        if own is None and origin.site == self._subject.origin.site:
            usual = self._subject.operations.common.http
            verify = usual.verify if http.verify is True else http.verify
            http = replace(usual, timeout_s=http.timeout_s, verify=verify)
        return self._recorded(own or self._sender, origin, http, request)

    def _send(
        self, origin: BaseUrl, http: HttpSettings, request: WireRequest, *, is_elsewhere: bool = False
    ) -> Outcome:
        return self._recorded(self._sender, origin, http, request)

    def _recorded(self, sender: RequestSender, origin: BaseUrl, http: HttpSettings, request: WireRequest) -> Outcome:
        outcome = sender.send(origin, http, request)
        if self._traffic is not None:
            self._traffic.record(request, outcome)
        return outcome

    def make_case(self, operation: ApiOperation, **parts: Any) -> Case:
        """Return a case of these parts. The id follows from the parts: equal seeds send equal requests."""
        made = super().make_case(operation, **parts)
        made.id = ""
        made.id = digest("made by hand", repr(made))[:12]
        return made

    def _target(self, base_url: str | None, settings: RunSettings, credentials: Iterable[str]) -> BaseUrl | None:
        return self._subject.origin if base_url is None else super()._target(base_url, settings, credentials)

    def class_checks(self) -> Iterable[ClassCheck]:
        return self._subject.classes.checks


class _RunAuthentication(CallAuthentication):
    def __init__(self, subject: TestedDescription) -> None:
        super().__init__(subject.description.schema, ())
        self.secrets = subject.secrets
        self._subject = subject

    def schemes(self, asked: Asked) -> SchemeCredentials:
        return self._subject.schemes

    def keeper(self, asked: Asked, origin: BaseUrl, send: SendFrom) -> CredentialKeeper | None:
        return self._subject.keeper
