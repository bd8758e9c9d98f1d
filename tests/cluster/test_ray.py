"""Workers on a cluster of two machines find what processes of one machine find, also if a machine dies on the way."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import ray
from ray._private import state as ray_state
from ray.cluster_utils import Cluster

from checker.core.system import Interrupts
from checker.corpus.records import Record, ValueSeen
from checker.demo import document as demo_document
from checker.fleet.distant import DistantLauncher
from checker.fleet.ray_cluster import RayCluster
from checker.supervisor.supervisor import RunEnvironment, execute
from tests.apps.planted import Disturbed, inn
from tests.apps.serving import App, serving
from tests.e2e import runner
from tests.e2e.runner import NEVER_S, Command, Ran
from tests.fleet.watching import Watched
from tests.supervisor.running import END, PATIENT, Run, all_cases
from tests.supervisor.toys import toy_work
from tests.waiting import wait_until

HOOKS = """
import checker, beside

@checker.hook
def before_call(context, case, *rest):
    case.headers["X-Mine"] = beside.VALUE
"""
UNHURRIED = Path(runner.__file__).with_name("unhurried.py")
CANARY = "canary-5c1e7a90d2"
MACHINE: dict[str, Any] = {"num_cpus": 2, "object_store_memory": 100 << 20}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster(initialize_head=True, head_node_args={**MACHINE, "include_dashboard": False})
    cluster.add_node(**MACHINE)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def joined(cluster: Cluster) -> Iterator[Cluster]:
    """This process as a part of the cluster, whose machines import the toys of the tests."""
    root = str(Path(__file__).parents[2])
    ray.init(cluster.address, namespace="checker", log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": root}})
    yield cluster
    ray.shutdown()


class KnownAgents(RayCluster):
    """Remembers its agents."""

    def __init__(self) -> None:
        super().__init__("auto", workers=2, work=toy_work)
        self.agents: list[Any] = []

    def agent(self) -> Any:
        self.agents.append(super().agent())
        return self.agents[-1]


@contextmanager
def _started(folder: Path, app: App, address: str = "") -> Iterator[tuple[Command, Any]]:
    """A run with hooks that import a module beside them, of a description in two files outside of the working directory."""
    here, described = folder / "here", folder / "described"
    here.mkdir()
    described.mkdir()
    document = demo_document()
    schemas = document["components"].pop("schemas")
    text = json.dumps(document).replace("#/components/schemas/", "schemas.json#/")
    (described / "schemas.json").write_text(json.dumps(schemas).replace("#/components/schemas/", "#/"))
    (described / "openapi.json").write_text(text)
    (here / "beside.py").write_text(f"{UNHURRIED.read_text()}\nVALUE = 'beside'\n")
    (here / "mine.py").write_text(HOOKS)
    command = Command(here, environment={"RAY_ADDRESS": address, "CHECKER_HOOKS": "mine.py"})
    asked = ("--url", app.url, "--seed", "3", "--workers", "2", "-H", f"X-Api-Key: {CANARY}", "--max-examples", "12")
    # The phases of which equal seeds promise equal requests.
    phases = ("--phases", "examples,coverage,fuzzing")
    more = ("--cluster", "auto") if address else ()
    with command.started("run", str(described / "openapi.json"), *asked, *phases, *more) as process:
        yield command, process


def _finished(folder: Path, app: App, address: str = "") -> Ran:
    with _started(folder, app, address) as (command, process):
        return command.finished(process)


def _wire(app: App) -> Counter[Any]:
    return Counter(
        (method, target, tuple(field for field in headers if field[0] != "host"), body)
        for method, target, headers, body in app.wire()
    )


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, App]:
    """What two processes of this machine do."""
    with serving(inn(), demo_document()) as app:
        return _finished(tmp_path_factory.mktemp("near"), app), app


@pytest.fixture(scope="module")
def far(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, App]:
    """What two workers of a cluster do."""
    with serving(inn(), demo_document()) as app:
        return _finished(tmp_path_factory.mktemp("far"), app, cluster.address), app


def test_a_cluster_of_two_machines_finds_what_processes_find(
    cluster: Cluster, near: tuple[Ran, App], far: tuple[Ran, App]
) -> None:
    (ran, wanted), (there, app) = near, far
    assert (there.code, there.stderr) == (ran.code, ran.stderr) == (1, ""), there.shown
    assert there.defects == ran.defects
    assert _wire(app) == _wire(wanted)
    assert all(("x-mine", "beside") in headers for _, _, headers, _ in app.wire())
    session = Path(cluster.head_node.get_session_dir_path())
    texts = [path.read_bytes() for path in session.rglob("*") if path.is_file() and not path.is_symlink()]
    assert texts
    assert not [text for text in texts if CANARY.encode() in text]


def test_no_credential_is_in_what_ray_shows_of_jobs_and_actors(joined: Cluster, far: tuple[Ran, App]) -> None:
    shown = str((ray_state.jobs(), ray_state.actors()))
    assert "RayAgent" in shown
    assert CANARY not in shown


def test_a_machine_that_dies_costs_no_finding(cluster: Cluster, near: tuple[Ran, App], tmp_path: Path) -> None:
    ran, wanted = near
    is_due = threading.Event()
    with (
        serving(Disturbed(inn(), is_due.set, after=len(wanted.seen) // 3), demo_document()) as app,
        _started(tmp_path, app, cluster.address) as (command, process),
    ):
        assert is_due.wait(NEVER_S)
        (machine,) = cluster.worker_nodes
        cluster.remove_node(machine, allow_graceful=False)
        cluster.add_node(**MACHINE)
        far = command.finished(process)
    assert far.code == 1, far.shown
    assert far.defects == ran.defects
    assert any("lost" in reason for reason in far.view.gone.values()), far.view.gone


def test_a_machine_added_in_the_middle_gets_a_lease_in_time(joined: Cluster, tmp_path: Path) -> None:
    (machine,) = joined.worker_nodes
    joined.remove_node(machine)
    cluster: Any = Watched(RayCluster("auto", workers=3, work=toy_work))
    wait_until(lambda: cluster.processors() == MACHINE["num_cpus"])
    # The run would go on for eight minutes.
    settings = Run(tmp_path).settings(("slow", "0.05"), max_examples=5_000)
    settings = settings.with_changes(processes={"workers": 3, "follows_cluster": True})
    interrupts = Interrupts()

    def follow(_: int, record: Record) -> None:
        if isinstance(record, ValueSeen) and not joined.worker_nodes:
            joined.add_node(**MACHINE)
        interrupts.count = int(cluster.leases_before(2) is not None)

    execute(settings, follow, RunEnvironment(DistantLauncher(cluster, settings), PATIENT, interrupts))
    (added,) = joined.worker_nodes
    places = [ray_state.actors()[one._actor_id.hex()]["Address"]["NodeID"] for one in cluster.agents]
    assert [place == added.node_id for place in places] == [False, False, True]
    assert cluster.leases_before(2) < 3


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("seed", range(20))
def test_kills_lose_and_double_nothing(joined: Cluster, tmp_path: Path, seed: int) -> None:
    chance, run, agents = Random(seed), Run(tmp_path), KnownAgents()
    settings = run.settings(*END, workers=2, max_examples=40)
    wanted, after = all_cases(40), chance.randrange(1, 160)

    def kill(incarnation: int, record: Record) -> None:
        before = len(run.told.of(ValueSeen))
        run.told(incarnation, record)
        if before >= after or len(run.told.of(ValueSeen)) < after:
            return
        if seed % 2:
            ray.kill(chance.choice(agents.agents))
        else:
            (machine,) = joined.worker_nodes
            joined.remove_node(machine, allow_graceful=False)
            joined.add_node(**MACHINE)

    outcome = execute(settings, kill, RunEnvironment(DistantLauncher(agents, settings), PATIENT))
    assert run.told.cases.keys() == wanted.keys()
    # The case in flight of each worker may be made again, as after any death.
    assert run.told.cases.total() <= wanted.total() + settings.processes.workers
    assert list(outcome.view.settled) == ["GET /users-found"]
    assert outcome.view.counts.cases == sum(wanted.values())
