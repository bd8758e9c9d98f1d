"""Which plan a run goes by. Pure."""

from checker.config.settings import RunSettings
from checker.corpus.fold import RunView
from checker.supervisor.assignment import Plan
from checker.supervisor.bounded import BoundedPlan
from checker.supervisor.clusters import clusters_with_producers
from checker.supervisor.exploration import ExplorationPlan
from checker.workers.messages import Opened


def make_plan(
    opened: Opened, settings: RunSettings, seed: int, view: RunView, left_s: float | None
) -> Plan:
    """The plan for what was opened; `left_s` seconds are left to a `fuzz`, None: no limit."""
    if settings.kind == "fuzz":
        return ExplorationPlan(
            clusters_with_producers(opened.operations),
            seed=seed,
            workers=settings.workers,
            time_s=left_s,
            begun=view.tasks,
        )
    return BoundedPlan(
        opened.operations,
        seed=seed,
        max_examples=settings.common.max_examples,
        phases=settings.phases,
        unordered=settings.unordered_phases,
    )
