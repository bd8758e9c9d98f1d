"""A habit of real services costs a run hardly any operation: nine in ten are served, as without the habit."""

import pytest

from tests.apps.habits import HABITS, Habitual
from tests.apps.serving import serving
from tests.e2e.runner import Command


@pytest.mark.thorough
@pytest.mark.parametrize("habit", ["", *HABITS])
def test_a_habit_costs_at_most_one_operation_in_ten(command: Command, habit: str) -> None:
    service = Habitual(habit)
    with serving(service, service.document()) as app:
        ran = command.run_as_usual(app.document_url, "-n", "20", inline=True)
    missing = service.operations() - service.served
    assert len(missing) <= len(service.operations()) / 10, (sorted(missing), ran.shown)


@pytest.mark.thorough
@pytest.mark.parametrize("habit", ["", "has_private_ids", "answers_later", "links_only"])
def test_a_service_that_keeps_to_its_description_stays_clean_with_its_habit(command: Command, habit: str) -> None:
    service = Habitual(habit)
    with serving(service, service.document()) as app:
        ran = command.run_as_usual(app.document_url, "-n", "20", inline=True)
    assert ran.defects == [], ran.shown
