"""A run that is killed at any point has a report of all that it found. `python -m benchmarks.chaos` kills 200 of them."""

import pytest

from tests.chaos.seeded_kills import Plan, killed_run
from tests.e2e.runner import Command

PLANS = (
    Plan("supervisor", 0),
    Plan("supervisor", 1, is_answered=False),
    Plan("supervisor", 7),
    Plan("supervisor", 90, is_answered=False),
    Plan("worker", 0),
    Plan("worker", 40),
)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.victim}-after-{plan.after}")
@pytest.mark.thorough_beyond(1)
def test_a_killed_run_has_a_report_of_every_request_and_failure(command: Command, plan: Plan) -> None:
    killed = killed_run(command, plan)
    assert killed.faults == [], killed.shown
    assert bool(killed.findings) == (plan.victim == "worker" or plan.after > 1)
