"""Applies the selected checks to a response."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from msgspec import Struct, field
from msgspec.structs import replace as replace_struct

from checker.checks.check import Check, Config, PriorRequest
from checker.checks.context import PASSED, CheckContext, CheckTools, Failures, Found, Instead, JudgedInteraction, Raised
from checker.checks.resources import Sent
from checker.checks.to_run import Kinds
from checker.core.blocks import DEFAULT_TRUNCATION, Truncation
from checker.core.case import Case
from checker.core.contract import ResponsePlan
from checker.core.failures import Exchange, Failure
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.resources import SAFE
from checker.core.response import NetworkFailure, Outcome, Response
from checker.core.send import Exchanging, watched
from checker.core.templates import Lexicon

_SERVER_ERROR: Final = 500


class JudgeSettings(Struct, frozen=True):
    """The settings of all checks."""

    given: Mapping[str, Config] = field(default_factory=dict)
    """Name of a check -> settings that differ from its defaults."""
    truncation: Truncation = DEFAULT_TRUNCATION  # The longest parts of a schema and of a value in messages.
    beside: Callable[[Config], Config] = lambda given: given
    """Returns the settings of a check merged with those of the operation."""

    def of(self, check: Check) -> Config:
        """Return `CheckContext.config` for a check."""
        own = check.config(self.given.get(check.name, {}))
        return self.beside(own) if check.sees_operation_settings else own


class Judge:
    """The selected checks with their settings."""

    __slots__ = ("_beforehand", "_kinds", "_lexicon", "_names", "_of_no_response", "_probing", "_settings", "_tools")

    def __init__(
        self, checks: Sequence[Check], settings: JudgeSettings | None = None, tools: CheckTools | None = None
    ) -> None:
        """Without `tools`, checks cannot send requests or judge requests."""
        self._settings = settings or JudgeSettings()
        checks = [one for one in checks if one.has_needs is None or one.has_needs(tools)]
        given = ((one, self._settings.of(one)) for one in checks)
        asked = tuple((one.within(config), config) for one, config in given)
        self._kinds = Kinds(asked)
        self._names = tuple(one.name for one in checks)
        self._beforehand = [(one, one.beforehand) for one in checks if one.beforehand is not None]
        self._of_no_response = [(one, one.no_response) for one in checks if one.no_response is not None]
        self._probing = [one for one in checks if one.probes is not None]
        self._lexicon = Lexicon()
        self._tools = tools

    @property
    def names(self) -> Sequence[str]:
        return self._names

    def verdict(self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()) -> "Judgement | None":
        """Return the verdict of all checks; None if one of them may need further requests, for which `judge` must be called. This is the hot path."""
        to_run = self._kinds.of(case, response, follows=bool(sequence))
        if not to_run.asked:
            return CLEAN
        may_send = to_run.may_send
        if may_send is not None and may_send(case, response):
            return None
        look = to_run.quick_look
        if look is not None and look(response):
            return CLEAN
        context = self._context(case, response, to_run.plan, sequence)
        failures: Failures = ()
        for check, config in to_run.at_once:
            context.config = config
            failures += _failures(check, context)
        return _judgement(failures, context)

    def judge(
        self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()
    ) -> "Exchanging[Judgement]":
        """Return the verdict of all checks; yields the requests that they need."""
        at_once = self.verdict(case, response, sequence)
        if at_once is not None:
            return at_once
        to_run = self._kinds.of(case, response, follows=bool(sequence))
        context = self._context(case, response, to_run.plan, sequence)
        failures: Failures = ()
        repeated: Repetition | None = None
        for check, config in to_run.asked:
            context.config = config
            if not check.sends:
                failures += _failures(check, context)
            elif check.may_send is None or check.may_send(case, response):
                failures += yield from _failures_of_sending(check, context)
                repeated = repeated or self._repeated(context)
        judgement = _judgement(failures, context)
        return judgement if repeated is None else replace_struct(judgement, repeated=repeated)

    def _repeated(self, context: CheckContext) -> "Repetition | None":
        """Return the server error that occurred when a check sent the request of the case once more, with its failures."""
        case, sent = context.case, context.response.request
        if sent is None or sent.is_of_check or context.response.status_code >= _SERVER_ERROR:
            return None
        steps = [*context.sequence, Sent(case, sent, context.response)]
        for request, outcome in context.exchanges:
            if request.method in SAFE:
                continue
            # An earlier write of a check may be the cause of a later error.
            is_again = not request.is_twice and _bytes_of(request) == _bytes_of(sent)
            if not is_again or not isinstance(outcome, Response) or outcome.status_code < _SERVER_ERROR:
                return None
            to_run = self._kinds.of(case, outcome, follows=True)
            judged = self._context(case, outcome, to_run.plan, steps)
            failures: Failures = ()
            for check, judged.config in to_run.at_once:
                failures += _failures(check, judged)
            return outcome, _judgement(failures, judged).failures
        return None

    def without_response(self, case: Case, outcome: NetworkFailure) -> "Judgement":
        """Return the verdict on a request without a complete response."""
        failures: Failures = ()
        for check, judged in self._of_no_response:
            if check.applies.to_operation(case.operation):
                failures += _named(check, judged(case, outcome))
        return Judgement(failures, (), ()) if failures else CLEAN

    def probes(self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()) -> bool | None:
        """Whether a check that probes each operation once can probe an interaction; None if no such check judges the operation."""
        tools, operation = self._tools, case.operation
        if tools is None or not any(one.applies.to_operation(operation) for one in self._probing):
            return None
        asked = self._kinds.of(case, response, follows=bool(sequence)).asked
        return any(one.probes is not None and one.probes(case, response, tools) for one, _ in asked)

    def may_probe(self, case: Case) -> bool:
        """Whether a check probes the operation of a case if it never accepts one."""
        return any(one.probes_refused is not None and one.applies.to_operation(case.operation) for one in self._probing)

    def probe_refused(self, case: Case, request: WireRequest) -> "Exchanging[Instead | None]":
        """Yield the probes that checks send for an operation that accepted no case. Return the first that shows a failure."""
        for one in self._probing:
            if self._tools is not None and one.probes_refused is not None and one.applies.to_operation(case.operation):
                shown = yield from one.probes_refused(case, request, self._tools)
                if shown is not None:
                    return shown
        return None

    def asks_first(self, case: Case) -> bool:
        """Whether a check sends a request before a case that is not the first of its sequence."""
        return bool(self._beforehand) and next(self._of_first(case, confirms=False), None) is not None

    def first(self, case: Case, request: WireRequest) -> "Exchanging[Instead | None]":
        """Yield the requests that checks send before the request of a case. If one of them fails, return the outcome that replaces the case's."""
        for before in self._of_first(case, confirms=bool(request.confirms)):
            assert self._tools is not None
            instead = yield from before.run(case, request, self._tools)
            if instead is not None:
                return instead
        return None

    def _of_first(self, case: Case, *, confirms: bool) -> Iterator[PriorRequest]:
        if self._tools is not None:
            for one, before in self._beforehand:
                if before.asks(case, confirms) and one.applies.to_operation(case.operation):
                    yield before

    def _context(
        self, case: Case, response: Response, plan: ResponsePlan, sequence: Sequence[JudgedInteraction]
    ) -> CheckContext:
        return CheckContext(
            case,
            response,
            plan,
            sequence=sequence,
            tools=self._tools,
            truncation=self._settings.truncation,
            lexicon=self._lexicon,
        )


