"""A phase from outside the package is asked for, worked on, shown and tried again like any other."""

from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import serving
from tests.e2e.runner import Command, Ran

from .plugged import install

SOURCE = Path(__file__).with_name("quoting_phase.py")
LONGEST = 80
TEXT = {"required": True, "schema": {"type": "string", "pattern": "^[a-z]+$"}}
OPERATION = {"responses": {"default": {"description": "as told"}}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Quotations", "version": "1"},
    "paths": {
        "/named/{name}": {"get": {**OPERATION, "parameters": [{"name": "name", "in": "path", **TEXT}]}},
        "/found": {"get": {**OPERATION, "parameters": [{"name": "text", "in": "query", **TEXT}]}},
        "/plain": {"get": OPERATION},
    },
}
SENT = 9
"""Four texts in each of two parameters, and the request without inputs."""


def answer(request: Request) -> Reply:
    is_broken = b"'" in unquote_to_bytes(request.target) and request.target.startswith(b"/found")
    return Reply(500 if is_broken else 200, "application/json", b"{}")


def ran(command: Command, *arguments: str) -> tuple[Ran, list[bytes]]:
    """What a run left behind, and what arrived."""
    with serving(answer, DOCUMENT) as app:
        found = command.run(app.document_url, *arguments)
        return found, [request.target for request in app.seen]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    made = Command(tmp_path)
    install(made, "quoting_phase")
    return made


def test_a_phase_from_outside_runs_from_end_to_end(command: Command) -> None:
    found, sent = ran(command, "--phases", "quoting", "--workers", "2")
    assert (found.code, found.defects) == (1, [("GET /found", "not_a_server_error")]), found.shown
    (finding,) = found.findings
    assert (finding.phase, finding.investigation.stage, finding.investigation.reproduced) == (
        "quoting",
        "minimised",
        True,
    )
    assert f"{SENT} generated" in found.stdout
    assert "Quoting" in found.stdout
    assert {b"/named/%22", b"/found?text=%5C"} <= set(sent)


@pytest.mark.thorough
def test_it_is_switched_on_and_off_in_the_configuration(command: Command) -> None:
    off = "".join(f"[phases.{name}]\nenabled = false\n" for name in ("examples", "coverage", "stateful"))
    on = "[phases.quoting]\nenabled = true\n[phases.quoting.checks.not_a_server_error]\nenabled = false\n"
    (command.directory / "checker.toml").write_text(off + on)
    with serving(answer, DOCUMENT) as app:
        found = command.run_as_usual(app.document_url, "-n", "1", "--mode", "positive")
        sent = [request.target for request in app.seen]
    assert (found.code, found.defects) == (0, []), found.shown
    assert sum(b"OR" in target for target in sent) == 2, found.shown


@pytest.mark.thorough
def test_it_runs_only_when_it_is_asked_for(command: Command) -> None:
    found, sent = ran(command, "-n", "1", "--phases", "fuzzing")
    assert not any(b"OR" in target for target in sent), found.shown


def test_what_nobody_registers_is_no_phase(command: Command) -> None:
    found = ran(command, "--phases", "quoted")[0]
    assert found.code == 2
    assert "unknown name 'quoted'. Did you mean 'quoting'?" in found.stdout + found.stderr, found.shown


def test_the_proof_is_small() -> None:
    assert len(SOURCE.read_text().splitlines()) <= LONGEST
