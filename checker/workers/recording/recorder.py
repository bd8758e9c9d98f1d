"""What one incarnation writes down: verdicts, findings, signals, values, progress."""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import get_args

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.judge import CLEAN
from checker.core.curl import Rendering
from checker.core.errors import NothingToBreak, UnresolvableBody
from checker.core.failures import Failure
from checker.core.operation import Label
from checker.core.resources import CREATING, REMOVING
from checker.core.response import FailureKind, NetworkFailure, Response
from checker.core.schema_warnings import WarningKind
from checker.core.send import Purpose
from checker.core.sequence import Drawn, Recipe
from checker.corpus.codec import RecordEncoder
from checker.corpus.journal import JournalReader, JournalWriter
from checker.corpus.layered_values import LayeredValues
from checker.corpus.learned import DemandHeard, SignalsSeen, ValueGone, ValueSeen
from checker.corpus.records import (
    UNBROKEN,
    CorpusEntry,
    Finding,
    Note,
    OperationError,
    Record,
    TaskProgress,
)
from checker.corpus.secrets import Secrets
from checker.corpus.signals import OUTPUTS, SignalSet
from checker.corpus.values import LiveValues
from checker.phases.attempt import Verdict
from checker.phases.making import GeneratedCase
from checker.workers.messages import ShrinkAgain, Task
from checker.workers.recording.counts import rows
from checker.workers.recording.creation_history import CreationHistory
from checker.workers.recording.defects import Defects
from checker.workers.recording.demands import DemandLearner
from checker.workers.recording.drafts import Draft
from checker.workers.recording.investigation_budget import second_budget
from checker.workers.recording.leased import InFlight, LeasedTask
from checker.workers.recording.probed import ProbedOperations
from checker.workers.recording.titles import network_error, network_error_of, title_of
from checker.workers.recording.traffic import Traffic, without_answer
from checker.workers.recording.unconfirmed import JudgedCase, UnconfirmedFailure, evidence

_TEST = Purpose.TEST
_MAKING = CREATING | {REMOVING}
_DRAWN = get_args(Recipe).index(Drawn)
"""What names a drawn recipe in files."""


