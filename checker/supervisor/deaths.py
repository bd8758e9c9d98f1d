"""Deaths of workers: restarts, quarantine of the cases that cause them, and finished work that a dead worker did not report.

Pure: the random source is an argument.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from checker.core.digests import case_id
from checker.core.meta import Step, told
from checker.corpus.codec import Undecodable, decode, join
from checker.corpus.fold import RunView
from checker.corpus.inflight import Slot, Stage
from checker.corpus.records import (
    UNREACHED,
    WHOLE_TASK,
    Component,
    CorpusEntry,
    Note,
    OperationError,
    Quarantined,
    TaskProgress,
    requests_alone,
)
from checker.supervisor.handle import Departure
from checker.supervisor.plans import left
from checker.supervisor.state import WorkerSnapshot
from checker.workers.messages import EXTRA_INDEX, Opened, Task

GUILT_OF_A_CASE = 4  # Guilt at which a case is quarantined.
CERTAIN = 2
DOUBTFUL = 1
"""The weight of a death for the case that was running. It is `DOUBTFUL` for a SIGKILL, which an operator or the OOM killer may have sent."""
CASES_OF_A_TASK = 3
"""Quarantined cases in a row, without a finished case between them, after which their task is quarantined.

Deaths are not counted here: with several lanes a worker may die while it makes the next case, before the innocent cases in flight are finished.
"""
DEATHS_OF_A_RUN = 16  # Deaths in a row without a finished case, after which the run ends.
HANG = 2  # A hang counts as this many deaths, because each hang also costs the time of its deadline.
OPENING = 4
"""Deaths that one death counts for if the next worker will die too: while the first worker opens the description, or by a limit of the system.
"""
LONGEST_PAUSE_S = 2.0
"""A run whose workers all die ends after 16 deaths. With pauses of up to 30 s that would take two minutes."""


class RestartDecision(Struct, frozen=True):
    """The consequences of a death."""

    strikes: int  # Deaths while the code of this case ran; 0 without a case.
    quarantines_case: bool
    quarantines_task: bool
    ends_run: bool
    pause_s: float  # Seconds before the replacement is started.


class Restarts:
    """Counts deaths. Progress of a task resets the deaths of the task; progress of any task resets those of the run."""

    def __init__(self, workers: int, random: Callable[[], float]) -> None:
        # When the fork server dies, all workers die at once: one accident must not end the run.
        self._most = max(DEATHS_OF_A_RUN, 2 * workers + 1)
        self._random = random
        # A case has two counts. Strikes are reported, guilt decides: a crash or a hang is worth twice a SIGKILL. The
        # deaths of a task are no count of their own, because innocent cases share the worker (`CASES_OF_A_TASK`).
        self._strikes: Counter[tuple[str, int]] = Counter()
        self._guilt: Counter[tuple[str, int]] = Counter()
        self._lost_cases: Counter[str] = Counter()
        self._fruitless = 0
        self._pauses = 0

    def progress(self) -> None:
        """Reset the deaths of the run, because a task has made progress."""
        self._fruitless = self._pauses = 0

    def died(
        self, case: tuple[str, int | None] | None, *, progressed: bool, weight: int = 1, guilt: int = CERTAIN
    ) -> RestartDecision:
        """Count the death of a worker. `case` is (task, index) of the case whose code ran; `progressed`: the worker had finished a case.

        The index is None for a case that is never made again. `weight` is 0 for a death that cannot happen again.
        """
        if progressed:
            self.progress()
        # There are two counts. A quarantine ends the pauses, but does not reset the count of deaths. Otherwise a run of
        # deadly cases would never end.
        # A worker that exits to be replaced counts as well, or workers that exit at once would be restarted for ever.
        self._fruitless += weight
        self._pauses += min(1, weight)
        strikes = lost = 0
        is_guilty = False
        if case is not None:
            task, index = case
            if progressed:
                # A finished case shows that the task does not kill every worker.
                self._lost_cases[task] = 0
            if index is not None:
                # An operator or the OOM killer may have sent a SIGKILL. Four of them weigh as much as two other deaths.
                self._strikes[task, index] += 1
                self._guilt[task, index] += guilt
                strikes = self._strikes[task, index]
                is_guilty = self._guilt[task, index] >= GUILT_OF_A_CASE
            if is_guilty:
                self._lost_cases[task] += 1
                # The quarantine removes the cause, so a pause has no purpose.
                self._pauses = 0
            lost = self._lost_cases[task]
        return RestartDecision(
            strikes,
            quarantines_case=is_guilty,
            quarantines_task=lost >= CASES_OF_A_TASK,
            ends_run=self._fruitless >= self._most,
            # Drawn below the bound, so that workers killed together do not restart together.
            pause_s=self._random() * pause_bound_s(self._pauses),
        )


def pause_bound_s(deaths: int) -> float:
    """Return the upper bound of the pause before a restart, in seconds: 0 after the first death, then 0.1 s, doubled each time."""
    if deaths <= 1:
        return 0.0
    return min(LONGEST_PAUSE_S, float(0.1 * 2 ** (deaths - 2)))


def unreachable_errors(opened: Opened, phase: str) -> Iterator[OperationError]:
    """Yield an error for each operation of a target that was unreachable from the start."""
    for card in opened.operations:
        first = next(iter(card.phases), phase)
        yield OperationError(card.label, first, UNREACHED, opened.unreachable)


def is_extra(acting: Slot) -> bool:
    """Whether a case extends a sequence. The index of an extra case is unstable: after a restart it may belong to another case."""
    return acting.index >= EXTRA_INDEX


def given_up(departure: Departure) -> str:
    """Return the sentence for a run in which every worker died before it finished a case."""
    sentence = (
        "the run was given up: workers died one after another and none finished a case; "
        f"the last one: {departure.reason}"
    )
    if not departure.is_from_outside:
        return sentence
    return f"{sentence}. A system without free memory does this: use fewer workers, or give it more memory"


def is_quarantined(acting: Slot, ruling: RestartDecision, departure: Departure) -> bool:
    """Whether the case of a slot goes into quarantine."""
    # A case in the stage RECORD is finished, and the next case may have caused the death.
    is_done = acting.stage is Stage.RECORD
    # An extension of a sequence is never made again. The first death decides, unless the kill came from outside.
    is_last_chance = is_extra(acting) and not is_done
    return ruling.quarantines_case or (is_last_chance and not departure.is_from_outside)


def left_out(task: Task, acting: Slot, strikes: int, departure: Departure) -> Quarantined | Note:
    """Return the record of a case that is not made again; a note if kills came from outside."""
    case = quarantined_case(task, acting, strikes, departure.reason)
    # A kill from outside proves nothing against the case. It gets a warning, because an error would fail the run.
    if not departure.is_from_outside:
        return case
    text = (
        f"case {acting.index} was running when its worker was killed from outside (SIGKILL, {strikes} times), "
        "by an operator or by a system without free memory"
    )
    return Note("killed", case.label, "", text)


def quarantined_case(task: Task, acting: Slot, strikes: int, reason: str) -> Quarantined:
    """Return the record of the case of a slot, with its recipe."""
    steps, command, components = recipe_of(acting)
    # Without a recipe only the index is known: the indices of a task of `fuzz` cycle through its operations.
    label = steps[-1].label if steps else task.labels[acting.index % len(task.labels)]
    if not steps:
        reproduction = f"seed {task.seed}, case {acting.index}: it was not made yet"
    else:
        reproduction = f"seed {task.seed}, case {acting.index}, {told(steps[-1].recipe)}"
    return Quarantined(
        task=task.id,
        label=label,
        index=acting.index,
        case=case_id(task.seed, acting.index),
        stage=acting.stage.name.lower(),
        strikes=strikes,
        steps=steps,
        request=command or reproduction,
        reason=reason,
        components=components,
    )


def quarantined_task(task: Task, reason: str) -> Quarantined:
    """Return the record of a task in which every worker died before it finished a case."""
    return Quarantined(
        task=task.id,
        label=", ".join(task.labels),
        index=WHOLE_TASK,
        case="",
        stage="",
        strikes=0,
        steps=(),
        request=f"seed {task.seed}, from case {task.start} on",
        reason=f"workers died one after another and none finished a case; the last one: {reason}",
    )


def recipe_of(slot: Slot) -> tuple[tuple[Step, ...], str, tuple[Component, ...]]:
    """Return the recipe of the case in a slot, and its command; on a second attempt also the parts of the request.

    All are empty if the case was not made yet.
    """
    if slot.recipe is None:
        return (), "", ()
    try:
        (record,) = decode(join([slot.recipe], 1))
    # The worker may have died while writing the slot.
    except Undecodable:
        return (), "", ()
    match record:
        case CorpusEntry(steps=steps):
            return steps, "", ()
        case Quarantined(steps=steps, request=command, components=components):
            return steps, command, components
        case _:
            return (), "", ()


class Unreported:
    """The finished work of dead workers that their journals lack."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        """Leased task -> (cases, failed cases) on record at the lease."""

    def lease(self, task: Task, view: RunView) -> None:
        """Remember the recorded progress of a task at its lease."""
        known = view.tasks.get(task.id)
        if known is not None:
            self._known[task.id] = known.cases, known.failed_cases

    def come_back(self, task: Task) -> None:
        """Forget a returned task: its worker has reported everything."""
        # The next lease of the task begins with the records of that time.
        self._known.pop(task.id, None)

    def of_dead(
        self, incarnation: int, leases: Iterable[Task], snapshot: WorkerSnapshot, view: RunView
    ) -> Iterator[TaskProgress]:
        """Yield the missing records of a worker that died with these leases."""
        told = view.incarnations.get(incarnation)
        missing = snapshot.sent - (0 if told is None else told.requests)
        for task in leases:
            rest = snapshot.rest_of(task)
            tally = snapshot.tallies.get(task.id, (0, 0, 0))
            record = self._missing(rest, left(task) - left(rest), tally, view)
            if record is not None:
                missing -= record.requests
                yield record
        # Requests of the cases in flight, and requests without a case, count for the run but for no task.
        if missing > 0:
            yield requests_alone(missing)

    def _missing(self, rest: Task, done: int, tally: tuple[int, int, int], view: RunView) -> TaskProgress | None:
        """Return the missing record of a lease; None if nothing is missing.

        `rest` is the rest of the lease, `done` the number of its finished indices. The tally is that of `WorkerSnapshot.tallies`.
        """
        # The slots hold only counts and the first 2xx status. Without that status, the report would call the operation
        # untested.
        failed, succeeded, unmade = tally
        cases = done - unmade
        known = view.tasks.get(rest.id)
        if known is not None:
            # The difference to the records at the lease is what the worker reported before it died.
            before, failed_before = self._known.get(rest.id, (0, 0))
            cases -= known.cases - before
            failed -= known.failed_cases - failed_before
        if cases <= 0 or rest.again:
            return None
        label = rest.labels[0]
        is_told = any(200 <= status < 300 for status in view.of(label).statuses)
        statuses = ((label, succeeded, 1),) if succeeded and len(rest.labels) == 1 else ()
        return TaskProgress(
            task=rest.id,
            phase=rest.phase,
            labels=rest.labels,
            next_index=rest.start,
            finished=False,
            cases=cases,
            # One request for each case. Requests of checks, retries and confirmations are not known by task; the caller
            # counts them for the run alone.
            requests=cases,
            failed_cases=max(0, failed),
            statuses=() if is_told else statuses,
            ledger=(0.0, 0.0, 0.0, 0.0, 0.0),
        )
