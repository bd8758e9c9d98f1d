"""The engine of a loaded schema: sends, judges and makes cases with the configuration of that moment."""

import copy
import dataclasses
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import hypothesis
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from msgspec import Struct, field
from msgspec.structs import replace

from checker import __version__
from checker.checks.context import CheckTools, JudgedInteraction
from checker.checks.custom import CUSTOM_CHECKS, ClassCheck
from checker.checks.judge import Judge, Judgement, JudgeSettings, lasts
from checker.config.config import Config
from checker.config.operation_settings import HttpSettings, OperationSettings
from checker.config.overrides import Overrides
from checker.config.resolve import LiveSettings
from checker.config.settings import RunSettings, target, without_credentials
from checker.core import curl
from checker.core.blocks import reproduction_paragraphs
from checker.core.case import NOT_SET, Case, copied
from checker.core.digests import digest
from checker.core.errors import CheckerError, IncorrectUsage, NothingToBreak, UsageError
from checker.core.hooks import GLOBAL_HOOKS, HookChain, HookContext, observed
from checker.core.meta import GenerationMode, PhaseInfo, generation_mode
from checker.core.operation import Label, Operation
from checker.core.phases import EXAMPLES, FUZZING, CaseSource, phases_of_runs
from checker.core.providers import registered_names
from checker.core.request import BaseUrl, HeaderFields, Location, WireRequest, header_text
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import Send, Transport, drive
from checker.core.system import kept
from checker.core.user_code import require, require_names, require_texts
from checker.generation.hooks import ComponentHooks
from checker.generation.settings import GenerationSettings, mode_of
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Rejected
from checker.generation.sources.hypothesis import DrawnStrategy
from checker.health import SafetyGate
from checker.kinds.protocol import ApiOperation, ApiSchema
from checker.library import extensions
from checker.library.authentication import CallAuthentication, RequestSender
from checker.library.cases import (
    DrawnCase,
    Place,
    Programs,
    generation_settings,
    masked,
    transport_kwargs,
    with_headers,
    with_parts,
)
from checker.library.clients import for_client, home_of, send_by, sending_for
from checker.library.decorators import Attachments
from checker.library.extensions import ExtraDataSource, ExtraValues
from checker.library.options import CallOptions, CheckOptions
from checker.library.recording import RECORDERS, Call, failure_group, record_call, record_results
from checker.phases.attempt import (
    CallArguments,
    CallHooks,
    CallMaker,
    Tools,
    build_request,
    exchange,
    judge_outcome,
    results_of,
    reviewed,
)
from checker.phases.bindings import renewed
from checker.phases.case_factory import key_of
from checker.phases.listing import ListingContext, lister_of
from checker.transport.applications import Application, application_of
from checker.transport.factories import NETWORK, transport_factory, with_policies
from checker.transport.policies import RateLimits
from checker.transport.prepare import RequestMaker
from checker.transport.settings import Dispatch, Headers, HttpChanges, environment_proxy
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.operation_tools import dispatched
from checker.workers.subject import RUN_ENGINE

if TYPE_CHECKING:
    # The compiler imports the writer of requests, which collecting tests does without.
    from checker.generation.program import OperationProgram

_MOST_SEEN = 1_000_000  # Most requests that a strategy remembers. After this number, it forgets all requests.


def pursue(case: Case, response: Response, names: Sequence[str]) -> None:
    """Report the metrics of a response to Hypothesis during a test. Raises `MetricError`, `IncorrectUsage`."""
    if not names or not hypothesis.currently_in_test_context():
        return
    for name, value in observed(names, case, response).items():
        try:
            hypothesis.target(value, label=f"{name} of {case.operation.label}")
        except InvalidArgument:
            # Hypothesis accepts one value per label. A test that sends several requests reports the first one.
            continue


_CURRENT_TEST: Final = "PYTEST_CURRENT_TEST"  # Variable of the environment in which pytest names the test that runs.


