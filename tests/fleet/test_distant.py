"""Workers that share no folder with their supervisor: what they did arrives, whatever is lost on the way."""

import pickle
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from checker.core.errors import UsageError
from checker.core.system import Interrupts
from checker.corpus.codec import pack
from checker.corpus.records import Finding, Quarantined, Record, ValueSeen
from checker.fleet.agent import Agent, Start, versions
from checker.fleet.distant import DistantLauncher
from checker.fleet.luggage import Order
from checker.supervisor.supervisor import RunEnvironment, RunOutcome, execute
from tests.asking import run_settings
from tests.fleet.threads import ThreadCluster
from tests.fleet.watching import Watched
from tests.supervisor.running import END, PATIENT, Run, all_cases
from tests.supervisor.toys import toy_work


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


@pytest.fixture
def far(run: Run, tmp_path: Path) -> Callable[..., tuple[RunOutcome, ThreadCluster]]:
    def started(*orders: tuple[str, str], loses: Callable[[int], bool] = lambda n: False, **fields: Any) -> Any:
        cluster = ThreadCluster(tmp_path / "elsewhere", toy_work, loses=loses)
        launcher = DistantLauncher(cluster, run.settings(*orders, **fields))
        return run(*orders, launcher=launcher, **fields), cluster

    return started


def test_every_case_and_finding_arrives(run: Run, far: Any) -> None:
    outcome, cluster = far(END[1], workers=2)
    assert run.told.cases == all_cases()
    assert [one.fingerprint for one in run.told.of(Finding)] == ["GET /users-found"]
    assert outcome.exit_code == 1
    assert len(cluster.agents) == 2
    assert not list(cluster.folder.iterdir())


def test_what_a_dead_one_was_doing_is_known(run: Run, far: Any) -> None:
    outcome, _ = far(("kill", "GET /users:2"), workers=2)
    (blamed,) = run.told.of(Quarantined)
    assert (blamed.label, blamed.index) == ("GET /users", 2)
    assert outcome.view.counts.cases == sum(all_cases().values()) - 1


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.thorough] * (seed > 2)) for seed in range(8)])
def test_lost_machines_lose_and_double_nothing(run: Run, far: Any, seed: int) -> None:
    chance = Random(seed)
    # There are always four news, and mostly twelve.
    chosen = {chance.randrange(4), chance.randrange(12)}
    outcome, cluster = far(END[1], workers=2, loses=chosen.__contains__)
    assert cluster.lost
    # The one that was in flight may be told again, as after any death.
    assert run.told.cases.keys() == all_cases().keys()
    assert list(outcome.view.settled) == ["GET /users-found"]
    assert outcome.view.counts.cases == sum(all_cases().values())


def test_workers_follow_the_cluster_up_to_their_limit_and_get_a_lease_in_time(run: Run, tmp_path: Path) -> None:
    machines, interrupts = ThreadCluster(tmp_path / "elsewhere", toy_work), Interrupts()
    cluster: Any = Watched(machines)
    settings = run.settings(("slow", "0.05"), max_examples=50)
    settings = settings.with_changes(processes={"workers": 2, "follows_cluster": True})

    def follow(_: int, record: Record) -> None:
        if isinstance(record, ValueSeen):
            machines.machine_processors = 5
        # The run would go on for ten seconds.
        interrupts.count = int(cluster.leases_before(1) is not None)

    execute(settings, follow, RunEnvironment(DistantLauncher(cluster, settings), PATIENT, interrupts))
    assert len(cluster.agents) == 2
    assert cluster.leases_before(1) < 2


@pytest.mark.parametrize(("checker", "python"), [("0.0", versions()[1]), (versions()[0], "2.7")])
def test_a_machine_with_another_version_is_refused_in_one_sentence(
    run: Run, tmp_path: Path, checker: str, python: str
) -> None:
    start = pack(Start(checker, python, 7, 0.0, pickle.dumps(run.settings())))
    refused = Agent(tmp_path / "agent", toy_work).start(pack(Order()), start)
    assert refused.endswith("a cluster needs equal versions; install them on all of its machines")
    assert f"this one has checker {checker} and Python {python}:" in refused


@pytest.mark.parametrize("name", ["location", "base_url", "origin"])
def test_loopback_is_no_target_for_other_machines_unless_that_is_allowed(tmp_path: Path, name: str) -> None:
    cluster = ThreadCluster(tmp_path, other_hosts=True)
    named: dict[str, Any] = {name: "http://127.0.0.1:9/openapi.json"}
    settings = run_settings(folder=str(tmp_path / "corpus"), **named)
    with pytest.raises(UsageError, match=r"^127.0.0.1 is another target on each machine of the cluster; "):
        DistantLauncher(cluster, settings)
    DistantLauncher(cluster, settings, allows_loopback=True)
    DistantLauncher(ThreadCluster(tmp_path), settings)