def _bytes_of(request: WireRequest) -> tuple[object, ...]:
    return request.method, request.target, sorted(request.headers), request.body


Repetition = tuple[Response, Failures]  # (response to a case's request that was sent once more, its failures).


class Judgement(Struct, frozen=True):
    """The results of the checks."""

    failures: Failures
    disagreements: tuple[str, ...]
    unjudged: tuple[str, ...]
    errors: tuple[Raised, ...] = ()  # Exceptions of checks and hooks that are not failures.
    repeated: Repetition | None = None
    """The server error that occurred when a check sent the same request once more. It is a further step of the sequence."""

    def grave(self, label: Label) -> tuple[str, ...]:
        """Return the fingerprints of this response's grave failures, without failures of requests that checks sent."""
        own = (one for one in self.failures if one.request is None and not one.operation)
        return tuple(one.fingerprint(label) for one in own if one.severity.is_grave)


def lasts(failure: Failure) -> Exchanging[bool]:
    """Return whether the request that shows a failure gets the same status once more; True for a failure without such a request."""
    if failure.shown_by is None:
        return True
    request, before = failure.shown_by
    again = yield request
    return isinstance(again, Response) and isinstance(before, Response) and again.status_code == before.status_code


CLEAN = Judgement((), (), ())  # The verdict without failures and notes.

UNJUDGED = Judgement((), (), ())  # The verdict on a response that was not judged. It differs from `CLEAN` by identity.


def _judgement(failures: Failures, context: CheckContext) -> Judgement:
    doubts, unjudged, errors = context.disagreements, context.unjudged, context.errors
    if not (failures or doubts or unjudged or errors):
        return CLEAN
    if len(failures) > 1:
        parts: list[Failure] = []
        for whole in failures:
            for part in failures:
                if part.request is None and isinstance(part, whole.covers):
                    whole.message = "\n".join(filter(None, (whole.message, part.title, part.message)))
                    parts.append(part)
        failures = tuple(one for one in failures if one not in parts)
    return Judgement(failures, tuple(doubts), tuple(unjudged), tuple(errors))


def _failures(check: Check, context: CheckContext) -> Failures:
    try:
        found = check.run(context)
    except Failure as failure:
        found = failure
    except Exception as error:  # noqa: BLE001 - the other checks must still run
        context.errors.append((check.name, error))
        return PASSED
    return _named(check, cast("Found", found)) if found else PASSED


def _failures_of_sending(check: Check, context: CheckContext) -> Exchanging[Failures]:
    exchanges: list[Exchange] = []
    context.exchanges = exchanges

    def note(request: WireRequest, outcome: Outcome) -> None:
        # The check may send the same object again with other credentials.
        exchanges.append((replace(request, headers=request.headers[:]), outcome))

    try:
        found = yield from watched(cast("Exchanging[Found]", check.run(context)), note)
    except Failure as failure:
        found = failure
    except Exception as error:  # noqa: BLE001 - the other checks must still run
        context.errors.append((check.name, error))
        return PASSED
    return _named(check, found)


def _named(check: Check, found: Found) -> Failures:
    if found is None or isinstance(found, bool):
        return PASSED
    failures = (found,) if isinstance(found, Failure) else tuple(found)
    for failure in failures:
        failure.check = failure.check or check.name
        # Failures outlive the check. The frames of their traceback would keep the response in memory.
        failure.__traceback__ = failure.__context__ = None
    return failures
