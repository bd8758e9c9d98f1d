"""The records of one incarnation: verdicts, findings, signals, values, progress."""

import time
import traceback
from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.judge import Judgement
from checker.core import errors
from checker.core.curl import Rendering
from checker.core.failures import Failure
from checker.core.meta import Drawn
from checker.core.schema import WarningKind
from checker.core.system import limit_reached
from checker.core.user_code import users_traceback
from checker.corpus.codec import encode_fields
from checker.corpus.journal import JournalWriter
from checker.corpus.records import (
    AUTHENTICATION,
    UNBROKEN,
    UNREACHED,
    CorpusEntry,
    Finding,
    Investigation,
    Note,
    OperationError,
    Record,
    TaskProgress,
)
from checker.corpus.secrets import Secrets
from checker.phases.attempt import Verdict
from checker.phases.case_factory import FilteredOut, GeneratedCase
from checker.workers.messages import ShrinkAgain
from checker.workers.recording.defects import Defects
from checker.workers.recording.task_state import InFlight, LeasedTask
from checker.workers.recording.traffic import Traffic, rows
from checker.workers.recording.unconfirmed import JudgedCase, UnconfirmedFailure, as_checked, evidence


def title_of(error: BaseException) -> tuple[str, str]:
    """Return the title of an error and its traceback. The traceback is complete for the checker's code, and has only the user's lines for user code."""
    match error:
        case errors.Unsatisfiable():
            return "Schema Error", ""
        case errors.BudgetSpent():
            return "Generation budget spent", ""
        case errors.Unresponsive():
            return "Given up", ""
        case errors.SerializationError():
            return "Serialization not possible", ""
        case errors.CredentialError():
            return AUTHENTICATION, ""
        case errors.CheckError():
            return "Check Error", _of_user(error)
        case errors.HookError():
            return "Hook Error", _of_user(error)
        case _ if limit_reached(error):
            return "System limit", ""
        case _:
            return "Runtime Error", "".join(traceback.format_exception(error))


def network_error_of(finding: Finding) -> OperationError | None:
    """Return the error to report for a withdrawn finding whose request got no complete response; None for other findings."""
    last = finding.interactions[-1] if finding.interactions else None
    if not finding.investigation.withdrawn or last is None or last.exchange.failure is None:
        return None
    return OperationError(
        finding.label,
        finding.phase,
        UNREACHED,
        last.exchange.failure,
        request=finding.investigation.reproduction,
        components=last.components,
    )


def _of_user(error: errors.HookError) -> str:
    return "" if error.__cause__ is None else users_traceback(error.__cause__)


_DRAWN = Drawn.__struct_config__.tag  # The tag of drawn recipes in files.


