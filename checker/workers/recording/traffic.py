"""Records every request that a worker sent, for the traffic."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.judge import CLEAN, UNJUDGED, Judgement
from checker.core.case import Case
from checker.core.errors import StorageError
from checker.core.meta import ANYTHING, CaseMetadata, ComponentProvenance, GenerationMode
from checker.core.operation import Label
from checker.core.request import Location, WireRequest
from checker.core.resource_names import is_of_accounts
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import Purpose
from checker.corpus.codec import Packed, encode_fields, pack
from checker.corpus.records import CheckOutcome, Component, Exchange, Interaction
from checker.corpus.secrets import Secrets, exchange, lighter
from checker.corpus.traffic import Keep, TrafficWriter
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase
from checker.workers.recording.unconfirmed import JudgedCase

# Approximate memory of a case without its bodies.
DRAFT_BYTES = 4096


class Answered(NamedTuple):
    """A request and its outcome."""

    request: WireRequest
    outcome: Outcome
    at: float  # When the outcome arrived, in seconds since the epoch.


def answered(request: WireRequest, outcome: Outcome) -> Answered:
    """Return the exchange of a request with a copy of the request, because a repetition may carry other credentials."""
    sent = dataclasses.replace(request, headers=request.headers[:])
    return Answered(sent, outcome, time.time())


class Draft(Struct):
    """A verdict that is encoded when it is written."""

    traffic: "Traffic"
    made: GeneratedCase
    verdict: Verdict

    @property
    def label(self) -> Label:
        return self.made.label

    def __len__(self) -> int:
        outcome, request = self.verdict.outcome, self.verdict.request
        received = len(outcome.content) if isinstance(outcome, Response) else 0
        sent = len(request.body) if request is not None and request.body is not None else 0
        return DRAFT_BYTES + received + sent

    def encode(self, keep: Keep) -> bytes:
        """Return the interaction as bytes, without the bodies that `keep` stores."""
        return self.traffic.encoded(self.made, self.verdict, keep)


# Reading the value of an enumeration member takes longer than this mapping.
MODES = {mode: mode.value for mode in GenerationMode}
_PLACES = {place: place.value for place in Location}
_MOST_KNOWN = 1024
Fields = list[tuple[str, str, tuple[str, ...]]]  # The fields of a `Component` for each part.


class Components(Struct):
    """The components of cases, in the form in which they are written."""

    sends_as_made: bool = True  # Whether no hook changes a case before it is sent.
    known: dict[int, tuple[Mapping[Location, ComponentProvenance], Fields]] = field(default_factory=dict)
    """Cache by the `id` of the components, which similar cases share. The components are kept alive here."""
    of_accounts: dict[Label, bool] = field(default_factory=dict)  # Operation -> whether it is a sign-up or a login.

    def of(self, case: Case, outcome: Outcome | None = None) -> tuple[Component, ...]:
        """Return the record of a case, with its outcome if that is known."""
        if case.meta is None:
            return ()
        return tuple(Component(*one) for one in self.fields(case, case.meta, outcome))

    def fields(self, case: Case, meta: CaseMetadata, outcome: Outcome | None) -> Fields:
        """Return components as fields, because creating objects only to write them costs more than packing.

        Credentials that a sign-up or a login has accepted belong to an account, even if they were invented, so they are
        masked like values from outside.
        """
        held = self.known.get(id(meta.components))
        if held is not None and held[0] is meta.components:
            fields = held[1]
        else:
            if len(self.known) >= _MOST_KNOWN:
                self.known.clear()
            fields = [
                (_PLACES[place], MODES[part.mode], meta.outside(place) if self.sends_as_made else (ANYTHING,))
                for place, part in meta.components.items()
            ]
            self.known[id(meta.components)] = meta.components, fields
        if isinstance(outcome, Response) and outcome.status_code // 100 == 2:
            operation = case.operation
            known = self.of_accounts.get(operation.label)
            if known is None:
                known = operation.method == "POST" and is_of_accounts(operation.path)
                self.of_accounts[operation.label] = known
            if known:
                return [(place, mode, (ANYTHING,)) for place, mode, _ in fields]
        return fields


class CheckOutcomes(Struct):
    """Outcomes of the checks of each case."""

    names: Sequence[str]
    of_case: Callable[[Case], Sequence[str]] | None = None
    """Returns the names of a case's checks, if they differ between cases."""
    _packed: Packed = field(default_factory=Packed)  # Packed outcomes for a case that passed all checks.
    _packed_by_names: dict[tuple[str, ...], Packed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._packed = self._all_passed(self.names)

    def passed(self, case: Case) -> Packed:
        if self.of_case is None:
            return self._packed
        names = tuple(self.of_case(case))
        packed = self._packed_by_names.get(names)
        if packed is None:
            packed = self._packed_by_names[names] = self._all_passed(names)
        return packed

    def told(self, case: Case, judgement: Judgement) -> tuple[CheckOutcome, ...]:
        """Return the result of each check of a case."""
        failed: dict[str, list[str]] = {}
        for failure in judgement.failures:
            text = f"{failure.title}\n{failure.message}".rstrip()
            failed.setdefault(failure.check, []).append(text)
        raised = {name: str(error) for name, error in judgement.errors}
        names = self.names if self.of_case is None else self.of_case(case)
        found: list[CheckOutcome] = []
        for name in names:
            if name in failed:
                found.append(CheckOutcome(name, "FAILURE", "\n\n".join(failed[name])))
            else:
                found.append(
                    CheckOutcome(name, "ERROR", raised[name]) if name in raised else CheckOutcome(name, _SUCCESS)
                )
        return tuple(found)

    def _all_passed(self, names: Sequence[str]) -> Packed:
        return Packed(pack(tuple(CheckOutcome(name, _SUCCESS) for name in names)))


def rows(counts: Mapping[tuple[str, int], int]) -> tuple[tuple[str, int, int], ...]:
    """Return (label, status or 0, count) of counts by label and status."""
    return tuple((label, status, count) for (label, status), count in counts.items())


class UncountedRequests(Struct):
    """Requests that no task has counted: followed redirects, retries, logins and liveness probes."""

    requests: int = 0
    inquiries: int = 0  # The number of requests that investigated failures.

    def take(self) -> tuple[int, int]:
        """Return both numbers and reset them."""
        taken = self.requests, self.inquiries
        self.requests = self.inquiries = 0
        return taken


_SUCCESS = "SUCCESS"
_COMPONENTS_AT = 5  # Index of the components in an `Interaction`.
_BY_HAND: tuple[str, tuple[()], str, tuple[()]] = ("", (), GenerationMode.POSITIVE.value, ())
_PURPOSES = {purpose: purpose.value for purpose in Purpose}


class BesideDraft(Struct, frozen=True):
    """Implements `checker.corpus.traffic.InteractionDraft` for a request that belongs to no case."""

    traffic: "Traffic"
    name: str
    answered: Answered
    purpose: Purpose

    @property
    def label(self) -> Label:
        request = self.answered.request
        return Label(f"{request.method} {request.path.decode('latin-1')}")

    def __len__(self) -> int:
        return DRAFT_BYTES

    def encode(self, keep: Keep) -> bytes:
        return self.traffic.encoded_beside(self.name, self.label, self.answered, self.purpose, keep)


class Traffic(Struct):
    """Describes requests and responses as interactions, and passes them to the writer."""

    incarnation: int
    writer: TrafficWriter
    outcomes: CheckOutcomes
    secrets: Secrets
    most: int = 0  # Bytes of a body that are kept; 0: all.
    components: Components = field(default_factory=Components)
    faults: list[tuple[Label, str, Exception]] = field(default_factory=list)
    """(label, phase, error) of responses that could not be recorded and are not reported yet."""
    uncounted: UncountedRequests = field(default_factory=UncountedRequests)
    """Recorded requests that belong to no case. The requests are added to the next progress record."""
    _numbers: "count[int]" = field(default_factory=count)

    def record(self, shot: JudgedCase) -> None:
        """Record a request of an investigation."""
        draft = Draft(self, shot.made, shot.verdict)
        self.on_the_way(shot.made, shot.verdict.outcome)
        outcome = shot.verdict.outcome
        self.uncounted.inquiries += len(outcome.earlier) if outcome is not None else 0
        self.writer.offer(draft, interesting=False)
        # With one lane, the loop may send the next request before it catches up.
        self.writer.catch_up()

    def unjudged(self, made: GeneratedCase, answers: Iterable[Answered], purpose: Purpose) -> None:
        """Record requests whose responses no check has judged: the first one for this purpose, then those of checks."""
        for answered in answers:
            self.on_the_way(made, answered.outcome)
            self._unjudged(made, answered, purpose)
            purpose = Purpose.PROBE

    def record_others(self, made: GeneratedCase, answers: Sequence[Answered], verdict: Verdict) -> None:
        """Record the other requests for a case: requests that were refused because of their credentials, and requests that checks sent before and after it."""
        verdict.answers = answers
        if verdict.outcome is None:
            # Only checks sent these requests, and they found no failure.
            self.unjudged(made, answers, Purpose.PROBE)
            return
        ends = (at for at, one in enumerate(answers) if one.outcome is verdict.outcome)
        own = next(ends, 0)
        verdict.at = answers[own].at
        for answered in answers[:own]:
            self.on_the_way(made, answered.outcome)
            is_of_check = answered.request.is_of_check
            self._unjudged(made, answered, Purpose.PROBE if is_of_check else Purpose.RETRY)
        self.unjudged(made, answers[own + 1 :], Purpose.PROBE)

    def on_the_way(self, made: GeneratedCase, outcome: Outcome | None) -> None:
        """Record the requests before the final response: followed redirects, failed attempts, and second copies of requests that are sent twice."""
        for one in outcome.earlier if outcome is not None else ():
            earlier = Answered(*one)
            is_redirect = type(earlier.outcome) is Response and earlier.outcome.status_code < 400
            purpose = Purpose.REDIRECT if is_redirect else Purpose.RETRY
            purpose = Purpose.PROBE if earlier.request.is_twice else purpose
            self.uncounted.requests += 1
            self._unjudged(made, earlier, purpose)

    def _unjudged(self, made: GeneratedCase, answered: Answered, purpose: Purpose) -> None:
        request, outcome, at = answered
        verdict = Verdict(made.case, request, outcome, UNJUDGED, at, purpose)
        self.writer.offer(Draft(self, made, verdict), interesting=False)

    def beside(self, answered: Answered, purpose: Purpose) -> None:
        """Record a request that belongs to no case: a login, or a request of user code."""
        self.uncounted.requests += 1
        name = f"{purpose.value}-{next(self._numbers)}"
        self.writer.offer(BesideDraft(self, name, answered, purpose), interesting=purpose is Purpose.LOGIN)

    def encoded_beside(self, name: str, label: Label, shown: Answered, purpose: Purpose, keep: Keep) -> bytes:
        """Return a request that belongs to no case as bytes."""
        request, outcome, at = shown
        exchanged = lighter(exchange(request, outcome, self.secrets), self.most, keep)
        status = "SKIP" if isinstance(outcome, Response) else "ERROR"
        begin = (name, label, *_BY_HAND, status, at, 0.0, exchanged)
        end = ((), self.incarnation, _PURPOSES[purpose])
        return encode_fields(Interaction, *begin, *end)

    def interaction(self, shot: JudgedCase) -> Interaction:
        """Return the interaction of a judged case, as one line of a cassette."""
        verdict = shot.verdict
        exchanged = self._exchanged(verdict)
        begin = list(self._begin(shot.made, verdict, _status_of(verdict), exchanged))
        begin[_COMPONENTS_AT] = tuple(Component(*one) for one in begin[_COMPONENTS_AT])
        end = self._checks_of(verdict), self.incarnation, verdict.purpose
        return Interaction(*[*begin, *end])

    def encoded(self, made: GeneratedCase, verdict: Verdict, keep: Keep) -> bytes:
        """Return a case and its verdict as bytes for the record, without the bodies that `keep` stores. Raises `StorageError`."""
        try:
            return self._encoded(made, verdict, keep)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - the request was sent, so it must be recorded
            phase = "" if made.case.meta is None else made.case.meta.phase.name
            self.faults.append((made.label, phase, error))
            reason = f"the response cannot be recorded: {type(error).__name__}: {error}"
            lost = replace(verdict, outcome=NetworkFailure(FailureKind.OTHER, reason, 0.0))
            return self._encoded(made, lost, keep)

    def _encoded(self, made: GeneratedCase, verdict: Verdict, keep: Keep) -> bytes:
        checks: object
        if verdict.judgement is CLEAN and isinstance(verdict.outcome, Response):
            status, checks = _SUCCESS, self.outcomes.passed(made.case)
        else:
            status = _status_of(verdict)
            checks = self._checks_of(verdict)
        exchanged = lighter(self._exchanged(verdict), self.most, keep)
        begin = self._begin(made, verdict, status, exchanged)
        purpose = _PURPOSES[verdict.purpose]
        return encode_fields(Interaction, *begin, checks, self.incarnation, purpose)

    def _exchanged(self, verdict: Verdict) -> Exchange:
        assert verdict.request is not None
        assert verdict.outcome is not None
        return exchange(verdict.request, verdict.outcome, self.secrets)

    def _begin(self, made: GeneratedCase, verdict: Verdict, status: str, exchanged: Exchange) -> tuple[Any, ...]:
        """Return the fields of an `Interaction` from the case to the exchange."""
        meta, at = made.case.meta, verdict.at
        if meta is None:
            return (made.case.id, made.label, *_BY_HAND, status, at, 0.0, exchanged)
        phase = meta.phase
        return (
            made.case.id,
            made.label,
            phase.name,
            tuple(phase.data.items()),
            MODES[meta.mode],
            self.components.fields(made.case, meta, verdict.outcome),
            status,
            at,
            meta.time,
            exchanged,
        )

    def _checks_of(self, verdict: Verdict) -> tuple[CheckOutcome, ...]:
        if not isinstance(verdict.outcome, Response) or verdict.judgement is UNJUDGED:
            return ()
        told = self.outcomes.told(verdict.case, verdict.judgement)
        return told if self.secrets.is_empty else self.secrets.masked(told)


def _status_of(verdict: Verdict) -> str:
    if not isinstance(verdict.outcome, Response):
        return "ERROR"
    if verdict.judgement is UNJUDGED:
        return "SKIP"
    if verdict.judgement.failures:
        return "FAILURE"
    return "ERROR" if verdict.judgement.errors else _SUCCESS
