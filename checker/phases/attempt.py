"""One attempt: a case becomes a request, its response a verdict. No I/O: the caller of the generator sends."""

import copy
import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.context import Failures, JudgedInteraction, KnowingMaker, Maker, Raised
from checker.checks.judge import CLEAN, Judge, Judgement
from checker.config.operation_settings import HttpSettings
from checker.config.value_kinds import certificates
from checker.core.case import Case
from checker.core.contract import Outcome as Judged
from checker.core.credentials import basic_authorization
from checker.core.errors import HookExecutionError, did_you_mean
from checker.core.failures import Failure
from checker.core.hooks import COMPONENTS, RUNNING_HOOKS, HookContext, HookSource, run_hooks
from checker.core.meta import GenerationMode
from checker.core.operation import Label, Operation
from checker.core.request import WireRequest, header_text
from checker.core.response import NetworkFailure, Outcome, Response
from checker.core.send import Exchanging, Purpose, watched
from checker.health import Safety, SafetyGate
from checker.transport.settings import HttpChanges, timeout_of

_CHANGING: Final = ("before_generate", "map", "flatmap")


class CallArguments(Struct, frozen=True):
    """The `kwargs` of a hook for one request, checked."""

    headers: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    cookies: Mapping[str, Any] = field(default_factory=dict)
    auth: tuple[str, str] | None = None  # User and password.
    timeout: float | tuple[float | None, float | None] | None = None
    """Seconds. A longer timeout than the configured one has no effect, because the supervisor would regard the worker as hung."""
    verify: bool | str | None = None
    allow_redirects: bool | None = None  # Whether redirects are followed, as requests calls it.
    follow_redirects: bool | None = None
    """Whether redirects are followed, as httpx calls it; wins over `allow_redirects`."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "CallArguments":
        """Return the given arguments without those that are None. Raises `TypeError` with a sentence for an unusable one."""
        names = tuple(_RULES)
        for name, value in given.items():
            rule = _RULES.get(name)
            if rule is None:
                known = ", ".join(f"`{one}`" for one in names)
                raise TypeError(f"kwargs can change {known}, found `{name}`{did_you_mean(str(name), names)}")
            if value is not None and (wanted := rule(value)) is not None:
                raise TypeError(f"kwargs: `{name}` must be {wanted}, got {value!r:.80}")
        return cls(**{name: value for name, value in given.items() if value is not None})

    def case(self, case: Case) -> Case:
        """Return the case with these parameters and cookies."""
        return overridden(case, query=self.params, cookies=self.cookies)

    def apply(self, request: WireRequest) -> None:
        """Replace the headers of a request by these, and set its transport options."""
        headers = {name: header_text(value) for name, value in self.headers.items() if value is not None}
        if self.auth is not None and "authorization" not in map(str.lower, headers):
            headers["Authorization"] = basic_authorization(*self.auth)
        dropped = {name.lower().encode("latin-1") for name in (*self.headers, *headers)}
        if dropped:
            # Prepared lines contain the headers as they were before.
            request.lines = None
            request.headers = [pair for pair in request.headers if pair[0].lower() not in dropped]
            request.headers += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        follows = self.allow_redirects if self.follow_redirects is None else self.follow_redirects
        changes = HttpChanges(
            usual=request.via if isinstance(request.via, HttpSettings) else None,
            timeout_s=timeout_of(self.timeout),
            verify=self.verify,
            follows_redirects=follows,
        )
        if changes.options:
            request.via = changes


def overridden(
    case: Case,
    *,
    headers: Mapping[str, Any] | None = None,
    query: Mapping[str, Any] | None = None,
    cookies: Mapping[str, Any] | None = None,
) -> Case:
    """Return a copy of a case with other values; given headers are dropped, because they are set on the request."""
    if not (headers or query or cookies):
        return case
    changed = copy.copy(case)
    names = {name.lower() for name in headers or ()}
    kept = {name: value for name, value in case.headers.items() if name.lower() not in names}
    # The class is kept, because its lookup of names ignores case.
    changed.headers = type(case.headers)(kept)
    changed.query = {**case.query, **(query or {})}
    changed.cookies = {**case.cookies, **(cookies or {})}
    return changed


def _values(value: object) -> str | None:
    is_by_name = isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
    return None if is_by_name else "a mapping of names to values"


def _headers(value: object) -> str | None:
    if not isinstance(value, Mapping) or _values(value) is not None:
        return _values(value)
    texts = [text for name, one in value.items() for text in (name, header_text(one))]
    return None if all(char <= "\xff" for text in texts for char in text) else "a mapping of texts in Latin-1"


def _pair(value: object) -> str | None:
    match value:
        case [str(), str()]:
            return None
        case _:
            return "a user and a password"


def _verify(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    is_path = isinstance(value, str) and certificates(value) is None
    return None if is_path else "True, False, or a file or folder of certificates"


def _switch(value: object) -> str | None:
    return None if isinstance(value, bool) else "True or False"


_RULES: Final[Mapping[str, Callable[[object], str | None]]] = {
    "headers": _headers,
    "params": _values,
    "cookies": _values,
    "auth": _pair,
    "timeout": lambda value: "a number of seconds above 0" if timeout_of(value) is None else None,
    "verify": _verify,
    "allow_redirects": _switch,
    "follow_redirects": _switch,
}
"""Argument -> function that returns a description of the expected value if the given one is unusable."""


# Python finds a member of an enumeration ten times slower than a name.
_FULL = Safety.FULL
_TEST = Purpose.TEST


class CallHooks(Struct, frozen=True):
    """The hooks that users run around each call."""

    before: Sequence[Callable[..., Any]] = ()  # `before_call(context, case, kwargs)`.
    after: Sequence[Callable[..., Any]] = ()  # `after_call(context, case, response)`.
    unanswered: Sequence[Callable[..., Any]] = ()  # `after_network_error(context, case, request)`.
    validated: Sequence[Callable[..., Any]] = ()  # `after_validate(context, case, response, results)`.
    kept: Sequence[Callable[..., Any]] = ()
    """`filter_failure(context, failure, case, response)`: whether a failure is reported."""
    told: Sequence[Callable[[Case, WireRequest, Outcome], None]] = ()
    """Callbacks of loaded schemas, called before all hooks."""
    changing: HookSource | None = None  # The source of hooks that change cases; None if no hook changes any case.
    _changed: dict[Label, Collection[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: HookSource) -> "CallHooks":
        return cls(
            source.named("before_call"),
            source.named("after_call"),
            source.named("after_network_error"),
            source.named("after_validate"),
            source.named("filter_failure"),
            changing=source if _changed_parts(source) else None,
        )

    def __bool__(self) -> bool:
        hooks = (self.before, self.after, self.unanswered, self.validated, self.kept, self.told)
        return any(hooks) or self.changing is not None

    def changed(self, operation: Operation) -> Collection[str]:
        """Return the parts of an operation's cases that hooks may make valid or invalid (`body`)."""
        if self.changing is None:
            return ()
        if operation.label not in self._changed:
            self._changed[operation.label] = _changed_parts(self.changing, HookContext(operation))
        return self._changed[operation.label]


