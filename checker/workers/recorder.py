"""What one incarnation writes down: verdicts, findings, signals, values, progress."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from checker.checks.judge import CLEAN
from checker.core.errors import NothingToBreak, UnresolvableBody
from checker.core.failures import Failure
from checker.core.meta import ComponentProvenance, GenerationMode
from checker.core.operation import Label, Location
from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Response
from checker.core.schema_warnings import WarningKind
from checker.corpus.codec import RecordEncoder
from checker.corpus.exchange import exchange, exchange_fields
from checker.corpus.journal import JournalReader, JournalWriter
from checker.corpus.records import (
    UNBROKEN,
    Entry,
    Finding,
    Interaction,
    Note,
    OperationError,
    Record,
    SignalsSeen,
    TaskProgress,
    ValueGone,
    ValueSeen,
)
from checker.corpus.secrets import Secrets
from checker.corpus.signals import SignalSet
from checker.corpus.traffic import TrafficWriter
from checker.corpus.values import LiveValues
from checker.phases.attempt import Verdict
from checker.phases.making import Made
from checker.workers.defects import Defects
from checker.workers.drafts import Draft
from checker.workers.flight import Flight, Running
from checker.workers.messages import Again
from checker.workers.outcomes import CheckOutcomes
from checker.workers.suspicion import Shot, Suspicion, evidence
from checker.workers.titles import title_of

_SUCCESS = "SUCCESS"
_BY_HAND: tuple[str, tuple[()], str, tuple[()]] = ("", (), GenerationMode.POSITIVE.value, ())
# Reading the value of an enum member costs more than finding it here.
_COMPONENTS = {
    (place, mode): (place.value, mode.value) for place in Location for mode in GenerationMode
}
_Described = tuple[Mapping[Location, ComponentProvenance], list[tuple[str, str]]]
"""Components, kept alive, and what is written of them."""
_MOST_DESCRIBED = 1024
_MODES = {mode: mode.value for mode in GenerationMode}


@dataclass(slots=True)
class Recorder:
    """Owns the journal and the traffic of one incarnation."""

    incarnation: int
    journal: JournalWriter
    traffic: TrafficWriter
    signals: SignalSet
    values: LiveValues | None
    """None when nothing is reused (`run`)."""
    outcomes: CheckOutcomes
    secrets: Secrets
    reproduction: Callable[[WireRequest], str] = lambda request: ""
    """The command that sends a request."""
    defects: Defects = field(default_factory=Defects)
    _noted: set[tuple[str, str, str]] = field(default_factory=set)
    _peers: dict[str, JournalReader] = field(default_factory=dict)
    _peers_read_at: float = 0.0
    _unsettled: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Fingerprint -> (task, index) of the case that is under investigation for it, or waits to be."""
    _encoder: RecordEncoder = field(default_factory=RecordEncoder)
    _described: dict[int, _Described] = field(default_factory=dict)
    """By the `id` of the components, which cases that are alike share."""

    def verdict(self, flight: Flight, verdict: Verdict) -> Sequence[Suspicion]:
        """Write down one verdict; what failed in a way that is new comes back, already on disk."""
        made, outcome, judgement = flight.made, verdict.outcome, verdict.judgement
        draft = Draft(self.encoded, made, verdict, time.time())
        if judgement is CLEAN and isinstance(outcome, Response):
            self.traffic.offer(draft, interesting=self._learn(flight, verdict, outcome))
            return ()
        if isinstance(outcome, NetworkFailure):
            self._network_error(flight, verdict, outcome)
        elif outcome is not None:
            self._learn(flight, verdict, outcome)
        for text in judgement.disagreements:
            self.note(Note("disagreement", made.label, "", text))
        for text in judgement.unjudged:
            self.note(Note("unjudged", made.label, "", text))
        self.traffic.offer(draft, interesting=True)
        if not judgement.failures:
            return ()
        flight.has_failed = True
        if flight.again is not None:
            looked = self.second_look(flight, verdict, flight.again)
            return () if looked is None else (looked,)
        chain = (*flight.chain, Shot(made, verdict))
        found = [self.suspect(flight, chain, failure) for failure in judgement.failures]
        return [suspicion for suspicion in found if suspicion is not None]

    def suspect(
        self, flight: Flight, chain: tuple[Shot, ...], failure: Failure
    ) -> Suspicion | None:
        """A failure that is new, on disk before anyone hears of it; None when it is known."""
        step = chain[-1].made.step
        fingerprint = failure.fingerprint(step.label)
        if not self._is_news(fingerprint, flight, step.label, failure):
            return None
        finding = self._finding(flight, chain, failure)
        self.journal.commit(finding)
        return Suspicion(finding, failure, chain, flight.running.phase)

    def second_look(self, flight: Flight, verdict: Verdict, again: Again) -> Suspicion | None:
        """The failure of a settled finding, if it shows again."""
        chain = (Shot(flight.made, verdict),)
        for failure in verdict.judgement.failures:
            text = self.defects.text_of(again.fingerprint, failure)
            if text is not None:
                finding = replace(
                    self._finding(flight, chain, failure),
                    fingerprint=again.fingerprint,
                    task=again.task,
                    index=again.index,
                    text=text,
                    requests=again.requests,
                )
                phase = flight.running.phase
                return Suspicion(finding, failure, chain, phase, again.allowed)
        return None

    def _finding(self, flight: Flight, chain: tuple[Shot, ...], failure: Failure) -> Finding:
        """The first version."""
        step = chain[-1].made.step
        return Finding(
            fingerprint=failure.fingerprint(step.label),
            label=step.label,
            check=failure.check,
            title=failure.title,
            message=failure.message,
            severity=failure.severity.value,
            unique_key=failure.unique_key,
            phase=flight.running.task.phase,
            case=chain[-1].made.case.id,
            task=flight.running.task.id,
            index=flight.index,
            stage="found",
            steps=tuple(shot.made.step for shot in chain),
            interactions=tuple(self.interaction(evidence(shot)) for shot in chain),
            reproduction="",
            reproduced=None,
            shrink_executions=0,
            at=time.time(),
            text=failure.text,
        )

    def _is_news(self, fingerprint: str, flight: Flight, label: Label, failure: Failure) -> bool:
        """Whether nobody knows this defect, or an earlier case of the same task shows it."""
        place = (flight.running.task.id, flight.index)
        waiting = self._unsettled.get(fingerprint)
        if waiting is not None:
            if waiting[0] != place[0] or waiting[1] <= place[1]:
                return False
        elif fingerprint in self.defects.fingerprints or self.defects.same_as(
            label, failure, fingerprint
        ):
            return False
        else:
            self.defects.fingerprints.add(fingerprint)
        self._unsettled[fingerprint] = place
        return True

    def settled(self, finding: Finding) -> None:
        """The last version of a finding."""
        self._unsettled.pop(finding.fingerprint, None)
        self.journal.commit(finding)

    def interaction(self, shot: Shot, at: float | None = None) -> Interaction:
        """A shot as one line of a cassette, seen at `at` (seconds since the epoch) or now."""
        made, verdict = shot.made, shot.verdict
        failures = verdict.judgement.failures
        if isinstance(verdict.outcome, Response):
            checks = self.outcomes.told(made.case, failures)
        else:
            checks = ()
        begin = self._begin(made, verdict, _status_of(verdict), time.time() if at is None else at)
        origin, components, rest = begin[:5], tuple(begin[5]), begin[6:-1]
        return Interaction(
            *(*origin, components, *rest, exchange(begin[-1]), checks, self.incarnation)
        )

    def encoded(self, made: Made, verdict: Verdict, at: float) -> bytes:
        """The same as bytes, as it is written."""
        if verdict.judgement is CLEAN and isinstance(verdict.outcome, Response):
            begin = self._begin(made, verdict, _SUCCESS, at)
            packed = self.outcomes.passed(made.case)
            return self._encoder.encode_flat(Interaction, (*begin, packed, self.incarnation))
        return self._encoder.encode(self.interaction(Shot(made, verdict), at))

    def _begin(self, made: Made, verdict: Verdict, status: str, at: float) -> tuple[Any, ...]:
        """Fields of an `Interaction` from the case to the exchange, which comes as its fields, too."""
        meta = made.case.meta
        assert verdict.request is not None
        assert verdict.outcome is not None
        exchanged = exchange_fields(verdict.request, verdict.outcome, self.secrets)
        if meta is None:
            return (made.case.id, made.label, *_BY_HAND, status, at, 0.0, exchanged)
        phase, described = meta.phase, self._described.get(id(meta.components))
        if described is None or described[0] is not meta.components:
            described = self._describe(meta.components)
        return (
            made.case.id,
            made.label,
            phase.name,
            tuple(phase.data.items()),
            _MODES[meta.mode],
            described[1],
            status,
            at,
            meta.time,
            exchanged,
        )

    def _describe(self, components: Mapping[Location, ComponentProvenance]) -> _Described:
        if len(self._described) >= _MOST_DESCRIBED:
            self._described.clear()
        texts = [_COMPONENTS[place, part.mode] for place, part in components.items()]
        described = self._described[id(components)] = components, texts
        return described

    def recipe(self, made: Made) -> bytes:
        """A recipe as bytes, for the in-flight slots: an `Entry` of this one step."""
        steps = ((made.label, made.choices, made.bindings),)
        return self._encoder.encode_fields(Entry, (made.label, steps, (), 0.0))

    def operation_error(
        self, label: str, phase: str, title: str, message: str, trace: str = ""
    ) -> None:
        """An operation that cannot be tested further; each sentence once."""
        if self._is_new("error", label, title + message):
            self.journal.append(OperationError(label, phase, title, message, trace))

    def gave_up(self, label: str, phase: str, error: BaseException) -> None:
        """Why an operation, or one of its cases, is not tested further."""
        if isinstance(error, NothingToBreak):
            self.note(Note(UNBROKEN, label, "", error.reason))
            return
        if isinstance(error, UnresolvableBody):
            self.note(Note(WarningKind.MISSING_BODY.value, label, error.pointer, error.reason))
            return
        title, trace = title_of(error)
        self.operation_error(label, phase, title, str(error), trace)

    def keep(self, records: Iterable[Record]) -> None:
        """Write these down as they are; findings are on disk afterwards."""
        for record in records:
            self.journal.write(record)

    def note(self, note: Note) -> None:
        """Something that the summary counts; each once."""
        if self._is_new(note.kind, note.label, note.pointer + note.text):
            self.journal.append(note)

    def progress(self, running: Running, ledger: tuple[float, float, float, float, float]) -> None:
        """How far a task came, since it was leased."""
        self.journal.append(
            TaskProgress(
                task=running.task.id,
                phase=running.task.phase,
                labels=running.task.labels,
                next_index=running.next_index,
                finished=running.finished,
                cases=running.cases,
                requests=running.requests,
                failed_cases=running.failed_cases,
                statuses=tuple(
                    (label, status, count) for (label, status), count in running.statuses.items()
                ),
                ledger=ledger,
                note=running.note,
            )
        )

    def follow(self, journals: Sequence[str]) -> None:
        """Read values from these journals of peers from now on."""
        for path in journals:
            self._peers.setdefault(path, JournalReader(Path(path)))

    def tick(self, now: float) -> None:
        """Hand over what has waited long enough, and take in what peers saw."""
        self.journal.tick(now)
        if self.values is not None and now - self._peers_read_at > 1.0:
            self._peers_read_at = now
            for reader in self._peers.values():
                for record in reader.read_new():
                    if isinstance(record, ValueSeen | ValueGone):
                        self.values.absorb(record)

    def catch_up(self) -> None:
        """Write down what could wait."""
        self.traffic.catch_up()
        if self.traffic.faults:
            self._tell_of_unwritten()

    def flush(self) -> None:
        """Hand everything over."""
        self.traffic.flush()
        self._tell_of_unwritten()
        self.journal.flush()

    def close(self) -> None:
        """The end of this incarnation."""
        self.traffic.close()
        self._tell_of_unwritten()
        self.journal.close()

    def _tell_of_unwritten(self) -> None:
        for draft, error in self.traffic.faults:
            self.gave_up(draft.label, draft.phase, error)
        self.traffic.faults.clear()

    def _learn(self, flight: Flight, verdict: Verdict, outcome: Response) -> bool:
        """Signals and values of one answer; whether it showed anything new."""
        previous = flight.chain[-1].made.label if flight.chain else None
        case = flight.made.case
        ids = self.signals.observe(case, outcome, verdict.judgement, previous)
        if ids:
            step = flight.made.step
            self.journal.append(SignalsSeen(step.label, ids))
            steps = (*tuple(before.made.step for before in flight.chain), step)
            self.journal.append(
                Entry(step.label, steps, tuple(number for number, _ in ids), outcome.elapsed)
            )
        if self.values is not None:
            for record in self.values.observe(case, outcome):
                self.journal.append(record)
        return bool(ids)

    def _network_error(self, flight: Flight, verdict: Verdict, outcome: NetworkFailure) -> None:
        label = flight.made.label
        if outcome.kind is FailureKind.GIVEN_UP:
            self.note(Note("given_up", label, "", ""))
            return
        if outcome.cause is not None:
            # Our own fault, which is counted where the others of its task are.
            return
        # One request of each kind is enough to look into it.
        if not self._is_new("network", label, outcome.kind.value):
            return
        text = f"{outcome.kind.value}: {outcome.message}" if outcome.message else outcome.kind.value
        request = verdict.request
        command = "" if request is None else self.reproduction(request)
        phase = flight.running.task.phase
        self.journal.append(OperationError(label, phase, "Network Error", text, request=command))

    def _is_new(self, kind: str, label: str, text: str) -> bool:
        key = (kind, label, text)
        if key in self._noted or len(self._noted) > 10_000:
            return False
        self._noted.add(key)
        return True


def _status_of(verdict: Verdict) -> str:
    if not isinstance(verdict.outcome, Response):
        return "ERROR"
    return "FAILURE" if verdict.judgement.failures else _SUCCESS
