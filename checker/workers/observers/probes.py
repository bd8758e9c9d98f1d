"""The operations that got their probes in this run, for checks that probe each operation once (`Check.probes`)."""

from collections.abc import Sequence

from msgspec import Struct, field

from checker.core.operation import Label
from checker.core.phases import phase_names
from checker.core.response import Response
from checker.corpus.records import OperationProbed, Record
from checker.phases.attempt import Verdict
from checker.workers.recording.task_state import InFlight


class ProbedOperations(Struct):
    """The probes of all workers, as one worker knows them."""

    _begun: set[tuple[str, Label]] = field(default_factory=set)
    """(task, operation) of which this worker probed a case, or of which no check probes any."""
    _by_task: dict[tuple[str, Label], int] = field(default_factory=dict)
    """(task, operation) -> index of the case that a worker probed."""
    _judged: dict[Label, set[str]] = field(default_factory=dict)
    """Operation -> phases in which a probe of it was judged."""

    def absorb(self, record: Record) -> None:
        """Take in a record of any worker; those that are about something else are ignored."""
        if not isinstance(record, OperationProbed):
            return
        label = Label(record.label)
        self._by_task[record.task, label] = record.index
        if record.is_judged:
            self._judged.setdefault(label, set()).add(record.phase)

    def is_begun(self, task: str, label: Label) -> bool:
        """Whether a case of an operation was probed in a task, or no check probes any."""
        return (task, label) in self._begun or (task, label) in self._by_task

    def begin(self, task: str, label: Label) -> None:
        """Note that a task probes an operation, or that no check of the task does."""
        self._begun.add((task, label))

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[OperationProbed]:
        """Return a record if the request of a case was probed."""
        outcome, task = verdict.outcome, flight.task.lease
        sent = outcome.request if isinstance(outcome, Response) else None
        if sent is None or not sent.is_probed:
            return ()
        is_judged = not verdict.judgement.unjudged
        record = OperationProbed(flight.made.label, task.id, task.phase, flight.index, is_judged=is_judged)
        self.absorb(record)
        return (record,)

    def is_done(self, flight: InFlight) -> bool:
        """Whether a case must not be probed: its task probed another one of the operation, or an earlier phase did.

        Other tasks of the same phase do not count: they may run at the same time, and their speed must not decide which
        requests are sent. A probe without a verdict (404, 409) does not count in later phases. A case that is made again since
        its worker died is probed again: its failure may not have been looked into.
        """
        task, label = flight.task.lease, flight.made.label
        if (task.id, label) in self._begun:
            return True
        index = self._by_task.get((task.id, label))
        if index is not None:
            return index != flight.index
        judged, names = self._judged.get(label, ()), phase_names()
        if not judged or flight.task.is_endless:
            return bool(judged)
        return any(one in names[: names.index(task.phase)] for one in judged)
