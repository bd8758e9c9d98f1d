"""Which plan a run goes by. Pure."""

from dataclasses import replace

from checker.config.settings import RunSettings
from checker.corpus.fold import RunView
from checker.supervisor.assignment import Plan
from checker.supervisor.bounded import BoundedPlan
from checker.supervisor.clusters import clusters_with_producers
from checker.supervisor.exploration import ExplorationPlan
from checker.supervisor.time_shares import TimeWindow
from checker.workers.messages import Opened


def make_plan(
    opened: Opened, settings: RunSettings, seed: int, view: RunView, window: TimeWindow | None
) -> Plan:
    """The plan for what was opened; without `window` time has no limit."""
    if settings.kind == "fuzz":
        return ExplorationPlan(
            clusters_with_producers(opened.operations),
            seed=seed,
            workers=settings.workers,
            time_s=None if window is None else window.length_s,
            begun=view.tasks,
        )
    usual = settings.common.continue_on_failure
    plan = BoundedPlan(
        [
            card
            if card.continue_on_failure is not None
            else replace(card, continue_on_failure=usual)
            for card in opened.operations
        ],
        seed=seed,
        max_examples=settings.common.max_examples,
        phases=settings.phases,
        unordered=settings.unordered_phases,
    )
    plan.is_hopeless = view.is_never_allowed
    if window is not None:
        plan.limit(window, settings.workers)
    return plan
