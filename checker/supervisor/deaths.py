"""Deaths of workers: restarts, the blame of cases, quarantine, and finished work that a dead worker did not report. Pure: the random source is an argument."""

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

GUILT_OF_A_CASE = 4
"""Enough for quarantine."""
CERTAIN = 2
DOUBTFUL = 1
"""Guilt of a case at the death of its worker, and at a death that an operator or a lack of memory may have caused."""
CASES_OF_A_TASK = 3
"""Quarantined one after another without a finished case in between. Not deaths: with several lanes a worker dies while it
makes the next case, before those in flight, innocent all, could be finished."""
DEATHS_OF_A_RUN = 16
HANG = 2
OPENING = 4
"""Deaths that a hang counts for, because it costs so much time, and a death before any worker of the run could open the
description or by a limit of the system, because the next worker meets the same."""
LONGEST_PAUSE_S = 2.0
"""16 pauses of up to 30 s kept a run that was given up for two minutes, and no worker finished a case after a long one."""


class RestartDecision(Struct, frozen=True):
    """The consequences of a death."""

    strikes: int
    """Deaths in which the case acted; 0 when none did."""
    quarantines_case: bool
    quarantines_task: bool
    ends_run: bool
    pause_s: float
    """Before a worker takes the dead one's place."""


class Restarts:
    """The count of deaths. Progress of a task forgives its deaths, progress of any task those of the run."""

    def __init__(self, workers: int, random: Callable[[], float]) -> None:
        # The fork server takes all its workers along when it dies: that is one accident, not `workers` of them.
        self._most = max(DEATHS_OF_A_RUN, 2 * workers + 1)
        self._random = random
        self._strikes: Counter[tuple[str, int]] = Counter()
        self._guilt: Counter[tuple[str, int]] = Counter()
        self._lost_cases: Counter[str] = Counter()
        self._fruitless = 0
        self._pauses = 0

    def progress(self) -> None:
        """Record progress."""
        self._fruitless = self._pauses = 0

    def died(
        self, case: tuple[str, int | None] | None, *, progressed: bool, weight: int = 1, guilt: int = CERTAIN
    ) -> RestartDecision:
        """A worker is gone; (task, index) of the case that acted, if one did. `progressed`: it had finished a case.

        The index is None for a case that is never made again, so that it can be struck once at most.
        Also for one that left by itself to be replaced: no case is to blame, but leaving at once is no way to live.
        """
        if progressed:
            self.progress()
        self._fruitless += weight
        self._pauses += 1
        strikes = lost = 0
        is_guilty = False
        if case is not None:
            task, index = case
            if progressed:
                self._lost_cases[task] = 0
            if index is not None:
                self._strikes[task, index] += 1
                self._guilt[task, index] += guilt
                strikes = self._strikes[task, index]
                is_guilty = self._guilt[task, index] >= GUILT_OF_A_CASE
            if is_guilty:
                self._lost_cases[task] += 1
                # Its cause is gone: no need to wait.
                self._pauses = 0
            lost = self._lost_cases[task]
        return RestartDecision(
            strikes,
            quarantines_case=is_guilty,
            quarantines_task=lost >= CASES_OF_A_TASK,
            ends_run=self._fruitless >= self._most,
            pause_s=self._random() * pause_bound_s(self._pauses),
        )


def pause_bound_s(deaths: int) -> float:
    """Upper bound of the pause after so many deaths without progress, in seconds; the first one costs nothing.

    Doubles from 0.1 s. The caller draws uniformly below it, so that workers killed together do not return together.
    """
    if deaths <= 1:
        return 0.0
    return min(LONGEST_PAUSE_S, float(0.1 * 2 ** (deaths - 2)))


def unreachable_errors(opened: Opened, phase: str) -> Iterator[OperationError]:
    """Yield an error for each operation of a target that was unreachable from the start."""
    for card in opened.operations:
        first = next(iter(card.phases), phase)
        yield OperationError(card.label, first, UNREACHED, opened.unreachable)


def is_extra(acting: Slot) -> bool:
    """Whether a case has no place in its task's numbering: another life of the task gives its index to another case."""
    return acting.index >= EXTRA_INDEX


def given_up(departure: Departure) -> str:
    """The sentence for a run in which worker after worker died and none finished a case."""
    sentence = (
        "the run was given up: workers died one after another and none finished a case; "
        f"the last one: {departure.reason}"
    )
    if not departure.is_from_outside:
        return sentence
    return f"{sentence}, as a system does that has no memory left: use fewer workers, or give it more"