class Recorder(Struct):
    """Owns the journal and the traffic of one incarnation."""

    journal: JournalWriter
    traffic: Traffic
    secrets: Secrets
    reproduction: Rendering = lambda request, is_timed=False: ""  # The command that sends a request.
    defects: Defects = field(default_factory=Defects)
    is_turned_away: bool = False  # Whether the target serves no request any more.
    _noted: set[tuple[str, str, str]] = field(default_factory=set)
    _unsettled: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Fingerprint -> (task, index) of the case that is or will be investigated."""
    _unwritten: list[Finding] = field(default_factory=list)  # First versions of findings that are not on disk yet.

    def failures(self, flight: InFlight, verdict: Verdict) -> Sequence[UnconfirmedFailure]:
        """Return the new failures of a verdict; `write_failures` writes them to disk. Doubts of checks are noted."""
        made, judgement = flight.made, verdict.judgement
        for text in judgement.disagreements:
            self.note(Note("disagreement", made.label, "", text))
        for text in judgement.unjudged:
            self.note(Note("unjudged", made.label, "", text))
        if not (judgement.failures or judgement.repeated):
            return ()
        if flight.again is not None:
            looked = self.second_look(flight, verdict, flight.again)
            return () if looked is None else (looked,)
        chain = (*flight.chain, JudgedCase(made, verdict))
        found = [self.suspect(flight, chain, failure) for failure in judgement.failures]
        if judgement.repeated is not None:
            outcome, failures = judgement.repeated
            again = JudgedCase(made, replace(verdict, outcome=outcome, judgement=Judgement(failures, (), ())))
            found += [self.suspect(flight, (*chain, again), failure) for failure in failures]
        return [suspicion for suspicion in found if suspicion is not None]

    def suspect(self, flight: InFlight, chain: tuple[JudgedCase, ...], failure: Failure) -> UnconfirmedFailure | None:
        """Return a failure if it is new, otherwise None. `write_failures` writes it to disk."""
        step = chain[-1].made.step
        fingerprint, label = failure.fingerprint(step.label), failure.blamed(step.label)
        place = (flight.task.lease.id, flight.index)
        waiting = self._unsettled.get(fingerprint)
        if waiting is not None:
            # An earlier case of the task with a later response replaces it: the order of responses must not decide.
            if waiting[0] != place[0] or waiting[1] <= place[1]:
                return None
        elif self.defects.is_known(fingerprint, label, failure):
            return None
        else:
            self.defects.fingerprints.add(fingerprint)
        self._unsettled[fingerprint] = place
        finding = self._finding(flight, chain, failure)
        self._unwritten.append(finding)
        return UnconfirmedFailure(finding, failure, chain, flight.task.phase)

    def write_failures(self) -> None:
        """Write new failures so that they survive the worker. Call this before the next request. Raises `StorageError`."""
        if self._unwritten:
            # Reports of all requests read only the traffic, so a finding's requests must be on disk before the finding.
            self.traffic.writer.flush()
            self.journal.hand_over(*self._unwritten)
            self._unwritten.clear()

    def second_look(self, flight: InFlight, verdict: Verdict, again: ShrinkAgain) -> UnconfirmedFailure | None:
        """Return the failure of a settled finding, if it shows again."""
        chain = (JudgedCase(flight.made, verdict),)
        for failure in verdict.judgement.failures:
            text = self.defects.text_of(again.fingerprint, failure)
            if text is not None:
                finding = replace(
                    self._finding(flight, chain, failure, again.requests),
                    fingerprint=again.fingerprint,
                    task=again.task,
                    index=again.index,
                    text=text,
                )
                phase = flight.task.phase
                return UnconfirmedFailure(finding, failure, chain, phase, again.allowed)
        return None

    def _finding(self, flight: InFlight, chain: tuple[JudgedCase, ...], failure: Failure, requests: int = 0) -> Finding:
        step = chain[-1].made.step
        return Finding.of(
            failure,
            step.label,
            phase=flight.task.lease.phase,
            case=chain[-1].made.case.id,
            task=flight.task.lease.id,
            index=flight.index,
            steps=tuple(shot.made.step for shot in chain),
            interactions=tuple(
                self.traffic.interaction(evidence(shot)) for shot in (*chain[:-1], as_checked(chain[-1], failure))
            ),
            at=time.time(),
            investigation=Investigation(withdrawn=failure.needs_repetition, requests=requests),
        )

    def is_open(self, suspicion: UnconfirmedFailure) -> bool:
        """Whether no earlier case has taken over a failure. The investigation of that case may have shown the failure."""
        finding = suspicion.finding
        place = self._unsettled.get(finding.fingerprint)
        return suspicion.second is not None or place == (finding.task, finding.index)

    def settled(self, findings: Sequence[Finding]) -> None:
        """Write the final versions of findings. After a death, either all of them are on disk or none."""
        for finding in findings:
            self._unsettled.pop(finding.fingerprint, None)
            # A withdrawn finding is not reported, but the missing response of its request must be.
            error = network_error_of(finding)
            if error and self.is_new("network", error.label, error.message):
                self.journal.append(error)
        if findings:
            self.traffic.writer.flush()
            self.journal.hand_over(*findings)

    def recipe(self, made: GeneratedCase, chain: Iterable[JudgedCase] = ()) -> bytes:
        """Return a recipe as bytes, for the in-flight slots: a `CorpusEntry` of this step after those of its sequence."""
        steps = [
            (one.label, one.other or (_DRAWN, one.choices, one.learned), one.bindings, one.names)
            for one in (*[shot.made for shot in chain], made)
        ]
        return encode_fields(CorpusEntry, made.label, steps, (), 0.0)

    def operation_error(self, label: str, phase: str, title: str, message: str, trace: str = "") -> None:
        """Record an operation that cannot be tested further; each sentence once."""
        if self.is_new("error", label, title + message):
            self.journal.append(OperationError(label, phase, title, message, trace))

    def gave_up(self, label: str, phase: str, error: BaseException) -> None:
        """Record why an operation, or one of its cases, is not tested further. A case that is left out is no error."""
        if isinstance(error, FilteredOut):
            return
        if isinstance(error, errors.NothingToBreak):
            self.note(Note(UNBROKEN, label, "", error.reason))
            return
        if isinstance(error, errors.UnresolvableBody):
            self.note(Note(WarningKind.MISSING_BODY.value, label, error.pointer, error.reason))
            return
        title, trace = title_of(error)
        self.operation_error(label, phase, title, str(error), trace)

    def keep(self, records: Iterable[Record]) -> None:
        """Write records unchanged. Findings are on disk afterwards."""
        for record in records:
            self.journal.write(record)

    def note(self, note: Note) -> None:
        if self.is_new(note.kind, note.label, note.pointer + note.text):
            self.journal.append(note)

    def progress(self, running: LeasedTask, ledger: tuple[float, float, float, float, float]) -> None:
        """Record the progress of a task since it was leased."""
        requests, inquiries = self.traffic.uncounted.take()
        self.journal.append(
            TaskProgress(
                task=running.lease.id,
                phase=running.lease.phase,
                labels=running.lease.labels,
                next_index=running.next_index,
                finished=running.finished,
                cases=running.cases,
                requests=running.requests + requests,
                failed_cases=running.failed_cases,
                statuses=rows(running.statuses),
                ledger=ledger,
                inquiries=running.inquiries + inquiries,
                wrong=rows(running.wrong),
                tried=running.coverage,
                at=time.time(),
                probes=rows(running.probes),
                turned_away=rows(running.statuses) if self.is_turned_away else (),
            )
        )

    def tick(self, now: float) -> None:
        """Write records that have waited long enough."""
        # Traffic is written at each tick, because live reports read it.
        self.traffic.writer.flush()
        self.journal.tick(now)

    def catch_up(self) -> None:
        """Encode the interactions that were kept for later."""
        self.traffic.writer.catch_up()
        if self.traffic.faults:
            self._tell_of_unwritten()

    def flush(self) -> None:
        """Write all buffered records to the system."""
        self.traffic.writer.flush()
        self._tell_of_unwritten()
        self.journal.flush()

    def release(self) -> None:
        """Close the files. Data that is not flushed is lost. Workers in threads need this, because their process does not end."""
        self.traffic.writer.release()
        self.journal.release()

    def close(self) -> None:
        self.traffic.writer.close()
        self._tell_of_unwritten()
        self.journal.close()

    def _tell_of_unwritten(self) -> None:
        for label, phase, error in self.traffic.faults:
            self.gave_up(label, phase, error)
        self.traffic.faults.clear()

    def is_new(self, kind: str, label: str, text: str) -> bool:
        """Return True if this key has not been reported before."""
        key = (kind, label, text)
        # This limits memory, because a server's texts may be different each time.
        if key in self._noted or len(self._noted) > 10_000:
            return False
        self._noted.add(key)
        return True