def _changed_parts(source: HookSource, context: HookContext | None = None) -> Collection[str]:
    """Return the parts of cases that hooks may change. `before_call` may change all."""
    if source.named("before_call", context):
        return COMPONENTS
    makers = [(part, f"{verb}_{part}") for verb in _CHANGING for part in (*COMPONENTS, "case")]
    found = {part for part, name in makers if source.named(name, context)}
    return COMPONENTS if "case" in found else found


class Authorizing(Protocol):
    """Adds credentials to requests that are fetched during the run."""

    def apply(self, case: Case, request: WireRequest) -> None:
        """Replace the credentials of a request by the current ones. Raises `CredentialError`."""
        ...

    def is_refused(self, case: Case, request: WireRequest, outcome: Outcome, *, is_again: bool = False) -> bool:
        """Whether the credentials were refused and new ones have been fetched. `is_again`: after a repetition of the request.

        Raises `CredentialError`.
        """
        ...

    def observe(self, case: Case, request: WireRequest, outcome: Outcome) -> None:
        """Record the response to a request that was repeated with other credentials."""
        ...

    def renew(self, case: Case, request: WireRequest) -> bool:
        """Fetch the credentials of a request again. Return whether the request has credentials that can be fetched. Raises `CredentialError`."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Tools:
    """The tools of every attempt."""

    maker: KnowingMaker
    judge_of: Callable[[Case], Judge]  # Return the checks of a case.
    gate: SafetyGate
    hooks: CallHooks
    credentials: Authorizing | None = None  # None if all credentials are known from the start.

    is_plain: bool = dataclasses.field(init=False)
    """Whether an attempt has no hooks, no fetched credentials and no safety gate."""

    def __post_init__(self) -> None:
        is_untouched = not (self.hooks or self.credentials)
        is_plain = is_untouched and self.gate.level is _FULL
        object.__setattr__(self, "is_plain", is_plain)


class Verdict(Struct):
    """The end of an attempt."""

    case: Case
    request: WireRequest | None  # None when the safety gate refused the case.
    outcome: Outcome | None
    judgement: Judgement
    at: float = 0.0  # Time of the outcome in seconds since the epoch; 0 until it is recorded.
    purpose: Purpose = _TEST
    answers: Sequence[tuple[WireRequest, Outcome, float]] = ()
    """(request, outcome, time) of all requests of the attempt, if there were several, because requests of checks may create resources as well."""


def attempt(
    tools: Tools, case: Case, sequence: Sequence[JudgedInteraction] = (), *, fresh: bool = False, confirms: str = ""
) -> Exchanging[Verdict]:
    """Return the verdict on a case that is sent after `sequence`; `fresh` and `confirms` as in `WireRequest`.

    Raises the `HookError` of a user's hook.
    """
    request = build_request(tools.maker, tools.hooks, case, tools.credentials)
    request.fresh, request.confirms = fresh, confirms
    _settle_mode(tools, case, request)
    work = _attempted(tools, case, request, sequence)
    if tools.gate.level is _FULL:
        return (yield from work)
    if tools.gate.refuses(case, request):
        return Verdict(case, None, None, CLEAN)
    # The gate records the resources that the requests create, those of checks included.
    return (yield from watched(work, partial(tools.gate.observe, case)))


def _settle_mode(tools: Tools, case: Case, request: WireRequest) -> None:
    """Set the mode of a case that hooks made valid or invalid. An ambiguous request keeps the mode that was drawn."""
    meta, operation = case.meta, case.operation
    parts = () if meta is None else tools.hooks.changed(operation)
    if meta is None or not parts or case.other_method:
        return
    # A hook may repair a wrong part or break a right one. If the mode stayed as drawn, checks would report that a
    # repaired request is accepted, or a broken one refused.
    verdict = operation.judge_request(request, base_path=tools.maker.base_path_of(operation))
    is_wrong = verdict.outcome is Judged.INVALID
    if verdict.outcome is Judged.AMBIGUOUS or is_wrong == meta.mode.is_negative:
        return
    wrong = {part.location for part in verdict.invalid}
    drawn_wrong = {place for place, one in meta.components.items() if one.mode.is_negative}
    if any(place.container not in parts for place in wrong or drawn_wrong):
        # No hook caused this: the values became valid or invalid when they were serialised.
        return
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    components = {
        place: replace(one, mode=modes[place in wrong], violation=None) if place in wrong | drawn_wrong else one
        for place, one in meta.components.items()
    }
    case.meta = replace(meta, mode=modes[is_wrong], components=components)


def _attempted(
    tools: Tools, case: Case, request: WireRequest, sequence: Sequence[JudgedInteraction]
) -> Exchanging[Verdict]:
    instead = (yield from tools.judge_of(case).first(case, request)) if sequence else None
    outcome: Outcome
    if instead is None:
        outcome = yield from exchange(tools, case, request)
    else:
        request, outcome = instead
    return (yield from rest_of_attempt(tools, case, request, outcome, sequence))


def probe(tools: Tools, case: Case) -> Exchanging[Verdict]:
    """Return the verdict on the requests that checks send for an operation that accepted no case, made from a valid one.

    The case itself is not sent. Raises the `HookError` of a user's hook.
    """
    request = build_request(tools.maker, tools.hooks, case, tools.credentials)
    if tools.gate.level is not _FULL and tools.gate.refuses(case, request):
        return Verdict(case, None, None, CLEAN)
    shown = yield from tools.judge_of(case).probe_refused(case, request)
    if shown is None:
        return Verdict(case, request, None, CLEAN)
    request, outcome = shown
    return (yield from rest_of_attempt(tools, case, request, outcome, ()))


def exchange(tools: Tools, case: Case, request: WireRequest) -> Exchanging[Outcome]:
    """Return the response to the request of a case, repeated while new credentials replace refused ones."""
    outcome = yield request
    credentials, is_again = tools.credentials, False
    if credentials is None:
        return outcome
    while credentials.is_refused(case, request, outcome, is_again=is_again):
        credentials.apply(case, request)
        outcome = yield request
        is_again = True
    if is_again:
        credentials.observe(case, request, outcome)
    return outcome


def rest_of_attempt(
    tools: Tools, case: Case, request: WireRequest, outcome: Outcome, sequence: Sequence[JudgedInteraction]
) -> Exchanging[Verdict]:
    """Run the rest of an attempt after its response: hooks, and checks with their requests."""
    judgement = yield from judge_outcome(tools, case, outcome, sequence, request=request)
    return Verdict(case, request, outcome, judgement)


def build_request(maker: Maker, hooks: CallHooks, case: Case, credentials: Authorizing | None = None) -> WireRequest:
    """Return the request of a case after `before_call` hooks. Raises `SerializationError`, `HookError`, `CredentialError`."""
    extra: dict[str, Any] = {}
    run_hooks(hooks.before, "before_call", HookContext(case.operation), case, extra)
    wanted = None
    if extra:
        try:
            wanted = CallArguments.of(extra)
        except TypeError as error:
            raise HookExecutionError("before_call", error) from error
    request = maker.make(case if wanted is None else wanted.case(case))
    if credentials is not None:
        credentials.apply(case, request)
    if wanted is not None:
        # This comes after the credentials, so that the headers of a hook replace them.
        wanted.apply(request)
    return request


class CallMaker(Struct, frozen=True):
    """Makes requests of checks in the same way as those of cases: after hooks, with the fetched credentials."""

    maker: KnowingMaker
    hooks: CallHooks
    credentials: Authorizing | None = None

    def make(self, case: Case) -> WireRequest:
        """Return the request of a case, as `build_request` does."""
        return build_request(self.maker, self.hooks, case, self.credentials)

    def base_path_of(self, operation: Operation) -> str:
        """Return the base path of an operation on the wire."""
        return self.maker.base_path_of(operation)


def judge_outcome(
    tools: Tools, case: Case, outcome: Outcome, sequence: Sequence[JudgedInteraction] = (), *, request: WireRequest
) -> Exchanging[Judgement]:
    """Return the results of checks and hooks for the outcome of a request.

    `filter_failure` and `after_validate` take a response, so they are not called where there is none.
    """
    hooks = tools.hooks
    if not hooks.before and not case.sent and case.meta is not None and case.drawn is None:
        case.sent = request.headers
    for tell in hooks.told:
        tell(case, request, outcome)
    if isinstance(outcome, NetworkFailure):
        if hooks.unanswered:
            sent, context = request.shown(), HookContext(case.operation)
            run_hooks(hooks.unanswered, "after_network_error", context, case, sent)
        return tools.judge_of(case).without_response(case, outcome)
    if hooks and outcome.request is not None:
        outcome.request.shown()
    if hooks.after:
        with case.dressed():
            run_hooks(hooks.after, "after_call", HookContext(case.operation), case, outcome)
    judgement = yield from tools.judge_of(case).judge(case, outcome, sequence)
    if hooks.kept or hooks.validated:
        names = tools.judge_of(case).names
        return reviewed(judgement, hooks, case, outcome, names)
    return judgement


CheckResult = tuple[str, str, Failure | None]  # Name of a check, `success` or `failure`, and the failure.


def reviewed(judgement: Judgement, hooks: CallHooks, case: Case, response: Response, names: Sequence[str]) -> Judgement:
    """Return the results without the failures that hooks of users filter out."""
    context = HookContext(case.operation)
    errors = list(judgement.errors)

    def kept(failures: Failures, of: Response) -> Failures:
        return tuple(
            one for one in failures if all(_is_kept(hook, (context, one, case, of), errors) for hook in hooks.kept)
        )

    failures, repeated = kept(judgement.failures, response), judgement.repeated
    if repeated is not None:
        repeated = repeated[0], kept(repeated[1], repeated[0])
    judgement = replace(judgement, failures=failures, errors=tuple(errors), repeated=repeated)
    if hooks.validated:
        results = results_of(names, judgement)
        run_hooks(hooks.validated, "after_validate", context, case, response, results)
    return judgement


def results_of(names: Sequence[str], judgement: Judgement) -> list[CheckResult]:
    """Return one result for each check that passed, and one for each failure."""
    failures = judgement.failures
    # A check that raised has neither passed nor failed.
    others = {failure.check for failure in failures} | {name for name, _ in judgement.errors}
    passed: list[CheckResult] = [(name, "success", None) for name in names if name not in others]
    return [*passed, *((failure.check, "failure", failure) for failure in failures)]


def _is_kept(
    hook: Callable[..., Any], arguments: tuple[HookContext, Failure, Case, Response], errors: list[Raised]
) -> bool:
    if hook in RUNNING_HOOKS:
        return True
    try:
        with RUNNING_HOOKS.adding(hook):
            # A hook for other operations returns None.
            return hook(*arguments) in (None, True)
    except Exception as error:  # noqa: BLE001 - a failing hook must not hide a failure
        raised = HookExecutionError("filter_failure", error)
        raised.__cause__ = error
        errors.append(("filter_failure", raised))
        return True
