"""One attempt: a case becomes a request, its answer a verdict. No I/O: whoever drives it sends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from checker.checks.judge import CLEAN, Judgement
from checker.core.case import Case
from checker.core.errors import HookError
from checker.core.request import WireRequest
from checker.core.response import NetworkFailure, Outcome, Response
from checker.core.send import Exchanging
from checker.phases.safety import Gate, Level

# Python finds a member of an enumeration ten times slower than a name.
_FULL = Level.FULL


class Maker(Protocol):
    """Turns a case into bytes."""

    def make(self, case: Case) -> WireRequest:
        """The request of a case. Raises `Unserialisable`."""
        ...


class Judging(Protocol):
    """Says what the checks make of an answer."""

    @property
    def is_plain(self) -> bool:
        """Whether no check needs further requests, so that `verdict` can be asked directly."""
        ...

    def judge(self, case: Case, response: Response) -> Exchanging[Judgement]:
        """What the checks say; yields what they need to send."""
        ...

    def verdict(self, case: Case, response: Response) -> Judgement:
        """What checks say that send nothing."""
        ...


@dataclass(frozen=True, slots=True)
class CallHooks:
    """What users run around each call."""

    before: Sequence[Callable[..., Any]] = ()
    """`before_call(context, case, kwargs)`."""
    after: Sequence[Callable[..., Any]] = ()
    """`after_call(context, case, response)`."""
    context: Callable[[Case], Any] = lambda case: case


class Authorizing(Protocol):
    """Has requests carry credentials that come while the run goes on."""

    def apply(self, case: Case, request: WireRequest) -> None:
        """Have a request carry those of now, in place of earlier ones. Raises `CredentialError`."""
        ...

    def is_refused(self, case: Case, request: WireRequest, outcome: Outcome) -> bool:
        """Whether to send again with newer ones, which are there then. Raises `CredentialError`."""
        ...

    def observe(self, case: Case, request: WireRequest, outcome: Outcome) -> None:
        """Take note of the answer to what was sent again."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What every attempt needs."""

    maker: Maker
    judge: Judging
    gate: Gate
    hooks: CallHooks
    credentials: Authorizing | None = None
    """None where all that requests carry is known from the start."""

    is_plain: bool = field(init=False)
    """Whether every attempt is one request that nobody touches, and one plain call to judge its answer."""

    def __post_init__(self) -> None:
        is_untouched = not (self.hooks.before or self.hooks.after or self.credentials)
        is_plain = is_untouched and self.judge.is_plain and self.gate.level is _FULL
        object.__setattr__(self, "is_plain", is_plain)


@dataclass(slots=True)
class Verdict:
    """The end of an attempt."""

    case: Case
    request: WireRequest | None
    """None when the safety gate held the case back."""
    outcome: Outcome | None
    judgement: Judgement


def attempt(tools: Tools, case: Case, *, fresh: bool = False) -> Exchanging[Verdict]:
    """Verdict on one case. Raises `HookError` when a user's hook does."""
    if tools.is_plain:
        request = tools.maker.make(case)
        request.fresh = fresh
        return plain_verdict(tools, case, request, (yield request))
    if tools.gate.level is not _FULL and tools.gate.refuses(case):
        return Verdict(case, None, None, CLEAN)
    request = build_request(tools, case)
    request.fresh = fresh
    outcome = yield from exchange(tools, case, request)
    judgement = yield from judge_outcome(tools, case, outcome)
    return Verdict(case, request, outcome, judgement)


def exchange(tools: Tools, case: Case, request: WireRequest) -> Exchanging[Outcome]:
    """The answer to the request of a case: the second one, if the first refused credentials that could be renewed."""
    outcome = yield request
    credentials = tools.credentials
    if credentials is not None and credentials.is_refused(case, request, outcome):
        credentials.apply(case, request)
        outcome = yield request
        credentials.observe(case, request, outcome)
    return outcome


def plain_verdict(tools: Tools, case: Case, request: WireRequest, outcome: Outcome) -> Verdict:
    """The end of an attempt with plain tools: the hot path, and what `attempt` comes to with them."""
    judgement = tools.judge.verdict(case, outcome) if isinstance(outcome, Response) else CLEAN
    return Verdict(case, request, outcome, judgement)


def build_request(tools: Tools, case: Case) -> WireRequest:
    """The case as bytes, after `before_call` hooks. Raises `Unserialisable`."""
    extra: dict[str, Any] = {}
    for hook in tools.hooks.before:
        _call(hook, tools.hooks.context(case), case, extra)
    request = tools.maker.make(case)
    if tools.credentials is not None:
        tools.credentials.apply(case, request)
    if extra:
        _add_headers(request, extra)
    return request


def _add_headers(request: WireRequest, extra: dict[str, Any]) -> None:
    """What `before_call` hooks put into `kwargs`."""
    request.lines = None
    for name, value in dict(extra.pop("headers", None) or {}).items():
        wanted = name.lower().encode("latin-1")
        request.headers = [pair for pair in request.headers if pair[0].lower() != wanted]
        request.headers.append((name.encode("latin-1"), str(value).encode("latin-1")))
    if extra:
        unknown = ", ".join(sorted(extra))
        raise HookError(
            "before_call", TypeError(f"kwargs can change `headers` alone, found {unknown}")
        )


def judge_outcome(tools: Tools, case: Case, outcome: Outcome) -> Exchanging[Judgement]:
    """What hooks and checks say of an answer; a missing answer is not theirs to judge."""
    if isinstance(outcome, NetworkFailure):
        return CLEAN
    for hook in tools.hooks.after:
        _call(hook, tools.hooks.context(case), case, outcome)
    return (yield from tools.judge.judge(case, outcome))


def drive(work: Exchanging[Any], send: Callable[[WireRequest], Outcome]) -> Any:
    """Result of work that exchanges, with a `send` that blocks."""
    try:
        wanted = next(work)
        while True:
            wanted = work.send(send(wanted))
    except StopIteration as end:
        return end.value


def _call(hook: Callable[..., Any], *arguments: Any) -> None:
    name = getattr(hook, "__name__", "hook")
    try:
        hook(*arguments)
    except Exception as error:
        raise HookError(name, error) from error