class TestProbes(Struct):
    """Probes the first success of each operation, once in each test; without pytest, once in each loaded schema.

    An operation whose probe failed is probed every time from then on, because Hypothesis repeats a failing example and
    calls the test flaky if the example passes.
    """

    _test: str = ""
    _failed: dict[Label, bool] = field(default_factory=dict)  # Operation -> whether a probe of it failed.

    def judged(self, judge: Judge, about: tuple[Case, Response, Sequence[JudgedInteraction]], send: Send) -> Judgement:
        """Return the judgement of the checks, which send their own requests by `send`."""
        case, response, _ = about
        test, label, sent = (os.environ.get(_CURRENT_TEST, ""), case.operation.label, response.request)
        if test != self._test:
            self._test, self._failed = test, {}
        is_probed = self._failed.get(label, True) and bool(judge.probes(*about))
        if sent is not None:
            sent.is_probed = is_probed
        said: Judgement = drive(judge.judge(*about), send)
        if said.failures:
            # No investigation follows.
            said = replace(said, failures=tuple(one for one in said.failures if drive(lasts(one), send)))
        if is_probed:
            has_failed = any(one.request is not None for one in said.failures)
            self._failed[label] = self._failed.get(label, False) or has_failed
        return said


def origin_of(
    schema: ApiSchema,
    location: str | None,
    application: Application | None,
    given: str | None,
    credentials: Iterable[str],
) -> BaseUrl | None:
    """Return the given base URL, or the one that the description declares; None if there is neither.

    `location` is the URL that the user gave for the description. Raises `UsageError` if credentials must not go there,
    `IncorrectUsage` if `given` is no text.
    """
    require_texts(base_url=given)
    declared = schema.base_url
    if given is None and application is not None:
        given = declared
    if given is None and declared is None:
        return None
    try:
        return target(declared or "", location, given, credentials)
    except ValueError as error:
        raise UsageError(str(error)) from error


_MANY: Final = 16  # Most makers in the cache: each call may have its own headers.


def joined_headers(own: OperationSettings, headers: Mapping[str, Any]) -> Headers:
    """Return the headers of a call that have values, and those configured headers that have other names. Raises `IncorrectUsage`."""
    require_names(headers=headers)
    given = {name.lower() for name in headers}
    kept = [(name, value) for name, value in own.headers if name.lower() not in given]
    return (*kept, *((name, header_text(value)) for name, value in headers.items() if value is not None))


def listed_cases(
    operation: ApiOperation, phases: Iterable[str], settings: GenerationSettings, hooks: ComponentHooks
) -> Iterator[Case]:
    """Yield the cases of the phases that list them, in the order of a run, after hooks. The ids of listed cases never change.

    Raises `Unsatisfiable`, `BudgetSpent`, `HookError`.
    """
    wanted = set(phases)
    for phase in phases_of_runs():
        if phase.source is not CaseSource.LISTED or phase.name not in wanted:
            continue
        listed = lister_of(phase.name)(operation, ListingContext(settings, hooks))
        for number, one in enumerate(listed):
            case_id = digest("listed", operation.label, phase.name, str(number))[:12]
            case = one if isinstance(one, Case) else one.case(operation, case_id)
            case.id = case_id
            finished = hooks.finished(case)
            if finished is not None:
                yield finished


def credentials_of(case: Case, options: CallOptions, settings: RunSettings) -> tuple[str, ...]:
    """Return the names of credentials that the caller wrote, in options or anywhere in a handmade case."""
    given = [("header", options.headers), ("query", options.params), ("cookie", options.cookies)]
    if case.meta is None:
        given += [("header", case.headers), ("query", case.query), ("cookie", case.cookies)]
    if not any(values for _, values in given):
        return ()
    is_sensitive = settings.report.sanitization.redaction.is_sensitive
    return tuple(
        f"{place} {name}" for place, values in given for name, value in values.items() if is_sensitive(name) and value
    )


def only_media_type(operation: ApiOperation) -> str:
    """Return the only media type of the operation. Raises `IncorrectUsage` if it has none or several."""
    types = [body.media_type for body in operation.bodies]
    if len(types) == 1:
        return types[0]
    if not types:
        raise IncorrectUsage(f"{operation.label} declares no body that can be sent; give `media_type`")
    listed = ", ".join(types)
    raise IncorrectUsage(f"{operation.label} accepts several media types ({listed}); give `media_type`")


