"""What a worker does when all others have left."""

from pathlib import Path

from checker.corpus.inflight import Stage
from checker.corpus.layout import RunLayout
from checker.workers.class_checks import states_in
from checker.workers.cleaning import clean_up
from checker.workers.context import WorkerContext
from checker.workers.messages import Conclude

_NO_TASK = "0"
"""Stands in the slots for what is of the run as a whole."""


def conclude_run(context: WorkerContext, order: Conclude) -> None:
    """Say what class checks have to say of the run, and remove what it made."""
    context.slots.enter(0, Stage.HOOK, _NO_TASK, 0)
    if not order.only_cleans:
        states = states_in(RunLayout(Path(context.settings.corpus.folder)), order.first)
        context.recorder.keep(context.class_checks.conclusion(states))
    clean_up(context)
    context.slots.leave(0)
