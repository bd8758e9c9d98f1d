"""A kind of description made outside the package is found, tested and reported like the one inside."""

import sys
from pathlib import Path

import pytest

import checker.workers.starting.preloaded  # noqa: F401 - what the fork server imports
from tests.apps.http import Reply, Request
from tests.apps.serving import serving
from tests.e2e.runner import Command, Ran

SOURCE = Path(__file__).with_name("commands_kind.py")
LONGEST = 80
PLANTED = {("do add", "not_a_server_error"), ("do put", "response_schema_conformance")}
MOST = 999
"""The greatest number that the application bears."""


def answer(request: Request) -> Reply:
    """Two planted defects: large numbers are answered in another way, more than two cannot be added."""
    command, *words = request.body.decode().split(" ")
    if command == "put":
        text = "ok 1" if int(words[1]) <= MOST else "too large"
        return Reply(200, "text/plain", text.encode())
    if len(words) > 2:
        return Reply(500, "text/plain", b"Traceback: too many")
    return Reply(200, "text/plain", f"ok {sum(map(int, words))}".encode())


def by_hook(command: Command) -> None:
    (command.directory / "commands_kind.py").write_text(SOURCE.read_text())
    (command.directory / "checker.toml").write_text('hooks = "commands_kind.py"\n')


def by_entry_point(command: Command) -> None:
    """As an installed package does."""
    site = command.directory / "site"
    metadata = site / "commands_kind-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: commands-kind\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[checker.plugins]\ncommands = commands_kind\n")
    (site / "commands_kind.py").write_text(SOURCE.read_text())
    command.environment["PYTHONPATH"] = f"{Path(__file__).parents[2]}:{site}"


def ran(command: Command, name: str, *arguments: str, workers: int) -> tuple[Ran, set[bytes]]:
    """What a run left behind, and the bodies that arrived."""
    with serving(answer, {}) as app:
        (command.directory / name).write_text(f"commands 1\nLedger\n{app.url}\n")
        found = command.run(name, *arguments, workers=workers)
        return found, {request.body for request in app.seen}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.mark.parametrize("register", [by_hook, by_entry_point])
@pytest.mark.parametrize("name", ["ledger.commands", "ledger.txt"])
@pytest.mark.thorough_beyond(1)
def test_a_kind_from_outside_runs_from_end_to_end(command: Command, register: object, name: str) -> None:
    assert callable(register)
    register(command)
    done, bodies = ran(command, name, "-n", "400", workers=2)
    assert done.code == 1, done.shown
    assert set(done.defects) == PLANTED
    assert all(body.startswith((b"put ", b"add ")) for body in bodies)
    add, put = sorted(done.findings, key=lambda finding: finding.label)
    assert (
        (add.investigation.stage, add.investigation.reproduced)
        == (put.investigation.stage, put.investigation.reproduced)
        == ("minimised", True)
    )
    assert "add 0 0 0" in add.investigation.reproduction
    assert f"put a {MOST + 1}" in put.investigation.reproduction
    assert "Commands 1" in done.stdout
    assert f"'put a {MOST + 1}'" in done.stdout
    assert "do add" in done.stdout


@pytest.mark.thorough
def test_one_worker_sends_what_two_send(command: Command, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = Command(tmp_path_factory.mktemp("other"))
    for one in (command, other):
        by_hook(one)
    _, alone = ran(command, "ledger.commands", "--no-shrink", workers=1)
    _, together = ran(other, "ledger.commands", "--no-shrink", workers=2)
    assert len(alone) > 50
    assert alone == together


def test_fuzz_takes_any_kind(command: Command) -> None:
    by_hook(command)
    with serving(answer, {}) as app:
        (command.directory / "l.commands").write_text(f"commands 1\nLedger\n{app.url}\n")
        done = command("fuzz", "l.commands", "--seed", "1", "--inline", "--max-failures", "1")
    assert done.code == 1, done.shown
    assert set(done.defects) <= PLANTED


def test_what_nobody_knows_is_told_as_before(command: Command) -> None:
    (command.directory / "ledger.txt").write_text("commands: 1\n")
    done = command.run("ledger.txt")
    assert done.code == 2
    assert "Unable to determine the Open API version" in done.stdout + done.stderr


def test_the_proof_is_small_and_the_fork_server_has_what_is_built_in() -> None:
    text = SOURCE.read_text()
    assert len(text.splitlines()) <= LONGEST
    assert "checker." not in text.replace("from checker import kinds", "")
    assert "checker.openapi.loaders" in sys.modules
