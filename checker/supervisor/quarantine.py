"""Records in the name of workers that died, above all about cases that killed or hung them."""

from collections.abc import Iterator

from checker.core.digests import case_id
from checker.core.meta import Step, told
from checker.corpus.codec import Undecodable, decode, join
from checker.corpus.inflight import Slot, Stage
from checker.corpus.records import (
    UNREACHED,
    WHOLE_TASK,
    Component,
    CorpusEntry,
    Note,
    OperationError,
    Quarantined,
)
from checker.supervisor.launchers.handle import Departure
from checker.supervisor.restarts import CERTAIN, DOUBTFUL, RestartDecision
from checker.workers.messages import EXTRA_INDEX, Opened, Task


def unreachable_errors(opened: Opened, phase: str) -> Iterator[OperationError]:
    """Return an error for each operation of a target that was unreachable from the start."""
    for card in opened.operations:
        first = next(iter(card.phases), phase)
        yield OperationError(card.label, first, UNREACHED, opened.unreachable)


def is_extra(acting: Slot) -> bool:
    """Whether a case has no place in its task's numbering: another life of the task gives its index to another case."""
    return acting.index >= EXTRA_INDEX


def guilt_of(departure: Departure) -> int:
    """Return the probability that the acting case is to blame for such an end of its worker."""
    return DOUBTFUL if departure.is_from_outside else CERTAIN


def given_up(departure: Departure) -> str:
    """The sentence for a run in which worker after worker died and none finished a case."""
    sentence = (
        "the run was given up: workers died one after another and none finished a case; "
        f"the last one: {departure.reason}"
    )
    if not departure.is_from_outside:
        return sentence
    return (
        f"{sentence}, as a system does that has no memory left: use fewer workers, or give it more"
    )


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