class Recorder(Struct):
    """Owns the journal and the traffic of one incarnation."""

    journal: JournalWriter
    traffic: Traffic
    signals: SignalSet
    values: LiveValues | None
    """None when nothing is reused (`run`)."""
    secrets: Secrets
    layered: LayeredValues | None = None
    """What `run` reuses; None in `fuzz`."""
    demands: DemandLearner | None = None
    """None where nothing is learned of refusals."""
    reproduction: Rendering = lambda request, is_timed=False: ""
    """The command that sends a request."""
    creations: CreationHistory | None = None
    """What the cases made; None where nobody wants to know."""
    defects: Defects = field(default_factory=Defects)
    is_turned_away: bool = False
    """Whether the target no longer serves any request."""
    probed: ProbedOperations = field(default_factory=ProbedOperations)
    _noted: set[tuple[str, str, str]] = field(default_factory=set)
    peers: dict[str, JournalReader] = field(default_factory=dict)
    """Journals of all workers there were, by their paths."""
    _peers_read_at: float = 0.0
    _unsettled: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Fingerprint -> (task, index) of the case that is under investigation for it, or waits to be."""
    _unwritten: list[Finding] = field(default_factory=list)
    """First versions of findings that are not on disk yet."""
    _encoder: RecordEncoder = field(default_factory=RecordEncoder)

    def verdict(self, flight: InFlight, verdict: Verdict) -> Sequence[UnconfirmedFailure]:
        """Write down one verdict; return its new failures, which `write_failures` puts on disk."""
        made, outcome, judgement = flight.made, verdict.outcome, verdict.judgement
        verdict.at = verdict.at or time.time()
        described, is_notable = verdict, True
        try:
            if isinstance(outcome, Response):
                is_notable = self._learn(flight, verdict, outcome) or verdict.purpose is not _TEST
                if judgement is not CLEAN:
                    is_notable = is_notable or self.defects.has_news(made.label, judgement.failures)
            elif outcome is not None:
                is_notable = self._network_error(flight, verdict, outcome)
        except Exception as error:
            described = without_answer(verdict, error)
            raise
        finally:  # Whatever goes wrong: it was sent.
            if outcome is not None and outcome.earlier:
                self.traffic.on_the_way(made, outcome)
            draft = Draft(self.traffic.encoded, made, described)
            self.traffic.writer.offer(draft, interesting=is_notable)
        return () if judgement is CLEAN else self._doubts(flight, verdict)

    def _doubts(self, flight: InFlight, verdict: Verdict) -> Sequence[UnconfirmedFailure]:
        """What failed in a way that is new; doubts are noted."""
        made, judgement = flight.made, verdict.judgement
        for text in judgement.disagreements:
            self.note(Note("disagreement", made.label, "", text))
        for text in judgement.unjudged:
            self.note(Note("unjudged", made.label, "", text))
        if not judgement.failures:
            return ()
        flight.has_failed, flight.is_wrong_itself = True, judgement.is_of_answer
        if flight.again is not None:
            looked = self.second_look(flight, verdict, flight.again)
            return () if looked is None else (looked,)
        chain = (*flight.chain, JudgedCase(made, verdict))
        found = [self.suspect(flight, chain, failure) for failure in judgement.failures]
        return [suspicion for suspicion in found if suspicion is not None]

    def suspect(
        self, flight: InFlight, chain: tuple[JudgedCase, ...], failure: Failure
    ) -> UnconfirmedFailure | None:
        """Return a failure that is new, None if it is known. It is on disk after `write_failures`."""
        step = chain[-1].made.step
        fingerprint, label = failure.fingerprint(step.label), failure.blamed(step.label)
        if not self._is_news(fingerprint, flight, label, failure):
            return None
        finding = self._finding(flight, chain, failure)
        self._unwritten.append(finding)
        return UnconfirmedFailure(finding, failure, chain, flight.running.phase)

    def write_failures(self) -> None:
        """Write new failures to the disk, in one go: call it before anything else is sent or told. Raises `StorageError`."""
        if self._unwritten:
            # What a finding holds stands in the traffic, too: reports of all that was sent read nothing else.
            self.traffic.writer.flush()
            self.journal.commit(*self._unwritten)
            self._unwritten.clear()

    def second_look(
        self, flight: InFlight, verdict: Verdict, again: ShrinkAgain
    ) -> UnconfirmedFailure | None:
        """The failure of a settled finding, if it shows again."""
        chain = (JudgedCase(flight.made, verdict),)
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
                return UnconfirmedFailure(finding, failure, chain, phase, second_budget(again))
        return None

    def _finding(
        self, flight: InFlight, chain: tuple[JudgedCase, ...], failure: Failure
    ) -> Finding:
        """The first version."""
        step = chain[-1].made.step
        return Finding(
            fingerprint=failure.fingerprint(step.label),
            label=failure.blamed(step.label),
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
            interactions=tuple(self.traffic.interaction(evidence(shot)) for shot in chain),
            reproduction="",
            reproduced=None,
            shrink_executions=0,
            at=time.time(),
            text=failure.text,
            code=failure.code,
            withdrawn=failure.needs_repetition,
            cause=failure.cause(step.label),
        )

    def _is_news(self, fingerprint: str, flight: InFlight, label: Label, failure: Failure) -> bool:
        """Whether nobody knows this defect, or an earlier case of the same task shows it."""
        place = (flight.running.task.id, flight.index)
        waiting = self._unsettled.get(fingerprint)
        if waiting is not None:
            if waiting[0] != place[0] or waiting[1] <= place[1]:
                return False
        elif self.defects.is_known(fingerprint, label, failure):
            return False
        else:
            self.defects.fingerprints.add(fingerprint)
        self._unsettled[fingerprint] = place
        return True

    def is_open(self, suspicion: UnconfirmedFailure) -> bool:
        """Whether no earlier case has taken a failure over: looking into that one may have shown it, too."""
        finding = suspicion.finding
        place = self._unsettled.get(finding.fingerprint)
        return suspicion.second is not None or place == (finding.task, finding.index)

    def settled(self, findings: Sequence[Finding]) -> None:
        """The last versions of findings: after a death all of them are there or none."""
        for finding in findings:
            self._unsettled.pop(finding.fingerprint, None)
            error = network_error_of(finding)
            if error and self._is_new("network", error.label, error.message):
                self.journal.append(error)
        if findings:
            self.traffic.writer.flush()
            # The first versions are on the disk, and waiting for it takes longer than to look into most failures.
            self.journal.hand_over(*findings)

    def recipe(self, made: GeneratedCase, chain: Iterable[JudgedCase] = ()) -> bytes:
        """A recipe as bytes, for the in-flight slots: a `CorpusEntry` of this step after those of its sequence."""
        recipe = made.other or (_DRAWN, (made.choices, made.learned))
        step = (made.label, recipe, made.bindings, made.texts)
        steps = (*(shot.made.step for shot in chain), step)
        return self._encoder.encode_fields(CorpusEntry, (made.label, steps, (), 0.0))

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

    def progress(
        self, running: LeasedTask, ledger: tuple[float, float, float, float, float]
    ) -> None:
        """How far a task came, since it was leased."""
        requests, inquiries = self.traffic.uncounted.take()
        self.journal.append(
            TaskProgress(
                task=running.task.id,
                phase=running.task.phase,
                labels=running.task.labels,
                next_index=running.next_index,
                finished=running.finished,
                cases=running.cases,
                requests=running.requests + requests,
                failed_cases=running.failed_cases,
                statuses=rows(running.statuses),
                ledger=ledger,
                note=running.note,
                inquiries=running.inquiries + inquiries,
                wrong=rows(running.wrong),
                tried=running.coverage,
                at=time.time(),
                probes=rows(running.probes),
                turned_away=rows(running.statuses) if self.is_turned_away else (),
            )
        )

    def follow(self, journals: Sequence[str]) -> None:
        """Read values from these journals of peers from now on."""
        for path in journals:
            self.peers.setdefault(path, JournalReader(Path(path)))

    def begin(self, task: Task) -> None:
        """A task begins: it may use what all workers saw in earlier layers."""
        if self.layered is not None:
            place = self.layered.place_of(task.phase, task.labels[0])
            self.layered.begin(place, self._news, is_resumed=bool(task.start or task.redo))
        if self.demands is not None:
            self.demands.begin(task.phase)

    def _news(self) -> Iterator[Record]:
        for reader in self.peers.values():
            for record in reader.read_new():
                if self.demands is not None and isinstance(record, DemandHeard):
                    self.demands.absorb(record)
                self.probed.absorb(record)
                yield record
            # Each worker that was replaced left one: open files would add up.
            reader.close()

    def tick(self, now: float) -> None:
        """Hand over what has waited long enough, and take in what peers saw."""
        # At each turn of the house: how late traffic may be is how late reports are that follow it.
        self.traffic.writer.flush()
        self.journal.tick(now)
        if self.values is not None and now - self._peers_read_at > 1.0:
            self._peers_read_at = now
            for record in self._news():
                if isinstance(record, ValueSeen | ValueGone):
                    self.values.absorb(record)

    def catch_up(self) -> None:
        """Write down what could wait."""
        self.traffic.writer.catch_up()
        self._tell_of_unwritten()

    def flush(self) -> None:
        """Hand everything over."""
        self.traffic.writer.flush()
        self._tell_of_unwritten()
        self.journal.flush()

    def close(self) -> None:
        """The end of this incarnation."""
        self.traffic.writer.close()
        self._tell_of_unwritten()
        self.journal.close()

    def _tell_of_unwritten(self) -> None:
        for label, phase, error in self.traffic.faults:
            self.gave_up(label, phase, error)
        self.traffic.faults.clear()

    def _learn(self, flight: InFlight, verdict: Verdict, outcome: Response) -> bool:
        """Signals and values of one answer; whether it showed anything new."""
        previous, case = flight.chain[-1].made.label if flight.chain else None, flight.made.case
        if ids := self.signals.observe(case, outcome, verdict.judgement, previous):
            step, rounds = flight.made.step, flight.running.rounds
            if rounds is not None and any(name in OUTPUTS for _, name in ids):
                rounds.showed(step.label)
            self.journal.append(SignalsSeen(step.label, ids))
            numbers = tuple(number for number, _ in ids)
            self.journal.append(CorpusEntry(step.label, flight.steps, numbers, outcome.elapsed))
        self._keep_for_later_layers(flight, verdict, outcome)
        if self.values is not None:
            self.keep(self.values.observe(case, outcome))
        self.keep_creations(flight, verdict)
        return bool(ids)

    def _keep_for_later_layers(self, flight: InFlight, verdict: Verdict, outcome: Response) -> None:
        """Hand over what decides later requests of `run` while the case still counts as in work: no death may change them."""
        found: list[Record] = list(self.probed.news(flight, verdict))
        phase, index = flight.running.task.phase, flight.index
        if self.demands is not None:
            found += self.demands.observe(flight.made, outcome, phase, index)
        if self.layered is not None and flight.is_counted and not flight.running.is_chained:
            found += self.layered.observe(flight.made.case, outcome, phase, index)
        self.keep(found)
        if found and self.layered is not None:
            self.journal.flush()

    def keep_creations(self, flight: InFlight, verdict: Verdict) -> None:
        """Write down what a request made that others may hit by chance, whatever it was sent for."""
        request, outcome = verdict.request, verdict.outcome
        if self.creations is None or request is None or request.method not in _MAKING:
            return
        if isinstance(outcome, Response) and outcome.status_code // 100 in (2, 5):
            place = flight.running.task.phase, flight.index
            self.keep(self.creations.observe(verdict.case, request, outcome, place))

    def _network_error(self, flight: InFlight, verdict: Verdict, outcome: NetworkFailure) -> bool:
        """Return True if it is reported for the first time."""
        label = flight.made.label
        failures = verdict.judgement.failures
        if failures or outcome.cause is not None:
            # Failures become findings. Our own fault is counted with the others of its task.
            return not failures or self.defects.has_news(label, failures)
        if not self._is_new("network", label, outcome.kind.value):
            return False
        # Who pastes it waits no longer than we did, or is answered where we were not.
        is_timed, sent = outcome.kind is FailureKind.TIMEOUT, verdict.request
        command = "" if sent is None else self.reproduction(sent, is_timed=is_timed)
        phase, components = flight.running.task.phase, self.traffic.components.of(verdict.case)
        self.journal.append(network_error(label, phase, outcome, command, components))
        return True

    def _is_new(self, kind: str, label: str, text: str) -> bool:
        key = (kind, label, text)
        if key in self._noted or len(self._noted) > 10_000:
            return False
        self._noted.add(key)
        return True
