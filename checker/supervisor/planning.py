"""The choice of the plan of a run. Pure."""

from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.corpus.fold import RunView
from checker.supervisor.assignment import Plan
from checker.supervisor.bounded import BoundedPlan
from checker.supervisor.exploration import ExplorationPlan, clusters_with_producers
from checker.supervisor.time_shares import TimeWindow
from checker.workers.messages import Opened


def make_plan(
    opened: Opened, settings: RunSettings, seed: int, view: RunView, window: TimeWindow | None
) -> Plan:
    """The plan for what was opened; without `window` time has no limit."""
    if settings.kind == "fuzz":
        cards = [card for card in opened.operations if card.weight > 0] or opened.operations
        exploration = ExplorationPlan(
            clusters_with_producers(cards),
            seed=seed,
            workers=settings.processes.workers,
            time_s=None if window is None else window.length_s,
            begun=view.tasks,
        )
        exploration.weigh({card.label: card.weight or 1.0 for card in cards})
        return exploration
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
        orders={
            **dict.fromkeys(settings.sources.unordered_phases),
            **{one.phase: one.labels for one in opened.orders},
        },
    )
    plan.is_hopeless = view.is_never_allowed
    # Failures are looked at again before anything ends the service; with a limit there is no time to wait for that.
    plan.holds_last = window is None
    if window is not None:
        plan.limit(window, settings.processes.workers)
    return plan
