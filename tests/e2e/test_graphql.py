"""Real servers of GraphQL: what is planted is found, nothing else; clean ones stay clean."""

import os
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from checker.core.phases import default_phases
from tests.apps.graphql import careless, depot
from tests.apps.graphql.servers import PLANTED, served
from tests.apps.planted import Hold
from tests.apps.serving import serving
from tests.e2e.runner import Command, Ran, worker_pids
from tests.waiting import wait_until

MOST_REQUESTS = 2_000
FEW = ("-n", "40")
"""Cases that show all that is planted: fewer than nobody chose."""


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.thorough_beyond(1)
def test_what_is_planted_is_found_and_nothing_else(name: str, tmp_path: Path) -> None:
    with served(name, tmp_path, planted=True) as where:
        ran = Command(tmp_path).run_as_usual(*where, "--mode", "all", *FEW, inline=True)
    assert set(ran.defects) == set(PLANTED[name]), ran.shown
    assert all(finding.investigation.stage == "minimised" for finding in ran.findings)


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.thorough
def test_clean_servers_stay_clean(name: str, tmp_path: Path) -> None:
    with served(name, tmp_path, planted=False) as where:
        # Beside what is planted nothing is found in twice as many.
        ran = Command(tmp_path).run_as_usual(*where, "--mode", "all", "-n", "20", inline=True)
    assert ran.defects == [], ran.shown
    assert ran.code == 0, ran.shown
    assert "GraphQL" in ran.stdout


@dataclass(frozen=True)
class Seen:
    """A run of the careless server through all phases, and what arrived."""

    ran: Ran
    bodies: Counter[tuple[str, bytes, bytes]]

    @property
    def found(self) -> list[tuple[str, str, str]]:
        """(phase, operation, fingerprint) of each finding."""
        return sorted((one.phase, one.label, one.fingerprint) for one in self.ran.findings)


def _careless(directory: Path, workers: int, hold: Hold | None = None) -> Seen:
    """Runs to its end; where a request is held, one of the workers is killed before it goes on."""
    directory.mkdir()
    (directory / "careless.graphql").write_text(careless.SDL)
    command = Command(directory)
    with serving(hold or careless.Careless(planted=True).answer, {}) as app:
        where = ("run", "careless.graphql", "--url", f"{app.url}/graphql", "--seed", "1")
        arguments = (*where, "--workers", str(workers), "-n", "10", "--no-shrink")
        with command.started(*arguments) as process:
            if hold is not None:
                wait_until(lambda: process.poll() is not None or hold.reached.is_set())
                os.kill(worker_pids(process)[0], signal.SIGKILL)
                hold.released.set()
            ran = command.finished(process)
        sent = Counter((one.method, one.target, one.body) for one in app.seen)
    assert ran.code == 1, ran.shown
    return Seen(ran, sent)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """One worker, whom nobody disturbs."""
    return _careless(tmp_path_factory.mktemp("undisturbed") / "run", workers=1)


@pytest.mark.thorough
def test_one_worker_sends_and_finds_what_four_do(undisturbed: Seen, tmp_path: Path) -> None:
    phases = {task.phase for task in undisturbed.ran.view.tasks.values() if task.cases}
    assert phases == set(default_phases())
    four = _careless(tmp_path / "four", workers=4)
    assert four.bodies == undisturbed.bodies
    assert four.found == undisturbed.found


@pytest.mark.thorough
def test_a_killed_worker_costs_nothing_and_doubles_nothing(undisturbed: Seen, tmp_path: Path) -> None:
    half = sum(undisturbed.bodies.values()) // 2
    disturbed = _careless(tmp_path / "killed", 2, Hold(careless.Careless(planted=True).answer, after=half))
    assert disturbed.ran.view.gone
    assert disturbed.found == undisturbed.found
    assert set(disturbed.bodies) == set(undisturbed.bodies)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("seed", [1, 3])
def test_fuzz_reads_what_it_made_and_deleted(seed: int, tmp_path: Path) -> None:
    depots = depot.Depots(planted=True)
    (tmp_path / "depot.graphql").write_text(depot.SDL)
    command = Command(tmp_path)
    where = ("depot.graphql", "--url")
    asked = ("--checks", "not_a_server_error", "--include-name-regex", "arcel", "--mode", "positive")
    with serving(depots.answer, {}) as app:
        limits = ("--seed", str(seed), "--workers", "2")
        ran = command.here("fuzz", *where, f"{app.url}/graphql", *asked, *limits)
    assert ran.defects == [("Query.parcel", "not_a_server_error")], ran.shown
    assert depots.reached == {"created", "read", "deleted", "read after deletion"}
    assert len(app.seen) <= MOST_REQUESTS
    assert "Query:" in ran.stdout
