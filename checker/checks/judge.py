"""All selected checks over one response."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from msgspec import Struct, field

from checker.checks.check import Check, Config, PriorRequest
from checker.checks.context import PASSED, CheckContext, CheckTools, Failures, Found, Instead, JudgedInteraction, Raised
from checker.checks.to_run import Asked, Kinds
from checker.core.blocks import DEFAULT_TRUNCATION, Truncation
from checker.core.case import Case
from checker.core.contract import ResponsePlan
from checker.core.failures import Failure
from checker.core.request import WireRequest
from checker.core.response import NetworkFailure, Response
from checker.core.send import Exchanging
from checker.core.templates import Lexicon


class JudgeSettings(Struct, frozen=True):
    """The settings of all checks."""

    given: Mapping[str, Config] = field(default_factory=dict)
    """Name of a check -> settings of it that differ from its defaults."""
    truncation: Truncation = DEFAULT_TRUNCATION
    """How much of a schema and of a value is shown."""
    beside: Callable[[Config], Config] = lambda given: given
    """Return the settings of a check together with those of the operation in its phase."""

    def of(self, check: Check) -> Config:
        """Return what `config` of the context holds for a check."""
        own = check.config(self.given.get(check.name, {}))
        return self.beside(own) if check.sees_operation_settings else own


class Judge:
    """The selected checks, ready to look at responses."""

    __slots__ = ("_beforehand", "_kinds", "_lexicon", "_names", "_of_no_response", "_probing", "_settings", "_tools")

    def __init__(
        self, checks: Sequence[Check], settings: JudgeSettings | None = None, tools: CheckTools | None = None
    ) -> None:
        """Without `tools` nothing can be sent, and no request be judged."""
        self._settings = settings or JudgeSettings()
        checks = [one for one in checks if one.has_needs is None or one.has_needs(tools)]
        asked = tuple((one, self._settings.of(one)) for one in checks)
        self._kinds = Kinds(asked, self._passes)
        self._names = tuple(one.name for one in checks)
        self._beforehand = [(one, one.beforehand) for one in checks if one.beforehand is not None]
        self._of_no_response = [(one, one.no_response) for one in checks if one.no_response is not None]
        self._probing = [one for one in checks if one.probes is not None]
        self._lexicon = Lexicon()
        self._tools = tools

    def check_names(self, case: Case) -> Sequence[str]:
        """Names of the checks that are asked of answers, whatever the case is."""
        return self._names

    def verdict(self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()) -> "Judgement | None":
        """Return the verdicts of the checks: the hot path. None if one of them needs further requests: call `judge` then."""
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
        """Return the verdicts of the checks; yields the requests that they need."""
        at_once = self.verdict(case, response, sequence)
        if at_once is not None:
            return at_once
        to_run = self._kinds.of(case, response, follows=bool(sequence))
        context = self._context(case, response, to_run.plan, sequence)
        failures: Failures = ()
        for check, config in to_run.asked:
            context.config = config
            if check.sends:
                failures += yield from _failures_of_sending(check, context)
            else:
                failures += _failures(check, context)
        return _judgement(failures, context)

    def without_response(self, case: Case, outcome: NetworkFailure) -> "Judgement":
        """Return what the checks say of a request that got no complete response."""
        failures: Failures = ()
        for check, judged in self._of_no_response:
            if check.applies.to_operation(case.operation):
                failures += _named(check, judged(outcome))
        return Judgement(failures, (), ()) if failures else CLEAN

    def probes(self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()) -> bool | None:
        """Whether a check that probes each operation once can do so for an interaction; None where no such check judges the operation."""
        tools, operation = self._tools, case.operation
        if tools is None or not any(one.applies.to_operation(operation) for one in self._probing):
            return None
        asked = self._kinds.of(case, response, follows=bool(sequence)).asked
        return any(one.probes is not None and one.probes(case, response, tools) for one, _ in asked)

    def asks_first(self, case: Case) -> bool:
        """Whether a check sends something before a case that follows others."""
        return any(True for _ in self._of_first(case, confirms=False))

    def first(self, case: Case, request: WireRequest) -> "Exchanging[Instead | None]":
        """Yield the requests that checks send before the request of a case; returns the outcome that replaces it if one of them fails."""
        for before in self._of_first(case, confirms=request.confirms):
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

    def _passes(self, asked: Asked, plan: ResponsePlan, case: Case, response: Response) -> bool:
        # What a check notes on the way is noted when it is asked.
        trial = self._context(case, response, plan, ())
        check, trial.config = asked
        said = _failures(check, trial)
        return not (said or trial.unjudged or trial.disagreements or trial.errors)

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


class Judgement(Struct, frozen=True):
    """The results of the checks."""

    failures: Failures
    disagreements: tuple[str, ...]
    unjudged: tuple[str, ...]
    errors: tuple[Raised, ...] = ()
    """What checks and hooks raised that is no failure: it costs no more than what they had to say."""

    @property
    def is_of_answer(self) -> bool:
        """Whether something is wrong with the answer itself, not only with those to what checks sent besides."""
        return any(one.request is None and not one.operation for one in self.failures)


CLEAN = Judgement((), (), ())
"""Nothing failed, nothing was in doubt, all was looked at."""

UNJUDGED = Judgement((), (), ())
"""Nobody looked."""


def _judgement(failures: Failures, context: CheckContext) -> Judgement:
    doubts, unjudged, errors = context.disagreements, context.unjudged, context.errors
    if not (failures or doubts or unjudged or errors):
        return CLEAN
    return Judgement(failures, tuple(doubts), tuple(unjudged), tuple(errors))


def _failures(check: Check, context: CheckContext) -> Failures:
    try:
        found = check.run(context)
    except Failure as failure:
        found = failure
    except Exception as error:  # noqa: BLE001 - the wall: other checks have their say
        context.errors.append((check.name, error))
        return PASSED
    return _named(check, cast("Found", found)) if found else PASSED


def _failures_of_sending(check: Check, context: CheckContext) -> Exchanging[Failures]:
    try:
        found = yield from cast("Exchanging[Found]", check.run(context))
    except Failure as failure:
        found = failure
    except Exception as error:  # noqa: BLE001 - the wall: other checks have their say
        context.errors.append((check.name, error))
        return PASSED
    return _named(check, found)


def _named(check: Check, found: Found) -> Failures:
    if found is None or isinstance(found, bool):
        return PASSED
    failures = (found,) if isinstance(found, Failure) else tuple(found)
    for failure in failures:
        failure.check = failure.check or check.name
        # A failure is kept for long: not with the frames that it was raised in, which hold the response.
        failure.__traceback__ = failure.__context__ = None
    return failures


class JudgeByOperation:
    """Asks the judge of the operation and the phase that a case is of; for runs in which all are alike there is `Judge`."""

    __slots__ = ("_judge_of",)

    def __init__(self, judge_of: Callable[[Case], Judge]) -> None:
        self._judge_of = judge_of

    def judge(
        self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()
    ) -> Exchanging[Judgement]:
        """Return the verdicts of the checks on a response; yields the requests that they need."""
        return self._judge_of(case).judge(case, response, sequence)

    def without_response(self, case: Case, outcome: NetworkFailure) -> Judgement:
        """Return what the checks say of a request that got no complete response."""
        return self._judge_of(case).without_response(case, outcome)

    def check_names(self, case: Case) -> Sequence[str]:
        """Names of the checks that are asked of answers to such a case."""
        return self._judge_of(case).check_names(case)

    def probes(self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()) -> bool | None:
        """Whether a check that probes each operation once can do so for an interaction; None where no such check judges the operation."""
        return self._judge_of(case).probes(case, response, sequence)

    def asks_first(self, case: Case) -> bool:
        """Whether a check sends something before a case that follows others."""
        return self._judge_of(case).asks_first(case)

    def first(self, case: Case, request: WireRequest) -> Exchanging[Instead | None]:
        """Yield the requests that checks send before the request of a case; returns the outcome that replaces it if one of them fails."""
        return self._judge_of(case).first(case, request)

    def verdict(self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()) -> Judgement | None:
        """Return the verdicts of the checks on a response; None if one of them needs further requests."""
        return self._judge_of(case).verdict(case, response, sequence)
