"""Workers on a cluster of two machines find what processes of one machine find, also if a machine dies on the way."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from checker.demo import document as demo_document
from tests.apps.planted import Disturbed, inn
from tests.apps.serving import App, serving
from tests.e2e import runner
from tests.e2e.runner import NEVER_S, Command, Ran

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


def test_a_cluster_of_two_machines_finds_what_processes_find(
    cluster: Cluster, near: tuple[Ran, App], tmp_path: Path
) -> None:
    ran, wanted = near
    with serving(inn(), demo_document()) as app:
        far = _finished(tmp_path, app, cluster.address)
    assert (far.code, far.stderr) == (ran.code, ran.stderr) == (1, ""), far.shown
    assert far.defects == ran.defects
    assert _wire(app) == _wire(wanted)
    assert all(("x-mine", "beside") in headers for _, _, headers, _ in app.wire())
    session = Path(cluster.head_node.get_session_dir_path())
    texts = [path.read_bytes() for path in session.rglob("*") if path.is_file() and not path.is_symlink()]
    assert texts
    assert not [text for text in texts if CANARY.encode() in text]


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
