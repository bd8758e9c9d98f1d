"""Failures of services that take each name once: the name is drawn anew when a failure is looked into."""

import pytest

from tests.apps.serving import serving
from tests.apps.unique import DOCUMENT, Labels
from tests.e2e.runner import Command


@pytest.mark.parametrize("seed", [1, 2])
def test_a_resource_that_is_not_there_after_its_creation_is_found_where_names_are_unique(
    command: Command, seed: int
) -> None:
    labels = Labels(loses=True)
    with serving(labels, DOCUMENT) as app:
        given = ("--checks", "ensure_resource_availability")
        ran = command.run_as_usual(app.document_url, *given, seed=seed, inline=True)
    (finding,) = [one for one in ran.findings if not one.withdrawn]
    assert finding.check == "ensure_resource_availability"
    assert finding.reproduced is True, ran.shown
    create, read = finding.interactions
    assert create.exchange is not None
    assert read.exchange is not None
    assert (create.exchange.status, read.exchange.status) == (201, 404)


@pytest.mark.parametrize("phase", ["examples", "coverage", "fuzzing"])
def test_a_wrong_response_to_a_creation_reproduces_where_names_are_unique(command: Command, phase: str) -> None:
    with serving(Labels(lies=True), DOCUMENT) as app:
        given = ("--checks", "response_schema_conformance", "--phases", phase)
        ran = command.run_as_usual(app.document_url, *given, inline=True)
    for finding in ran.findings:
        assert finding.reproduced is True, ran.shown
        assert finding.hits == finding.tries, ran.shown
    assert ran.findings, ran.shown


def test_a_service_without_defects_stays_clean_where_names_are_unique(command: Command) -> None:
    with serving(Labels(), DOCUMENT) as app:
        ran = command.run_as_usual(app.document_url, inline=True)
    assert ran.defects == [], ran.shown