def parts_by_hand(operation: ApiOperation, overrides: Overrides, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a handmade case: the author's parts, and parts that the configuration forces.

    Raises `IncorrectUsage` if the media type of the body is ambiguous.
    """
    whole = dict(parts)
    for parameter in operation.parameters if overrides.parameters else ():
        override = overrides.parameter(parameter.location, parameter.name)
        if override is None or not override.is_forced:
            continue
        place = parameter.location.container
        given = whole.get(place) or {}
        if not any(override.names(parameter.location, name) for name in given):
            whole[place] = {**given, parameter.name: override.entries[0]}
    if whole.get("body", NOT_SET) is not NOT_SET and whole.get("media_type") is None:
        whole["media_type"] = only_media_type(operation)
    return whole


def require_path(case: Case) -> None:
    """Raise `IncorrectUsage` if values of the path miss a parameter, as a misspelt name does: its name in braces would be sent.

    A case without any may stand for an operation, as in hooks of a replay.
    """
    places = (one for one in case.operation.parameters if one.location is Location.PATH)
    missing = [one.name for one in places if one.name not in case.path_parameters]
    if missing and case.path_parameters:
        given = f"{case.path_parameters!r:.80}"
        raise IncorrectUsage(f"{case.operation.label} needs `path_parameters` with {', '.join(missing)}, got {given}")


def error_of(failure: NetworkFailure, command: str) -> Exception:
    """Return the exception for a call without a response; `command` sends its request again."""
    match failure.kind:
        case FailureKind.TIMEOUT:
            error: Exception = TimeoutError(failure.message)
        case FailureKind.UNSENDABLE:
            return ValueError(failure.message)
        case _:
            error = ConnectionError(f"{failure.kind}: {failure.message}")
    error.add_note("\n" + "\n\n".join(reproduction_paragraphs((command,), reproduced=None)))
    return error


Sending = tuple[RequestMaker, CallHooks, CredentialKeeper | None]  # The makers of the requests of one call.
_NOWHERE = BaseUrl("http", "localhost", 80, "")
_NO_BASE_URL = "The `base_url` argument is required when specifying a schema via a file"


class LibraryEngine:
    """Implements `checker.core.engine.Engine` for the operations of one schema.

    Threads may send cases at the same time. Settings and hooks are changed before.
    """

    def __init__(self, schema: ApiSchema, config: Config, attached: Attachments) -> None:
        """`attached` belongs to the schema, or to one test."""
        self._attached = attached
        self.hooks = attached.hooks
        """The hooks of this schema. These hooks run after the hooks for all schemas."""
        self._chain = HookChain((GLOBAL_HOOKS, *self.hooks))
        self._schema = schema
        self._location = attached.location
        self.application = attached.application
        """The application in this process; None if requests go over the network."""
        self._home: BaseUrl | None = None
        """The host that every request is sent to; None: the host of its base URL."""
        self._called: dict[int, tuple[object, LibraryEngine]] = {}
        """`id` of the `app` of a call -> the application, and the engine that sends to it."""
        self.schema: Any = None
        """The loaded schema with this engine; None until it is created."""
        self._config = config
        self.auth = CallAuthentication(schema, attached.auth)
        self._makers: dict[tuple[BaseUrl, Headers, bool], RequestMaker] = {}
        self.settings = LiveSettings(config, schema.location or "", self._makers.clear)
        self._compiled: dict[tuple[Label, GenerationMode | None, bool], Programs] = {}
        self._probes = TestProbes()
        self._hooks: tuple[object, CallHooks] | None = None
        """The hooks of calls, with the registry entries from which they were made."""
        self._judges: dict[Label, tuple[object, Judge]] = {}
        """Operation -> the checks of its last call, with the values from which they were made."""
        self._silent = Judge(())
        self._rates = RateLimits()
        self._sender = RequestSender(attached.application, self._connect)
        self._elsewhere = RequestSender(attached.application, with_policies(NETWORK, self._rates))

    def serve_from(self, app: Any) -> None:
        """Send every request to an application in this process, whatever host its base URL names. Raises `IncorrectUsage`."""
        require(callable(app), "app", "an application, ASGI or WSGI", app)
        self.application = application_of(app, raises=True)
        self._home, self._sender = self.application.origin, RequestSender(self.application, self._connect)

    def _connect(self, origin: BaseUrl, http: HttpSettings, lanes: int) -> Transport:
        """Connect with the transport that a run with these settings would use, and with the proxies of the environment."""
        http = replace(http, proxy=http.proxy or environment_proxy(origin))
        connect = transport_factory(self.settings.now.target.transport)
        return with_policies(connect, self._rates)(origin, http, lanes)

    def _send(
        self, origin: BaseUrl, http: HttpSettings, request: WireRequest, *, is_elsewhere: bool = False
    ) -> Outcome:
        """Return the outcome of a request. Requests from the user code of a run are sent and recorded by the run."""
        run, sender = RUN_ENGINE.get(), self._elsewhere if is_elsewhere else self._sender
        if run is None:
            return sender.send(origin, http, request)
        own = None if self.application is None else sender
        outcome: Outcome = run.send_for_schema(origin, http, request, own)
        return outcome

    def _calling(self, options: dict[str, Any]) -> "LibraryEngine":
        """Remove `app` from the options of a call, and return the engine that sends to this application; without `app`, this engine."""
        app = options.pop("app", None)
        if app is None:
            return self
        known = self._called.get(id(app))
        if known is None:
            engine = copy.copy(self)
            engine.serve_from(app)
            known = kept(self._called, id(app), (app, engine), _MANY)
        return known[1]

    def formatted_path(self, case: Case, base_path: str = "") -> str:
        """Return the path with its variables substituted, without query, as it is appended to a base URL."""
        return RequestMaker(replace(_NOWHERE, base_path=base_path), version=__version__).formatted_path(case)

    def as_curl_command(
        self, case: Case, headers: Mapping[str, str] | None, base_url: str | None = None, *, verify: bool
    ) -> str:
        """Return the command that sends the case, with values of sensitive names masked."""
        settings = self.settings.now
        origin = self._shown_origin(settings, base_url)
        request = self._maker(origin, self.settings_of(case.operation), headers or {}).make(case)
        # The command is for reading: bytes that are not text become the replacement character.
        return self._command(case, request, settings, (origin, verify), lossy=True)

    def as_transport_kwargs(
        self, case: Case, base_url: str | None, headers: Mapping[str, str] | None
    ) -> dict[str, Any]:
        origin = self._origin(base_url, self.settings.now) or _NOWHERE
        maker = self._maker(origin, self.settings_of(case.operation), headers or {})
        return transport_kwargs(maker.make(case), origin)

    def call(self, case: Case, base_url: str | None, **options: Any) -> Response:
        """Return the response to the case. Raises `TimeoutError`, `ConnectionError`, `ValueError` if there is none."""
        engine = self._calling(options)
        with case.bare() as changed:
            response = engine._exchange(case, base_url, CallOptions.of(options), self.settings.now, changed)
        if response.raised is not None:
            raise response.raised
        return response

    def validate_response(self, case: Case, response: Any, **options: Any) -> None:
        with case.bare():
            self._validate(case, Response.from_any(response), CheckOptions.of(options), self.settings.now)

    def evaluate_server_error(self, case: Case, response: Response) -> None:
        """Raise a `FailureGroup` if the built-in check reports a server error, even if the user replaced this check."""
        self._plain.validate_response(case, response, checks=[extensions.SERVER_ERROR])

    @cached_property
    def _plain(self) -> "LibraryEngine":
        """Return an engine without a loaded schema, so without extension points."""
        return LibraryEngine(self._schema, self._config, self._attached)

    def call_and_validate(self, case: Case, base_url: str | None, **options: Any) -> Response:
        """Return the response to the case. Raises a `FailureGroup` if a check fails."""
        settings, engine = self.settings.now, self._calling(options)
        checks = CheckOptions.take(options)
        with case.bare() as changed:
            response = engine._exchange(case, base_url, CallOptions.of(options), settings, changed)
            try:
                engine._validate(case, response, checks, settings, base_url)
            finally:
                if response.raised is not None:
                    # The failures are in the reports; the test shows the line of the application.
                    raise response.raised from None
        return response

    def make_case(self, operation: ApiOperation, **parts: Any) -> Case:
        """Return a case of these parts. Raises `IncorrectUsage` if its media type is ambiguous."""
        parts = parts_by_hand(operation, self.settings.now.sources.overrides.of(operation), parts)
        parts["headers"] = HeaderFields(parts.get("headers") or {})
        return Case(operation, secrets.token_hex(6), engine=self, **parts)

    def as_strategy(self, operation: ApiOperation, **options: Any) -> Any:
        """Return the strategy of cases of one operation. Options: `generation_mode`, and strategies of parts. Raises `TypeError`."""
        mode = options.pop("generation_mode", None)
        programs = self._programs(operation, None if mode is None else generation_mode(mode))
        cases = self._drawn_from(programs)
        return with_parts(cases, options) if options else cases

    def cases_of_test(self, operation: ApiOperation) -> Any:
        return self._drawn_from(self._programs(operation, None, in_test=True))

    def _drawn_from(self, programs: Programs) -> Any:
        """Return the strategy of cases of one operation; values that users give may replace drawn ones."""
        seen: dict[bytes, str] = {}
        operation, extra = programs.operation, self.extra_data
        pool = None if extra is None else ExtraValues(extra, operation)

        def draw(source: Source) -> Case:
            phase = PhaseInfo(FUZZING.name)
            case = programs.current().draw(source, case_id="", phase=phase, pool=pool)
            # The id follows from the choices, so that a case keeps it in a replay and under `derandomize`.
            case.id = digest("drawn", repr(source.choices))[:12]
            if self.settings_of(operation).cases.unique_inputs:
                request = key_of(case)
                # Hypothesis draws a case again to replay and shrink it. With the same id it is not a repetition.
                if (seen.get(request) or kept(seen, request, case.id, _MOST_SEEN)) != case.id:
                    raise Rejected("its request was made before")
            return self.equipped(case)

        return DrawnStrategy(draw, f"<cases of {operation.label}>")

    def has_cases(self, operation: ApiOperation, options: Mapping[str, Any]) -> bool:
        """Whether cases exist.

        There are none if only invalid data is wanted and the operation accepts everything. Other errors are raised by drawing.
        """
        mode = options.get("generation_mode")
        wanted = None if mode is None else generation_mode(mode)
        usual = mode_of(self.settings_of(operation).modes_in_python)
        if (wanted or usual) is not GenerationMode.NEGATIVE:
            return True
        try:
            self._programs(operation, wanted).current()
        except CheckerError as error:
            return not isinstance(error, NothingToBreak)
        return True

    @cached_property
    def extra_data(self) -> ExtraDataSource | None:
        """Return the source of extra values for cases that users provide."""
        return None if self.schema is None else self.schema.create_extra_data_source()

    def program(self, operation: ApiOperation) -> "OperationProgram":
        """Return the program that draws the cases of a test. Raises `Unsatisfiable`, `SerializationError`, `BudgetSpent`, `HookError`."""
        return self._programs(operation, None, in_test=True).current()

    def _programs(self, operation: ApiOperation, mode: GenerationMode | None, *, in_test: bool = False) -> Programs:
        """Return the programs of a mode that takes precedence over the configuration; None uses the configured one."""

        def settings() -> GenerationSettings:
            own = self.settings_of(operation)
            forced = self.settings.now.sources.overrides
            return generation_settings(forced, own, mode, self.schema, in_test=in_test)

        return self._compiled.setdefault((operation.label, mode, in_test), Programs(operation, settings, self._chain))

    def examples_of(self, operation: ApiOperation) -> list[Any]:
        """Return a strategy for each case of the examples phase, even if the phase is disabled. Raises as `listed_cases`."""
        return [st.just(case) for case in self._listed(operation, [EXAMPLES.name])]

    def listed_cases(self, operation: ApiOperation) -> Iterator[Case]:
        """Yield the listed cases of an operation, phase by phase. Raises as the function `listed_cases`."""
        return self._listed(operation, self.settings_of(operation).phases)

    def _listed(self, operation: ApiOperation, phases: Iterable[str]) -> Iterator[Case]:
        hooks = ComponentHooks.from_registry(self._chain, HookContext(operation))
        own = self.settings_of(operation)
        forced = self.settings.now.sources.overrides
        generation = generation_settings(forced, own, None, in_test=True)
        listed = listed_cases(operation, phases, generation, hooks)
        return map(self.equipped, extensions.within_capabilities(self.schema, listed))

    def equipped(self, case: Case) -> Case:
        """Give a case this engine, and keep its drawn values for later comparison."""
        case.engine, case.__class__ = self, DrawnCase
        case.headers = HeaderFields(case.headers)
        case.given = self.headers_of(case)
        for name in case.given:
            # The configuration overrides drawn values.
            case.headers.pop(name, None)
        parts = (case.path_parameters, case.headers, case.cookies, case.query)
        case.drawn = (*map(copied, parts), (copied(case.body), case.media_type))
        case.headers.update(case.given)
        return case

    def settings_of(self, operation: Operation) -> OperationSettings:
        return self.settings.of(operation)

    def base_url_of(self, operation: ApiOperation) -> str | None:
        """Return the absolute base URL that requests to an operation use; the declared one if there is no other."""
        try:
            origin = self._origin(None, self.settings.now)
        except UsageError:
            # The declared URL is unusable, for example because it has an undefined variable.
            origin = None
        if origin is None:
            return operation.declared_base_url
        return origin.url + self._maker(origin, self.settings_of(operation), {}).base_path_of(operation)

    def _origin(self, base_url: str | None, settings: RunSettings, credentials: Iterable[str] = ()) -> BaseUrl | None:
        """Return the target of requests; None if it is unknown. Raises `UsageError` if credentials must not be sent there."""
        found = self._target(base_url, settings, credentials)
        if self._home is None:
            return found
        base_path = self._schema.base_path.removesuffix("/") if found is None else found.base_path
        return replace(self._home, base_path=base_path)

    def _target(self, base_url: str | None, settings: RunSettings, credentials: Iterable[str]) -> BaseUrl | None:
        """Return the target according to the base URL, the configuration and the description."""
        given = base_url or settings.target.base_url
        return origin_of(self._schema, self._location, self.application, given, credentials)

    def identity_of(self, case: Case) -> str | None:
        """Return the name of the configured user that calls the operation of a case now; empty for anonymous calls, None if users have no names."""
        origin = self._shown_origin(self.settings.now)
        keeper = self.auth.keeper(self.settings.asked, origin, self._send)
        users = None if keeper is None else keeper.identities
        return None if users is None else users.current(case.operation.label)

    def _shown_origin(self, settings: RunSettings, base_url: str | None = None) -> BaseUrl:
        """Return the target that commands show; a placeholder if it is unknown. Nothing is sent to this URL."""
        return self._origin(base_url, settings) or _NOWHERE

    def _maker(
        self, origin: BaseUrl, own: OperationSettings, headers: Mapping[str, Any], *, is_anonymous: bool = False
    ) -> RequestMaker:
        """Return a maker. Headers of a call override those of the configuration, and these override those of the case.

        An anonymous maker adds no credentials of security schemes.
        """
        given = joined_headers(own, headers)
        key = (origin, given, is_anonymous)
        maker = self._makers.get(key)
        if maker is None:
            declared = self._schema.base_url
            known = None if declared is None else self._origin(declared, self.settings.now)
            is_declared = known is not None and origin == known.with_userinfo(origin.userinfo)
            schemes = None if is_anonymous else self.auth.schemes(self.settings.asked)

            def dispatch(operation: Operation) -> Dispatch:
                return dispatched(given, {} if schemes is None else schemes.by_alternative(operation))

            dispatches = dispatch if schemes else None
            made = RequestMaker(origin, given, version=__version__, own_servers=is_declared, dispatch=dispatches)
            maker = kept(self._makers, key, made, _MANY)
        return maker

    fetches_headers = True  # Whether credentials are fetched to be shown in cases.

    def headers_of(self, case: Case) -> dict[str, str]:
        """Return the headers that are added to a case at sending: those of the configuration, and credentials."""
        found = dict(self.settings_of(case.operation).headers)
        try:
            keeper = self.auth.keeper(self.settings.asked, self._shown_origin(self.settings.now), self._send)
            if keeper is not None:
                found |= keeper.headers_of(case, fetches=self.fetches_headers)
        except CheckerError:
            # The error is reported by the call that needs them.
            return found
        return found

    def _exchange(
        self, case: Case, base_url: str | None, options: CallOptions, settings: RunSettings, changed: Mapping[str, Any]
    ) -> Response:
        """Return the response to a case; `changed` are given headers to which the user gave other values."""
        if changed:
            options = replace(options, headers={**changed, **options.headers})
        credentials = (
            *self.auth.configured(settings), *credentials_of(case, options, settings), *registered_names()
        )  # fmt: skip
        origin = self._origin(base_url, settings, credentials) or home_of(options.session)
        if origin is None:
            raise UsageError(_NO_BASE_URL)
        chosen = for_client(options.over(case), options, origin.plain.url)
        given = extensions.prepared(self.schema, chosen)
        sent = extensions.authorised(self.schema, given)
        # If the user overrides `apply_auth` and it authenticates the case, no other credentials are added.
        own = self.settings_of(case.operation)
        # A user who changes the credentials of a case wants to send those.
        is_ours = sent is given and changed.keys() <= dict(own.headers).keys()
        keeper = self.auth.keeper(self.settings.asked, origin, self._send) if is_ours else None
        maker, hooks = self._maker(origin, own, options.headers), self._call_hooks()
        # Checks do not run here, because the caller decides whether the response is judged.
        tools = Tools(maker, lambda _: self._silent, SafetyGate(), replace(hooks, kept=(), validated=()), keeper)
        request = build_request(maker, tools.hooks, sent, keeper)
        require_path(sent)
        CallArguments(headers={name: None for name, value in options.headers.items() if value is None}).apply(request)
        request.drawn = case.sent
        where = origin.url + origin.base_path
        request.target = extensions.target_of(self.schema, sent, where, request.target)
        http = own.http.with_options(timeout_s=options.timeout, verify=options.verify)
        how, send = options.transport, partial(self._send, origin, http)
        if options.session is not None:
            sender: Send = partial(send_by, options.session, base_url=origin, transport=how)
        else:
            sender = sending_for(how, origin, send, self.application) or send
        if isinstance(request.via, HttpChanges):
            how.update(request.via.options)
        outcome = drive(exchange(tools, sent, request), sender)
        (getattr(outcome, "request", None) or request).shown(origin)
        about = (settings, self._schema, origin.url, self.auth.secrets)
        record_call(lambda: Call(sent, request, outcome, time.time(), *about))
        extensions.adapt(self.schema, request, outcome)
        drive(judge_outcome(tools, sent, outcome, request=request), sender)
        if isinstance(outcome, NetworkFailure):
            place = origin, options.verify is not False
            raise error_of(outcome, self._command(sent, request, settings, place))
        if self.schema is not None:
            self.schema.record_runtime_observations(sent, outcome)
        assert isinstance(outcome, Response)
        pursue(sent, outcome, own.cases.maximize)
        return outcome

    def class_checks(self) -> Iterable[ClassCheck]:
        """Return the active class checks of users; in a run, the class checks of the run."""
        for recorder in RECORDERS:
            recorder.judging(self._attached.classes)
        return self._attached.classes.of(self.settings.asked[1].common.check_settings)

    def _validate(
        self, case: Case, response: Response, options: CheckOptions, settings: RunSettings, base_url: str | None = None
    ) -> None:
        own = self.settings_of(case.operation)
        origin = self._origin(base_url, settings)
        maker = self._maker(origin or _NOWHERE, own, options.headers)
        hooks, keeper = self._call_hooks(), self.auth.keeper(self.settings.asked, maker.origin, self._send)
        judge = self._judge(case.operation, options, response, (maker, hooks, keeper))
        is_safe = response.verify and options.transport_kwargs.get("verify") is not False
        http = own.http.with_options(verify=None if is_safe else False)
        send = partial(self._sent_by_check, origin, http)
        judged = self._probes.judged(judge, (case, response, options.earlier), send)
        names = judge.names
        judgement = reviewed(judged, hooks, case, response, names)
        commands: tuple[str, ...] = ()
        if judgement.failures:
            place = maker.origin, is_safe
            asked = [(one.case, one.request) for one in options.earlier]
            asked.append((case, with_headers(response.request, options.headers)))
            commands = tuple(self._command(of, one or maker.make(of), settings, place) for of, one in asked)
        shown = "\n".join(commands)
        record_results((case, response), results_of(names, judgement), shown, options.recorder)
        raised = next((error for _, error in judgement.errors), None)
        if judgement.failures:
            group = failure_group(case, response, judgement.failures, commands, settings.report.truncation)
            raise group from raised
        if raised is not None:
            raise raised

    def _call_hooks(self) -> CallHooks:
        entries = self._chain.entries
        if self._hooks is None or self._hooks[0] != entries:
            self._hooks = entries, CallHooks.of(self._chain)
        return self._hooks[1]

    def _judge(self, operation: Operation, options: CheckOptions, response: Response, sending: Sending) -> Judge:
        """Return the checks of a response to an operation, those of its last call if they are the same."""
        settings, own = self.settings.now, self.settings_of(operation)
        classes = tuple(self.class_checks())
        given = options.checks, options.additional_checks, options.excluded_checks, response.request is None
        registered = classes, *CUSTOM_CHECKS.values(), extensions.is_extended(self.schema, "evaluate_server_error")
        made_of = sending, settings, own, given, registered
        known = self._judges.get(operation.label)
        if known is not None and known[0] == made_of:
            return known[1]
        redaction = settings.report.sanitization.redaction
        plain = dataclasses.replace(own, headers=without_credentials(redaction, own.headers))
        maker, hooks, _ = sending
        anonymous = self._maker(maker.origin.with_userinfo(""), plain, {}, is_anonymous=True)
        replaced = extensions.judges(self.schema)
        chosen = [replaced.get(one.name, one) for one in options.selected(own.checks, classes)]
        judge = Judge(
            options.able(chosen, response),
            JudgeSettings(own.check_settings, settings.report.truncation, own.beside),
            CheckTools(CallMaker(*sending), CallMaker(anonymous, hooks), renewed),
        )
        self._judges[operation.label] = made_of, judge
        return judge

    def _sent_by_check(self, origin: BaseUrl | None, http: HttpSettings, request: WireRequest) -> Outcome:
        if origin is None:
            return NetworkFailure(FailureKind.UNSENDABLE, _NO_BASE_URL, 0.0)
        outcome = self._send(origin, http, request)
        if isinstance(outcome, Response) and outcome.raised is not None:
            raise outcome.raised
        return outcome

    def exchange(self, case: Case, request: WireRequest) -> Outcome:
        """Return the outcome of a finished request to the target of a case."""
        http = self.settings_of(case.operation).http
        return self._sent_by_check(self._origin(None, self.settings.now), http, request)

    def _command(
        self, case: Case, request: WireRequest, settings: RunSettings, place: Place, *, lossy: bool = False
    ) -> str:
        """Return the command that sends a request for a case again, without secrets; with `lossy` it is for reading."""
        wanted = settings.report.sanitization
        shown, (origin, verify) = masked(case, request, wanted, self._schema.credentials), place
        return self.auth.hidden(curl.render(shown, shown.origin or origin, verify=verify, lossy=lossy), wanted)