def is_quarantined(acting: Slot, ruling: RestartDecision, departure: Departure) -> bool:
    """Whether the case of a slot is to blame for good.

    One that extended a sequence is never made again, so its first death must do, unless it was killed from outside. One that
    is on record already has done what it does: what goes on from it was being made.
    """
    is_done = acting.stage is Stage.RECORD
    is_last_chance = is_extra(acting) and not is_done
    return ruling.quarantines_case or (is_last_chance and not departure.is_from_outside)


def left_out(task: Task, acting: Slot, strikes: int, departure: Departure) -> Quarantined | Note:
    """Return the record about a case that is not made again: after kills from outside only a warning."""
    case = quarantined_case(task, acting, strikes, departure.reason)
    if not departure.is_from_outside:
        return case
    text = (
        f"case {acting.index} was at work at {strikes} kills from outside (SIGKILL), "
        "which an operator sends, or a system that has no memory left"
    )
    return Note("killed", case.label, "", text)


def quarantined_case(task: Task, acting: Slot, strikes: int, reason: str) -> Quarantined:
    """The case of a slot, with all that is known to make it again."""
    steps, command, components = recipe_of(acting)
    label = steps[-1].label if steps else task.labels[acting.index % len(task.labels)]
    return Quarantined(
        task=task.id,
        label=label,
        index=acting.index,
        case=case_id(task.seed, acting.index),
        stage=acting.stage.name.lower(),
        strikes=strikes,
        steps=steps,
        request=command or _reproduction(task, acting, steps),
        reason=reason,
        components=components,
    )


def quarantined_task(task: Task, reason: str) -> Quarantined:
    """A task in which worker after worker died and no case was finished."""
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
    """The recipe that a worker left in its slot before it sent anything, and the command with its parts, if it tried again.

    All are empty when it came no further than making.
    """
    if slot.recipe is None:
        return (), "", ()
    try:
        (record,) = decode(join([slot.recipe], 1))
    except Undecodable:
        return (), "", ()
    match record:
        case CorpusEntry(steps=steps):
            return steps, "", ()
        case Quarantined(steps=steps, request=command, components=components):
            return steps, command, components
        case _:
            return (), "", ()


def _reproduction(task: Task, acting: Slot, steps: tuple[Step, ...]) -> str:
    if not steps:
        return f"seed {task.seed}, case {acting.index}: it was not made yet"
    return f"seed {task.seed}, case {acting.index}, {told(steps[-1].recipe)}"


class Unreported:
    """Remembers what was on record of each task when it was leased: what is there beyond that, its worker said itself."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        """Leased task -> its cases on record when it was leased, and those that failed."""

    def lease(self, task: Task, view: RunView) -> None:
        """A worker begins with the task, or goes on with it."""
        known = view.tasks.get(task.id)
        if known is not None:
            self._known[task.id] = known.cases, known.failed_cases

    def come_back(self, task: Task) -> None:
        """A worker gave the task back: it reported everything."""
        self._known.pop(task.id, None)

    def of_dead(
        self, incarnation: int, leases: Iterable[Task], snapshot: WorkerSnapshot, view: RunView
    ) -> Iterator[TaskProgress]:
        """Yield what to write down for a worker that died with these leases."""
        missing = snapshot.sent - view.sent[incarnation]
        for task in leases:
            rest = snapshot.rest_of(task)
            tally = snapshot.tallies.get(task.id, (0, 0, 0))
            record = self._missing(rest, left(task) - left(rest), tally, view)
            if record is not None:
                missing -= record.requests
                yield record
        if missing > 0:
            yield requests_alone(missing)

    def _missing(self, rest: Task, done: int, tally: tuple[int, int, int], view: RunView) -> TaskProgress | None:
        """None if everything is on record.

        `rest` is what is left of a lease, `done` how many of its indices are not; the tally holds failed cases, the
        first 2xx status (0: none) and indices that gave no case. Of what the cases were answered no more is known than
        that status.
        """
        failed, succeeded, unmade = tally
        cases = done - unmade
        known = view.tasks.get(rest.id)
        if known is not None:
            before, failed_before = self._known.get(rest.id, (0, 0))
            cases -= known.cases - before
            failed -= known.failed_cases - failed_before
        if cases <= 0 or rest.again:
            return None
        label = rest.labels[0]
        is_told = any(200 <= status < 300 for status in view.statuses.get(label, ()))
        statuses = ((label, succeeded, 1),) if succeeded and len(rest.labels) == 1 else ()
        return TaskProgress(
            task=rest.id,
            phase=rest.phase,
            labels=rest.labels,
            next_index=rest.start,
            finished=False,
            cases=cases,
            requests=cases,
            failed_cases=max(0, failed),
            statuses=() if is_told else statuses,
            ledger=(0.0, 0.0, 0.0, 0.0, 0.0),
        )
