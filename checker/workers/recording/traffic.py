"""Every request that a worker sent, as its traffic holds it."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.judge import CLEAN, UNJUDGED
from checker.core.errors import StorageError
from checker.core.meta import GenerationMode
from checker.core.operation import Label
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import Purpose
from checker.corpus.codec import RecordEncoder
from checker.corpus.exchange import exchange, exchange_fields, lighter
from checker.corpus.records import CheckOutcome, Component, Interaction
from checker.corpus.secrets import Secrets
from checker.corpus.traffic import Keep, TrafficWriter
from checker.phases.attempt import Verdict
from checker.phases.making import GeneratedCase
from checker.workers.recording.components import MODES, Components
from checker.workers.recording.counts import UncountedRequests
from checker.workers.recording.drafts import Answered, Draft
from checker.workers.recording.outcomes import CheckOutcomes
from checker.workers.recording.unconfirmed import JudgedCase

_SUCCESS = "SUCCESS"
_COMPONENTS_AT = 5
"""Where they stand in an `Interaction`."""
_BY_HAND: tuple[str, tuple[()], str, tuple[()]] = ("", (), GenerationMode.POSITIVE.value, ())
_PURPOSES = {purpose: purpose.value for purpose in Purpose}


class Traffic(Struct):
    """Describes requests and their answers as interactions, and has them written."""

    incarnation: int
    writer: TrafficWriter
    outcomes: CheckOutcomes
    secrets: Secrets
    most: int = 0
    """Bytes of a body that are kept; 0: all."""
    components: Components = field(default_factory=Components)
    faults: list[tuple[Label, str, Exception]] = field(default_factory=list)
    """(label, phase, error) of answers that could not be written, for whoever tells of them."""
    uncounted: UncountedRequests = field(default_factory=UncountedRequests)
    """What is on record and was sent for no case of its own: who writes progress counts it."""
    _encoder: RecordEncoder = field(default_factory=RecordEncoder)

    def record(self, shot: JudgedCase) -> None:
        """Write down a request of an inquiry."""
        draft = Draft(self.encoded, shot.made, shot.verdict)
        self.on_the_way(shot.made, shot.verdict.outcome)
        outcome = shot.verdict.outcome
        self.uncounted.inquiries += len(outcome.earlier) if outcome is not None else 0
        self.writer.offer(draft, interesting=False)
        # Nobody comes by to do so later: one lane sends what it can.
        self.writer.catch_up()

    def unjudged(self, made: GeneratedCase, answers: Iterable[Answered], purpose: Purpose) -> None:
        """Write down requests whose answers no check has judged: the first one for this purpose, then those of checks."""
        for answered in answers:
            self.on_the_way(made, answered.outcome)
            self._unjudged(made, answered, purpose)
            purpose = Purpose.PROBE

    def beside(self, made: GeneratedCase, answers: Sequence[Answered], verdict: Verdict) -> None:
        """Write down what else was sent for a case: what was refused for its credentials, what checks sent before and after."""
        ends = (at for at, one in enumerate(answers) if one.outcome is verdict.outcome)
        own = next(ends, 0)
        verdict.at = answers[own].at
        for answered in answers[:own]:
            self.on_the_way(made, answered.outcome)
            is_of_check = answered.request.is_of_check
            self._unjudged(made, answered, Purpose.PROBE if is_of_check else Purpose.RETRY)
        self.unjudged(made, answers[own + 1 :], Purpose.PROBE)

    def on_the_way(self, made: GeneratedCase, outcome: Outcome | None) -> None:
        """Write down what was sent before an answer came: redirects that were followed, failures."""
        for one in outcome.earlier if outcome is not None else ():
            earlier = Answered(*one)
            is_redirect = type(earlier.outcome) is Response and earlier.outcome.status_code < 400
            purpose = Purpose.REDIRECT if is_redirect else Purpose.RETRY
            self.uncounted.requests += 1
            self._unjudged(made, earlier, purpose)

    def _unjudged(self, made: GeneratedCase, answered: Answered, purpose: Purpose) -> None:
        request, outcome, at = answered
        verdict = Verdict(made.case, request, outcome, UNJUDGED, at, purpose)
        self.writer.offer(Draft(self.encoded, made, verdict), interesting=False)

    def login(self, name: str, label: Label, shown: Answered, keep: Keep) -> bytes:
        """A request that got credentials as bytes, as it is written."""
        request, outcome, at = shown
        exchanged = lighter(exchange_fields(request, outcome, self.secrets), self.most, keep)
        status = "SKIP" if isinstance(outcome, Response) else "ERROR"
        begin = (name, label, *_BY_HAND, status, at, 0.0, exchanged)
        end = (self._encoder.packed(()), self.incarnation, _PURPOSES[Purpose.LOGIN])
        return self._encoder.encode_flat(Interaction, (*begin, *end))

    def interaction(self, shot: JudgedCase) -> Interaction:
        """A shot as one line of a cassette."""
        verdict = shot.verdict
        exchanged = exchange(self._exchanged(verdict))
        begin = list(self._begin(shot.made, verdict, _status_of(verdict), exchanged))
        begin[_COMPONENTS_AT] = tuple(Component(*one) for one in begin[_COMPONENTS_AT])
        end = self._checks_of(verdict), self.incarnation, verdict.purpose
        return Interaction(*[*begin, *end])

    def encoded(self, made: GeneratedCase, verdict: Verdict, keep: Keep) -> bytes:
        """A case and its verdict as bytes, as they are written: without the bodies that `keep` takes.

        Raises `StorageError`.
        """
        try:
            return self._encoded(made, verdict, keep)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - the wall: whatever its answer is, it was sent
            phase = "" if made.case.meta is None else made.case.meta.phase.name
            self.faults.append((made.label, phase, error))
            return self._encoded(made, without_answer(verdict, error), keep)

    def _encoded(self, made: GeneratedCase, verdict: Verdict, keep: Keep) -> bytes:
        if verdict.judgement is CLEAN and isinstance(verdict.outcome, Response):
            status, checks = _SUCCESS, self.outcomes.passed(made.case)
        else:
            status = _status_of(verdict)
            checks = self._encoder.packed(self._checks_of(verdict))
        exchanged = lighter(self._exchanged(verdict), self.most, keep)
        begin = self._begin(made, verdict, status, exchanged)
        purpose = _PURPOSES[verdict.purpose]
        return self._encoder.encode_flat(Interaction, (*begin, checks, self.incarnation, purpose))

    def _exchanged(self, verdict: Verdict) -> tuple[Any, ...]:
        assert verdict.request is not None
        assert verdict.outcome is not None
        return exchange_fields(verdict.request, verdict.outcome, self.secrets)

    def _begin(
        self, made: GeneratedCase, verdict: Verdict, status: str, exchanged: object
    ) -> tuple[Any, ...]:
        """Fields of an `Interaction` from the case to the exchange."""
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
            self.components.fields(meta),
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


def without_answer(verdict: Verdict, error: Exception) -> Verdict:
    """A verdict on an answer that cannot be written down: the request was sent, whatever its answer is."""
    reason = f"the answer cannot be written down: {type(error).__name__}: {error}"
    return replace(verdict, outcome=NetworkFailure(FailureKind.OTHER, reason, 0.0))


def _status_of(verdict: Verdict) -> str:
    if not isinstance(verdict.outcome, Response):
        return "ERROR"
    if verdict.judgement is UNJUDGED:
        return "SKIP"
    if verdict.judgement.failures:
        return "FAILURE"
    return "ERROR" if verdict.judgement.errors else _SUCCESS
