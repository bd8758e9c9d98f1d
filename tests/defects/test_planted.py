"""Runs against services with planted defects, and against the same services without them.

All settings are the defaults but one: fewer cases than that find what is planted, so those do. `benchmarks.planted_defects`
runs as many as the default.
"""

import json
from pathlib import Path

import pytest

from tests.defects.suite import NAMES, Outcome, outcome_of, service_named
from tests.e2e.runner import Command


def ran(name: str, planted: frozenset[str], directory: Path, cases: str) -> Outcome:
    service = service_named(name)
    path = directory / "openapi.json"
    path.write_text(json.dumps(service.document))
    with service.serving(planted) as url:
        # What one worker sends, two send: what is found is not about processes.
        done = Command(directory).run_as_usual(str(path), "--url", url, *service.arguments, "-n", cases, inline=True)
    assert done.code == (1 if done.findings else 0), done.shown
    return outcome_of(service, set(done.defects), planted)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.thorough_beyond(1)
def test_planted_defects_are_found_and_nothing_else(name: str, tmp_path: Path) -> None:
    planted = frozenset(defect.id for defect in service_named(name).defects)
    outcome = ran(name, planted, tmp_path, "40")
    assert outcome.strange == ()
    # Chance decides on some: over all services and five seeds `benchmarks.planted_defects` counts them.
    assert len(outcome.missed) <= 1, outcome.missed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.thorough_beyond(1)
def test_nothing_is_found_where_nothing_is_planted(name: str, tmp_path: Path) -> None:
    # Beside what is planted nothing is found in twice as many.
    assert ran(name, frozenset(), tmp_path, "20") == Outcome((), ())


@pytest.mark.thorough
def test_few_sequences_reach_what_takes_five_steps(tmp_path: Path) -> None:
    service = service_named("tenants")
    with service.serving(frozenset({"member-stays"})) as url:
        path = tmp_path / "openapi.json"
        path.write_text(json.dumps(service.document))
        chosen = ("--phases", "stateful", "-n", "20", "--checks", "use_after_free")
        done = Command(tmp_path).run_as_usual(str(path), "--url", url, *service.arguments, *chosen, seed=3, inline=True)
    assert {check for _, check in done.defects} == {"use_after_free"}, done.shown
    assert any("members" in label for label, _ in done.defects), done.shown


@pytest.mark.thorough
def test_parts_of_a_deep_path_belong_together(tmp_path: Path) -> None:
    """Without sequences, too: what is wrong with members of projects of tenants shows, and most that is right is served."""
    service = service_named("tenants")
    with service.serving(frozenset({"role-unchecked"})) as url:
        path = tmp_path / "openapi.json"
        path.write_text(json.dumps(service.document))
        chosen = ("--phases", "fuzzing", "-n", "40")
        done = Command(tmp_path).run_as_usual(str(path), "--url", url, *service.arguments, *chosen, inline=True)
    members = "/tenants/{tenant_id}/projects/{project_id}/members"
    assert (f"POST {members}", "negative_data_rejection") in done.defects, done.shown
    for label in (f"POST {members}", f"GET {members}", f"GET {members}/{{member_id}}"):
        positive = done.view.of(label).positive_statuses
        served = sum(count for status, count in positive.items() if status < 300)
        assert served >= 0.5 * positive.total(), (label, positive)


def test_each_check_has_defects_and_some_take_several_requests() -> None:
    planted = [defect for name in NAMES for defect in service_named(name).defects]
    checks = [defect.check for defect in planted]
    assert len(planted) >= 100
    assert min(checks.count(check) for check in set(checks)) >= 5
    assert len(set(checks)) == 13
    assert sum(defect.steps > 1 for defect in planted) >= 20
