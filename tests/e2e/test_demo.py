"""The first thing that a newcomer sees: the demo, its defects, its commands."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.core.blocks import standard_reason
from checker.corpus.records import Finding
from checker.demo import DEFECTS, Server
from tests.e2e.runner import Command, Ran

POSITIVE = sorted((d.operation, d.check) for d in DEFECTS if d.needs == "positive")
# One worker may read what another one has just changed: what takes several requests is shown now and then.
BY_CHANCE = {(d.operation, d.check) for d in DEFECTS if d.needs == "stateful"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture(scope="module")
def ran(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    directory = tmp_path_factory.mktemp("demo")
    return Command(directory).run(server.document_url, "--report", "vcr")


def test_exactly_the_defects_that_valid_requests_show_are_found(ran: Ran) -> None:
    assert [one for one in ran.defects if one not in BY_CHANCE] == POSITIVE, ran.shown
    assert len(POSITIVE) >= 6
    assert ran.code == 1


@pytest.mark.thorough
def test_without_options_what_one_request_shows_is_found(server: Server, command: Command) -> None:
    phases = ("--phases", "examples,coverage,fuzzing")
    usual = command.run_as_usual(server.document_url, *phases, inline=True)
    single = {(d.operation, d.check) for d in DEFECTS if d.needs in ("positive", "negative")}
    # Values of earlier layers are used again, and may show what was planted for sequences.
    planted = {(d.operation, d.check) for d in DEFECTS}
    assert single <= set(usual.defects) <= planted, usual.shown


def _certain(ran: Ran) -> list[Finding]:
    """Return the findings that do not show by chance. The commands of those may need others before them."""
    return [one for one in ran.findings if (one.label, one.check) not in BY_CHANCE]


def test_each_finding_is_shown_with_a_command(ran: Ran) -> None:
    for finding in _certain(ran):
        assert f"- {finding.title}" in ran.stdout
        assert finding.investigation.reproduction in ran.stdout
        assert finding.investigation.reproduced is True
    assert ran.stdout.count("Reproduce with:") == len(ran.findings) >= len(POSITIVE)
    assert ran.stderr == ""


@pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("bash")),
    reason="printed commands are pasted into bash and sent by curl, and one of the two is not installed",
)
def test_printed_commands_show_the_failure_again(ran: Ran) -> None:
    lines = ran.stdout.splitlines()
    commands = [lines[number + 2].strip() for number, line in enumerate(lines) if line == "Reproduce with:"]
    assert {finding.investigation.reproduction for finding in _certain(ran)} <= set(commands)
    for finding in _certain(ran):
        assert finding.investigation.reproduction.startswith("curl ")
        line = f"{finding.investigation.reproduction} --silent --include"
        done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        recorded = finding.interactions[-1].exchange
        assert head.split(b" ")[1] == str(recorded.status).encode(), finding.investigation.reproduction
        assert body == recorded.response_body
        assert f"[{recorded.status}] {standard_reason(recorded.status or 0)}:" in ran.stdout


def test_every_second_of_every_worker_is_accounted_for(ran: Ran) -> None:
    shown = re.search(r"Time: ([0-9.]+)s x 2 workers", ran.stdout)
    assert shown is not None, ran.stdout
    wall = 2 * float(shown[1])
    # Rounded, and without what it took to leave.
    assert 0.8 * wall <= sum(ran.view.ledger) <= wall + 0.02


@pytest.mark.thorough
def test_inline_finds_the_same(server: Server, ran: Ran, command: Command) -> None:
    inline = command.run(server.document_url, inline=True)
    assert inline.defects == POSITIVE, inline.shown
    assert _fingerprints(inline) == _fingerprints(ran), inline.shown
    assert inline.code == 1


@pytest.mark.thorough
def test_fixed_has_no_findings_and_every_failure_changes_its_status(ran: Ran, command: Command) -> None:
    with Server(fixed=True) as server:
        clean = command.run(server.document_url, inline=True)
        assert clean.findings == [], clean.shown
        assert clean.code == 0, clean.shown
        cassettes = list(Path(ran.directory).rglob("vcr-*.yaml"))
        assert len(cassettes) == 1
        again = command.here("replay", str(cassettes[0]), "--status", "FAILURE", "--url", server.url)
    assert again.code == 0, again.shown


def test_demo_command_serves_runs_and_stops(command: Command) -> None:
    demo = command("demo", "--seed", "1", "--workers", "2", "-n", "10")
    assert demo.code in (0, 1), demo.shown
    assert "13 selected / 13 total" in demo.stdout
    assert "Traceback" not in demo.shown


def _fingerprints(ran: Ran) -> list[str]:
    """Of what does not depend on who asks first."""
    return sorted(finding.fingerprint for finding in ran.findings if (finding.label, finding.check) not in BY_CHANCE)
