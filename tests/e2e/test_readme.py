"""What the README and the tutorial tell a newcomer to type does what they say."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import checker
from checker.demo import Server
from tests.e2e.runner import Command, Ran

ROOT = Path(checker.__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8080"
COMMANDS = re.findall(r"^checker .+|^curl .+", README[: README.index("Exit codes:")], re.MULTILINE)
FOUND, FINE, INTERRUPTED = 1, 0, 130
# What is replayed meets the same API, but not the state of it that some failures need.
FEW = ("-n", "6")
"""What is printed is tried, not how often it is repeated."""
EXPECTED = {"run": {FOUND}, "replay": {FOUND, FINE}, "fuzz": {INTERRUPTED}}


def snippet(name: str, page: str = README) -> str:
    """The Python block that names this file in its first line."""
    (block,) = re.findall(rf"```python\n# {re.escape(name)}\n(.*?)```", page, re.DOTALL)
    return str(block)


def pytest_on(file: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What pytest says of a file in this folder."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.mark.thorough
def test_every_command_runs_as_printed(command: Command) -> None:
    codes = []
    with Server() as demo:
        for line in COMMANDS:
            program, *arguments = shlex.split(line.replace(ADDRESS, demo.url))
            if program == "curl":
                (command.directory / "openapi.json").write_bytes(_fetched(demo.document_url))
                continue
            ran = _ran(command, demo, arguments)
            assert ran.code in EXPECTED[arguments[0]], f"{line}\n{ran.shown}"
            codes.append(arguments[0])
    assert codes == ["run", "run", "run", "run", "replay", "fuzz"]


@pytest.mark.thorough
def test_the_python_example_finds_a_defect(tmp_path: Path) -> None:
    with Server() as demo:
        (tmp_path / "test_api.py").write_text(snippet("test_api.py").replace(ADDRESS, demo.url))
        ran = pytest_on("test_api.py", tmp_path)
    assert ran.returncode == FOUND, ran.stdout
    assert "Reproduce with:" in ran.stdout
    assert "POST" in ran.stdout


@pytest.mark.thorough
def test_the_tutorial_has_eight_commands_that_show_what_it_says(command: Command) -> None:
    lines = "".join(re.findall(r"```sh\n(.*?)```", TUTORIAL, re.DOTALL)).splitlines()
    assert lines[:2] == ["pip install checker-api pytest", "checker demo --serve --port 8080"]
    assert (len(lines), lines[-1]) == (8, "pytest test_inn.py")
    codes, shown = [], ""
    with Server() as demo:
        for line in lines[2:-1]:
            _, *arguments = shlex.split(line.replace(ADDRESS, demo.url))
            ran = command.here(*arguments, *(FEW if arguments[0] == "run" else ()))
            codes.append((arguments[0], ran.code))
            shown += ran.shown
        (command.directory / "test_inn.py").write_text(snippet("test_inn.py", TUTORIAL).replace(ADDRESS, demo.url))
        assert "1 failed" in pytest_on("test_inn.py", command.directory).stdout
    assert codes == [("list", FINE), ("run", FOUND), ("explain", FINE), ("replay", FOUND), ("run", FINE)], shown
    for excerpt in re.findall(r"```text\n(.*?)```", TUTORIAL, re.DOTALL):
        steady = [line for line in excerpt.splitlines() if line != "..." and not re.search(r" \(in |curl ", line)]
        assert [line for line in steady if line not in shown] == []


def test_the_hooks_of_the_example_take_part(command: Command) -> None:
    (command.directory / "hooks.py").write_text(snippet("hooks.py"))
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    with Server() as demo:
        ran = command.run(
            demo.document_url,
            *("--include-path", "/reviews", "--report-vcr-path", "cassette.yaml", "-n", "30"),
            *("--phases", "fuzzing"),
        )
    assert ran.code in (FINE, FOUND), ran.shown
    ratings = re.findall(r'"rating\\?":(\d+)', (command.directory / "cassette.yaml").read_text())
    assert set(ratings) == {"5"}


def _ran(command: Command, demo: Server, arguments: list[str]) -> Ran:
    """What the command did; `fuzz` has a minute, and is interrupted when it has done something."""
    if arguments[0] == "run":
        return command.here(*arguments, *FEW)
    if arguments[0] == "replay":
        return command.here(*arguments)
    before = demo.requests
    return command.until(lambda: demo.requests > before + 200, *arguments)


def _fetched(url: str) -> bytes:
    return httpx.get(url, trust_env=False).raise_for_status().content
