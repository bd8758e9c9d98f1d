"""A default run finds the defect behind a value of another response, whichever way the two are connected."""

import pytest

from tests.apps.reused import SERVICES, Reusing
from tests.apps.serving import serving
from tests.e2e.runner import Command


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_the_defect_behind_a_value_of_another_response_is_found(service: Reusing, command: Command) -> None:
    with serving(service.fresh(), service.document) as app:
        ran = command.run_as_usual(app.document_url, inline=True)
    assert (service.label, service.check) in ran.defects, ran.shown
