"""A limit of memory that no run can keep."""

from tests.apps.serving import json_reply, serving
from tests.e2e.runner import UNHURRIED_S, Command
from tests.e2e.test_records import THINGS


def test_too_little_memory_ends_a_run_with_a_sentence_and_its_reports(command: Command) -> None:
    with serving(lambda request: json_reply({}, 500), THINGS) as app:
        limits = ("--max-memory", "1K", "--max-time", UNHURRIED_S, "--continue-on-failure")
        ran = command.here("fuzz", app.document_url, *limits, "--workers", "1", "--report", "junit")
    # On a busy machine it has not found anything yet.
    assert ran.code == (1 if ran.findings else 2), ran.shown
    assert "the run was ended: it takes " in ran.stdout + ran.stderr, ran.shown
    assert "more than the 1 KiB of `max-memory`" in ran.stdout + ran.stderr, ran.shown
    assert len(list(command.directory.glob("checker-report/junit-*.xml"))) == 1
