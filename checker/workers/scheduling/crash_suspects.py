"""Cases that were in flight when a worker died are tried again; what a report would need is left in their slots first.

Making commands of all cases would be too slow, and the supervisor, who reads the slots of the dead, cannot make any.
"""

from msgspec.structs import replace

from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.operation import Label
from checker.corpus.codec import RecordEncoder
from checker.corpus.inflight import Stage
from checker.corpus.records import Quarantined
from checker.workers.context import WorkerContext
from checker.workers.messages import EXTRA_INDEX
from checker.workers.recording.leased import InFlight, LeasedTask

_AS_DRAWN = "(as it was drawn, before hooks saw it)"


def is_accused(running: LeasedTask, index: int) -> bool:
    """Whether this case was in flight when an earlier worker died."""
    return bool(running.task.redo) and index in running.task.redo


def leave_drawn(context: WorkerContext, slot: int, running: LeasedTask, index: int) -> None:
    """Leave the case that hooks are about to be given; nothing when they decide what is drawn."""
    if context.unhooked is None:
        return
    label = running.label_of(index)
    try:
        make = context.unhooked.maker(running.row)
        made = make(label, running.task.seed, index, running.phase)
    except CheckerError:
        return
    if command := _command(context, made.case):
        text = f"{command}\n{_AS_DRAWN}"
        _leave(context, slot, _testimony(context, (running, index, label), made.case, text))


def leave_made(context: WorkerContext, flight: InFlight) -> None:
    """Leave the command of an accused case that is about to be sent, as it is before `before_call` hooks.

    One that extends a sequence has no second chance: it counts as accused wherever users' code may kill it.
    """
    is_risky = Stage.HOOK in (context.calling_stage, context.judging_stage)
    if not is_accused(flight.running, flight.index) and not (
        is_risky and flight.index >= EXTRA_INDEX
    ):
        return
    step = flight.made.step
    if command := _command(context, flight.made.case):
        accused = (flight.running, flight.index, step.label)
        testimony = _testimony(context, accused, flight.made.case, command)
        _leave(context, flight.slot, replace(testimony, steps=(step,)))


def _testimony(
    context: WorkerContext, accused: tuple[LeasedTask, int, Label], case: Case, command: str
) -> Quarantined:
    running, index, label = accused
    return Quarantined(
        task=running.task.id,
        label=label,
        index=index,
        case="",
        stage="",
        strikes=0,
        steps=(),
        request=command,
        reason="",
        components=context.recorder.traffic.components.of(case),
    )


def _leave(context: WorkerContext, slot: int, testimony: Quarantined) -> None:
    context.slots.recipe(slot, RecordEncoder().encode(testimony))


def _command(context: WorkerContext, case: Case) -> str:
    """A curl command; empty for a case that cannot be written."""
    try:
        request = context.tools.maker.make(case)
    except (CheckerError, ValueError):
        return ""
    command = context.recorder.reproduction(request)
    return context.recorder.secrets.store.mask(command)
